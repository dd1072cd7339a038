// The schema: numbered migrations, append-only, embedded in the program.
#ifndef TIDEMARK_SCHEDULER_STORE_MIGRATE_H_
#define TIDEMARK_SCHEDULER_STORE_MIGRATE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/store/database.h"

namespace tidemark {

struct Migration {
  int version = 0;        // 1, 2, …
  std::string_view name;  // "0001_initial"
  std::string_view sql;
};

// Those of this program, by version.
const std::vector<Migration>& EmbeddedMigrations();

// What schema_migration keeps, so that a file changed after the fact is noticed: 16 hex digits.
std::string MigrationChecksum(std::string_view sql);

// Brings the schema (made when missing) up to `migrations`, in one transaction; any number of
// starters may do so at once. With `apply` false nothing is changed. FAILED_PRECONDITION: the
// schema is newer than this program, was made from other files, or is old and `apply` is false.
absl::Status Migrate(Connection& connection, const std::string& schema, bool apply = true,
                     const std::vector<Migration>& migrations = EmbeddedMigrations());

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_MIGRATE_H_
