#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "scheduler/store/snapshot.h"
#include "tests/store/flush_fixture.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr int64_t kJob = 100;

class FlushRunsTest : public FlushTest {
 protected:
  FlushRunsTest() { InsertJob(database_, kJob, "recon"); }
  ActiveRun Run(int number, const std::string& date = "2026-11-27") {
    return MakeRun(kJob, "recon", date, Uuid(number));
  }
};

// Every column differs from its default.
ActiveRun FullRun() {
  ActiveRun run = MakeRun(kJob, "recon", "2026-11-27", Uuid(1));
  run.trigger = TriggerType::kBackfill;
  run.tag = "drill";
  run.request_id = "request 1";
  run.requested_by = "ann";
  run.reason = "bills came late";
  run.rerun_of = Uuid(77);
  run.wanted_executor = "recon-2";
  run.params = R"({"bills":"/data \"x\", {y}"})";
  run.status = RunStatus::kRunning;
  run.attempt = 3;
  run.failed_attempts = 1;
  run.lost_attempts = 1;
  run.executor_id = "recon-2";
  run.registration = 12;
  run.executor_host = "host 9";
  run.on_lost = OnLost::kRetry;
  run.epoch = {4, 99};
  run.retry_at = At("2026-11-27T17:01:00.5Z");
  run.held = true;
  run.cancel_by = "bob";
  run.cancel_reason = "wrong file";
  run.progress_percent = 12.5;
  run.checkpoint = "line\n\\ 17\t{,}";
  run.message = "NULL";
  run.sent_at = At("2026-11-27T17:02:00Z");
  run.started_at = At("2026-11-27T17:03:00.123456Z");
  run.attempt_started_at = At("2026-11-27T17:04:00Z");
  return run;
}

void ExpectSame(const ActiveRun& a, const ActiveRun& b) {
  EXPECT_EQ(a.occurrence, b.occurrence);
  EXPECT_EQ(std::tie(a.run_id, a.shard, a.ns, a.job_name, a.app, a.handler, a.job_version),
            std::tie(b.run_id, b.shard, b.ns, b.job_name, b.app, b.handler, b.job_version));
  EXPECT_EQ(std::tie(a.biz_date, a.nominal, a.fire_time, a.trigger, a.tag, a.request_id),
            std::tie(b.biz_date, b.nominal, b.fire_time, b.trigger, b.tag, b.request_id));
  EXPECT_EQ(std::tie(a.requested_by, a.reason, a.rerun_of, a.wanted_executor, a.params, a.status),
            std::tie(b.requested_by, b.reason, b.rerun_of, b.wanted_executor, b.params, b.status));
  EXPECT_EQ(std::tie(a.attempt, a.failed_attempts, a.lost_attempts, a.executor_id, a.registration),
            std::tie(b.attempt, b.failed_attempts, b.lost_attempts, b.executor_id, b.registration));
  EXPECT_EQ(std::tie(a.executor_host, a.on_lost, a.epoch, a.retry_at, a.held, a.cancel_by),
            std::tie(b.executor_host, b.on_lost, b.epoch, b.retry_at, b.held, b.cancel_by));
  EXPECT_EQ(std::tie(a.cancel_reason, a.progress_percent, a.checkpoint, a.message, a.created_at),
            std::tie(b.cancel_reason, b.progress_percent, b.checkpoint, b.message, b.created_at));
  EXPECT_EQ(std::tie(a.sent_at, a.started_at, a.attempt_started_at),
            std::tie(b.sent_at, b.started_at, b.attempt_started_at));
}

TEST_F(FlushRunsTest, ARunComesBackFromTheSnapshotAsItWasOpened) {
  const ActiveRun run = FullRun();
  EXPECT_THAT(Open(run).opened, ElementsAre(run.run_id));
  const Snapshot snapshot = LoadSnapshot(*connection_, {{7, {1, 1}}}).value();
  ASSERT_EQ(snapshot.runs.size(), 1u);
  ExpectSame(snapshot.runs[0], run);
  ASSERT_EQ(snapshot.jobs.size(), 1u);
  EXPECT_EQ(snapshot.jobs[0].name, "recon");
  EXPECT_EQ(snapshot.jobs[0].versions.size(), 1u);
  // Another shard's owner sees neither.
  const Snapshot other = LoadSnapshot(*connection_, {{8, {1, 1}}}).value();
  EXPECT_THAT(other.runs, IsEmpty());
  EXPECT_THAT(other.jobs, IsEmpty());
}

TEST_F(FlushRunsTest, AnUpdateRewritesWhatChangesAndNothingElse) {
  Open(Run(1));
  ActiveRun changed = FullRun();
  Flush flush;
  flush.updates.push_back({changed});
  EXPECT_THAT(Commit(std::move(flush)).updated, ElementsAre(Uuid(1)));
  ActiveRun expected = changed;
  const ActiveRun fixed = Run(1);
  expected.trigger = fixed.trigger;
  expected.tag = "";
  expected.request_id = "";
  expected.requested_by = "";
  expected.reason = "";
  expected.rerun_of = "";
  expected.wanted_executor = "";
  expected.params = "";
  ExpectSame(LoadSnapshot(*connection_, {{7, {1, 1}}}).value().runs.at(0), expected);
}

TEST_F(FlushRunsTest, AnUpdateOfAnOlderAttemptOrOfNoRunChangesNothing) {
  ActiveRun run = Run(1);
  run.attempt = 2;
  Open(run);
  run.attempt = 1;
  run.message = "late";
  Flush flush;
  flush.updates.push_back({run});
  flush.updates.push_back({Run(2)});
  EXPECT_THAT(Commit(std::move(flush)).updated, IsEmpty());
  EXPECT_EQ(database_.Sql("SELECT message FROM active_run"), "");
}

TEST_F(FlushRunsTest, OpeningALiveOccurrenceMakesNoSecondRun) {
  EXPECT_THAT(Open(Run(1)).opened, ElementsAre(Uuid(1)));
  Flush flush;
  flush.opens.push_back({Run(2), "2026-11-28"});
  flush.opens.push_back({Run(3, "2026-11-26"), ""});
  EXPECT_THAT(Commit(std::move(flush)).opened, ElementsAre(Uuid(3)));
  EXPECT_THAT(database_.Rows("SELECT run_id FROM active_run ORDER BY run_id"),
              ElementsAre(Uuid(1), Uuid(3)));
  // The watermark still belongs to the first, and no reopening was counted.
  EXPECT_THAT(database_.Rows("SELECT run_id, reopened FROM job_watermark ORDER BY biz_date"),
              ElementsAre(Uuid(3) + "|0", Uuid(1) + "|0"));
}

TEST_F(FlushRunsTest, TwoRunsOfOneOccurrenceInOneFlushAreOne) {
  Flush flush;
  flush.opens.push_back({Run(1), ""});
  flush.opens.push_back({Run(2), ""});
  EXPECT_THAT(Commit(std::move(flush)).opened, ElementsAre(Uuid(1)));
}

TEST_F(FlushRunsTest, OpeningSetsTheWatermarkToRunningAndCountsReopeningsPerDay) {
  Open(Run(1));
  EXPECT_EQ(Watermark("recon", "2026-11-27"), "RUNNING");
  const std::string count =
      "SELECT reopened_on::text || ' ' || reopened FROM job_watermark WHERE status = 'RUNNING'";
  int number = 1;
  const auto again = [&](const std::string& day) {
    Close(Run(number), RunStatus::kFailed, "FAILED", {}, "retries");
    Open(Run(++number), day);
    return database_.Sql(count);
  };
  EXPECT_EQ(again("2026-11-28"), "2026-11-28 1");
  EXPECT_EQ(again("2026-11-28"), "2026-11-28 2");
  EXPECT_EQ(again(""), "2026-11-28 2");
  EXPECT_EQ(again("2026-11-29"), "2026-11-29 1");
}

TEST_F(FlushRunsTest, ClosingMovesTheRunToHistoryAndSetsItsWatermark) {
  ActiveRun run = FullRun();
  Open(run);
  AttemptResult result;
  result.result = "42 differences";
  result.result_rows = 42;
  result.result_digest = "abc";
  EXPECT_THAT(Close(run, RunStatus::kCompleted, "DONE", result).closed, ElementsAre(run.run_id));
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM active_run"), "0");
  EXPECT_THAT(
      database_.Rows("SELECT run_id, status, biz_date, nominal_time, trigger_type, requested_by,"
                     " rerun_of, attempt, failed_attempts, lost_attempts, executor_id,"
                     " registration, epoch_timeline, epoch, progress_percent, message, result,"
                     " result_rows, result_digest, started_at, ended_at, created_at"
                     " FROM run_history"),
      ElementsAre(run.run_id + "|COMPLETED|2026-11-27|2026-11-28 01:00:00|BACKFILL|ann|" +
                  Uuid(77) +
                  "|3|1|1|recon-2|12|4|99|12.5|NULL|42 differences|42|abc"
                  "|2026-11-27 17:03:00.123456+00|2026-11-27 18:00:00+00"
                  "|2026-11-27 17:00:00.25+00"));
  EXPECT_EQ(database_.Sql("SELECT checkpoint FROM run_history"), run.checkpoint);
  EXPECT_THAT(database_.Rows("SELECT status, finished_at, run_id, result_rows, result_digest,"
                             " reason, note FROM job_watermark"),
              ElementsAre("DONE|2026-11-27 18:00:00+00|" + run.run_id + "|42|abc||"));
}

TEST_F(FlushRunsTest, ClosingARunThatIsNotThereDoesNothing) {
  EXPECT_THAT(Close(Run(1), RunStatus::kCompleted, "DONE").closed, IsEmpty());
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM run_history"), "0");
  EXPECT_EQ(Watermark("recon", "2026-11-27"), "");
}

TEST_F(FlushRunsTest, ACloseWithoutAWatermarkLeavesItAlone) {
  Open(Run(1));
  Close(Run(1), RunStatus::kCancelled, "");
  EXPECT_EQ(Watermark("recon", "2026-11-27"), "RUNNING");
}

TEST_F(FlushRunsTest, FailureNeverReplacesDoneAndASuccessfulRerunDoes) {
  AttemptResult first;
  first.result_rows = 1;
  Open(Run(1));
  Close(Run(1), RunStatus::kCompleted, "DONE", first);
  EXPECT_THAT(Open(Run(2), "2026-11-28").opened, ElementsAre(Uuid(2)));
  EXPECT_EQ(Watermark("recon", "2026-11-27"), "DONE");
  Close(Run(2), RunStatus::kFailed, "FAILED", {}, "permanent");
  const std::string row = "SELECT status, run_id, result_rows, reason, reopened FROM job_watermark";
  EXPECT_THAT(database_.Rows(row), ElementsAre("DONE|" + Uuid(1) + "|1||0"));
  Open(Run(3));
  AttemptResult again;
  again.result_rows = 2;
  Close(Run(3), RunStatus::kCompleted, "DONE", again);
  EXPECT_THAT(database_.Rows(row), ElementsAre("DONE|" + Uuid(3) + "|2||0"));
}

TEST_F(FlushRunsTest, AFailedDateKeepsReasonWordsAndWhoCancelled) {
  ActiveRun run = Run(1);
  Open(run);
  run.cancel_by = "ann";
  run.cancel_reason = "wrong bills";
  Close(run, RunStatus::kCancelled, "FAILED", {}, "cancelled");
  EXPECT_THAT(database_.Rows("SELECT status, reason, note, actor FROM job_watermark"),
              ElementsAre("FAILED|cancelled|cancelled by ann: wrong bills|ann"));
  EXPECT_EQ(database_.Sql("SELECT message FROM run_history"), "cancelled by ann: wrong bills");
}

TEST_F(FlushRunsTest, ARunOfADeletedJobLeavesNoWatermarkToItsNamesake) {
  Open(Run(1));
  Flush flush;
  flush.jobs.push_back({.job_id = kJob, .deleted = true});
  Commit(std::move(flush));
  InsertJob(database_, 200, "recon");
  Close(Run(1), RunStatus::kCompleted, "DONE");
  EXPECT_EQ(Watermark("recon", "2026-11-27"), "");
  EXPECT_EQ(database_.Sql("SELECT status FROM run_history"), "COMPLETED");
}

TEST_F(FlushRunsTest, AnIntervalRunHasNoWatermark) {
  ActiveRun run = Run(1);
  run.occurrence = FireKey(kJob, At("2026-11-27T17:00:00Z"));
  run.biz_date.reset();
  Open(run);
  Close(run, RunStatus::kCompleted, "DONE");
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM job_watermark"), "0");
  EXPECT_EQ(database_.Sql("SELECT kind FROM run_history"), "F");
}

TEST_F(FlushRunsTest, ACloseFreesTheOccurrenceForAnOpenOfTheSameFlush) {
  Open(Run(1));
  Flush flush;
  RunClose close;
  close.run_id = Uuid(1);
  close.run = Run(1);
  close.status = RunStatus::kFailed;
  close.watermark = "FAILED";
  flush.closes.push_back(close);
  flush.opens.push_back({Run(2), "2026-11-28"});
  const FlushResult result = Commit(std::move(flush));
  EXPECT_THAT(result.closed, ElementsAre(Uuid(1)));
  EXPECT_THAT(result.opened, ElementsAre(Uuid(2)));
  EXPECT_EQ(Watermark("recon", "2026-11-27"), "RUNNING");
}

TEST_F(FlushRunsTest, SkippedRunsGoStraightToHistory) {
  Flush flush;
  flush.skips.push_back({Run(1), "blocking", At("2026-11-27T17:00:01Z")});
  Commit(std::move(flush));
  EXPECT_THAT(database_.Rows("SELECT run_id, status, status_reason, live FROM run"),
              ElementsAre(Uuid(1) + "|SKIPPED|blocking|f"));
  EXPECT_EQ(Watermark("recon", "2026-11-27"), "");
}

TEST_F(FlushRunsTest, AttemptsAreKeptOneByOne) {
  Flush flush;
  for (int attempt = 1; attempt <= 2; ++attempt) {
    AttemptEnd end;
    end.attempt = {Uuid(1), attempt};
    end.job_id = kJob;
    end.executor_id = "recon-1";
    end.registration = 5;
    end.started_at = At("2026-11-27T17:00:01Z");
    end.ended_at = At("2026-11-27T17:00:02Z");
    end.outcome = "FAILED_RETRYABLE";
    end.message = "no bills";
    flush.attempts.push_back(end);
  }
  Commit(std::move(flush));
  EXPECT_THAT(database_.Rows("SELECT attempt, executor_id, registration, sent_at, outcome, message"
                             " FROM attempt ORDER BY attempt"),
              ElementsAre("1|recon-1|5|-|FAILED_RETRYABLE|no bills",
                          "2|recon-1|5|-|FAILED_RETRYABLE|no bills"));
}

TEST_F(FlushRunsTest, NoTextKeepsARunFromEnding) {
  ActiveRun run = Run(1);
  Open(run);
  run.message = std::string("a\0b\xff\xfe", 5);
  run.checkpoint = std::string(300000, 'c');
  AttemptResult result;
  for (int i = 0; i < 100000; ++i) result.result += "ä";
  result.message = std::string(10000, 'm');
  EXPECT_THAT(Close(run, RunStatus::kFailed, "FAILED", result, std::string(100, 'r')).closed,
              ElementsAre(Uuid(1)));
  EXPECT_THAT(database_.Rows("SELECT length(status_reason) <= 32, octet_length(result) <= 65536,"
                             " right(result, 6), octet_length(checkpoint) <= 65536,"
                             " octet_length(message) <= 4096 FROM run_history"),
              ElementsAre("t|t|…[cut]|t|t"));
}

TEST_F(FlushRunsTest, TheSumOfAThousandRunsInOneFlush) {
  Flush opens;
  Flush closes;
  for (int i = 0; i < 1024; ++i) {
    ActiveRun run = Run(i);
    run.occurrence = FireKey(kJob, At("2026-11-27T17:00:00Z") + absl::Seconds(i));
    run.biz_date.reset();
    opens.opens.push_back({run, ""});
    RunClose close;
    close.run_id = run.run_id;
    close.run = run;
    closes.closes.push_back(close);
  }
  EXPECT_EQ(Commit(std::move(opens)).opened.size(), 1024u);
  EXPECT_EQ(Commit(std::move(closes)).closed.size(), 1024u);
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM run_history"), "1024");
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM active_run"), "0");
}

}  // namespace
}  // namespace tidemark
