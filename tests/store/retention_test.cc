// History that ages out, and the questions that stay quick over what is kept.
#include "scheduler/store/retention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/status.h"
#include "scheduler/store/operator_store.h"
#include "tests/store/flush_fixture.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kJob = 100;

class RetentionTest : public FlushTest {
 protected:
  RetentionTest() {
    InsertJob(database_, kJob, "recon");
    SetNow("2026-11-15T12:00:00Z");
    MakePartitions(13);
  }

  // The time of every statement from here on.
  void SetNow(const std::string& instant) {
    database_.Sql(
        "CREATE OR REPLACE FUNCTION tidemark_now() RETURNS timestamptz LANGUAGE sql"
        " VOLATILE PARALLEL SAFE AS $$ SELECT '" +
        instant + "'::timestamptz $$");
  }
  // As if the scheduler had been there since so many months before 2026-11.
  void MakePartitions(int months) {
    for (const char* parent : {"run_history", "run_attempt", "run_log"}) {
      for (int back = months; back >= 0; --back) {
        const absl::CivilMonth month = absl::CivilMonth(2026, 11) - back;
        const std::string from = *ToParam(absl::CivilDay(month));
        const std::string to = *ToParam(absl::CivilDay(month + 1));
        database_.Sql("CREATE TABLE IF NOT EXISTS " + std::string(parent) + "_" +
                      from.substr(0, 4) + from.substr(5, 2) + " PARTITION OF " + parent +
                      " FOR VALUES FROM ('" + from + "T00:00:00Z') TO ('" + to + "T00:00:00Z')");
      }
    }
  }
  std::string Drop(const Retention& retention) {
    const absl::StatusOr<std::string> dropped = DropOldPartition(*connection_, retention);
    EXPECT_TRUE(dropped.ok()) << dropped.status();
    return dropped.value_or("");
  }
  std::vector<std::string> DropAll(const Retention& retention) {
    std::vector<std::string> all;
    for (std::string one = Drop(retention); !one.empty(); one = Drop(retention)) {
      all.push_back(one);
    }
    return all;
  }
  int Partitions(const std::string& parent) {
    return std::stoi(
        database_.Sql("SELECT count(*) FROM pg_inherits WHERE inhparent = $1::regclass", {parent}));
  }
};

TEST_F(RetentionTest, D07WholeMonthsGoOnceTheyAreOldLogsBeforeRunsAndWatermarksStay) {
  SetNow("2025-11-02T12:00:00Z");
  const ActiveRun run = MakeRun(kJob, "recon", "2025-11-01", Uuid(1));
  Open(run);
  Close(run, RunStatus::kCompleted, "DONE");
  SetNow("2026-11-15T12:00:00Z");
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM run_history"), "1");
  const Retention retention{340, 300};
  // November 2025 ended 349 days ago, December 318 and January 287 days ago.
  EXPECT_THAT(
      DropAll(retention),
      ElementsAre("run_attempt_202510", "run_history_202510", "run_log_202510",
                  "run_attempt_202511", "run_history_202511", "run_log_202511", "run_log_202512"));
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM run_history"), "0");
  EXPECT_EQ(Watermark("recon", "2025-11-01"), "DONE");
}

TEST_F(RetentionTest, D07AMonthStaysUntilItsLastDayIsOld) {
  const Retention month{15, 15};
  SetNow("2026-11-15T23:59:59Z");
  for (const std::string& dropped : DropAll(month)) {
    EXPECT_LT(dropped.substr(dropped.size() - 6), "202610") << dropped;
  }
  SetNow("2026-11-16T00:00:00Z");
  EXPECT_THAT(DropAll(month),
              ElementsAre("run_attempt_202610", "run_history_202610", "run_log_202610"));
}

TEST_F(RetentionTest, D07WhatALiveRunRefersToStays) {
  ActiveRun run = MakeRun(kJob, "recon", "2026-01-09", Uuid(1));
  run.created_at = At("2026-01-10T01:00:00Z");
  Open(run);
  const Retention short_lived{30, 30};
  for (const std::string& dropped : DropAll(short_lived)) {
    EXPECT_LT(dropped.substr(dropped.size() - 6), "202601") << dropped;
  }
  EXPECT_NE(database_.Sql("SELECT to_regclass('run_log_202601')"), "");
  Close(run, RunStatus::kCompleted, "DONE");
  EXPECT_THAT(DropAll(short_lived), SizeIs(3 * 9)) << "January to September";
}

TEST_F(RetentionTest, ZeroDaysKeepForEver) {
  EXPECT_THAT(DropAll({0, 0}), IsEmpty());
  const int runs = Partitions("run_history");
  EXPECT_THAT(DropAll({0, 30}), testing::Each(testing::StartsWith("run_log_")));
  EXPECT_EQ(Partitions("run_history"), runs);
}

TEST_F(RetentionTest, D07DoesNotWaitForReadersNorLetEndingRunsQueueBehindIt) {
  const std::unique_ptr<Connection> reader = database_.Connect();
  const absl::Status read = reader->Transact([&](SqlTransaction& tx) -> absl::Status {
    TM_RETURN_IF_ERROR(tx.Run("SELECT count(*) FROM run_attempt").status());
    const absl::StatusOr<std::string> dropped = DropOldPartition(*connection_, {30, 30});
    EXPECT_EQ(dropped.status().code(), absl::StatusCode::kAborted) << dropped.status();
    // The flush that a run's end needs goes through meanwhile.
    const ActiveRun run = MakeRun(kJob, "recon", "2026-11-14", Uuid(1));
    Open(run);
    Close(run, RunStatus::kCompleted, "DONE");
    return absl::OkStatus();
  });
  ASSERT_TRUE(read.ok()) << read;
  EXPECT_EQ(Watermark("recon", "2026-11-14"), "DONE");
  EXPECT_EQ(Drop({30, 30}), "run_attempt_202510");
}

// What the operators' pages read of a long history. Counted in rows, as time would be a guess.
class LongHistoryTest : public RetentionTest {
 protected:
  static constexpr int kRuns = 100000;

  LongHistoryTest() {
    InsertJob(database_, kJob + 1, "other");
    // Five minutes apart, over eleven months; each tenth of job 101, each thousandth FAILED.
    database_.Sql(
        "INSERT INTO run_history SELECT at, (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint),"
        " 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid,"
        " CASE WHEN n % 10 = 0 THEN 101 ELSE 100 END, 'T', n::text, 'default',"
        " CASE WHEN n % 10 = 0 THEN 'other' ELSE 'recon' END, 'recon', 'recon', 1, NULL, NULL, at,"
        " 'SCHEDULE', '', '', '', '', NULL, '{}',"
        " CASE WHEN n % 1000 = 0 THEN 'FAILED' ELSE 'COMPLETED' END, '', 1, 0, 0, 'e', 1, 'h', 1,"
        " 1, 0, '', '', '', NULL, '', at, at, at"
        " FROM (SELECT n, '2026-11-14T00:00:00Z'::timestamptz - n * interval '5 minutes' AS at"
        "       FROM generate_series(1, $1::integer) n) fires",
        {ToParam(kRuns)});
    database_.Sql("ANALYZE run_history");
  }

  // Rows of run_history that the page took, whatever way they were found.
  int64_t RowsRead(const RunFilter& filter, size_t* found) {
    const int64_t before = Counted();
    {
      OperatorStore store(database_.options(), SystemClock(), random_);
      const auto runs = store.ListRuns(filter);
      EXPECT_TRUE(runs.ok()) << runs.status();
      *found = runs.ok() ? runs->size() : 0;
    }
    // A session's counts are there once it has ended, a moment after we let it go.
    int64_t after = Counted();
    while (after == before) after = Counted();
    return after - before;
  }

 private:
  int64_t Counted() {
    return std::stoll(
        database_.Sql("SELECT sum(seq_tup_read + COALESCE(idx_tup_fetch, 0)) FROM "
                      "pg_stat_user_tables WHERE relname LIKE 'run_history_%'"));
  }
};

TEST_F(LongHistoryTest, D07APageOfRunsReadsLittleMoreThanItShows) {
  size_t found = 0;
  RunFilter newest;
  EXPECT_LT(RowsRead(newest, &found), 500);
  EXPECT_EQ(found, 51u);
  RunFilter of_job;
  of_job.job_id = kJob + 1;
  EXPECT_LT(RowsRead(of_job, &found), 1000);
  EXPECT_EQ(found, 51u);
  RunFilter failed;
  failed.statuses = {"FAILED", "CANCELLED"};
  EXPECT_LT(RowsRead(failed, &found), 1000);
  EXPECT_EQ(found, 51u);
}

// What hardly any run has is found without reading all that have not.
TEST_F(LongHistoryTest, D07APageOfWhatIsRareReadsLittleMoreThanItShows) {
  const std::string tenth_to_last =
      " WHERE run_id IN (SELECT run_id FROM run_history ORDER BY run_id LIMIT 10)";
  database_.Sql("UPDATE run_history SET status = 'CANCELLED', trigger_type = 'SCHEDULE'" +
                tenth_to_last);
  size_t found = 0;
  RunFilter cancelled;
  cancelled.statuses = {"CANCELLED"};
  EXPECT_LT(RowsRead(cancelled, &found), 500);
  EXPECT_EQ(found, 10u);
  database_.Sql("UPDATE run_history SET status = 'COMPLETED', trigger_type = 'CATCH_UP'" +
                tenth_to_last);
  RunFilter compensated;
  compensated.statuses = {"COMPENSATED"};
  EXPECT_LT(RowsRead(compensated, &found), 500);
  EXPECT_EQ(found, 10u);
  compensated.statuses = {"COMPENSATED", "CANCELLED", "RUNNING"};
  EXPECT_LT(RowsRead(compensated, &found), 500);
  EXPECT_EQ(found, 10u);
  database_.Sql("UPDATE run_history SET namespace = 'small', biz_date = '2026-01-05'" +
                tenth_to_last);
  RunFilter small;
  small.ns = "small";
  EXPECT_LT(RowsRead(small, &found), 500);
  EXPECT_EQ(found, 10u);
  RunFilter date;
  date.biz_date = Day("2026-01-05");
  EXPECT_LT(RowsRead(date, &found), 500);
  EXPECT_EQ(found, 10u);
}

}  // namespace
}  // namespace tidemark
