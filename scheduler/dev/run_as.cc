#include "scheduler/dev/run_as.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>

#include "common/text.h"

namespace tidemark {
namespace {

std::string Tail(const std::string& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  const std::string all = text.str();
  return all.size() <= 600 ? all : all.substr(all.size() - 600);
}

// In the child, between fork and exec: only async-signal-safe calls.
[[noreturn]] void Become(const UserIds& user, char* const* argv, int log_fd) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  setsid();
  if (geteuid() == 0 && user.uid != 0) {
    if (setgroups(0, nullptr) != 0 || setgid(user.gid) != 0 || setuid(user.uid) != 0) _exit(126);
  }
  if (chdir("/") != 0) _exit(126);
  dup2(log_fd, STDOUT_FILENO);
  dup2(log_fd, STDERR_FILENO);
  const int null_fd = open("/dev/null", O_RDONLY);
  dup2(null_fd, STDIN_FILENO);
  execv(argv[0], argv);
  _exit(127);
}

}  // namespace

absl::StatusOr<UserIds> UnprivilegedUser() {
  if (geteuid() != 0) return UserIds{geteuid(), getegid(), ""};
  for (const char* name : {"postgres", "nobody"}) {
    if (const passwd* entry = getpwnam(name)) return UserIds{entry->pw_uid, entry->pw_gid, name};
  }
  return absl::FailedPreconditionError(
      "PostgreSQL refuses to run as root, and there is neither a user postgres nor nobody: run as "
      "an ordinary user");
}

absl::StatusOr<pid_t> Spawn(const UserIds& user, const std::vector<std::string>& argv,
                            const std::string& log_file) {
  const int log_fd = open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log_fd < 0) {
    return absl::FailedPreconditionError(
        ToAbsl("cannot write " + log_file + ": " + std::strerror(errno)));
  }
  std::vector<char*> raw;
  raw.reserve(argv.size() + 1);
  for (const std::string& arg : argv) raw.push_back(const_cast<char*>(arg.c_str()));
  raw.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) Become(user, raw.data(), log_fd);
  close(log_fd);
  if (pid < 0) return absl::InternalError(ToAbsl(std::string("fork: ") + std::strerror(errno)));
  return pid;
}

absl::Status RunToEnd(const UserIds& user, const std::vector<std::string>& argv,
                      const std::string& log_file) {
  absl::StatusOr<pid_t> pid = Spawn(user, argv, log_file);
  if (!pid.ok()) return pid.status();
  int status = 0;
  while (waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(ToAbsl(argv[0] + " failed: " + Tail(log_file)));
}

}  // namespace tidemark
