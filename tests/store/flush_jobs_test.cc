#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/store/ledger_reader.h"
#include "tests/store/flush_fixture.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kJob = 100;

class FlushJobsTest : public FlushTest {
 protected:
  FlushJobsTest() { InsertJob(database_, kJob, "recon"); }

  void Mark(const std::string& date, const std::string& status, bool only_if_unsettled = true,
            const std::string& actor = "ann") {
    Flush flush;
    flush.watermarks.push_back(
        {kJob, "recon", Day(date), status, "reason", "note", actor, only_if_unsettled});
    Commit(std::move(flush));
  }
  std::vector<std::string> Job(const std::string& columns) {
    return database_.Rows("SELECT " + columns + " FROM job");
  }
};

TEST_F(FlushJobsTest, WatermarksThatNoRunSets) {
  Mark("2026-11-01", "WAIVED");
  EXPECT_THAT(database_.Rows("SELECT status, reason, note, actor, job_id, finished_at IS NOT NULL"
                             " FROM job_watermark"),
              ElementsAre("WAIVED|reason|note|ann|100|t"));
  Mark("2026-11-01", "EXPIRED");  // settled: left alone
  EXPECT_EQ(Watermark("recon", "2026-11-01"), "WAIVED");
  Mark("2026-11-01", "", true);
  EXPECT_EQ(Watermark("recon", "2026-11-01"), "WAIVED");
  Mark("2026-11-01", "DONE", false);
  EXPECT_EQ(Watermark("recon", "2026-11-01"), "DONE");
  Mark("2026-11-01", "", false);
  EXPECT_EQ(Watermark("recon", "2026-11-01"), "");
}

TEST_F(FlushJobsTest, TheLedgerTellsUpstreamDatesOfWhatIsNotDone) {
  Mark("2026-11-01", "DONE", false);
  Mark("2026-11-02", "FAILED", false);
  InsertJob(database_, 101, "settlement");
  Flush flush;
  flush.watermarks.push_back({101, "settlement", Day("2026-11-01"), "DONE", "", "", "ann", false});
  Commit(std::move(flush));
  LedgerQuery query;
  query.query_id = 1;
  query.job_id = 101;
  query.dates = {Day("2026-11-01"), Day("2026-11-02"), Day("2026-11-03")};
  query.after = {{"recon", 0}, {"recon", -1}};
  query.foreign = {"recon", "nobody"};
  LedgerQuery other;  // of a job that waits for nothing
  other.query_id = 2;
  other.job_id = kJob;
  other.dates = query.dates;
  const auto results = ReadLedger(*connection_, {query, other});
  ASSERT_TRUE(results.ok()) << results.status();
  std::vector<std::string> upstream;
  for (const UpstreamEntry& e : (*results)[0].upstream) {
    upstream.push_back(absl::FormatCivilTime(e.for_date) + " " + e.job + " " +
                       absl::FormatCivilTime(e.date) + " " + e.status);
  }
  EXPECT_THAT(upstream,
              ElementsAre("2026-11-02 recon 2026-11-01 DONE", "2026-11-02 recon 2026-11-02 FAILED",
                          "2026-11-03 recon 2026-11-02 FAILED", "2026-11-03 recon 2026-11-03 "));
  EXPECT_THAT((*results)[0].entries, SizeIs(2));
  EXPECT_THAT((*results)[1].upstream, IsEmpty());
  ASSERT_THAT((*results)[0].foreign, SizeIs(1));
  EXPECT_EQ((*results)[0].foreign[0].name, "recon");
  EXPECT_THAT((*results)[0].foreign[0].versions, SizeIs(1));
  EXPECT_THAT((*results)[1].foreign, IsEmpty());
}

TEST_F(FlushJobsTest, ACascadeOrdersARerunOfEachJobThatWaits) {
  InsertJob(database_, 101, "settlement", 3);
  InsertJob(database_, 102, "report", 4);
  InsertJob(database_, 103, "gone", 4);
  database_.Sql("UPDATE job SET deleted_at = tidemark_now() WHERE job_id = 103");
  database_.Sql(
      "INSERT INTO job_after VALUES (101, 'recon', 0), (102, 'recon', -1), (103, 'recon', 0), "
      "(102, 'settlement', 0)");
  Flush flush;
  flush.cascades.push_back(
      {kJob, "recon", Day("2026-11-01"), Day("2026-11-03"), "say \"why\"", "ann"});
  Commit(std::move(flush));
  EXPECT_THAT(
      database_.Rows("SELECT job_id, shard, kind, a->>'from', a->>'to', a->>'force', "
                     "a->>'cascade', a->>'reason', actor FROM command, LATERAL (SELECT args::json "
                     "AS a) x ORDER BY job_id"),
      ElementsAre("101|3|rerun|2026-11-01|2026-11-03|true|true|say \"why\"|ann",
                  "102|4|rerun|2026-11-02|2026-11-04|true|true|say \"why\"|ann"));
}

TEST_F(FlushJobsTest, AFailedDateIsUnsettled) {
  ActiveRun run = MakeRun(kJob, "recon", "2026-11-01", Uuid(1));
  Open(run);
  Close(run, RunStatus::kFailed, "FAILED");
  Mark("2026-11-01", "EXPIRED");
  EXPECT_EQ(Watermark("recon", "2026-11-01"), "EXPIRED");
}

TEST_F(FlushJobsTest, TwoWritesOfOneDateInOneFlushGoInOrder) {
  Flush flush;
  flush.watermarks.push_back({kJob, "recon", Day("2026-11-01"), "DONE", "", "", "ann", false});
  flush.watermarks.push_back({kJob, "recon", Day("2026-11-01"), "WAIVED", "", "", "bob", false});
  Commit(std::move(flush));
  EXPECT_EQ(Watermark("recon", "2026-11-01"), "WAIVED");
}

TEST_F(FlushJobsTest, ACursorNeverMovesBack) {
  const auto move = [&](const std::string& time) {
    Flush flush;
    flush.cursors.push_back({kJob, At(time)});
    Commit(std::move(flush));
    return database_.Sql("SELECT last_fire FROM job_cursor");
  };
  EXPECT_EQ(move("2026-11-27T01:00:00Z"), "2026-11-27 01:00:00+00");
  EXPECT_EQ(move("2026-11-27T02:00:00Z"), "2026-11-27 02:00:00+00");
  EXPECT_EQ(move("2026-11-27T01:30:00Z"), "2026-11-27 02:00:00+00");
}

TEST_F(FlushJobsTest, SkippedRangesGrowAndAreNotDoubled) {
  for (int hours : {1, 3, 2}) {
    Flush flush;
    const absl::Time from = At("2026-11-27T00:00:00Z");
    flush.skipped.push_back({kJob, from, from + absl::Hours(hours), hours, "window"});
    Commit(std::move(flush));
  }
  EXPECT_THAT(database_.Rows("SELECT to_fire, fires, reason FROM skipped_range"),
              ElementsAre("2026-11-27 03:00:00+00|3|window"));
}

TEST_F(FlushJobsTest, OnlyFieldsThatAreSetAreWritten) {
  Flush flush;
  flush.jobs.push_back(
      {.job_id = kJob, .paused = true, .pause_reason = "stocktaking", .paused_by = "ann"});
  Commit(std::move(flush));
  EXPECT_THAT(Job("paused, pause_reason, paused_by, paused_at IS NULL, error, ledger_from"),
              ElementsAre("t|stocktaking|ann|f||-"));
  Flush second;
  second.jobs.push_back({.job_id = kJob,
                         .ledger_from = Day("2026-11-24"),
                         .error = "no such zone",
                         .finished = true});
  Commit(std::move(second));
  EXPECT_THAT(Job("paused, pause_reason, ledger_from, error, finished, deleted_at"),
              ElementsAre("t|stocktaking|2026-11-24|no such zone|t|-"));
  Flush third;
  third.jobs.push_back({.job_id = kJob, .paused = false, .error = ""});
  Commit(std::move(third));
  EXPECT_THAT(Job("paused, pause_reason, paused_by, paused_at IS NULL, error, ledger_from"),
              ElementsAre("f|||t||2026-11-24"));
}

TEST_F(FlushJobsTest, DeletingArchivesTheWatermarks) {
  InsertJob(database_, 101, "other");
  Mark("2026-11-01", "DONE");
  Flush other;
  other.watermarks.push_back({101, "other", Day("2026-11-01"), "DONE", "", "", "", true});
  Commit(std::move(other));
  Flush flush;
  flush.jobs.push_back({.job_id = kJob, .deleted = true});
  Commit(std::move(flush));
  EXPECT_EQ(database_.Sql("SELECT deleted_at IS NOT NULL FROM job WHERE job_id = 100"), "t");
  EXPECT_THAT(database_.Rows("SELECT job_name, status, actor FROM job_watermark_archive"),
              ElementsAre("recon|DONE|ann"));
  EXPECT_THAT(database_.Rows("SELECT job_name FROM job_watermark"), ElementsAre("other"));
  // Nothing is written for it any more.
  Mark("2026-11-02", "WAIVED");
  EXPECT_EQ(Watermark("recon", "2026-11-02"), "");
}

TEST_F(FlushJobsTest, AlertsAreOneAKeyUntilResolvedAndToldAgainAfterwards) {
  const auto raise = [&](int id, const std::string& summary) {
    Flush flush;
    flush.alerts.push_back({.alert_id = Uuid(id),
                            .dedup_key = "late/recon/2026-11-27",
                            .kind = "late",
                            .severity = "warning",
                            .job_name = "recon",
                            .biz_date = Day("2026-11-27"),
                            .summary = summary});
    Commit(std::move(flush));
  };
  const std::string row =
      "SELECT alert_id, summary, resolved_at IS NULL, logged_at IS NULL"
      " FROM alert";
  raise(1, "first");
  database_.Sql("UPDATE alert SET logged_at = tidemark_now()");
  raise(2, "second");
  EXPECT_THAT(database_.Rows(row), ElementsAre(Uuid(1) + "|first|t|f"));
  Flush resolve;
  resolve.resolves.push_back({"late/recon/"});
  resolve.resolves.push_back({"lat_/%"});  // a prefix, not a pattern
  Commit(std::move(resolve));
  EXPECT_THAT(database_.Rows(row), ElementsAre(Uuid(1) + "|first|f|f"));
  raise(3, "third");
  EXPECT_THAT(database_.Rows(row), ElementsAre(Uuid(1) + "|third|t|t"));
}

TEST_F(FlushJobsTest, AResolveTouchesItsPrefixAlone) {
  Flush flush;
  for (const char* key : {"a/1", "a/2", "ab/1"}) {
    flush.alerts.push_back({.alert_id = Uuid(100 + static_cast<int>(flush.alerts.size())),
                            .dedup_key = key,
                            .kind = "k",
                            .severity = "info"});
  }
  flush.resolves.push_back({"a/"});
  Commit(std::move(flush));
  EXPECT_THAT(database_.Rows("SELECT dedup_key FROM alert WHERE resolved_at IS NULL"),
              ElementsAre("ab/1"));
}

TEST_F(FlushJobsTest, AuditsAndCommands) {
  database_.Sql(
      "INSERT INTO command (command_id, shard, job_id, kind, args, actor, created_at)"
      " VALUES ($1, 7, 100, 'pause', '{}', 'ann', tidemark_now()),"
      " ($2, 7, 101, 'pause', '{}', 'ann', tidemark_now())",
      {Uuid(1), Uuid(2)});
  Flush flush;
  flush.audits.push_back({"ann", "pause", "recon", "job recon", "stocktaking"});
  flush.commands.push_back({Uuid(1), absl::StatusCode::kNotFound, "no such job", {}});
  flush.commands.push_back({Uuid(2), absl::StatusCode::kOk, "", {}});
  Commit(std::move(flush), {101});  // job 101 was left out, so its order stays open
  EXPECT_THAT(database_.Rows("SELECT actor, action, job_name, subject, detail FROM audit"),
              ElementsAre("ann|pause|recon|job recon|stocktaking"));
  EXPECT_THAT(database_.Rows("SELECT code, result, done_at IS NULL FROM command ORDER BY job_id"),
              ElementsAre("5|no such job|f", "-||t"));
}

TEST_F(FlushJobsTest, TheLedgerAnswersForEachQueryByItself) {
  InsertJob(database_, 101, "other");
  Mark("2026-11-01", "DONE");
  Mark("2026-11-02", "WAIVED");
  ActiveRun run = MakeRun(kJob, "recon", "2026-11-03", Uuid(1));
  Open(run);
  Close(run, RunStatus::kFailed, "FAILED", {}, "retries");
  const std::vector<absl::CivilDay> dates = {Day("2026-11-04"), Day("2026-11-03"),
                                             Day("2026-11-02"), Day("2026-11-01"),
                                             Day("2026-11-03")};
  const auto results = ReadLedger(*connection_, {{1, kJob, dates, false},
                                                 {2, kJob, dates, true},
                                                 {3, 101, {Day("2026-11-01")}, false},
                                                 {4, 999, {}, true}})
                           .value();
  ASSERT_THAT(results, SizeIs(4));
  ASSERT_THAT(results[0].entries, SizeIs(2));
  EXPECT_EQ(results[0].entries[0].date, Day("2026-11-03"));
  EXPECT_EQ(results[0].entries[0].status, "FAILED");
  EXPECT_EQ(results[0].entries[0].reason, "retries");
  EXPECT_EQ(results[0].entries[1].status, "");
  EXPECT_THAT(results[1].entries, SizeIs(4));
  ASSERT_THAT(results[2].entries, SizeIs(1));
  EXPECT_EQ(results[2].entries[0].status, "");
  EXPECT_THAT(results[3].entries, IsEmpty());
}

TEST_F(FlushJobsTest, AFencedOwnerWritesNothing) {
  ASSERT_TRUE(Fence(*database_.Connect(), owner_).ok());
  Flush flush;
  flush.cursors.push_back({kJob, At("2026-11-27T01:00:00Z")});
  FlushResult result;
  EXPECT_TRUE(IsTermOver(TryCommit(std::move(flush), &result)));
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM job_cursor"), "0");
}

TEST_F(FlushJobsTest, AFlushIsWrittenOnce) {
  Flush flush;
  Commit(flush);
  seq_ = 0;  // the same number again
  FlushResult result;
  EXPECT_TRUE(IsTermOver(TryCommit(flush, &result)));
}

}  // namespace
}  // namespace tidemark
