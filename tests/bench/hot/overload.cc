// overload: twice as many fires as the whole can take, open loop, for a minute.
#include <algorithm>
#include <string>

#include "tests/bench/hot/bench_clock.h"
#include "tests/bench/hot/bench_jobs.h"
#include "tests/bench/hot/bench_sql.h"
#include "tests/bench/hot/bench_world.h"
#include "tests/bench/hot/flood.h"
#include "tests/bench/hot/scenario.h"

namespace tidemark {
namespace {

constexpr char kApp[] = "over";
constexpr char kCalm[] = "calm";

struct OverloadPlan {
  int per_second = 0;
  double seconds = 0;
  int capacity = 0;
};

struct OverloadResult {
  double goodput = 0;  // durable ends a second while overloaded
  double bytes_before = 0;
  double bytes_most = 0;
  double drained_after = 0;  // seconds from the last fire to the last end
  double left = 0;           // runs without an end when patience was over
  int not_completed = 0;
  int repeated = 0;  // that took more than one attempt
  std::vector<double> calm_ms;
};

double Until(absl::Time time) {
  return absl::ToDoubleSeconds(time - absl::FromUnixMicros(WallMicros()));
}

// One overload on a database of its own.
class OverloadRun {
 public:
  OverloadRun(const BenchOptions& options, const BenchPostgres& postgres, const OverloadPlan& plan,
              const std::string& url)
      : options_(options), plan_(plan), sql_(url), world_(options, postgres, url) {}

  OverloadResult Run() {
    const double lead = 8 + plan_.per_second / 10000.0;
    first_ = absl::FromUnixSeconds(WallMicros() / 1'000'000 + static_cast<int64_t>(lead));
    last_ = first_ + absl::Seconds(plan_.seconds - 1);
    Load(kApp, plan_.per_second);
    Load(kCalm, 10);
    world_.StartScheduler();
    world_.StartExecutors(kApp, options_.executors, plan_.capacity / options_.executors);
    world_.StartExecutors(kCalm, 1, 64);
    if (Until(first_) < 0) world_.Die("the machine is too slow for this scale");
    BenchWait(Until(first_));
    result_.bytes_before = static_cast<double>(world_.SchedulerBytes());
    while (Until(last_) > 0) Look();
    result_.goodput = Ended(" AND status = 'COMPLETED'") / plan_.seconds;
    AwaitDrained();
    result_.calm_ms = LatenessMillis(world_.StopExecutors(kCalm));
    world_.KillScheduler();
    return result_;
  }

 private:
  // Each job is due each second: all of a second's fires at its beginning.
  void Load(const std::string& app, int count) {
    JobSpec spec = IntervalJob(app, first_, absl::Seconds(1));
    spec.schedule.start_at = first_;
    spec.schedule.end_at = last_;
    LoadJobs(sql_, {spec}, app, count);
  }

  void Look() {
    result_.bytes_most = std::max(result_.bytes_most, static_cast<double>(world_.SchedulerBytes()));
    BenchWait(0.5);
  }

  double Ended(const std::string& condition) {
    return sql_.Double("SELECT count(*) AS bench_poll FROM run_history WHERE app = 'over'" +
                       condition);
  }

  void AwaitDrained() {
    const double expected = plan_.per_second * plan_.seconds;
    const double patience = MonotonicSeconds() + 60 + plan_.seconds * 10;
    result_.left = expected - Ended("");
    while (result_.left > 0 && MonotonicSeconds() < patience) {
      Look();
      result_.left = expected - Ended("");
    }
    // What never drains is a figure, too.
    const std::string until =
        result_.left > 0 ? "tidemark_now()" : "(SELECT max(recorded_at) FROM run_history)";
    result_.drained_after = sql_.Double("SELECT extract(epoch FROM " + until + ")") -
                            absl::ToDoubleSeconds(last_ - absl::UnixEpoch());
    result_.not_completed = static_cast<int>(Ended(" AND status <> 'COMPLETED'"));
    result_.repeated = static_cast<int>(Ended(" AND attempt > 1"));
  }

  const BenchOptions& options_;
  const OverloadPlan& plan_;
  BenchSql sql_;
  BenchWorld world_;
  absl::Time first_;
  absl::Time last_;
  OverloadResult result_;
};

void ReportOverload(const OverloadPlan& plan, double capacity, const OverloadResult& result,
                    BenchReport& report) {
  report.Setting("seconds", plan.seconds);
  report.Setting("offered_per_second", plan.per_second);
  report.Figure("capacity", capacity, "1/s");
  report.Figure("goodput", result.goodput, "1/s");
  report.Figure("scheduler_resident_before", result.bytes_before / (1 << 20), "MiB");
  report.Figure("scheduler_resident_most", result.bytes_most / (1 << 20), "MiB");
  report.Figure("bytes_per_waiting_run",
                (result.bytes_most - result.bytes_before) /
                    std::max(1.0, (plan.per_second - result.goodput) * plan.seconds),
                "B");
  report.Figure("drained_after", result.drained_after, "s");
  report.Figure("left", result.left);
  report.Figure("not_completed", result.not_completed);
  report.Figure("more_than_one_attempt", result.repeated);
  ReportLateness(result.calm_ms, "other_app", report);
}

}  // namespace

BenchReport RunOverload(const BenchOptions& options, BenchPostgres& postgres) {
  BenchReport report("overload");
  FloodPlan flood;
  flood.runs = options.Sized(60000, 2000);
  flood.capacity = options.Sized(8192, 256);
  const double capacity = RunFlood(options, postgres, flood).per_second;
  OverloadPlan plan;
  plan.per_second = static_cast<int>(2 * capacity);
  plan.seconds = options.Seconds(60, 5);
  plan.capacity = options.capacity > 0 ? options.capacity * options.executors : flood.capacity;
  OverloadResult result;
  const std::string url = postgres.MakeDatabase("overload");
  {
    OverloadRun run(options, postgres, plan, url);
    result = run.Run();
  }
  postgres.DropDatabase("overload");
  ReportOverload(plan, capacity, result, report);
  report.GoalAtLeast("goodput / capacity", result.goodput / capacity, 0.9);
  report.GoalAtMost("lateness p99 of the other app, ms", Percentile(result.calm_ms, 0.99), 1000);
  report.GoalAtMost("runs that never ended", result.left, 0);
  report.GoalAtMost("seconds to drain / seconds of overload", result.drained_after / plan.seconds,
                    1.5);
  return report;
}

}  // namespace tidemark
