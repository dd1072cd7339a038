#include "tests/support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "common/clock.h"

namespace tidemark {
namespace {

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& s : strings) pointers.push_back(s.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> Environment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> env;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (added.count(text.substr(0, text.find('='))) == 0) env.push_back(text);
  }
  for (const auto& [key, value] : added) env.push_back(key + "=" + value);
  return env;
}

// In the child, between fork and exec: async-signal-safe calls only.
[[noreturn]] void Become(char* const* argv, char* const* env, const char* directory, int output,
                         pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(126);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  if (directory[0] != '\0' && chdir(directory) != 0) _exit(126);
  if (output >= 0) {
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
  }
  execve(argv[0], argv, env);
  _exit(127);
}

void Pause() { poll(nullptr, 0, 5); }

}  // namespace

absl::StatusOr<Process> Process::Start(const ProcessOptions& options) {
  std::vector<std::string> argv = options.argv;
  std::vector<std::string> env = Environment(options.env);
  const std::vector<char*> argv_pointers = Pointers(argv);
  const std::vector<char*> env_pointers = Pointers(env);
  int output = -1;
  if (!options.output_file.empty()) {
    output = open(options.output_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (output < 0) return absl::NotFoundError("cannot write " + options.output_file);
  }
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    Become(argv_pointers.data(), env_pointers.data(), options.directory.c_str(), output, parent);
  }
  if (output >= 0) close(output);
  if (pid < 0) return absl::InternalError(std::string("fork: ") + std::strerror(errno));
  setpgid(pid, pid);  // also here: the child may not have run yet
  return Process(pid);
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)), code_(other.code_) {}

Process& Process::operator=(Process&& other) noexcept {
  if (this == &other) return *this;
  Kill();
  pid_ = std::exchange(other.pid_, 0);
  code_ = other.code_;
  return *this;
}

Process::~Process() { Kill(); }

bool Process::Running() { return !Wait(absl::ZeroDuration()).has_value(); }

void Process::Signal(int number) {
  if (pid_ > 0 && !code_.has_value()) kill(pid_, number);
}

void Process::SignalGroup(int number) {
  if (pid_ > 0) kill(-pid_, number);
}

std::optional<int> Process::Wait(absl::Duration timeout) {
  if (pid_ <= 0) return 0;
  const absl::Duration end = SystemClock().Monotonic() + timeout;
  while (!code_.has_value()) {
    int status = 0;
    const pid_t done = waitpid(pid_, &status, WNOHANG);
    if (done == pid_) {
      code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    } else if (done < 0) {
      code_ = 127;
    } else if (SystemClock().Monotonic() >= end) {
      return std::nullopt;
    } else {
      Pause();
    }
  }
  return code_;
}

void Process::Kill() {
  if (pid_ <= 0) return;
  SignalGroup(SIGKILL);
  Wait(absl::Seconds(10));
}

absl::StatusOr<std::string> RunCommand(const std::vector<std::string>& argv,
                                       const std::map<std::string, std::string>& env) {
  char file[] = "/tmp/tidemark-output.XXXXXX";
  const int fd = mkstemp(file);
  if (fd < 0) return absl::InternalError("no temporary file");
  close(fd);
  absl::StatusOr<Process> process = Process::Start({argv, env, "", file});
  std::optional<int> code;
  if (process.ok()) code = process->Wait(absl::Minutes(2));
  const std::string output = ReadFile(file);
  unlink(file);
  if (!process.ok()) return process.status();
  if (code == 0) return output;
  return absl::InternalError(argv[0] + " ended with " +
                             (code.has_value() ? std::to_string(*code) : "no end in time") + ": " +
                             output);
}

bool WaitFor(const std::function<bool()>& condition, absl::Duration timeout) {
  const absl::Duration end = SystemClock().Monotonic() + timeout;
  while (!condition()) {
    if (SystemClock().Monotonic() >= end) return false;
    Pause();
  }
  return true;
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace tidemark
