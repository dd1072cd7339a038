// store_bench [RUNS] [BATCH] [WORD…]: what the database's half of a run costs. RUNS runs are opened
// with their executor chosen and closed, BATCH at a time, as a flooded engine does it: each flush
// closes one batch and opens the next. On a private PostgreSQL with fsync on. Words:
//   dated     runs of dates, with watermarks; else of intervals, with cursors
//   live=N    N more runs are live all the time
//   explain   the server's log gets the plan of the last flush, and its path is printed
//   baseline  the same number of runs by bare libpq (../baseline.sql) beside it
// Prints a table; gates nothing.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/id.h"
#include "common/status.h"
#include "scheduler/store/flush_writer.h"
#include "scheduler/store/lease.h"
#include "scheduler/store/snapshot.h"
#include "tests/bench/hot/baseline.h"
#include "tests/bench/hot/bench_clock.h"
#include "tests/bench/hot/bench_postgres.h"
#include "tests/bench/hot/bench_probes.h"
#include "tests/bench/hot/bench_sql.h"

namespace tidemark {
namespace {

constexpr int64_t kFirstJob = 1000000;
const Owner kOwner{"bench", "00000000-0000-7000-8000-000000000900"};

void Must(const absl::Status& status) {
  if (!status.ok()) BenchDie(Message(status));
}

class Flood {
 public:
  Flood(std::string url, int batch, bool dated)
      : batch_(batch), dated_(dated), ids_(SystemRandom()) {
    DatabaseOptions options;
    options.url = std::move(url);
    auto connection = Connection::Open(ForFlushes(options));
    Must(connection.status());
    connection_ = *std::move(connection);
    Must(RegisterNode(*connection_, {kOwner, "127.0.0.1:7400", "1", absl::Hours(1)}, true, "")
             .status());
    Must(ClaimShards(*connection_, kOwner).status());
  }

  // Each job fires once in a batch.
  static void AddJobs(BenchSql& sql, int count) {
    const std::string range =
        std::to_string(kFirstJob) + ", " + std::to_string(kFirstJob + count - 1);
    sql.Text(
        "INSERT INTO job (job_id, name, app, shard, version, created_at, updated_at) SELECT i, "
        "'bench-' || i, 'bench', i % 128, 1, tidemark_now(), tidemark_now() FROM generate_series(" +
        range + ") i");
    sql.Text(
        "INSERT INTO job_version (job_id, version, valid_from, spec) SELECT i, 1, tidemark_now(), "
        "json_build_object('name', 'bench-' || i, 'app', 'bench', 'handler', 'work-0', 'schedule', "
        "json_build_object('every', '900s', 'zone', 'UTC'), 'misfire', json_build_object('policy', "
        "'FIRE_ALL', 'cap', 10000))::text FROM generate_series(" +
        range + ") i");
    sql.Text("VACUUM ANALYZE job");
    sql.Text("VACUUM ANALYZE job_version");
  }

  // Opens `count` runs that stay open.
  void Keep(int count) {
    const int batch = batch_;
    for (int from = 0; from < count; from += batch) {
      batch_ = std::min(batch, count - from);
      Turn(true);
      open_.clear();
    }
    batch_ = batch;
  }

  // The server writes down how it carries out what takes any time.
  void Explain() {
    Must(connection_->Transact([](SqlTransaction& tx) -> absl::Status {
      for (const char* set :
           {"LOAD 'auto_explain'", "SET auto_explain.log_min_duration = 0",
            "SET auto_explain.log_analyze = on", "SET auto_explain.log_buffers = on"}) {
        TM_RETURN_IF_ERROR(tx.Run(set).status());
      }
      return absl::OkStatus();
    }));
  }

  // Closes what is open and opens another batch, or none.
  void Turn(bool open) {
    Flush flush;
    flush.seq = ++seq_;
    const absl::Time now = SystemClock().WallNow();
    for (ActiveRun& run : open_) End(std::move(run), now, &flush);
    open_.clear();
    for (int i = 0; open && i < batch_; ++i) {
      flush.opens.push_back({Run(i, now), ""});
      open_.push_back(flush.opens.back().run);
      if (!dated_) flush.cursors.push_back({kFirstJob + i, flush.opens.back().run.fire_time});
    }
    if (open) ++round_;
    FlushResult result;
    const double begin = MonotonicSeconds();
    Must(connection_->Transact([&](SqlTransaction& transaction) {
      return WriteFlush(transaction, kOwner, flush, {}, SystemRandom(), SystemClock(), &result);
    }));
    seconds_.push_back(MonotonicSeconds() - begin);
    if (result.opened.size() != flush.opens.size() || result.closed.size() != flush.closes.size()) {
      BenchDie("runs were lost");
    }
  }

  const std::vector<double>& seconds() const { return seconds_; }

 private:
  ActiveRun Run(int i, absl::Time now) {
    const int64_t job_id = kFirstJob + i;
    const absl::Time fire = absl::FromUnixSeconds(1796000000 + 900 * round_);
    ActiveRun run;
    if (dated_) {
      run.biz_date = absl::CivilDay(2020, 1, 1) + round_;
      run.occurrence = DateKey(job_id, *run.biz_date);
    } else {
      run.occurrence = FireKey(job_id, fire);
    }
    run.run_id = ids_.Next(now);
    run.shard = static_cast<int>(job_id % 128);
    run.ns = "default";
    run.job_name = "bench-" + std::to_string(job_id);
    run.app = "bench";
    run.handler = "work-0";
    run.job_version = 1;
    run.nominal = absl::ToCivilSecond(fire, absl::UTCTimeZone());
    run.fire_time = fire;
    run.attempt = 1;
    run.executor_id = "bench-executor-" + std::to_string(i % 4);
    run.registration = i % 4 + 1;
    run.executor_host = "bench-host";
    run.on_lost = OnLost::kRetry;
    run.epoch = {1, 7};
    run.created_at = now;
    run.sent_at = now;
    return run;
  }

  void End(ActiveRun run, absl::Time now, Flush* flush) const {
    run.status = RunStatus::kRunning;
    run.started_at = now;
    run.attempt_started_at = now;
    run.progress_percent = 100;
    AttemptEnd end;
    end.attempt = {run.run_id, 1};
    end.job_id = run.occurrence.job_id;
    end.executor_id = run.executor_id;
    end.registration = run.registration;
    end.executor_host = run.executor_host;
    end.sent_at = run.sent_at;
    end.started_at = now;
    end.ended_at = now;
    end.outcome = std::string(Name(Outcome::kSucceeded));
    flush->attempts.push_back(std::move(end));
    RunClose close;
    close.run_id = run.run_id;
    close.watermark = dated_ ? "DONE" : "";
    close.ended_at = now;
    close.run = std::move(run);
    flush->closes.push_back(std::move(close));
  }

  int batch_;
  const bool dated_;
  RunIdSource ids_;
  std::unique_ptr<Connection> connection_;
  std::vector<ActiveRun> open_;
  std::vector<double> seconds_;
  uint64_t seq_ = 0;
  int round_ = 0;
};

void PrintWal(BenchSql& sql, const std::string& from, int runs) {
  sql.Text("CREATE EXTENSION IF NOT EXISTS pg_walinspect WITH SCHEMA public");
  std::printf("WAL by record, bytes a run (records a run):\n");
  for (const std::string& row :
       sql.Rows("SELECT \"resource_manager/record_type\", round(combined_size / " +
                std::to_string(runs) + ".0, 1), round(count / " + std::to_string(runs) +
                ".0, 2), round(fpi_size / " + std::to_string(runs) +
                ".0, 1) FROM public.pg_get_wal_stats_till_end_of_wal('" + from +
                "', true) WHERE combined_size > 0 ORDER BY combined_size DESC LIMIT 14")) {
    std::printf("  %s\n", row.c_str());
  }
}

void PrintBaseline(BenchPostgres& postgres, int runs) {
  const BaselineResult baseline = RunBaseline(postgres, runs);
  std::printf("baseline: %.0f runs/s, %.0f B WAL a run, %.3f CPU ms a run\n", baseline.per_second,
              baseline.wal_per_run, baseline.cpu_per_thousand);
}

struct Options {
  int runs = 50000;
  int batch = 1024;
  int live = 0;
  bool dated = false;
  bool explain = false;
  bool baseline = false;
};

Options Parse(int argc, char** argv) {
  Options options;
  if (argc > 1) options.runs = std::atoi(argv[1]);
  if (argc > 2) options.batch = std::max(1, std::atoi(argv[2]));
  for (int i = 3; i < argc; ++i) {
    const std::string word = argv[i];
    options.dated = options.dated || word == "dated";
    options.explain = options.explain || word == "explain";
    options.baseline = options.baseline || word == "baseline";
    if (word.rfind("live=", 0) == 0) options.live = std::atoi(word.c_str() + 5);
  }
  return options;
}

void Measure(const Options& options, BenchPostgres& postgres, BenchSql& sql, Flood& flood) {
  const int rounds = std::max(1, options.runs / options.batch);
  const int runs = rounds * options.batch;
  const std::string lsn = sql.Text("SELECT pg_current_wal_insert_lsn()");
  DatabaseMeter meter(sql);
  const double cpu = CpuSeconds(getpid());
  const double server_cpu = PostgresCpuSeconds(postgres.pid());
  const double begin = MonotonicSeconds();
  for (int i = 0; i < rounds; ++i) flood.Turn(true);
  const double seconds = MonotonicSeconds() - begin;
  const double client_us = (CpuSeconds(getpid()) - cpu) / runs * 1e6;
  const double server_us = (PostgresCpuSeconds(postgres.pid()) - server_cpu) / runs * 1e6;
  const DatabaseCost cost = meter.Read(false);
  std::printf("%d %s runs, %d a flush: %.0f runs/s; CPU a run: client %.1f us, server %.1f us\n",
              runs, options.dated ? "dated" : "interval", options.batch, runs / seconds, client_us,
              server_us);
  std::printf("statements %.4f, commits %.4f, WAL %.0f B a run\n", cost.statements / runs,
              cost.commits / runs, cost.wal_bytes / runs);
  for (const std::string& line : meter.Slowest(4)) std::printf("  %s\n", line.c_str());
  PrintWal(sql, lsn, runs);
  std::printf("bytes a row: active_run %s, run_history %s\n",
              sql.Text("SELECT avg(pg_column_size(a.*))::int FROM active_run a").c_str(),
              sql.Text("SELECT avg(pg_column_size(h.*))::int FROM run_history h").c_str());
}

int Main(int argc, char** argv) {
  const Options options = Parse(argc, argv);
  BenchPostgres postgres;
  const std::string url = postgres.MakeDatabase("store_bench");
  BenchSql sql(url);
  Flood::AddJobs(sql, options.batch);
  Flood flood(url, options.batch, options.dated);
  flood.Keep(options.live);
  flood.Turn(true);  // first fires make the cursors
  sql.Text("CHECKPOINT");
  flood.Turn(true);
  Measure(options, postgres, sql, flood);
  if (options.baseline) PrintBaseline(postgres, options.runs);
  if (options.explain) {
    flood.Explain();
    flood.Turn(true);
    const std::string copy = "/tmp/store_bench.plan";
    std::filesystem::copy_file(postgres.folder() + "/server.log", copy,
                               std::filesystem::copy_options::overwrite_existing);
    std::printf("plan: %s\n", copy.c_str());
  }
  return 0;
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) { return tidemark::Main(argc, argv); }
