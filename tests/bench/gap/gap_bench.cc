// gap_bench [JOBS [MISSING]]: what planning the catch-up of all jobs costs at a scheduler's start,
// with more and more dates that are DONE. Prints a table; gates nothing. Makes its own PostgreSQL.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/id.h"
#include "scheduler/engine/engine.h"
#include "scheduler/store/ledger_reader.h"
#include "tests/support/migrated_database.h"

namespace tidemark {
namespace {

constexpr int kDone[] = {0, 30, 120, 365};
const absl::CivilDay kToday(2026, 11, 29);

JobSpec Daily() {
  JobSpec spec;
  spec.name = "job";
  spec.app = "app";
  spec.handler = "work";
  spec.schedule.cron = "0 0 1 * * ?";
  spec.schedule.zone = "Asia/Shanghai";
  return spec;
}

// `jobs` jobs with `done` DONE dates and then `missing` ones without a row, all noted.
void Fill(MigratedDatabase& database, int jobs, int done, int missing) {
  const std::string last = *ToParam(kToday - 1);
  database.Sql(
      "INSERT INTO job (job_id, name, app, shard, version, created_at, updated_at, due_until) "
      "SELECT i, 'job' || i, 'app', i % 128, 1, tidemark_now(), tidemark_now(), $2::date "
      "FROM generate_series(1, $1::bigint) i",
      {ToParam(jobs), last});
  database.Sql("ALTER TABLE job_watermark DISABLE TRIGGER job_watermark_due_inserted");
  // In pieces: a statement has a time limit.
  constexpr int kPiece = 100;
  for (int first = 1; first <= jobs; first += kPiece) {
    const int until = std::min(jobs, first + kPiece - 1);
    database.Sql(
        "INSERT INTO due_date SELECT i, $2::date - d, $2::date - d + interval '17 hours', d >= $4 "
        "FROM generate_series($5::bigint, $1::bigint) i, "
        "generate_series(0, $3::int + $4::int - 1) d",
        {ToParam(until), last, ToParam(done), ToParam(missing), ToParam(first)});
    database.Sql(
        "INSERT INTO job_watermark (job_name, biz_date, status, job_id, updated_at) "
        "SELECT 'job' || i, $2::date - d, 'DONE', i, tidemark_now() "
        "FROM generate_series($5::bigint, $1::bigint) i, "
        "generate_series($4::int, $3::int + $4::int - 1) d",
        {ToParam(until), last, ToParam(done), ToParam(missing), ToParam(first)});
  }
  database.Sql("ALTER TABLE job_watermark ENABLE TRIGGER job_watermark_due_inserted");
  for (const char* table : {"job", "due_date", "job_watermark"}) {
    database.Sql("ANALYZE " + std::string(table));
  }
}

Snapshot Load(int jobs, int done, int missing, absl::Time now) {
  Snapshot snapshot;
  for (int shard = 0; shard < kShards; ++shard) snapshot.shards[shard] = {1, 1};
  for (int i = 1; i <= jobs; ++i) {
    JobRow job;
    job.job_id = i;
    job.name = "job" + std::to_string(i);
    job.app = "app";
    job.shard = i % kShards;
    job.version = 1;
    job.ledger_from = kToday - done - missing;
    job.due_until = kToday - 1;
    job.created_at = now - absl::Hours(24 * 1000);
    job.versions.push_back({1, job.created_at, "spec"});
    snapshot.jobs.push_back(std::move(job));
  }
  return snapshot;
}

void Measure(int jobs, int done, int missing) {
  MigratedDatabase database;
  Fill(database, jobs, done, missing);
  const std::unique_ptr<Connection> connection = database.Connect();
  Clock& clock = SystemClock();
  SeededRandom random(7);
  const absl::Time now = absl::FromCivil(absl::CivilSecond(kToday) + 4 * 3600, absl::UTCTimeZone());
  Engine engine({[](const std::string&) -> absl::StatusOr<JobSpec> { return Daily(); },
                 [](const std::string&) { return std::map<std::string, std::string>(); }},
                random);
  Snapshot snapshot = Load(jobs, done, missing, now);
  const absl::Duration begin = clock.Monotonic();
  engine.TermStarted({begin, now, now}, std::move(snapshot));
  Effects effects = engine.TakeEffects();
  const absl::Duration asked = clock.Monotonic();
  const size_t questions = effects.queries.size();  // one statement answers them all
  const auto results = ReadLedger(*connection, effects.queries);
  if (!results.ok()) {
    std::printf("the ledger could not be read: %s\n", results.status().ToString().c_str());
    std::exit(1);
  }
  const absl::Duration read = clock.Monotonic();
  size_t dates = 0;
  for (const LedgerResult& result : *results) {
    dates += result.entries.size();
    engine.Ledger({read, now, now}, result);
  }
  effects = engine.TakeEffects();
  const absl::Duration planned = clock.Monotonic();
  const size_t opened = effects.flush.has_value() ? effects.flush->opens.size() : 0;
  std::printf("%10d %10zu %10zu %10zu %12.0f %12.0f %12.0f\n", done, dates, questions, opened,
              absl::ToDoubleMilliseconds(asked - begin), absl::ToDoubleMilliseconds(read - asked),
              absl::ToDoubleMilliseconds(planned - read));
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  const int jobs = argc > 1 ? std::atoi(argv[1]) : 10000;
  const int missing = argc > 2 ? std::atoi(argv[2]) : 30;
  std::printf("%d jobs, %d dates missing in each\n", jobs, missing);
  std::printf("%10s %10s %10s %10s %12s %12s %12s\n", "DONE/job", "answered", "questions", "opened",
              "ask ms", "read ms", "plan ms");
  for (const int done : tidemark::kDone) tidemark::Measure(jobs, done, missing);
  return 0;
}
