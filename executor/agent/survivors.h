// Commands of an earlier agent that outlived it.
#ifndef TIDEMARK_EXECUTOR_AGENT_SURVIVORS_H_
#define TIDEMARK_EXECUTOR_AGENT_SURVIVORS_H_

#include <sys/types.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/clock.h"

namespace tidemark::agent {

// Records the process groups of running commands in a folder, one file a group, with the leader's
// start time, the boot and the run; so that the next agent can find and kill what the guard could
// not. The folder is locked by one agent at a time. Thread-safe.
class CommandRecords {
 public:
  // `dir` is made when missing. FAILED_PRECONDITION: another agent has it.
  static absl::StatusOr<std::unique_ptr<CommandRecords>> Open(const std::string& dir);
  ~CommandRecords();
  CommandRecords(const CommandRecords&) = delete;
  CommandRecords& operator=(const CommandRecords&) = delete;

  absl::Status Add(pid_t group, const std::string& run_id);
  void Remove(pid_t group);

  // Kills what is left of recorded groups and waits until it is gone; returns the number of
  // processes killed. DEADLINE_EXCEEDED: some would not die within `timeout` (names them).
  absl::StatusOr<int> KillSurvivors(const Clock& clock, absl::Duration timeout);

 private:
  CommandRecords(std::string dir, int lock_fd) : dir_(std::move(dir)), lock_fd_(lock_fd) {}

  const std::string dir_;
  const int lock_fd_;
};

// Start time of a process in clock ticks since boot, or "" when there is none.
std::string StartTimeOf(pid_t pid);

// True while a process of the group lives; a zombie that nobody has reaped yet does not count.
bool GroupLives(pid_t group);

}  // namespace tidemark::agent

#endif  // TIDEMARK_EXECUTOR_AGENT_SURVIVORS_H_
