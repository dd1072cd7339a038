// history: whether millions of finished runs change what a new one costs, and the operator's pages.
#include <grpcpp/grpcpp.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/hot/bench_clock.h"
#include "tests/bench/hot/bench_jobs.h"
#include "tests/bench/hot/bench_probes.h"
#include "tests/bench/hot/bench_sql.h"
#include "tests/bench/hot/bench_world.h"
#include "tests/bench/hot/flood.h"
#include "tests/bench/hot/scenario.h"
#include "tidemark/v1/operator.grpc.pb.h"

namespace tidemark {
namespace {

constexpr int64_t kBytesPerRun = 1200;  // of history, attempt and their indexes; measured

// `runs` finished runs of 1,000 dated jobs over the last days, with their attempts, in one month's
// partition as a scheduler makes it; and a month that is older than any retention.
void FillHistory(BenchSql& sql, int64_t runs) {
  sql.Text(
      "SELECT tidemark_ensure_partitions();"
      "CREATE TABLE run_history_200001 PARTITION OF run_history "
      "  FOR VALUES FROM ('2000-01-01 00:00+00') TO ('2000-02-01 00:00+00')");
  constexpr int64_t kPiece = 250000;
  for (int64_t from = 0; from < runs; from += kPiece) {
    const std::string until = std::to_string(std::min(runs, from + kPiece) - 1);
    const std::string range =
        "generate_series(" + std::to_string(from) + "::bigint, " + until + ") i";
    const std::string id = "('01900000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid";
    // The current month, so that new rows go into the same partition and indexes.
    const std::string when =
        "greatest(date_trunc('month', tidemark_now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC', "
        "tidemark_now() - interval '1 day') + i * interval '1 microsecond'";
    sql.Text("INSERT INTO run_history SELECT " + when + ", " + id +
             ", 1 + i % 1000, 'D', (date '2000-01-01' + (i / 1000)::int)::text, 'default', "
             "'old-' || i % 1000, 'old', 'work-0', 1, date '2000-01-01' + (i / 1000)::int, "
             "tidemark_now()::timestamp, tidemark_now(), 'SCHEDULE', '', '', '', '', NULL, '', "
             "CASE WHEN i % 1000 = 7 THEN 'FAILED' ELSE 'COMPLETED' END, '', 1, 0, 0, 'old-0', 1, "
             "'bench:1', 1, 1, -1, '', '', '', 1, 'digest', tidemark_now(), tidemark_now(), "
             "tidemark_now(), NULL FROM " +
             range);
    sql.Text("INSERT INTO run_attempt SELECT " + when + ", " + id +
             ", 1, 1 + i % 1000, 'old-0', 1, 'bench:1', tidemark_now(), tidemark_now(), "
             "tidemark_now(), 'SUCCEEDED', '' FROM " +
             range);
  }
  sql.Text("VACUUM ANALYZE run_history");
  sql.Text("VACUUM ANALYZE run_attempt");
}

double MedianMillis(const std::function<grpc::Status(grpc::ClientContext*)>& call) {
  std::vector<double> samples;
  for (int i = 0; i < 21; ++i) {
    grpc::ClientContext context;
    const double begin = MonotonicSeconds();
    const grpc::Status status = call(&context);
    if (!status.ok()) BenchDie("page: " + status.error_message());
    samples.push_back((MonotonicSeconds() - begin) * 1000);
  }
  return Percentile(samples, 0.5);
}

// A job with a ledger of a year of DONE dates.
void MakeLedger(BenchSql& sql) {
  LoadJobs(sql, {DatedJob("old")}, "paged", 1);
  sql.Text(
      "UPDATE job SET ledger_from = current_date - 366, created_at = created_at - interval '367 "
      "days' WHERE name = 'paged-0';"
      "UPDATE job_version SET valid_from = valid_from - interval '367 days' WHERE job_id = (SELECT "
      "job_id FROM job WHERE name = 'paged-0');"
      "INSERT INTO job_watermark (job_name, biz_date, status, job_id, updated_at) "
      "SELECT 'paged-0', current_date - d, 'DONE', job_id, tidemark_now() "
      "FROM job, generate_series(1, 366) d WHERE name = 'paged-0'");
}

// The pages that an operator opens, on a database with history; milliseconds of the slowest.
double MeasurePages(const BenchOptions& options, const BenchPostgres& postgres,
                    const std::string& url, BenchReport& report) {
  BenchWorld world(options, postgres, url);
  world.StartScheduler();
  const auto stub = v1::OperatorService::NewStub(
      grpc::CreateChannel(world.address(), grpc::InsecureChannelCredentials()));
  const auto runs = [&](const std::string& job, bool failed) {
    return MedianMillis([&](grpc::ClientContext* context) {
      v1::ListRunsRequest request;
      request.set_job(job);
      if (failed) request.add_statuses(v1::FAILED);
      v1::ListRunsResponse response;
      return stub->ListRuns(context, request, &response);
    });
  };
  const double of_job = runs("job-0", false);
  const double by_status = runs("", true);
  const double latest = runs("", false);
  const double ledger = MedianMillis([&](grpc::ClientContext* context) {
    v1::ListWatermarksRequest request;
    request.set_job("paged-0");
    v1::ListWatermarksResponse response;
    return stub->ListWatermarks(context, request, &response);
  });
  report.Figure("page.runs_of_a_job", of_job, "ms");
  report.Figure("page.failed_runs", by_status, "ms");
  report.Figure("page.latest_runs", latest, "ms");
  report.Figure("page.ledger", ledger, "ms");
  world.StopSchedulers();
  return std::max({of_job, by_status, latest, ledger});
}

}  // namespace

BenchReport RunHistory(const BenchOptions& options, BenchPostgres& postgres) {
  BenchReport report("history");
  FloodPlan plan;
  plan.runs = options.Sized(100000, 1000);
  plan.capacity = options.Sized(8192, 256);
  int64_t kept = options.Sized(5000000, 10000);
  if (options.big_history > 5) kept = options.big_history * int64_t{1000000};
  report.Setting("runs", plan.runs);
  report.Setting("kept_runs", static_cast<double>(kept));
  if (FreeDiskBytes(postgres.folder()) < 2 * kept * kBytesPerRun) {
    BenchDie("history: not enough free disk for " + std::to_string(kept) + " runs");
  }
  const FloodResult without = RunFlood(options, postgres, plan);
  const std::string url = postgres.MakeDatabase("history");
  double pages = 0;
  bool dropped = false;
  {
    BenchSql sql(url);
    FillHistory(sql, kept);
    plan.url = url;
    plan.keep_jobs = true;  // for the pages
    plan.drop_partition = true;
  }
  const FloodResult with = RunFlood(options, postgres, plan);
  {
    BenchSql sql(url);
    dropped = sql.Text("SELECT to_regclass('run_history_200001') IS NULL") == "t";
    MakeLedger(sql);
    pages = MeasurePages(options, postgres, url, report);
  }
  postgres.DropDatabase("history");
  for (const auto& [name, flood] : {std::pair("without", &without), std::pair("with", &with)}) {
    report.Figure(std::string(name) + ".runs_per_second", flood->per_second, "1/s");
    report.Figure(std::string(name) + ".cpu_per_thousand", flood->cpu.total() / flood->runs * 1000,
                  "s");
  }
  report.GoalAtLeast("drain with / without history", with.per_second / without.per_second, 0.95);
  report.GoalAtMost("slowest page, ms", pages, 50);
  report.GoalAtLeast("an old partition was dropped while runs drained", dropped ? 1 : 0, 1);
  return report;
}

}  // namespace tidemark
