// Databases with the scheduler's schema in them.
#ifndef TIDEMARK_TESTS_SUPPORT_MIGRATED_DATABASE_H_
#define TIDEMARK_TESTS_SUPPORT_MIGRATED_DATABASE_H_

#include <memory>
#include <string>
#include <vector>

#include "scheduler/store/database.h"
#include "tests/support/test_database.h"

namespace tidemark {

// A fresh database with all migrations in schema "tidemark": a copy of a template that the first
// user on this server makes. The helpers end the program on any error: a test's own SQL must work.
class MigratedDatabase {
 public:
  MigratedDatabase();

  const std::string& url() const { return database_.url(); }
  // With TIDEMARK_TEST_POOLED in the environment they lead through a pgbouncer that pools
  // transactions, which is this program's own; url() and the helpers below never do.
  DatabaseOptions options() const;
  // A new session by the options.
  std::unique_ptr<Connection> Connect() const;

  // One statement of the test's own on a session kept for them; the first column of the first row,
  // or "".
  std::string Sql(const std::string& statement, const std::vector<SqlParam>& params = {});
  // All rows, columns joined by "|", NULL as "-".
  std::vector<std::string> Rows(const std::string& statement,
                                const std::vector<SqlParam>& params = {});

 private:
  TestDatabase database_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_SUPPORT_MIGRATED_DATABASE_H_
