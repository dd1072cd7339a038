// The daily check's verdicts on a real database: given once, with their alerts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/store/check_desk_store.h"
#include "scheduler/store/ledger_reader.h"
#include "scheduler/store/snapshot.h"
#include "tests/store/flush_fixture.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kJob = 100;

class CheckRowsTest : public FlushTest {
 protected:
  CheckRowsTest() { InsertJob(database_, kJob, "recon"); }

  static VerdictWrite Verdict(const std::string& date, const std::string& verdict,
                              const std::string& state, int64_t job_id = kJob,
                              const std::string& name = "recon") {
    VerdictWrite write;
    write.job_id = job_id;
    write.job_name = name;
    write.ns = "default";
    write.date = Day(date);
    write.expected_at = At("2026-11-29T01:00:00Z");
    write.verdict = verdict;
    write.state = state;
    if (verdict == "LATE") {
      AlertRaise alert;
      alert.alert_id = Uuid(500 + Day(date).day());
      alert.dedup_key = "date_missed/" + std::to_string(job_id) + "/" + date;
      alert.kind = "date_missed";
      alert.severity = "critical";
      alert.job_name = name;
      alert.biz_date = Day(date);
      alert.summary = "late";
      write.alert = alert;
    }
    return write;
  }
  void Give(std::vector<VerdictWrite> verdicts) {
    Flush flush;
    flush.verdicts = std::move(verdicts);
    Commit(std::move(flush));
  }
  std::string Alerts() {
    return database_.Sql("SELECT string_agg(dedup_key, ' ' ORDER BY dedup_key) FROM alert");
  }
};

TEST_F(CheckRowsTest, AVerdictIsGivenOnceAndItsAlertComesWithIt) {
  VerdictWrite late = Verdict("2026-11-28", "LATE", "RUNNING");
  late.run_id = Uuid(1);
  Give({Verdict("2026-11-27", "ON_TIME", "DONE"), late});
  EXPECT_EQ(Alerts(), "date_missed/100/2026-11-28");
  EXPECT_EQ(database_.Sql("SELECT verdict || ' ' || state || ' ' || run_id FROM check_verdict "
                          "WHERE biz_date = '2026-11-28'"),
            "LATE RUNNING " + Uuid(1));
  // A second owner that does not know: the first word stands, and nobody is told again.
  Give({Verdict("2026-11-27", "LATE", "FAILED"), Verdict("2026-11-28", "LATE", "FAILED")});
  EXPECT_EQ(Alerts(), "date_missed/100/2026-11-28");
  EXPECT_EQ(database_.Sql("SELECT string_agg(verdict || ' ' || state, ', ' ORDER BY biz_date) "
                          "FROM check_verdict"),
            "ON_TIME DONE, LATE RUNNING");
  EXPECT_EQ(database_.Sql("SELECT summary FROM alert WHERE episode = 1"), "late");
}

TEST_F(CheckRowsTest, ALateDateThatIsSettledSaysWhenAndOnlyOnce) {
  Give({Verdict("2026-11-27", "ON_TIME", "DONE"), Verdict("2026-11-28", "LATE", "MISSING")});
  Flush flush;
  flush.verdicts_settled = {{kJob, Day("2026-11-27")}, {kJob, Day("2026-11-28")}};
  flush.resolves = {{"date_missed/100/2026-11-28"}};
  Commit(flush);
  EXPECT_EQ(database_.Sql("SELECT string_agg(biz_date::text, ' ') FROM check_verdict "
                          "WHERE settled_at IS NOT NULL"),
            "2026-11-28");
  const std::string first = database_.Sql("SELECT max(settled_at) FROM check_verdict");
  flush.resolves.clear();
  Commit(flush);
  EXPECT_EQ(database_.Sql("SELECT max(settled_at) FROM check_verdict"), first);
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM alert WHERE resolved_at IS NULL"), "0");
}

TEST_F(CheckRowsTest, HowFarAJobIsCheckedNeverMovesBack) {
  JobUpdate update;
  update.job_id = kJob;
  for (const char* until : {"2026-11-29T01:00:00Z", "2026-11-28T01:00:00Z"}) {
    update.checked_until = At(until);
    Flush flush;
    flush.jobs = {update};
    Commit(std::move(flush));
  }
  Flush other;
  other.jobs = {{.job_id = kJob, .paused = true, .pause_reason = "why", .paused_by = "ann"}};
  Commit(std::move(other));
  const auto snapshot = LoadSnapshot(*connection_, {{7, Epoch{1, 1}}});
  ASSERT_TRUE(snapshot.ok()) << snapshot.status();
  ASSERT_EQ(snapshot->jobs.size(), 1);
  const JobRow& job = snapshot->jobs[0];
  EXPECT_EQ(job.checked_until, At("2026-11-29T01:00:00Z"));
  EXPECT_GT(job.check_from, absl::UnixEpoch());
  ASSERT_NE(job.pause, nullptr);
  EXPECT_EQ(job.pause->reason, "why");
  EXPECT_EQ(job.pause->by, "ann");
}

TEST_F(CheckRowsTest, TheQuestionOfTheCheckKnowsTheVerdicts) {
  Give({Verdict("2026-11-27", "ON_TIME", "DONE")});
  LedgerQuery query;
  query.query_id = 1;
  query.job_id = kJob;
  query.dates = {Day("2026-11-27"), Day("2026-11-28")};
  query.all = true;
  query.check = true;
  LedgerQuery plain = query;
  plain.check = false;
  plain.job_id = 200;
  const auto results = ReadLedger(*connection_, {plain, query});
  ASSERT_TRUE(results.ok()) << results.status();
  const std::vector<LedgerEntry>& entries = (*results)[1].entries;
  ASSERT_EQ(entries.size(), 2);
  EXPECT_TRUE(entries[0].checked);
  EXPECT_FALSE(entries[1].checked);
}

TEST_F(CheckRowsTest, AJobThatIsLeftOutIsLeftOutWithItsVerdictAndAlert) {
  InsertJob(database_, 200, "other");
  Flush flush;
  flush.verdicts = {Verdict("2026-11-28", "NONSENSE", "DONE"),
                    Verdict("2026-11-28", "LATE", "FAILED", 200, "other")};
  FlushResult result;
  EXPECT_FALSE(TryCommit(flush, &result).ok()) << "the word is none that the table knows";
  // As the batch writer then writes it: without the culprit's part.
  flush.verdicts.erase(flush.verdicts.begin());
  ASSERT_TRUE(TryCommit(flush, &result, {kJob}).ok());
  EXPECT_EQ(Alerts(), "date_missed/200/2026-11-28");
}

TEST_F(CheckRowsTest, OperatorsListThem) {
  InsertJob(database_, 200, "other");
  VerdictWrite early = Verdict("2026-11-20", "LATE", "FAILED");
  early.expected_at = At("2026-11-21T01:00:00Z");
  Give({early, Verdict("2026-11-28", "ON_TIME", "DONE"),
        Verdict("2026-11-28", "PAUSED", "PAUSED", 200, "other")});
  database_.Sql(
      "UPDATE job SET paused = true, pause_reason = 'moves', paused_by = 'ann' "
      "WHERE job_id = 200");
  CheckDeskStore desk(database_.options());
  const auto list = [&](const VerdictFilter& filter) {
    std::vector<std::string> lines;
    const auto rows = desk.ListVerdicts(filter);
    EXPECT_TRUE(rows.ok()) << rows.status();
    for (const VerdictRow& row : *rows) {
      lines.push_back(row.job + " " + *ToParam(row.date) + " " + row.verdict +
                      (row.pause_reason.empty() ? "" : " (" + row.pause_reason + ")"));
    }
    return lines;
  };
  EXPECT_THAT(list({}), ElementsAre("other 2026-11-28 PAUSED (moves)", "recon 2026-11-28 ON_TIME",
                                    "recon 2026-11-20 LATE"));
  EXPECT_THAT(list({.job = "recon", .late = true}), ElementsAre("recon 2026-11-20 LATE"));
  EXPECT_THAT(list({.from = Day("2026-11-21"), .to = Day("2026-11-27")}), IsEmpty());
  EXPECT_THAT(list({.limit = 1}), ElementsAre("other 2026-11-28 PAUSED (moves)"));
  const auto of_job = desk.VerdictsOf(kJob, {Day("2026-11-28"), Day("2026-11-29")});
  ASSERT_TRUE(of_job.ok());
  ASSERT_EQ(of_job->size(), 1);
}

}  // namespace
}  // namespace tidemark
