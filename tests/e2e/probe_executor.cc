// An executor of the tests: its handlers leave traces in a journal and stop where files say so.
//
// In --folder, "journal" gets a line "EVENT DATE ATTEMPT EXECUTOR CHECKPOINT" for each event of the
// handlers work and stubborn: enter, exit, and stop (ended because it was cancelled). A run waits
//   in its guard, accepted but not entered, while "hold-guard" exists,
//   in the middle, after it reported half of its progress, while "hold-work-ATTEMPT" exists.
// Handlers: work (interruptible), stubborn (does not look at cancels), noop (returns at once).
#include <fcntl.h>
#include <tidemark/executor.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>

#include "tests/support/process.h"

namespace tidemark {
namespace {

constexpr std::chrono::milliseconds kLook(5);

class Probe {
 public:
  Probe(std::string folder, std::string id) : folder_(std::move(folder)), id_(std::move(id)) {}

  std::unique_ptr<RunGuard> Guard(Context& run, std::string* refused) const {
    while (Exists("hold-guard")) {
      if (!run.WaitCancelled(kLook)) continue;
      *refused = "cancelled while the test held it";
      return nullptr;
    }
    return std::make_unique<RunGuard>();
  }

  Outcome Work(Context& run, bool interruptible) const {
    Note("enter", run);
    run.Progress(50, "half");
    const auto held = [&] { return Exists("hold-work-" + std::to_string(run.attempt())); };
    while (held() && !run.WaitCancelled(kLook)) {
    }
    if (held() && interruptible) {
      Note("stop", run);
      return Outcome::Stopped();
    }
    WaitFor([&] { return !held(); }, absl::Minutes(10));  // stubborn
    Note("exit", run);
    run.SetFingerprint(1, "probe");
    return Outcome::Ok();
  }

 private:
  bool Exists(const std::string& name) const {
    return access((folder_ + "/" + name).c_str(), F_OK) == 0;
  }

  void Note(const std::string& event, const Context& run) const {
    const std::string& about = run.biz_date().empty() ? run.run_id() : run.biz_date();
    const std::string line = event + " " + about + " " + std::to_string(run.attempt()) + " " + id_ +
                             " " + (run.checkpoint().empty() ? "-" : run.checkpoint()) + "\n";
    const int fd =
        open((folder_ + "/journal").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size())) abort();
    close(fd);
  }

  const std::string folder_;
  const std::string id_;
};

int Main(int argc, char** argv) {
  CLI::App app("An executor that tests hold at any point.", "probe-executor");
  ExecutorOptions options;
  options.app = "ops";
  std::string folder;
  app.add_option("--scheduler", options.schedulers)->required()->delimiter(',');
  app.add_option("--executor-id", options.executor_id)->required();
  app.add_option("--spool-dir", options.spool_dir)->required();
  app.add_option("--folder", folder)->required();
  app.add_option("--capacity", options.capacity);
  CLI11_PARSE(app, argc, argv);
  const Probe probe(folder, options.executor_id);
  Executor executor(std::move(options));
  const GuardFunction guard = [&probe](Context& run, std::string* refused) {
    return probe.Guard(run, refused);
  };
  executor.Handle("work", HandlerOptions{.interruptible = true, .guard = guard},
                  [&probe](Context& run) { return probe.Work(run, true); });
  executor.Handle("stubborn", HandlerOptions{.guard = guard},
                  [&probe](Context& run) { return probe.Work(run, false); });
  executor.Handle("noop", HandlerOptions{.interruptible = true},
                  [](Context&) { return Outcome::Ok(); });
  const int code = executor.Run();
  if (code == 3) std::_Exit(code);  // handlers still use what this function owns
  return code;
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) { return tidemark::Main(argc, argv); }
