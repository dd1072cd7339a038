// start: from the start of the process to the first fire, beside reading the same columns raw.
#include <string>

#include "tests/bench/hot/bench_clock.h"
#include "tests/bench/hot/bench_jobs.h"
#include "tests/bench/hot/bench_probes.h"
#include "tests/bench/hot/bench_sql.h"
#include "tests/bench/hot/bench_world.h"
#include "tests/bench/hot/scenario.h"

namespace tidemark {
namespace {

// What a new owner must know of its jobs, in two statements (as scheduler/store reads it, without
// pages).
double RawSelectSeconds(BenchSql& sql) {
  const double begin = MonotonicSeconds();
  sql.Text(
      "SELECT j.job_id, j.name, j.namespace, j.app, j.shard, j.version, j.paused, j.finished, "
      "j.deleted_at IS NOT NULL, j.error, j.ledger_from, j.created_at, c.last_fire, j.due_until, "
      "j.check_from, j.checked_until, j.paused_at, j.pause_reason, j.paused_by "
      "FROM job j LEFT JOIN job_cursor c ON c.job_id = j.job_id WHERE j.deleted_at IS NULL "
      "ORDER BY j.job_id");
  sql.Text(
      "SELECT v.job_id, v.version, v.valid_from, v.spec, v.calendar FROM job_version v "
      "ORDER BY v.job_id, v.version");
  return MonotonicSeconds() - begin;
}

// From the start of the process to the first run that it records.
double StartSeconds(const BenchOptions& options, BenchPostgres& postgres, const std::string& url,
                    BenchSql& sql, double* resident) {
  sql.Text("TRUNCATE active_run, run_history");
  BenchWorld world(options, postgres, url);
  const double begin = static_cast<double>(WallMicros()) * 1e-6;
  world.StartScheduler();
  const std::string first =
      "SELECT coalesce(extract(epoch FROM min(created_at)), 0) AS bench_poll FROM run";
  if (!WaitFor([&] { return sql.Double(first) > 0; }, absl::Seconds(600))) {
    world.Die("nothing fires");
  }
  const double seconds = sql.Double(first) - begin;
  *resident = static_cast<double>(world.SchedulerBytes());
  world.StopSchedulers();
  return seconds;
}

}  // namespace

BenchReport RunStart(const BenchOptions& options, BenchPostgres& postgres) {
  BenchReport report("start");
  const int jobs = options.Sized(1000000, 1000);
  report.Setting("jobs", jobs);
  const std::string url = postgres.MakeDatabase("start");
  {
    BenchSql sql(url);
    // One of them is due each second and has missed some by the time of the start: its first run is
    // recorded as soon as the start allows it, not at the next full second.
    LoadJobs(sql, {IntervalJob("start", absl::UnixEpoch(), absl::Seconds(1))}, "first", 1);
    const absl::Time later = absl::FromUnixMicros(WallMicros()) + absl::Hours(20);
    LoadJobs(
        sql,
        {IntervalJob("start", absl::FromUnixSeconds(absl::ToUnixSeconds(later)), absl::Hours(24))},
        "job", jobs - 1);
  }
  double start = 0;
  double raw = 0;
  double resident = 0;
  {
    BenchSql sql(url);
    // The second of two each: files and caches are warm for both sides.
    for (int round = 0; round < 2; ++round) {
      raw = RawSelectSeconds(sql);
      start = StartSeconds(options, postgres, url, sql, &resident);
    }
  }
  postgres.DropDatabase("start");
  report.Figure("start_to_first_fire", start, "s");
  report.Figure("raw_select", raw, "s");
  report.Figure("scheduler_resident", resident / (1 << 20), "MiB");
  report.GoalAtMost("start / raw SELECT", start / raw, 4);
  return report;
}

}  // namespace tidemark
