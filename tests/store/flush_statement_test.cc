// What the lists of one flush make of each other, and how little of it is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "scheduler/store/input_batch.h"
#include "tests/store/flush_fixture.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kJob = 100;

class FlushStatementTest : public FlushTest {
 protected:
  FlushStatementTest() { InsertJob(database_, kJob, "recon"); }

  ActiveRun Sent(int number, const std::string& date = "2026-11-27") {
    ActiveRun run = MakeRun(kJob, "recon", date, Uuid(number));
    run.status = RunStatus::kRunning;
    run.attempt = 1;
    run.executor_id = "recon-1";
    run.registration = 5;
    run.executor_host = "host 9";
    run.sent_at = At("2026-11-27T17:00:01Z");
    run.started_at = At("2026-11-27T17:00:02Z");
    run.attempt_started_at = run.started_at;
    return run;
  }
  static AttemptEnd EndOf(const ActiveRun& run, Outcome outcome) {
    AttemptEnd end;
    end.attempt = {run.run_id, run.attempt};
    end.job_id = run.occurrence.job_id;
    end.executor_id = run.executor_id;
    end.registration = run.registration;
    end.executor_host = run.executor_host;
    end.sent_at = run.sent_at;
    end.started_at = run.attempt_started_at;
    end.ended_at = At("2026-11-27T18:00:00Z");
    end.outcome = std::string(Name(outcome));
    return end;
  }
  static RunClose CloseOf(const ActiveRun& run, RunStatus status = RunStatus::kCompleted) {
    RunClose close;
    close.run_id = run.run_id;
    close.run = run;
    close.status = status;
    close.watermark = status == RunStatus::kCompleted ? "DONE" : "FAILED";
    close.ended_at = At("2026-11-27T18:00:00Z");
    return close;
  }
  std::vector<std::string> Attempts() {
    return database_.Rows(
        "SELECT attempt, executor_id, registration, executor_host, sent_at, started_at, ended_at,"
        " outcome, message FROM attempt ORDER BY attempt");
  }
};

TEST_F(FlushStatementTest, AFirstAttemptThatSucceededIsToldByItsRunAlone) {
  const ActiveRun run = Sent(1);
  Open(run);
  Flush flush;
  flush.attempts.push_back(EndOf(run, Outcome::kSucceeded));
  flush.closes.push_back(CloseOf(run));
  EXPECT_THAT(Commit(std::move(flush)).closed, ElementsAre(Uuid(1)));
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM run_attempt"), "0");
  EXPECT_THAT(Attempts(),
              ElementsAre("1|recon-1|5|host 9|2026-11-27 17:00:01+00|2026-11-27 17:00:02+00"
                          "|2026-11-27 18:00:00+00|SUCCEEDED|"));
}

// Anything that the run's row would not tell as it was keeps a row of its own.
TEST_F(FlushStatementTest, EveryOtherAttemptHasARowOfItsOwn) {
  ActiveRun run = Sent(1);
  run.attempt = 2;
  Open(run);
  Flush flush;
  ActiveRun first = run;
  first.attempt = 1;
  flush.attempts.push_back(EndOf(first, Outcome::kFailedRetryable));
  flush.attempts.push_back(EndOf(run, Outcome::kSucceeded));
  flush.closes.push_back(CloseOf(run));
  Commit(std::move(flush));
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM run_attempt"), "2");
  EXPECT_EQ(Attempts().size(), 2u);

  ActiveRun failed = Sent(2, "2026-11-26");
  Open(failed);
  Flush again;
  again.attempts.push_back(EndOf(failed, Outcome::kFailedPermanent));
  again.closes.push_back(CloseOf(failed, RunStatus::kFailed));
  Commit(std::move(again));
  EXPECT_EQ(database_.Sql("SELECT outcome FROM attempt WHERE run_id = $1", {Uuid(2)}),
            std::string(Name(Outcome::kFailedPermanent)));
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM run_attempt"), "3");
}

TEST_F(FlushStatementTest, ARunMayBeOpenedChangedAndClosedInOneFlush) {
  const ActiveRun run = Sent(1);
  ActiveRun other = Sent(2, "2026-11-26");
  Flush flush;
  flush.closes.push_back(CloseOf(run));
  flush.opens.push_back({run, ""});
  flush.opens.push_back({other, ""});
  other.message = "half";
  flush.updates.push_back({other});
  const FlushResult result = Commit(std::move(flush));
  EXPECT_THAT(result.opened, ElementsAre(Uuid(1), Uuid(2)));
  EXPECT_THAT(result.updated, ElementsAre(Uuid(2)));
  EXPECT_THAT(result.closed, ElementsAre(Uuid(1)));
  EXPECT_EQ(Watermark("recon", "2026-11-27"), "DONE");
  EXPECT_THAT(database_.Rows("SELECT run_id, message FROM active_run"),
              ElementsAre(Uuid(2) + "|half"));
}

TEST_F(FlushStatementTest, AnOccurrenceMayBeClosedAndOpenedAgainInOneFlush) {
  ActiveRun run = Sent(1);
  run.biz_date.reset();
  run.occurrence = FireKey(kJob, run.fire_time);
  Open(run);
  ActiveRun again = run;
  again.run_id = Uuid(2);
  Flush flush;
  flush.closes.push_back(CloseOf(run));
  flush.opens.push_back({again, ""});
  const FlushResult result = Commit(std::move(flush));
  EXPECT_THAT(result.closed, ElementsAre(Uuid(1)));
  EXPECT_THAT(result.opened, ElementsAre(Uuid(2)));
}

// The row of a run is found by its occurrence, and is that run's alone.
TEST_F(FlushStatementTest, ACloseOfAnotherRunOfTheOccurrenceDoesNothing) {
  Open(Sent(1));
  ActiveRun other = Sent(2);
  Flush flush;
  flush.closes.push_back(CloseOf(other));
  other.message = "not mine";
  flush.updates.push_back({other});
  const FlushResult result = Commit(std::move(flush));
  EXPECT_THAT(result.closed, IsEmpty());
  EXPECT_THAT(result.updated, IsEmpty());
  EXPECT_THAT(database_.Rows("SELECT run_id, message FROM active_run"), ElementsAre(Uuid(1) + "|"));
}

TEST_F(FlushStatementTest, OnlySomeOfManyAreToldAsDone) {
  Open(Sent(1));
  Flush flush;
  for (int i = 0; i < 4; ++i)
    flush.opens.push_back({Sent(1 + i, "2026-11-2" + std::to_string(7 - i)), ""});
  EXPECT_THAT(Commit(std::move(flush)).opened, ElementsAre(Uuid(2), Uuid(3), Uuid(4)));
}

// Nothing of a flush takes place when the fence is gone, or the flush before it.
TEST_F(FlushStatementTest, WithoutItsFenceOrItsTurnAFlushDoesNothing) {
  FlushResult result;
  Flush flush;
  flush.opens.push_back({Sent(1), ""});
  flush.cursors.push_back({kJob, At("2026-11-27T17:00:00Z")});
  database_.Sql("UPDATE flush SET seq = 7");
  absl::Status status = TryCommit(flush, &result);
  EXPECT_TRUE(IsTermOver(status)) << status;
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("before number 1"));
  database_.Sql("UPDATE flush SET seq = 0");
  database_.Sql("UPDATE node_fence SET fenced = true");
  status = TryCommit(flush, &result);
  EXPECT_TRUE(IsTermOver(status)) << status;
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("fenced"));
  EXPECT_THAT(result.opened, IsEmpty());
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM active_run"), "0");
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM job_cursor"), "0");
  EXPECT_EQ(database_.Sql("SELECT seq FROM flush"), "0");
}

TEST_F(FlushStatementTest, CursorsBeginMoveAndNeverGoBack) {
  const auto move = [&](std::vector<std::pair<int64_t, std::string>> cursors) {
    Flush flush;
    for (const auto& [job, time] : cursors) flush.cursors.push_back({job, At(time)});
    Commit(std::move(flush));
    return database_.Rows("SELECT job_id, last_fire FROM job_cursor ORDER BY job_id");
  };
  EXPECT_THAT(move({{2, "2026-11-27T01:00:00Z"}, {1, "2026-11-27T02:00:00Z"}}),
              ElementsAre("1|2026-11-27 02:00:00+00", "2|2026-11-27 01:00:00+00"));
  // One that begins, one that moves, one that stays; and two of one job.
  EXPECT_THAT(move({{1, "2026-11-27T01:00:00Z"},
                    {2, "2026-11-27T03:00:00Z"},
                    {3, "2026-11-27T04:00:00Z"},
                    {3, "2026-11-27T05:00:00Z"}}),
              ElementsAre("1|2026-11-27 02:00:00+00", "2|2026-11-27 03:00:00+00",
                          "3|2026-11-27 05:00:00+00"));
}

// Rows come out as they went in, whichever of their columns vary.
class InputBatchTest : public ::testing::Test {
 protected:
  const std::vector<InputColumn> columns_ = {
      {"id", "bigint"}, {"word", "text"}, {"at", "timestamptz"}};

  std::vector<std::string> ThroughTheDatabase(InputBatch batch) {
    std::vector<SqlParam> params;
    const std::string input = std::move(batch).Take("rows", &params);
    return database_.Rows(
        "WITH go AS (SELECT 1), " + input + " SELECT id, word, at FROM rows ORDER BY id", params);
  }

  MigratedDatabase database_;
};

TEST_F(InputBatchTest, ColumnsThatNeverVary) {
  InputBatch batch(columns_);
  for (int i = 1; i <= 3; ++i) batch.Put(i).Exact("a \"b\\ {,}").Null();
  EXPECT_THAT(ThroughTheDatabase(std::move(batch)),
              ElementsAre("1|a \"b\\ {,}|-", "2|a \"b\\ {,}|-", "3|a \"b\\ {,}|-"));
}

TEST_F(InputBatchTest, ColumnsThatVaryLate) {
  InputBatch batch(columns_);
  const std::optional<absl::Time> time = At("2026-11-27T17:00:00.25Z");
  batch.Put(1).Exact("").Put(time).Put(2).Exact("").Put(time);
  batch.Put(3).Exact("NULL").Null();
  EXPECT_THAT(
      ThroughTheDatabase(std::move(batch)),
      ElementsAre("1||2026-11-27 17:00:00.25+00", "2||2026-11-27 17:00:00.25+00", "3|NULL|-"));
}

TEST_F(InputBatchTest, ATimeThatNeverVaries) {
  InputBatch batch(columns_);
  batch.Put(1).Exact("x").Put(absl::InfiniteFuture()).Put(2).Exact("y").Put(absl::InfiniteFuture());
  EXPECT_THAT(ThroughTheDatabase(std::move(batch)), ElementsAre("1|x|infinity", "2|y|infinity"));
}

TEST_F(InputBatchTest, NullsThatCameFirst) {
  InputBatch batch(columns_);
  batch.Put(1).Exact("x").Null().Put(2).Exact("x").Put(At("2026-11-27T17:00:00Z"));
  EXPECT_THAT(ThroughTheDatabase(std::move(batch)),
              ElementsAre("1|x|-", "2|x|2026-11-27 17:00:00+00"));
}

TEST_F(InputBatchTest, OneRow) {
  InputBatch batch(columns_);
  batch.Put(1).Word(std::string("\xff\0", 2)).Null();
  EXPECT_THAT(ThroughTheDatabase(std::move(batch)), ElementsAre("1|\uFFFD\uFFFD|-"));
}

}  // namespace
}  // namespace tidemark
