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
  int skipped = 0;
  std::vector<double> calm_ms;
};

OverloadResult Overload(const BenchOptions& options, BenchPostgres& postgres,
                        const OverloadPlan& plan) {
  OverloadResult result;
  const std::string url = postgres.MakeDatabase("overload");
  {
    BenchSql sql(url);
    const double lead = 8 + plan.per_second / 10000.0;
    const absl::Time first =
        absl::FromUnixSeconds(WallMicros() / 1'000'000 + static_cast<int64_t>(lead));
    const absl::Time last = first + absl::Seconds(plan.seconds - 1);
    // Each job is due each second: all of a second's fires at its beginning.
    JobSpec over = IntervalJob(kApp, first, absl::Seconds(1));
    over.schedule.start_at = first;
    over.schedule.end_at = last;
    LoadJobs(sql, {over}, kApp, plan.per_second);
    JobSpec calm = IntervalJob(kCalm, first, absl::Seconds(1));
    calm.schedule.start_at = first;
    calm.schedule.end_at = last;
    LoadJobs(sql, {calm}, kCalm, 10);
    BenchWorld world(options, postgres, url);
    world.StartScheduler();
    world.StartExecutors(kApp, options.executors, plan.capacity / options.executors);
    world.StartExecutors(kCalm, 1, 64);
    const auto until = [](absl::Time time) {
      return absl::ToDoubleSeconds(time - absl::FromUnixMicros(WallMicros()));
    };
    if (until(first) < 0) world.Die("the machine is too slow for this scale");
    BenchWait(until(first));
    result.bytes_before = static_cast<double>(world.SchedulerBytes());
    const std::string ended =
        "SELECT count(*) AS bench_poll FROM run_history WHERE status = 'COMPLETED'";
    const std::string mine = " AND app = 'over'";
    // While it fires, and until the backlog is gone.
    const auto look = [&] {
      result.bytes_most = std::max(result.bytes_most, static_cast<double>(world.SchedulerBytes()));
      BenchWait(0.5);
    };
    while (until(last) > 0) look();
    result.goodput = sql.Double(ended + mine) / plan.seconds;
    const std::string live = "SELECT count(*) AS bench_poll FROM active_run";
    const double patience = MonotonicSeconds() + 60 + plan.seconds * 10;
    const double expected = plan.per_second * plan.seconds;
    while (sql.Int(live) > 0 || sql.Double("SELECT count(*) AS bench_poll FROM run_history WHERE "
                                           "app = 'over'") < expected) {
      if (MonotonicSeconds() > patience) world.Die("the backlog does not drain");
      look();
    }
    result.drained_after =
        sql.Double("SELECT extract(epoch FROM max(recorded_at)) FROM run_history") -
        absl::ToDoubleSeconds(last - absl::UnixEpoch());
    result.skipped =
        static_cast<int>(sql.Int("SELECT count(*) FROM run_history WHERE status <> 'COMPLETED'"));
    result.calm_ms = LatenessMillis(world.StopExecutors(kCalm));
    world.KillScheduler();
  }
  postgres.DropDatabase("overload");
  return result;
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
  plan.capacity = flood.capacity;
  const OverloadResult result = Overload(options, postgres, plan);
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
  report.Figure("not_completed", result.skipped);
  ReportLateness(result.calm_ms, "other_app", report);
  report.GoalAtLeast("goodput / capacity", result.goodput / capacity, 0.9);
  report.GoalAtMost("lateness p99 of the other app, ms", Percentile(result.calm_ms, 0.99), 1000);
  report.GoalAtMost("seconds to drain / seconds of overload", result.drained_after / plan.seconds,
                    1.5);
  return report;
}

}  // namespace tidemark
