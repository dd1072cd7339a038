// Databases for tests that need a real PostgreSQL.
#ifndef TIDEMARK_TESTS_SUPPORT_TEST_DATABASE_H_
#define TIDEMARK_TESTS_SUPPORT_TEST_DATABASE_H_

#include <string>

namespace tidemark {

// A libpq keyword string of a superuser of this run's server (see postgres.sh). Tests that use it
// say `PROPERTIES FIXTURES_REQUIRED postgres`. A test program that is run by hand starts a server
// of its own, which ends with it. Ends the program when there is no server.
std::string TestServerUrl();

// A fresh database on that server, dropped with the object: empty, or a copy of `template_name`.
// The server's TimeZone is an odd one on purpose.
class TestDatabase {
 public:
  explicit TestDatabase(const std::string& template_name = "template1");
  ~TestDatabase();
  TestDatabase(const TestDatabase&) = delete;
  TestDatabase& operator=(const TestDatabase&) = delete;

  // Makes a database `name` as a copy of this one, to which nobody may be connected.
  void CopyAs(const std::string& name) const;

  // A libpq keyword string of a superuser.
  const std::string& url() const { return url_; }

 private:
  std::string name_;
  std::string url_;
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_SUPPORT_TEST_DATABASE_H_
