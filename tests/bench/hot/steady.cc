// steady: what a fire costs with few and with very many registered jobs, all of which take part.
#include <string>
#include <vector>

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
  double idle = 0;     // seconds before the first fire
  double seconds = 0;  // of fires
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
  std::vector<JobSpec> likes;
  for (int i = 0; i < period; ++i) {
    likes.push_back(IntervalJob(kApp, first + absl::Seconds(i), absl::Seconds(period)));
    likes.back().schedule.start_at = first;
  }
  LoadJobs(sql, likes, "steady", plan.jobs);
}

double Until(absl::Time time) {
  return absl::ToDoubleSeconds(time - absl::FromUnixMicros(WallMicros()));
}

void MeasureFires(BenchWorld& world, BenchSql& sql, const SteadyPlan& plan, SteadyResult* result) {
  const std::string ended = "SELECT count(*) AS bench_poll FROM run_history";
  const CpuUse cpu = world.Cpu();
  const int64_t before = sql.Int(ended);
  BenchWait(plan.seconds);
  result->fires = static_cast<double>(sql.Int(ended) - before);
  if (result->fires == 0) world.Die("nothing fires");
  result->cpu = world.Cpu().Since(cpu);
  result->cpu_per_fire_us = result->cpu.total() / result->fires * 1e6;
}

// First fires come `lead` seconds and the idle time from now. Returns the seconds that were needed
// until the scheduler was ready; more than `lead`: nothing was measured.
double Try(const BenchOptions& options, BenchPostgres& postgres, const SteadyPlan& plan,
           double lead, SteadyResult* result) {
  const double begin = MonotonicSeconds();
  const std::string url = postgres.MakeDatabase("steady");
  double needed = 0;
  {
    BenchSql sql(url);
    const absl::Time first = absl::FromUnixSeconds(WallMicros() / 1'000'000 +
                                                   static_cast<int64_t>(lead + plan.idle) + 1);
    LoadInTurn(sql, plan, first);
    BenchWorld world(options, postgres, url);
    world.StartScheduler();
    // Executors are let in by a term that has read its jobs.
    world.StartExecutors(kApp, 2, plan.per_second);
    needed = MonotonicSeconds() - begin;
    if (needed <= lead) {
      BenchWait(Until(first) - plan.idle);
      DatabaseMeter quiet(sql);
      BenchWait(plan.idle - 2);
      result->idle_statements = quiet.Read(false).statements / (plan.idle - 2);
      result->bytes = static_cast<double>(world.SchedulerBytes());
      BenchWait(Until(first) + 2.5);
      MeasureFires(world, sql, plan, result);
      result->lateness_p99 = Percentile(LatenessMillis(world.StopExecutors(kApp)), 0.99);
    }
    world.KillScheduler();
  }
  postgres.DropDatabase("steady");
  return needed;
}

SteadyResult Measure(const BenchOptions& options, BenchPostgres& postgres, const SteadyPlan& plan,
                     BenchReport& report) {
  SteadyResult result;
  double lead = 8 + plan.jobs / 15000.0;
  while (true) {
    const double needed = Try(options, postgres, plan, lead, &result);
    if (needed <= lead) break;
    lead = needed * 1.5;
  }
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
  plan.seconds = options.Seconds(60, 6);
  plan.idle = options.Seconds(22, 7);
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
