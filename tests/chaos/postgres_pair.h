// A PostgreSQL primary and its streaming standby, one of which may be killed.
#ifndef TIDEMARK_TESTS_CHAOS_POSTGRES_PAIR_H_
#define TIDEMARK_TESTS_CHAOS_POSTGRES_PAIR_H_

#include <optional>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace tidemark {

// Two sites, 0 and 1; each is a folder with the data and the socket of its server. A server that
// was killed stays dead until Rebuild, as behind a fence. Errors end the program. As root the
// servers run as the user postgres. Their commits are not flushed to disk: processes are killed
// here, not machines. Used by one thread.
class PostgresPair {
 public:
  // `synchronous`: a commit waits until the standby has it, so that a fail-over loses none. Returns
  // once the standby streams. The database "chaos" is there.
  PostgresPair(const std::string& folder, bool synchronous);
  ~PostgresPair();
  PostgresPair(const PostgresPair&) = delete;
  PostgresPair& operator=(const PostgresPair&) = delete;

  int primary() const { return primary_; }
  // For libpq, of the server of that site.
  std::string url(int site) const;
  std::string url() const { return url(primary_); }
  // Whether there is a standby that streams.
  bool HasStandby() const { return sites_[1 - primary_].server.has_value(); }

  // SIGKILL to the primary with all its backends; the standby is promoted.
  void FailOver();
  // A new standby in the place of the dead primary.
  void Rebuild();

 private:
  struct Site {
    std::string folder;
    std::optional<Process> server;
  };

  // Runs a program of PostgreSQL as its user, to its end.
  void Run(std::vector<std::string> argv);
  void Start(int site);
  void KillServer(int site);
  std::vector<std::string> AsUser(std::vector<std::string> argv) const;
  std::string Ask(int site, const std::string& statement) const;  // "" also when it fails

  const bool synchronous_;
  std::string bin_;
  Site sites_[2];
  int primary_ = 0;
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_CHAOS_POSTGRES_PAIR_H_
