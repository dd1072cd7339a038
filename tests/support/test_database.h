// Databases for tests that need a real PostgreSQL.
#ifndef TIDEMARK_TESTS_SUPPORT_TEST_DATABASE_H_
#define TIDEMARK_TESTS_SUPPORT_TEST_DATABASE_H_

#include <string>

namespace tidemark {

// A fresh, empty database on the server of this test run (see postgres.sh), dropped with the
// object. Its server's TimeZone is an odd one on purpose. Tests that use it say
// `PROPERTIES FIXTURES_REQUIRED postgres`; by hand, start the server as the message says.
// Ends the test program when there is no server.
class TestDatabase {
 public:
  TestDatabase();
  ~TestDatabase();
  TestDatabase(const TestDatabase&) = delete;
  TestDatabase& operator=(const TestDatabase&) = delete;

  // A libpq keyword string of a superuser.
  const std::string& url() const { return url_; }

 private:
  std::string name_;
  std::string url_;
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_SUPPORT_TEST_DATABASE_H_
