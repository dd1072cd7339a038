// Kills the commands' process groups when the agent dies, however it dies.
#ifndef TIDEMARK_EXECUTOR_AGENT_PROCESS_GUARD_H_
#define TIDEMARK_EXECUTOR_AGENT_PROCESS_GUARD_H_

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <set>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tidemark::agent {

// A small process of its own session that holds one end of a socket. It is told of each group
// before that group's command starts, and kills them all when the other end closes. A guard that
// was killed is replaced at the next call. Thread-safe.
class ProcessGuard {
 public:
  static absl::StatusOr<std::unique_ptr<ProcessGuard>> Start();
  // Ends the guard, which kills what is still listed.
  ~ProcessGuard();
  ProcessGuard(const ProcessGuard&) = delete;
  ProcessGuard& operator=(const ProcessGuard&) = delete;

  absl::Status Add(pid_t group);
  // Before the group's leader is reaped: its number may be another's after that.
  void Remove(pid_t group);
  pid_t pid() const { return pid_; }

 private:
  ProcessGuard() = default;
  absl::Status Fork();
  absl::Status Tell(char what, pid_t group);

  mutable std::mutex mutex_;
  int socket_ = -1;         // guarded by mutex_
  pid_t pid_ = -1;          // changed under mutex_
  std::set<pid_t> groups_;  // guarded by mutex_
};

}  // namespace tidemark::agent

#endif  // TIDEMARK_EXECUTOR_AGENT_PROCESS_GUARD_H_
