// bench-executor: handlers that record when they were entered and return at once.
#include <tidemark/executor.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <mutex>
#include <string>
#include <utility>

#include "common/mutex_checks.h"
#include "tests/bench/hot/bench_clock.h"
#include "tests/bench/hot/run_records.h"

namespace tidemark {
namespace {

// Thread-safe.
class Recorder {
 public:
  explicit Recorder(size_t expected) { records_.reserve(expected); }

  void Note(const Context& run, int64_t entered_us) {
    const auto fire =
        std::chrono::duration_cast<std::chrono::microseconds>(run.fire_time().time_since_epoch());
    const std::lock_guard lock(mutex_);
    records_.push_back({fire.count(), entered_us});
  }

  bool Write(const std::string& file) {
    const std::lock_guard lock(mutex_);
    return WriteRunRecords(file, records_);
  }

 private:
  std::mutex mutex_;
  std::vector<RunRecord> records_;
};

int Main(int argc, char** argv) {
  ForgoMutexChecks();
  CLI::App app("An executor of benchmarks: handlers work-0, work-1, … that return at once.",
               "bench-executor");
  ExecutorOptions options;
  std::string file;
  int handlers = 1;
  int millis = 0;
  app.add_option("--scheduler", options.schedulers, "host:port")->required();
  app.add_option("--app", options.app, "App")->required();
  app.add_option("--executor-id", options.executor_id, "Its id")->required();
  app.add_option("--spool-dir", options.spool_dir, "Folder of results")->required();
  app.add_option("--records", file, "Written at the end: due and entered, see run_records.h")
      ->required();
  app.add_option("--capacity", options.capacity, "Runs at once");
  app.add_option("--handlers", handlers, "How many handlers it has");
  app.add_option("--millis", millis, "How long each run takes");
  CLI11_PARSE(app, argc, argv);
  // Room made beforehand, so that growing is no part of a measurement.
  Recorder recorder(1 << 20);
  Executor executor(std::move(options));
  for (int i = 0; i < handlers; ++i) {
    executor.Handle("work-" + std::to_string(i), HandlerOptions{.interruptible = true},
                    [&recorder, millis](Context& run) {
                      recorder.Note(run, WallMicros());
                      if (millis > 0) run.WaitCancelled(std::chrono::milliseconds(millis));
                      return Outcome::Ok();
                    });
  }
  const int code = executor.Run();
  if (!recorder.Write(file)) {
    std::fprintf(stderr, "bench-executor: cannot write %s\n", file.c_str());
    return 1;
  }
  return code;
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) { return tidemark::Main(argc, argv); }
