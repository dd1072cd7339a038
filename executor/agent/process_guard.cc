#include "executor/agent/process_guard.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include "common/status.h"

namespace tidemark::agent {
namespace {

constexpr size_t kMaxGroups = 65536;

struct Record {
  char what;  // '+' or '-'
  pid_t group;
};

// Runs in the guard process. Only calls that are safe after a fork in a process with threads.
[[noreturn]] void Watch(int socket) {
  static pid_t groups[kMaxGroups];
  size_t count = 0;
  Record record{};
  while (true) {
    const ssize_t n = read(socket, &record, sizeof record);
    if (n < 0 && errno == EINTR) continue;
    if (n != static_cast<ssize_t>(sizeof record)) break;
    if (record.what == '+' && count < kMaxGroups) {
      groups[count++] = record.group;
      continue;
    }
    for (size_t i = 0; i < count; ++i) {
      if (groups[i] == record.group) groups[i--] = groups[--count];
    }
  }
  for (size_t i = 0; i < count; ++i) kill(-groups[i], SIGKILL);
  _exit(0);
}

[[noreturn]] void BecomeGuard(int socket) {
  setsid();  // not reached by signals to the agent's group or terminal
  for (int number = 1; number < 65; ++number) {
    if (number != SIGKILL && number != SIGSTOP) signal(number, SIG_IGN);
  }
  dup2(socket, 0);
  close_range(1, 1, 0);
  close_range(3, ~0U, 0);
  Watch(0);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ProcessGuard>> ProcessGuard::Start() {
  std::unique_ptr<ProcessGuard> guard(new ProcessGuard);
  const std::lock_guard lock(guard->mutex_);
  TM_RETURN_IF_ERROR(guard->Fork());
  return guard;
}

ProcessGuard::~ProcessGuard() {
  close(socket_);
  waitpid(pid_, nullptr, 0);
}

absl::Status ProcessGuard::Fork() {
  int ends[2];
  // A socket and not a pipe: a write to a guard that is gone must not raise SIGPIPE.
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return absl::UnavailableError(std::string("cannot make a socket: ") + std::strerror(errno));
  }
  const pid_t pid = _Fork();
  if (pid == 0) BecomeGuard(ends[0]);
  const int error = errno;
  close(ends[0]);
  if (pid < 0) {
    close(ends[1]);
    return absl::UnavailableError(std::string("cannot start the guard process: ") +
                                  std::strerror(error));
  }
  pid_ = pid;
  socket_ = ends[1];
  return absl::OkStatus();
}

absl::Status ProcessGuard::Tell(char what, pid_t group) {
  const Record record{what, group};
  ssize_t n = 0;
  do {
    n = send(socket_, &record, sizeof record, MSG_NOSIGNAL);
  } while (n < 0 && errno == EINTR);
  if (n == static_cast<ssize_t>(sizeof record)) return absl::OkStatus();
  return absl::UnavailableError(std::string("the guard process is gone: ") + std::strerror(errno));
}

absl::Status ProcessGuard::Add(pid_t group) {
  const std::lock_guard lock(mutex_);
  if (groups_.size() >= kMaxGroups) return absl::ResourceExhaustedError("too many commands run");
  groups_.insert(group);
  if (Tell('+', group).ok()) return absl::OkStatus();
  // Killed from outside: a new one takes over all groups.
  close(socket_);
  waitpid(pid_, nullptr, WNOHANG);
  absl::Status status = Fork();
  for (const pid_t known : groups_) {
    if (status.ok()) status = Tell('+', known);
  }
  if (!status.ok()) groups_.erase(group);
  return status;
}

void ProcessGuard::Remove(pid_t group) {
  const std::lock_guard lock(mutex_);
  groups_.erase(group);
  (void)Tell('-', group);  // a guard that is gone needs no telling
}

}  // namespace tidemark::agent
