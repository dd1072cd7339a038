// flush_bench [RUNS [BATCH]]: what a run costs the database, written as the scheduler writes it in
// a flood: one flush opens a batch, another ends it. Prints runs a second, WAL bytes and statements
// a run; gates nothing. Makes its own PostgreSQL.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/id.h"
#include "common/status.h"
#include "scheduler/store/flush_writer.h"
#include "scheduler/store/lease.h"
#include "tests/support/migrated_database.h"

namespace tidemark {
namespace {

void Must(const absl::Status& status) {
  if (status.ok()) return;
  std::printf("%s\n", Message(status).c_str());
  std::exit(1);
}

class FlushBench {
 public:
  FlushBench() : connection_(database_.Connect()) {
    const NodeFacts node{owner_, "127.0.0.1:7400", "1", absl::Hours(1)};
    Must(RegisterNode(*connection_, node, true, "").status());
    Must(ClaimShards(*connection_, owner_).status());
    database_.Sql(
        "INSERT INTO job (job_id, name, app, shard, version, created_at, updated_at) "
        "SELECT i, 'job-' || i, 'app', i % 128, 1, tidemark_now(), tidemark_now() "
        "FROM generate_series(1, $1::bigint) i",
        {ToParam(kJobs)});
  }

  void Measure(int runs, int batch) {
    const absl::Duration begin = SystemClock().Monotonic();
    const std::string wal = database_.Sql("SELECT pg_current_wal_insert_lsn()");
    absl::Duration opening;
    for (int done = 0; done < runs; done += batch) {
      const std::vector<ActiveRun> made = Make(std::min(batch, runs - done));
      const absl::Duration before = SystemClock().Monotonic();
      Commit(Opens(made));
      opening += SystemClock().Monotonic() - before;
      Commit(Closes(made));
    }
    const double seconds = absl::ToDoubleSeconds(SystemClock().Monotonic() - begin);
    const std::string bytes =
        database_.Sql("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1::pg_lsn)", {wal});
    std::printf("%8d %8d %12.0f %12.1f %12.1f %12.0f\n", runs, batch, runs / seconds,
                1e6 * absl::ToDoubleSeconds(opening) / runs,
                1e6 * (seconds - absl::ToDoubleSeconds(opening)) / runs,
                std::atof(bytes.c_str()) / runs);
  }

 private:
  static constexpr int kJobs = 10000;

  std::vector<ActiveRun> Make(int count) {
    std::vector<ActiveRun> runs;
    const absl::Time now = SystemClock().WallNow();
    for (int i = 0; i < count; ++i) {
      const int64_t job_id = 1 + next_ % kJobs;
      const absl::Time fire = absl::FromUnixSeconds(1'900'000'000 + 60 * (next_ / kJobs));
      ++next_;
      ActiveRun run;
      run.occurrence = FireKey(job_id, fire);
      run.run_id = ids_.Next(now);
      run.shard = static_cast<int>(job_id % 128);
      run.ns = "default";
      run.job_name = "job-" + std::to_string(job_id);
      run.app = "app";
      run.handler = "work";
      run.job_version = 1;
      run.nominal = absl::ToCivilSecond(fire, absl::UTCTimeZone());
      run.fire_time = fire;
      run.attempt = 1;
      run.executor_id = "executor-1";
      run.registration = 1;
      run.executor_host = "host.example";
      run.on_lost = OnLost::kRetry;
      run.epoch = {1, 1};
      run.created_at = now;
      run.sent_at = now;
      runs.push_back(std::move(run));
    }
    return runs;
  }

  static Flush Opens(const std::vector<ActiveRun>& runs) {
    Flush flush;
    for (const ActiveRun& run : runs) {
      flush.opens.push_back({run, ""});
      flush.cursors.push_back({run.occurrence.job_id, run.fire_time});
    }
    return flush;
  }

  static Flush Closes(const std::vector<ActiveRun>& runs) {
    Flush flush;
    const absl::Time now = SystemClock().WallNow();
    for (const ActiveRun& run : runs) {
      RunClose close;
      close.run_id = run.run_id;
      close.run = run;
      close.run.started_at = now;
      close.run.progress_percent = 100;
      close.ended_at = now;
      flush.closes.push_back(std::move(close));
      AttemptEnd end;
      end.attempt = {run.run_id, run.attempt};
      end.job_id = run.occurrence.job_id;
      end.executor_id = run.executor_id;
      end.registration = run.registration;
      end.executor_host = run.executor_host;
      end.sent_at = run.sent_at;
      end.started_at = now;
      end.ended_at = now;
      end.outcome = std::string(Name(Outcome::kSucceeded));
      flush.attempts.push_back(std::move(end));
    }
    return flush;
  }

  void Commit(Flush flush) {
    flush.seq = ++seq_;
    FlushResult result;
    Must(connection_->Transact([&](SqlTransaction& transaction) -> absl::Status {
      TM_RETURN_IF_ERROR(HoldFence(transaction, owner_).status());
      return WriteFlush(transaction, owner_, flush, {}, random_, SystemClock(), &result);
    }));
  }

  MigratedDatabase database_;
  std::unique_ptr<Connection> connection_;
  SeededRandom random_{7};
  RunIdSource ids_{random_};
  Owner owner_{"node-a", NewUuid(absl::FromUnixSeconds(1'900'000'000), random_)};
  uint64_t seq_ = 0;
  int next_ = 0;
};

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 100000;
  std::printf("%8s %8s %12s %12s %12s %12s\n", "runs", "batch", "runs/s", "open us", "close us",
              "WAL bytes");
  tidemark::FlushBench bench;
  if (argc > 2) {
    bench.Measure(runs, std::atoi(argv[2]));
    return 0;
  }
  for (const int batch : {1024, 1024, 4096, 256}) bench.Measure(runs, batch);
  return 0;
}
