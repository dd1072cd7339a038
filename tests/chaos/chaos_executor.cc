// An executor of the chaos driver: its handlers leave traces in the journal.
//
// Handler "work", interruptible. Parameters: "millis", how long it takes; "flaky", one in so many
// occurrences fails at its first attempt.
#include <tidemark/executor.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>

#include "common/clock.h"
#include "tests/chaos/journal.h"

namespace tidemark {
namespace {

// Thread-safe.
class Worker {
 public:
  Worker(std::string journal, std::string id) : journal_(std::move(journal)), id_(std::move(id)) {}

  Outcome Work(Context& run) const {
    Note("enter", run);
    const int millis = std::atoi(run.param("millis", "50").c_str());
    const size_t flaky = std::strtoul(run.param("flaky", "0").c_str(), nullptr, 10);
    if (run.WaitCancelled(std::chrono::milliseconds(millis))) {
      Note("stop", run);
      return Outcome::Stopped();
    }
    const size_t hash = std::hash<std::string>()(run.batch_id());
    if (flaky > 0 && run.attempt() == 1 && hash % flaky == 0) {
      Note("fail", run);
      return Outcome::Retry("flaky");
    }
    run.SetFingerprint(1, run.batch_id());
    Note("leave", run);
    return Outcome::Ok();
  }

 private:
  void Note(const std::string& event, const Context& run) const {
    AppendJournal(journal_,
                  {event, run.batch_id(), run.attempt(), id_, getpid(),
                   absl::ToDoubleSeconds(SystemClock().Monotonic()), run.fencing_token().ToText()});
  }

  const std::string journal_;
  const std::string id_;
};

int Main(int argc, char** argv) {
  CLI::App app("An executor whose handlers write what they do into a file.", "chaos-executor");
  ExecutorOptions options;
  std::string journal;
  app.add_option("--scheduler", options.schedulers, "host:port, …")->required()->delimiter(',');
  app.add_option("--app", options.app)->required();
  app.add_option("--executor-id", options.executor_id)->required();
  app.add_option("--spool-dir", options.spool_dir)->required();
  app.add_option("--journal", journal, "The file")->required();
  app.add_option("--capacity", options.capacity);
  CLI11_PARSE(app, argc, argv);
  const Worker worker(journal, options.executor_id);
  Executor executor(std::move(options));
  executor.Handle("work", HandlerOptions{.interruptible = true},
                  [&worker](Context& run) { return worker.Work(run); });
  const int code = executor.Run();
  if (code == 3) std::_Exit(code);  // handlers still use what this function owns
  return code;
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) { return tidemark::Main(argc, argv); }
