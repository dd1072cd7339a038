// One command as a process group of its own.
#ifndef TIDEMARK_EXECUTOR_AGENT_COMMAND_PROCESS_H_
#define TIDEMARK_EXECUTOR_AGENT_COMMAND_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/agent/process_guard.h"
#include "executor/agent/survivors.h"

namespace tidemark::agent {

// A file descriptor that closes itself.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept;
  ~UniqueFd();
  int get() const { return fd_; }
  int release();

 private:
  int fd_ = -1;
};

// Whom a command runs as.
struct UserIds {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;
};
// NOT_FOUND when there is no such user.
absl::StatusOr<UserIds> LookUpUser(const std::string& name);

struct CommandSpec {
  std::vector<std::string> arguments;    // the first is the program
  std::vector<std::string> environment;  // "NAME=value", all of it
  std::string search_path;               // PATH in which the program is looked for
  std::string workdir;                   // "": inherited
  std::optional<UserIds> user;
  std::string run_id;
};

// The descriptor in which a command finds its progress pipe.
inline constexpr int kProgressFd = 3;

// Starts the command only after the guard and the records know its group, so that no death of the
// agent leaves it unseen. stdin is empty, stdout and stderr go to output(), descriptor 3 to
// progress(). Not thread-safe.
class CommandProcess {
 public:
  // NOT_FOUND, PERMISSION_DENIED…: the program cannot be run (permanent). UNAVAILABLE: no
  // resources.
  static absl::StatusOr<std::unique_ptr<CommandProcess>> Start(const CommandSpec& spec,
                                                               ProcessGuard& guard,
                                                               CommandRecords& records);
  // Kills the group and reaps it, if that has not been done.
  ~CommandProcess();
  CommandProcess(const CommandProcess&) = delete;
  CommandProcess& operator=(const CommandProcess&) = delete;

  int output() const { return output_.get(); }      // non-blocking
  int progress() const { return progress_.get(); }  // non-blocking
  int pidfd() const { return pidfd_.get(); }        // readable once the leader has ended
  pid_t group() const { return pid_; }

  void Signal(int number);  // to the whole group
  // Once the leader has ended: kills what is left of the group, waits until it is gone, and returns
  // the leader's wait status.
  int End();

 private:
  CommandProcess(pid_t pid, ProcessGuard& guard, CommandRecords& records)
      : pid_(pid), guard_(guard), records_(records) {}

  const pid_t pid_;
  ProcessGuard& guard_;
  CommandRecords& records_;
  UniqueFd output_, progress_, pidfd_;
  bool ended_ = false;
};

}  // namespace tidemark::agent

#endif  // TIDEMARK_EXECUTOR_AGENT_COMMAND_PROCESS_H_
