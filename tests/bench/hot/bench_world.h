// Schedulers with their executors, as real processes on a benchmark's database.
#ifndef TIDEMARK_TESTS_BENCH_HOT_BENCH_WORLD_H_
#define TIDEMARK_TESTS_BENCH_HOT_BENCH_WORLD_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/bench/hot/bench_options.h"
#include "tests/bench/hot/bench_postgres.h"
#include "tests/bench/hot/run_records.h"
#include "tests/support/process.h"

namespace tidemark {

// CPU seconds so far.
struct CpuUse {
  double scheduler = 0;
  double postgres = 0;
  double executors = 0;
  double total() const { return scheduler + postgres + executors; }
  CpuUse Since(const CpuUse& before) const {
    return {scheduler - before.scheduler, postgres - before.postgres, executors - before.executors};
  }
};

// Everything lives in a folder of its own and ends with this object. Errors end the program, with
// the end of the scheduler's log. Used by one thread.
class BenchWorld {
 public:
  BenchWorld(const BenchOptions& options, const BenchPostgres& postgres,
             const std::string& database_url);
  ~BenchWorld();
  BenchWorld(const BenchWorld&) = delete;
  BenchWorld& operator=(const BenchWorld&) = delete;

  // Returns once it listens. `node`: its id; its program is called "scheduler-" and that.
  void StartScheduler(const std::string& node = "1");
  // "1" to `count`; returns once all own shards.
  void StartSchedulers(int count);
  void StopSchedulers();                              // SIGTERM
  void KillScheduler(const std::string& node = "1");  // SIGKILL
  // Returns once `count` executors named APP-0, APP-1, … of the app are registered.
  void StartExecutors(const std::string& app, int count, int capacity,
                      const std::vector<std::string>& more = {});
  // Any other program of the build, argv[0] its name; killed with this object.
  Process& StartProgram(const std::string& name, std::vector<std::string> argv);
  // SIGTERM; returns what the app's executors have recorded, in no order.
  std::vector<RunRecord> StopExecutors(const std::string& app);

  CpuUse Cpu() const;
  int64_t SchedulerBytes() const;  // of "1"
  const std::string& address() const { return addresses_.begin()->second; }
  std::string Path(const std::string& name) const { return dir_ + "/" + name; }
  [[noreturn]] void Die(const std::string& message) const;

 private:
  const BenchOptions& options_;
  const BenchPostgres& postgres_;
  const std::string url_;
  std::string dir_;
  std::map<std::string, std::string> addresses_;  // of schedulers, by node
  std::map<std::string, Process> programs_;
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_BENCH_HOT_BENCH_WORLD_H_
