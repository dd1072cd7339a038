// A pgbouncer in front of the tests' PostgreSQL.
#ifndef TIDEMARK_TESTS_SUPPORT_POOLER_H_
#define TIDEMARK_TESTS_SUPPORT_POOLER_H_

#include <optional>
#include <string>

#include "tests/support/process.h"

namespace tidemark {

// A private pgbouncer that pools transactions: of one session here, each transaction may come to
// another session of the server. As root it runs as the user postgres. Ends with this object.
class Pooler {
 public:
  // `server_url`: as TestServerUrl gives it. Ends the program when pgbouncer cannot be started.
  explicit Pooler(const std::string& server_url);
  ~Pooler();
  Pooler(const Pooler&) = delete;
  Pooler& operator=(const Pooler&) = delete;

  static bool Installed();

  // `url` names a database of the server (…dbname=NAME); the same through the pooler.
  std::string Through(const std::string& url) const;

 private:
  std::string folder_;
  std::optional<Process> process_;
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_SUPPORT_POOLER_H_
