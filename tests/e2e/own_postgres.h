// A PostgreSQL server of a test's own, which it may stop and start.
#ifndef TIDEMARK_TESTS_E2E_OWN_POSTGRES_H_
#define TIDEMARK_TESTS_E2E_OWN_POSTGRES_H_

#include <string>
#include <vector>

namespace tidemark {

// Runs from construction to destruction; its data outlives Stop. Used by one thread.
class OwnPostgres {
 public:
  OwnPostgres();
  ~OwnPostgres();
  OwnPostgres(const OwnPostgres&) = delete;
  OwnPostgres& operator=(const OwnPostgres&) = delete;

  // As a crash would: sessions are cut, nothing is said.
  void Stop();
  void Start();
  const std::string& url() const { return url_; }

 private:
  void Control(const std::vector<std::string>& arguments);

  std::string file_;
  std::string dir_;
  std::string url_;
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_E2E_OWN_POSTGRES_H_
