// Due dates as the database knows them: noted by the owner, settled by watermarks, asked for by
// what is left of them; and the README's ledger in one query.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "scheduler/store/backfill_rows.h"
#include "scheduler/store/ledger_reader.h"
#include "scheduler/store/snapshot.h"
#include "tests/store/flush_fixture.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kJob = 100;

class DueDatesTest : public FlushTest {
 protected:
  DueDatesTest() { InsertJob(database_, kJob, "recon"); }

  void Note(int first, int last, bool anew = false) {
    DueNote note;
    note.job_id = kJob;
    note.anew = anew;
    for (int day = first; day <= last; ++day) {
      const absl::CivilDay date(2026, 11, day);
      note.dates.emplace_back(
          date, absl::FromCivil(absl::CivilSecond(date) + 17 * 3600, absl::UTCTimeZone()));
    }
    note.until = absl::CivilDay(2026, 11, last);
    Flush flush;
    flush.notes.push_back(std::move(note));
    Commit(std::move(flush));
  }
  void Mark(const std::string& date, const std::string& status, const std::string& reason = "") {
    Flush flush;
    flush.watermarks.push_back({kJob, "recon", Day(date), status, reason, "", "ann", false});
    Commit(std::move(flush));
  }
  // Dates that a question about what was noted is answered with.
  std::vector<std::string> Left(std::vector<absl::CivilDay> dates = {}) {
    LedgerQuery query;
    query.query_id = 1;
    query.job_id = kJob;
    query.dates = std::move(dates);
    query.noted = true;
    const auto results = ReadLedger(*connection_, {query});
    EXPECT_TRUE(results.ok()) << results.status();
    std::vector<std::string> left;
    for (const LedgerEntry& entry : results->front().entries) {
      left.push_back(*ToParam(entry.date) + " " + entry.status);
    }
    return left;
  }
};

TEST_F(DueDatesTest, ASnapshotSaysOfWhichJobsSomethingIsLeft) {
  const auto left = [&] { return LoadSnapshot(*connection_, {{7, {1, 1}}})->unsettled; };
  EXPECT_EQ(left(), std::vector<int64_t>());
  Note(1, 2);
  EXPECT_EQ(left(), std::vector<int64_t>{kJob});
  EXPECT_EQ(LoadSnapshot(*connection_, {{8, {1, 1}}})->unsettled, std::vector<int64_t>());
  Mark("2026-11-01", "DONE");
  Mark("2026-11-02", "WAIVED");
  EXPECT_EQ(left(), std::vector<int64_t>());
}

TEST_F(DueDatesTest, SpecsThatDifferByTheNameAloneAreReadOnce) {
  InsertJob(database_, kJob + 1, "other");
  database_.Sql(
      "UPDATE job_version v SET spec = '{\"name\":\"' || j.name || '\",\"app\":\"a\"}'"
      " FROM job j WHERE j.job_id = v.job_id");
  const auto snapshot = LoadSnapshot(*connection_, {{7, {1, 1}}});
  ASSERT_TRUE(snapshot.ok()) << snapshot.status();
  ASSERT_EQ(snapshot->jobs.size(), 2U);
  const JobRow::Version& one = snapshot->jobs[0].versions.at(0);
  EXPECT_EQ(one.TextOf(snapshot->jobs[0].name),
            "{\"name\":\"" + snapshot->jobs[0].name + "\",\"app\":\"a\"}");
  EXPECT_EQ(one.like, snapshot->jobs[1].versions.at(0).like);
}

TEST_F(DueDatesTest, WhatIsNotSettledIsLeft) {
  Mark("2026-11-01", "DONE");
  Note(1, 4);
  EXPECT_THAT(Left(), ElementsAre("2026-11-02 ", "2026-11-03 ", "2026-11-04 "));
  Mark("2026-11-02", "WAIVED");
  Mark("2026-11-03", "EXPIRED", "first_launch");
  EXPECT_THAT(Left(), ElementsAre("2026-11-04 "));
  Mark("2026-11-03", "EXPIRED", "retention");
  EXPECT_THAT(Left({Day("2026-11-05")}),
              ElementsAre("2026-11-03 EXPIRED", "2026-11-04 ", "2026-11-05 "));
  EXPECT_EQ(database_.Sql("SELECT due_until FROM job"), "2026-11-04");
}

TEST_F(DueDatesTest, RunsSettleAndFailuresDoNot) {
  Note(1, 2);
  const ActiveRun first = MakeRun(kJob, "recon", "2026-11-01", Uuid(1));
  Open(first);
  EXPECT_THAT(Left(), ElementsAre("2026-11-01 RUNNING", "2026-11-02 "));
  Close(first, RunStatus::kCompleted, "DONE");
  EXPECT_THAT(Left(), ElementsAre("2026-11-02 "));
  const ActiveRun second = MakeRun(kJob, "recon", "2026-11-02", Uuid(2));
  Open(second);
  Close(second, RunStatus::kFailed, "FAILED", {}, "retries");
  EXPECT_THAT(Left(), ElementsAre("2026-11-02 FAILED"));
}

TEST_F(DueDatesTest, AHoleMadeByHandIsSeenAtOnce) {
  for (const char* date : {"2026-11-01", "2026-11-02", "2026-11-03"}) Mark(date, "DONE");
  Note(1, 3);
  EXPECT_THAT(Left(), IsEmpty());
  // From a session with another search_path, as a person has it.
  database_.Sql(
      "DELETE FROM tidemark.job_watermark WHERE biz_date = '2026-11-02' "
      "AND set_config('search_path', 'public', true) = 'public'");
  EXPECT_THAT(Left(), ElementsAre("2026-11-02 "));
  database_.Sql("UPDATE job_watermark SET status = 'FAILED' WHERE biz_date = '2026-11-03'");
  EXPECT_THAT(Left(), ElementsAre("2026-11-02 ", "2026-11-03 FAILED"));
  database_.Sql("TRUNCATE job_watermark");
  EXPECT_THAT(Left(), ElementsAre("2026-11-01 ", "2026-11-02 ", "2026-11-03 "));
}

TEST_F(DueDatesTest, NotedAnewWhatIsNoLongerDueIsGone) {
  Note(1, 5);
  Note(3, 4, /*anew=*/true);
  EXPECT_THAT(Left(), ElementsAre("2026-11-03 ", "2026-11-04 "));
  EXPECT_EQ(database_.Sql("SELECT due_until FROM job"), "2026-11-04");
}

// The statement of the README, from its SELECT to its end, with $1 as it is there.
std::string ReadmeQuery() {
  std::ifstream file(TIDEMARK_README);
  std::stringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  const size_t begin = all.find("```sql\nSELECT d.biz_date");
  EXPECT_NE(begin, std::string::npos);
  const size_t end = all.find(";\n```", begin);
  return all.substr(begin + 7, end - begin - 7);
}

TEST_F(DueDatesTest, TheReadmesQueryAccountsForEveryDueDate) {
  Note(1, 7);
  const ActiveRun first = MakeRun(kJob, "recon", "2026-11-01", Uuid(1));
  Open(first);
  AttemptResult result;
  result.result_rows = 5;
  result.result_digest = "abc";
  Close(first, RunStatus::kCompleted, "DONE", result);
  const ActiveRun second = MakeRun(kJob, "recon", "2026-11-02", Uuid(2));
  Open(second);
  Close(second, RunStatus::kFailed, "FAILED", {}, "retries");
  Mark("2026-11-03", "WAIVED");
  Mark("2026-11-04", "EXPIRED", "retention");
  Open(MakeRun(kJob, "recon", "2026-11-05", Uuid(5)));
  database_.Sql("DELETE FROM job_watermark WHERE biz_date = '2026-11-05'");  // still running
  const std::vector<SqlParam> name = {"recon"};
  const auto states = [&] {
    return database_.Rows("SELECT q.biz_date, q.state FROM (" + ReadmeQuery() + ") q", name);
  };
  EXPECT_THAT(states(), ElementsAre("2026-11-01|DONE", "2026-11-02|FAILED", "2026-11-03|WAIVED",
                                    "2026-11-04|EXPIRED", "2026-11-05|RUNNING",
                                    "2026-11-06|MISSING", "2026-11-07|MISSING"));
  database_.Sql("UPDATE job SET paused = true, pause_reason = 'look'");
  EXPECT_EQ(states().back(), "2026-11-07|PAUSED");
  EXPECT_THAT(database_.Rows(ReadmeQuery(), name).front(),
              ::testing::HasSubstr(Uuid(1) + "|2026-11-27 18:00:00+00|5|abc|"));
}

// ---------------------------------------------------------------- backfills and drills

TEST_F(DueDatesTest, ABackfillIsReadBackWithWhatItsRunsCameTo) {
  Backfill row;
  row.backfill_id = Uuid(50);
  row.job_id = kJob;
  row.from = Day("2026-11-01");
  row.to = Day("2026-11-03");
  row.reprocess = Reprocess::kAll;
  row.actor = "ann";
  row.dates = {Day("2026-11-01"), Day("2026-11-02"), Day("2026-11-03")};
  row.created_at = At("2026-11-27T12:00:00Z");
  const auto write = [&] {
    Flush flush;
    flush.backfills.push_back({row});
    Commit(std::move(flush));
  };
  write();
  for (const auto& [number, status] :
       {std::pair(1, RunStatus::kCompleted), std::pair(2, RunStatus::kFailed)}) {
    ActiveRun run = MakeRun(kJob, "recon", "2026-11-0" + std::to_string(number), Uuid(number));
    run.backfill_id = row.backfill_id;
    Open(run);
    Close(run, status, status == RunStatus::kCompleted ? "DONE" : "FAILED");
  }
  const auto load = [&] {
    std::vector<OpenBackfill> loaded;
    EXPECT_TRUE(connection_
                    ->Transact([&](SqlTransaction& transaction) -> absl::Status {
                      auto found = LoadBackfills(transaction, "{7}");
                      if (found.ok()) loaded = *std::move(found);
                      return found.status();
                    })
                    .ok());
    return loaded;
  };
  std::vector<OpenBackfill> loaded = load();
  ASSERT_EQ(loaded.size(), 1u);
  EXPECT_EQ(loaded[0].row.dates, row.dates);
  EXPECT_EQ(loaded[0].row.reprocess, Reprocess::kAll);
  EXPECT_EQ(loaded[0].tried.at(Day("2026-11-01")), OpenBackfill::Tried::kDone);
  EXPECT_EQ(loaded[0].tried.at(Day("2026-11-02")), OpenBackfill::Tried::kFailed);
  row.resumed_at = At("2026-11-27T18:00:00Z");  // the failure ended at that time
  write();
  EXPECT_EQ(load()[0].tried.at(Day("2026-11-02")), OpenBackfill::Tried::kAgain);
  row.state = BackfillState::kCancelled;
  row.ended_at = At("2026-11-27T19:00:00Z");
  write();
  EXPECT_THAT(load(), IsEmpty());
  row.state = BackfillState::kRunning;
  row.ended_at.reset();
  write();
  EXPECT_THAT(load(), IsEmpty()) << "what has ended stays so";
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM run WHERE backfill_id IS NOT NULL"), "2");
}

TEST_F(DueDatesTest, ADrillForgetsDoneDatesAndRemembersWhatTheyHad) {
  Note(1, 2);
  ActiveRun run = MakeRun(kJob, "recon", "2026-11-01", Uuid(1));
  Open(run);
  AttemptResult result;
  result.result_rows = 5;
  result.result_digest = "abc";
  Close(run, RunStatus::kCompleted, "DONE", result);
  Flush flush;
  flush.drills.push_back({Uuid(60), kJob, "ann", {Day("2026-11-01")}, At("2026-11-27T19:00:00Z")});
  Commit(std::move(flush));
  EXPECT_EQ(Watermark("recon", "2026-11-01"), "");
  EXPECT_THAT(database_.Rows("SELECT biz_date, first_run_id, first_rows, first_digest FROM drill"),
              ElementsAre("2026-11-01|" + Uuid(1) + "|5|abc"));
  LedgerQuery query{1, kJob, {}, false, {}, {}, true};
  const auto ask = [&] { return ReadLedger(*connection_, {query})->front().entries; };
  EXPECT_TRUE(ask()[0].drill);
  EXPECT_FALSE(ask()[1].drill);
  run = MakeRun(kJob, "recon", "2026-11-01", Uuid(2));
  run.tag = "drill";
  run.created_at = At("2026-11-27T19:00:01Z");
  Open(run);
  EXPECT_TRUE(ask()[0].drill);
  Close(run, RunStatus::kCompleted, "DONE", result);
  database_.Sql("DELETE FROM job_watermark");
  EXPECT_FALSE(ask()[0].drill) << "it was filled: this hole is another's";
}

TEST_F(DueDatesTest, ACursorMovesBackByAPersonsWordAlone) {
  const auto move = [&](const std::string& time, bool reset) {
    Flush flush;
    flush.cursors.push_back({kJob, At(time), reset});
    Commit(std::move(flush));
    return database_.Sql("SELECT last_fire FROM job_cursor");
  };
  EXPECT_EQ(move("2026-11-28T00:00:00Z", false), "2026-11-28 00:00:00+00");
  EXPECT_EQ(move("2026-11-27T00:00:00Z", false), "2026-11-28 00:00:00+00");
  EXPECT_EQ(move("2026-11-27T00:00:00Z", true), "2026-11-27 00:00:00+00");
}

}  // namespace
}  // namespace tidemark
