#include "executor/agent/command_process.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "common/status.h"

extern "C" {  // Debian 12's header does not say so itself
#include <sys/pidfd.h>
}

namespace tidemark::agent {
namespace {

// Descriptors in the child, before exec.
constexpr int kGoFd = 4;
constexpr int kErrorFd = 5;
// How long what is left of a killed group may take to vanish.
constexpr int kGoneTries = 200;
constexpr int kGoneMillis = 5;

enum class Stage : int { kUser, kWorkdir, kExec };
struct Failure {
  Stage stage;
  int error;
};

// Everything that the child needs, laid out before the fork: after it, nothing may allocate.
struct Plan {
  std::string program;
  std::vector<char*> arguments, environment;
  const char* workdir = nullptr;
  const UserIds* user = nullptr;
  int null_fd = -1, output_fd = -1, progress_fd = -1, go_fd = -1, error_fd = -1;
};

struct Pipe {
  UniqueFd read, write;
};

// Both ends above the numbers that the child uses, so that no dup2 there hits one of them.
absl::Status Open(Pipe* pipe) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return absl::UnavailableError(std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  const UniqueFd low_read(ends[0]);
  const UniqueFd low_write(ends[1]);
  pipe->read = UniqueFd(fcntl(ends[0], F_DUPFD_CLOEXEC, 10));
  pipe->write = UniqueFd(fcntl(ends[1], F_DUPFD_CLOEXEC, 10));
  if (pipe->read.get() >= 0 && pipe->write.get() >= 0) return absl::OkStatus();
  return absl::UnavailableError(std::string("cannot make a pipe: ") + std::strerror(errno));
}

[[noreturn]] void Fail(Stage stage) {
  const Failure failure{stage, errno};
  (void)!write(kErrorFd, &failure, sizeof failure);
  _exit(127);
}

[[noreturn]] void RunChild(const Plan& plan) {
  setpgid(0, 0);
  for (int number = 1; number < 65; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  dup2(plan.null_fd, 0);
  dup2(plan.output_fd, 1);
  dup2(plan.output_fd, 2);
  dup2(plan.progress_fd, kProgressFd);
  dup2(plan.go_fd, kGoFd);
  dup2(plan.error_fd, kErrorFd);
  close_range(kErrorFd + 1, ~0U, 0);
  fcntl(kGoFd, F_SETFD, FD_CLOEXEC);
  fcntl(kErrorFd, F_SETFD, FD_CLOEXEC);
  // An agent that dies before it has recorded this group ends it here.
  char go = 0;
  if (read(kGoFd, &go, 1) != 1) _exit(127);
  if (plan.user != nullptr) {
    const UserIds& user = *plan.user;
    if (setgroups(user.groups.size(), user.groups.data()) != 0 || setgid(user.gid) != 0 ||
        setuid(user.uid) != 0) {
      Fail(Stage::kUser);
    }
  }
  if (plan.workdir != nullptr && chdir(plan.workdir) != 0) Fail(Stage::kWorkdir);
  execve(plan.program.c_str(), plan.arguments.data(), plan.environment.data());
  Fail(Stage::kExec);
}

absl::StatusOr<std::string> FindProgram(const std::string& name, const std::string& path) {
  if (name.find('/') != std::string::npos) return name;
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find(':', at), path.size());
    const std::string candidate = path.substr(at, end - at) + "/" + name;
    struct stat info{};
    if (end > at && stat(candidate.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
        access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
    at = end + 1;
  }
  return absl::NotFoundError("cannot run " + name + ": there is no such program in PATH=" + path);
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

absl::Status Explain(const Failure& failure, const CommandSpec& spec) {
  const std::string why = std::strerror(failure.error);
  switch (failure.stage) {
    case Stage::kUser:
      return absl::PermissionDeniedError("cannot become the handler's user: " + why +
                                         "; the agent must run as root for that");
    case Stage::kWorkdir:
      return absl::NotFoundError("cannot enter " + spec.workdir + ": " + why);
    case Stage::kExec:
      break;
  }
  const std::string text = "cannot run " + spec.arguments.front() + ": " + why;
  if (failure.error == EAGAIN || failure.error == ENOMEM || failure.error == ETXTBSY) {
    return absl::UnavailableError(text);
  }
  return absl::NotFoundError(text);
}

// Reads the child's report: nothing when exec succeeded, which closed the pipe.
std::optional<Failure> ReadFailure(int fd) {
  Failure failure{};
  ssize_t n = 0;
  do {
    n = read(fd, &failure, sizeof failure);
  } while (n < 0 && errno == EINTR);
  if (n == static_cast<ssize_t>(sizeof failure)) return failure;
  return std::nullopt;
}

void SetNonBlocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

}  // namespace

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) close(fd_);
    fd_ = other.release();
  }
  return *this;
}

UniqueFd::~UniqueFd() {
  if (fd_ >= 0) close(fd_);
}

int UniqueFd::release() { return std::exchange(fd_, -1); }

absl::StatusOr<UserIds> LookUpUser(const std::string& name) {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(16384);
  getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
  if (found == nullptr) return absl::NotFoundError("there is no user \"" + name + "\"");
  UserIds ids;
  ids.uid = entry.pw_uid;
  ids.gid = entry.pw_gid;
  int count = 256;
  ids.groups.resize(static_cast<size_t>(count));
  if (getgrouplist(name.c_str(), entry.pw_gid, ids.groups.data(), &count) < 0) {
    ids.groups.resize(static_cast<size_t>(count));
    getgrouplist(name.c_str(), entry.pw_gid, ids.groups.data(), &count);
  }
  ids.groups.resize(static_cast<size_t>(count));
  return ids;
}

absl::StatusOr<std::unique_ptr<CommandProcess>> CommandProcess::Start(const CommandSpec& spec,
                                                                      ProcessGuard& guard,
                                                                      CommandRecords& records) {
  Plan plan;
  TM_ASSIGN_OR_RETURN(plan.program, FindProgram(spec.arguments.front(), spec.search_path));
  plan.arguments = Pointers(spec.arguments);
  plan.environment = Pointers(spec.environment);
  if (!spec.workdir.empty()) plan.workdir = spec.workdir.c_str();
  if (spec.user) plan.user = &*spec.user;
  Pipe output, progress, go, error;
  for (Pipe* pipe : {&output, &progress, &go, &error}) TM_RETURN_IF_ERROR(Open(pipe));
  const UniqueFd low_null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd null(fcntl(low_null.get(), F_DUPFD_CLOEXEC, 10));
  plan.null_fd = null.get();
  plan.output_fd = output.write.get();
  plan.progress_fd = progress.write.get();
  plan.go_fd = go.read.get();
  plan.error_fd = error.write.get();

  const pid_t pid = _Fork();
  if (pid == 0) RunChild(plan);
  if (pid < 0) {
    return absl::UnavailableError(std::string("cannot start a process: ") + std::strerror(errno));
  }
  setpgid(pid, pid);  // by both sides: whoever comes first
  std::unique_ptr<CommandProcess> process(new CommandProcess(pid, guard, records));
  process->output_ = std::move(output.read);
  process->progress_ = std::move(progress.read);
  process->pidfd_ = UniqueFd(pidfd_open(pid, 0));
  output.write = UniqueFd();
  progress.write = UniqueFd();
  error.write = UniqueFd();
  SetNonBlocking(process->output());
  SetNonBlocking(process->progress());
  TM_RETURN_IF_ERROR(guard.Add(pid));
  TM_RETURN_IF_ERROR(records.Add(pid, spec.run_id));
  if (process->pidfd() < 0 || write(go.write.get(), "g", 1) != 1) {
    return absl::UnavailableError("cannot start a process");
  }
  if (const auto failure = ReadFailure(error.read.get())) return Explain(*failure, spec);
  return process;
}

CommandProcess::~CommandProcess() {
  if (ended_) return;
  Signal(SIGKILL);
  End();
}

void CommandProcess::Signal(int number) { kill(-pid_, number); }

int CommandProcess::End() {
  siginfo_t info{};
  while (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  // The leader is not reaped yet, so the number is still this group's.
  Signal(SIGKILL);
  guard_.Remove(pid_);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  for (int tries = 0; tries < kGoneTries && GroupLives(pid_); ++tries) {
    poll(nullptr, 0, kGoneMillis);
  }
  records_.Remove(pid_);
  ended_ = true;
  return status;
}

}  // namespace tidemark::agent
