// steady: what a fire costs with few and with very many registered jobs, all of which take part.
#include <string>

#include "tests/bench/hot/bench_clock.h"
#include "tests/bench/hot/bench_jobs.h"
#include "tests/bench/hot/bench_probes.h"
#include "tests/bench/hot/bench_sql.h"
#include "tests/bench/hot/bench_world.h"
#include "tests/bench/hot/flood.h"
#include "tests/bench/hot/scenario.h"

namespace tidemark {
namespace {

constexpr char kApp[] = "steady";

struct SteadyPlan {
  int jobs = 0;
  int per_second = 0;
  double seconds = 0;  // of fires, and before them a third of it idle
};

struct SteadyResult {
  double fires = 0;
  double cpu_per_fire_us = 0;
  CpuUse cpu;
  double bytes = 0;            // resident, idle, after the start
  double idle_statements = 0;  // a second
  double lateness_p99 = 0;
};

// Fires of `per_second` jobs fall on each second, each job's in turn, from `first` on.
void LoadInTurn(BenchSql& sql, const SteadyPlan& plan, absl::Time first) {
  const int period = plan.jobs / plan.per_second;
  for (int i = 0; i < period; ++i) {
    JobSpec spec = IntervalJob(kApp, first + absl::Seconds(i), absl::Seconds(period));
    spec.schedule.start_at = first;
    LoadJobs(sql, spec, "steady-" + std::to_string(i), plan.per_second);
  }
  sql.Text("ANALYZE job; ANALYZE job_version");
}

// False: the scheduler was not ready in time.
bool Try(const BenchOptions& options, BenchPostgres& postgres, const SteadyPlan& plan, double lead,
         SteadyResult* result) {
  const std::string url = postgres.MakeDatabase("steady");
  bool ready = false;
  {
    BenchSql sql(url);
    const double idle = plan.seconds / 3;
    const absl::Time first =
        absl::FromUnixSeconds(WallMicros() / 1'000'000 + static_cast<int64_t>(lead + idle));
    LoadInTurn(sql, plan, first);
    BenchWorld world(options, postgres, url);
    world.StartScheduler();
    world.StartExecutors(kApp, 2, plan.per_second);
    // Registered means loaded: executors are let in by a term that has read its jobs.
    const double until_first = absl::ToDoubleSeconds(first - absl::FromUnixMicros(WallMicros()));
    ready = until_first >= idle;
    if (ready) {
      BenchWait(until_first - idle);
      DatabaseMeter quiet(sql);
      BenchWait(idle - 2);
      result->idle_statements = quiet.Read(false).statements / (idle - 2);
      result->bytes = static_cast<double>(world.SchedulerBytes());
      BenchWait(absl::ToDoubleSeconds(first - absl::FromUnixMicros(WallMicros())) + 2.5);
      const CpuUse cpu = world.Cpu();
      const int64_t before = sql.Int("SELECT count(*) AS bench_poll FROM run_history");
      BenchWait(plan.seconds);
      result->fires =
          static_cast<double>(sql.Int("SELECT count(*) AS bench_poll FROM run_history") - before);
      result->cpu = world.Cpu().Since(cpu);
      result->cpu_per_fire_us = result->cpu.total() / result->fires * 1e6;
      result->lateness_p99 = Percentile(LatenessMillis(world.StopExecutors(kApp)), 0.99);
    }
    world.KillScheduler();
  }
  postgres.DropDatabase("steady");
  return ready;
}

SteadyResult Measure(const BenchOptions& options, BenchPostgres& postgres, const SteadyPlan& plan,
                     BenchReport& report) {
  SteadyResult result;
  double lead = 8 + plan.jobs / 15000.0;
  while (!Try(options, postgres, plan, lead, &result)) lead *= 2;
  const std::string name = std::to_string(plan.jobs);
  report.Figure(name + ".fires_per_second", result.fires / plan.seconds, "1/s");
  report.Figure(name + ".cpu_per_fire", result.cpu_per_fire_us, "us");
  report.Figure(name + ".cpu_per_fire.scheduler", result.cpu.scheduler / result.fires * 1e6, "us");
  report.Figure(name + ".cpu_per_fire.postgres", result.cpu.postgres / result.fires * 1e6, "us");
  report.Figure(name + ".cpu_per_fire.executors", result.cpu.executors / result.fires * 1e6, "us");
  report.Figure(name + ".scheduler_resident", result.bytes / (1 << 20), "MiB");
  report.Figure(name + ".idle_statements_per_second", result.idle_statements, "1/s");
  report.Figure(name + ".lateness_p99", result.lateness_p99, "ms");
  return result;
}

}  // namespace

BenchReport RunSteady(const BenchOptions& options, BenchPostgres& postgres) {
  BenchReport report("steady");
  SteadyPlan plan;
  plan.per_second = options.Sized(1000, 100);
  plan.seconds = options.Seconds(60, 9);
  report.Setting("fires_per_second", plan.per_second);
  report.Setting("seconds", plan.seconds);
  SteadyResult first;
  SteadyResult last;
  int first_jobs = 0;
  for (const int registered : {1, 100, 1000}) {
    plan.jobs = registered * plan.per_second;
    const SteadyResult result = Measure(options, postgres, plan, report);
    if (registered == 1) {
      first = result;
      first_jobs = plan.jobs;
    }
    last = result;
  }
  const double bytes = (last.bytes - first.bytes) / (plan.jobs - first_jobs);
  const double strings = std::to_string(plan.jobs).size() + sizeof "steady-999-" - 1;
  report.Figure("resident_bytes_per_job", bytes, "B");
  report.GoalAtMost("CPU a fire, most / fewest jobs", last.cpu_per_fire_us / first.cpu_per_fire_us,
                    1.2);
  report.GoalAtMost("resident bytes a job (200 + its name)", bytes, 200 + strings);
  report.GoalAtMost("idle statements a second, most / fewest jobs",
                    last.idle_statements / first.idle_statements, 1.2);
  return report;
}

}  // namespace tidemark
