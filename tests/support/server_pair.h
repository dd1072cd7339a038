// A PostgreSQL of the test's own with a standby, to be promoted.
#ifndef TIDEMARK_TESTS_SUPPORT_SERVER_PAIR_H_
#define TIDEMARK_TESTS_SUPPORT_SERVER_PAIR_H_

#include <string>

namespace tidemark {

// Two servers by postgres.sh, which end with this object, or with the program. Errors end the
// program. Used by one thread.
class ServerPair {
 public:
  ServerPair();
  ~ServerPair();
  ServerPair(const ServerPair&) = delete;
  ServerPair& operator=(const ServerPair&) = delete;

  // libpq's plain form; of the database postgres.
  const std::string& primary_url() const { return primary_url_; }
  const std::string& standby_url() const { return standby_url_; }
  // Both hosts, the standby first.
  std::string url() const;

  // Kills the primary.
  void StopPrimary();
  // Returns once the standby takes writes.
  void Promote();

 private:
  std::string base_;  // of the files' names
  std::string primary_url_;
  std::string standby_url_;
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_SUPPORT_SERVER_PAIR_H_
