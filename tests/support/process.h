// Real processes in tests: started in a group of their own, never left behind.
#ifndef TIDEMARK_TESTS_SUPPORT_PROCESS_H_
#define TIDEMARK_TESTS_SUPPORT_PROCESS_H_

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace tidemark {

struct ProcessOptions {
  std::vector<std::string> argv;           // argv[0]: the program's path
  std::map<std::string, std::string> env;  // added to ours
  std::string directory;                   // "": ours
  std::string output_file;                 // stdout and stderr, appended; "": ours
};

// A child process, leader of its own process group. It is killed, with its group, when this object
// dies, and by the kernel when the thread that started it ends. Used by one thread.
class Process {
 public:
  static absl::StatusOr<Process> Start(const ProcessOptions& options);
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  ~Process();

  pid_t pid() const { return pid_; }
  bool Running();
  void Signal(int number);       // to the process alone
  void SignalGroup(int number);  // to all of its group
  // Waits for the end: the exit code, or 128 + signal; nullopt when `timeout` is over first.
  std::optional<int> Wait(absl::Duration timeout);
  // SIGKILL to the group, and waits.
  void Kill();

 private:
  explicit Process(pid_t pid) : pid_(pid) {}

  pid_t pid_ = 0;  // 0: moved away
  std::optional<int> code_;
};

// Runs a command to its end; returns its standard output. An exit code other than 0 is an error
// with the output in it.
absl::StatusOr<std::string> RunCommand(const std::vector<std::string>& argv,
                                       const std::map<std::string, std::string>& env = {});

// Looks every few milliseconds until `condition` holds; false when `timeout` is over first.
bool WaitFor(const std::function<bool()>& condition, absl::Duration timeout = absl::Seconds(30));

// The whole file, or "" when it cannot be read.
std::string ReadFile(const std::string& path);

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_SUPPORT_PROCESS_H_
