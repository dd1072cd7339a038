#include "tests/bench/hot/flood.h"

#include <algorithm>
#include <cstdio>

#include "absl/time/civil_time.h"
#include "common/time_text.h"
#include "tests/bench/hot/bench_clock.h"
#include "tests/bench/hot/bench_jobs.h"
#include "tests/bench/hot/bench_sql.h"

namespace tidemark {
namespace {

constexpr char kApp[] = "flood";
// When a run was made, from its id: its created_at is the instant that it was armed for.
const std::string kMadeAt =
    "to_timestamp(('x' || left(replace(run_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)";
constexpr double kQuiet = 3;  // seconds before the instant in which costs are already counted

absl::Time DatabaseNow(BenchSql& sql) {
  return absl::FromUnixMicros(
      sql.Int("SELECT (extract(epoch FROM tidemark_now()) * 1000000)::bigint"));
}

// One attempt. False: the programs were not ready in time; more lead is needed.
class FloodRun {
 public:
  FloodRun(const BenchOptions& options, BenchPostgres& postgres, const FloodPlan& plan,
           const std::string& url)
      : options_(options), plan_(plan), sql_(url), world_(options, postgres, url) {}

  bool Run(double lead, FloodResult* result) {
    Prepare(lead);
    world_.StartSchedulers(plan_.schedulers);
    const int all = plan_.capacity > 0 ? plan_.capacity : plan_.runs;
    const int each = options_.capacity > 0 ? options_.capacity
                                           : (all + options_.executors - 1) / options_.executors;
    world_.StartExecutors(kApp, options_.executors, each);
    expected_ = plan_.runs;
    if (plan_.check_load) {
      CheckLoaded(sql_, like_, "job", world_.address());
      ++expected_;  // it is due like the others
    }
    const double ahead = absl::ToDoubleSeconds(due_ - DatabaseNow(sql_));
    if (ahead < kQuiet) return false;
    BenchWait(ahead - kQuiet);
    Measure(result);
    return true;
  }

 private:
  // Jobs that are due in `lead` seconds.
  void Prepare(double lead) {
    const absl::Time now = DatabaseNow(sql_);
    if (plan_.dated) {
      const absl::Time tomorrow = absl::FromCivil(
          absl::CivilDay(absl::ToCivilDay(now, absl::UTCTimeZone())) + 1, absl::UTCTimeZone());
      due_ = tomorrow + absl::Hours(1);
      ahead_ = due_ - now - absl::Seconds(lead);
      MoveDatabaseClock(sql_, ahead_);
      like_ = DatedJob(kApp);
    } else {
      due_ = absl::FromUnixSeconds(absl::ToUnixSeconds(now + absl::Seconds(lead)) + 1);
      like_ = IntervalJob(kApp, due_, absl::Hours(24));
    }
    LoadJobs(sql_, {like_}, "job", plan_.runs);
    // Jobs that exist for a while: the night before is done.
    if (plan_.dated) LoadNightBefore(sql_, due_);
    since_ = sql_.Text(
        "SELECT overlay(lpad(to_hex((extract(epoch FROM tidemark_now()) * 1000)::bigint), 12, '0') "
        "PLACING '-' FROM 9 FOR 0) || '-7000-8000-000000000000'");
  }

  void Measure(FloodResult* result) {
    const CpuUse cpu = world_.Cpu();
    DatabaseMeter meter(sql_);
    BenchWait(absl::ToDoubleSeconds(due_ - DatabaseNow(sql_)));
    // Asking costs the database something, too: seldom.
    const double pause = std::clamp(plan_.runs / 200000.0, 0.02, 0.5);
    const double patience = MonotonicSeconds() + 120 + plan_.runs / 200.0;
    const std::string ended = "SELECT count(*) AS bench_poll FROM run_history WHERE " + New();
    bool drop = plan_.drop_partition;
    while (sql_.Int(ended) < expected_) {
      if (drop) sql_.Text("SELECT tidemark_drop_partition(400, 90) AS bench_poll");
      drop = false;
      if (MonotonicSeconds() > patience) {
        world_.Die("the runs do not end: " + sql_.Text(ended) + " of " +
                   std::to_string(plan_.runs));
      }
      BenchWait(pause);
    }
    result->cpu = world_.Cpu().Since(cpu);
    result->cost = meter.Read(plan_.flushes);
    if (plan_.statements) result->slowest = meter.Slowest(12);
    result->lateness_ms =
        LatenessMillis(world_.StopExecutors(kApp), absl::ToInt64Microseconds(ahead_));
    world_.StopSchedulers();
    Rate(result);
  }

  // Condition of rows that this flood made, by their ids, which are ordered by time and indexed:
  // counting millions of old ones would be a load of its own.
  std::string New() const { return "run_id > '" + since_ + "'"; }

  void Rate(FloodResult* result) {
    const std::string due = "to_timestamp(" + std::to_string(absl::ToUnixSeconds(due_)) + ")";
    const std::string mine = " FROM run_history WHERE " + New() + " AND fire_time = " + due;
    result->runs = static_cast<int>(
        sql_.Int("SELECT count(*)" + mine + " AND status = 'COMPLETED' AND failed_attempts = 0"));
    if (result->runs != expected_) {
      world_.Die("of " + std::to_string(expected_) + " runs only " + std::to_string(result->runs) +
                 " were completed, without a failure");
    }
    result->sent_again = sql_.Double("SELECT avg((attempt > 1)::int)" + mine);
    // Only nodes that do not know of each other's triggers find an executor full.
    if (plan_.schedulers == 1 && result->sent_again > 0) world_.Die("runs were sent again");
    result->seconds =
        sql_.Double("SELECT extract(epoch FROM max(recorded_at) - " + due + ")" + mine) +
        sql_.Double("SELECT coalesce(extract(epoch FROM max(" + kMadeAt + ") - min(" + kMadeAt +
                    ")), 0)" + mine + " AND " + kMadeAt + " < " + due);
    result->armed = sql_.Double("SELECT avg((" + kMadeAt + " < " + due + ")::int)" + mine);
    result->per_second = result->runs / result->seconds;
  }

  const BenchOptions& options_;
  const FloodPlan& plan_;
  BenchSql sql_;
  BenchWorld world_;
  JobSpec like_;
  absl::Time due_;
  absl::Duration ahead_;
  std::string since_;
  int expected_ = 0;
};

}  // namespace

FloodResult RunFlood(const BenchOptions& options, BenchPostgres& postgres, const FloodPlan& plan) {
  double lead = 6 + plan.runs / 10000.0;
  while (true) {
    FloodResult result;
    const std::string url = plan.url.empty() ? postgres.MakeDatabase("flood") : plan.url;
    bool done = false;
    {
      FloodRun run(options, postgres, plan, url);
      done = run.Run(lead, &result);
    }
    if (plan.url.empty()) {
      postgres.DropDatabase("flood");
    } else if (!done || !plan.keep_jobs) {
      BenchSql(url).Text("TRUNCATE job, job_version, job_cursor CASCADE");
    }
    if (done) return result;
    lead *= 2;
  }
}

void ReportLateness(const std::vector<double>& lateness_ms, const std::string& name,
                    BenchReport& report) {
  report.Figure(name + ".lateness_p50", Percentile(lateness_ms, 0.5), "ms");
  report.Figure(name + ".lateness_p99", Percentile(lateness_ms, 0.99), "ms");
  report.Figure(name + ".lateness_max", Percentile(lateness_ms, 1), "ms");
}

void ReportCosts(const FloodResult& flood, BenchReport& report) {
  const double thousands = flood.runs / 1000.0;
  report.Figure("runs", flood.runs);
  report.Figure("runs_per_second", flood.per_second, "1/s");
  report.Figure("armed_share", flood.armed);
  report.Figure("cpu_per_thousand", flood.cpu.total() / thousands, "s");
  report.Figure("cpu_per_thousand.scheduler", flood.cpu.scheduler / thousands, "s");
  report.Figure("cpu_per_thousand.postgres", flood.cpu.postgres / thousands, "s");
  report.Figure("cpu_per_thousand.executors", flood.cpu.executors / thousands, "s");
  report.Figure("commits_per_run", flood.cost.commits / flood.runs);
  report.Figure("statements_per_run", flood.cost.statements / flood.runs);
  report.Figure("wal_bytes_per_run", flood.cost.wal_bytes / flood.runs, "B");
  if (flood.cost.flushes >= 0) {
    report.Figure("flushes_per_run", flood.cost.flushes / flood.runs);
  }
}

}  // namespace tidemark
