// The handler on real tables: idempotence, carried-over rows, resumption, fencing.
#include "executor/examples/recon/handler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <pqxx/pqxx>

#include "common/clock.h"
#include "executor/examples/recon/bill_generator.h"
#include "tests/examples/recon/faults.h"
#include "tests/examples/recon/recon_fixture.h"

namespace tidemark::recon {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class HandlerTest : public ReconFixture {
 protected:
  RunResult Run(const RunRequest& request) {
    ReconHandler handler(config_, statements_, SystemClock(), journal_);
    return RunOnce([&](Context& run) { return handler(run); }, request);
  }
  // Each call is a later run of the date.
  RunRequest Date(const std::string& biz_date) {
    RunRequest request;
    request.job = "recon";
    request.biz_date = biz_date;
    request.run_id = "00000000-0000-7000-8000-00000000000" + std::to_string(++runs_);
    return request;
  }

  int runs_ = 0;
  Statements statements_ = StandardStatements();
  Journal journal_;
};

TEST_F(HandlerTest, WritesTheDifferencesOfTheBills) {
  const RunResult result = Run(Date("2026-11-28"));
  ASSERT_TRUE(result.outcome.ok()) << result.outcome.message;
  EXPECT_EQ(result.percent, 100);
  int planted = 0;
  const absl::CivilDay day(2026, 11, 28);
  for (const auto& [kind, count] : GenerateBills(day, DefaultOrders(day)).planted) {
    EXPECT_EQ(Query("SELECT count(*) FROM recon.difference WHERE kind = '" +
                    std::string(KindName(kind)) + "'"),
              std::to_string(count));
    planted += count;
  }
  ASSERT_TRUE(result.fingerprint.has_value());
  EXPECT_EQ(result.fingerprint->rows, planted);
  EXPECT_EQ(Query("SELECT differences || ' ' || digest FROM recon.batch_result"),
            std::to_string(planted) + " " + result.fingerprint->digest);
}

TEST_F(HandlerTest, AnotherRunLeavesTheSameRowsAndDigest) {
  const RunResult first = Run(Date("2026-11-28"));
  const RunResult other = Run(Date("2026-11-27"));
  const RunResult again = Run(Date("2026-11-28"));
  ASSERT_TRUE(again.outcome.ok()) << again.outcome.message;
  EXPECT_EQ(again.fingerprint, first.fingerprint);
  EXPECT_NE(other.fingerprint, first.fingerprint);
  EXPECT_EQ(Query("SELECT count(*) FROM recon.batch"), "2");
}

TEST_F(HandlerTest, KeepsWhatAPersonHasWorkedOn) {
  const RunResult first = Run(Date("2026-11-28"));
  WorkOnOne("AMOUNT_DIFFERS");
  const std::string handled = Handled();
  ASSERT_THAT(handled, Not(IsEmpty()));
  const RunResult again = Run(Date("2026-11-28"));
  EXPECT_EQ(again.fingerprint, first.fingerprint);
  EXPECT_EQ(Handled(), handled);
}

// The two tests above would notice these faults.
TEST_F(HandlerTest, ADraftThatIsNotClearedDoublesTheDifferences) {
  statements_ = *FaultyStatements("keeps-draft");
  const RunResult first = Run(Date("2026-11-28"));
  const RunResult again = Run(Date("2026-11-28"));
  ASSERT_TRUE(again.outcome.ok()) << again.outcome.message;
  EXPECT_EQ(again.fingerprint->rows, 2 * first.fingerprint->rows);
  EXPECT_NE(again.fingerprint->digest, first.fingerprint->digest);
}

TEST_F(HandlerTest, ACarriedOverRowThatIsDroppedLosesThePersonsWork) {
  statements_ = *FaultyStatements("drops-carried-over");
  const RunResult first = Run(Date("2026-11-28"));
  WorkOnOne("AMOUNT_DIFFERS");
  const RunResult again = Run(Date("2026-11-28"));
  ASSERT_TRUE(again.outcome.ok()) << again.outcome.message;
  EXPECT_EQ(again.fingerprint, first.fingerprint);
  EXPECT_THAT(Handled(), IsEmpty());
}

TEST_F(HandlerTest, KeepsAWorkedOnDifferenceThatTheBillsNoLongerHave) {
  Run(Date("2026-11-28"));
  WorkOnOne("AMOUNT_DIFFERS");
  const std::string handled = Handled();
  // The channel corrects its bill: the two sides are equal now.
  const absl::CivilDay day(2026, 11, 28);
  const std::vector<Bill> ours = GenerateBills(day, DefaultOrders(day)).ours;
  ASSERT_TRUE(SaveBills(config_.bills_dir, day, ours, ours).ok());
  const RunResult again = Run(Date("2026-11-28"));
  ASSERT_TRUE(again.outcome.ok()) << again.outcome.message;
  EXPECT_EQ(Handled(), handled);
  EXPECT_EQ(Query("SELECT count(*) FROM recon.difference WHERE kind LIKE 'MISSING%'"), "0");
}

TEST_F(HandlerTest, GoesOnFromACheckpointAndEndsWithTheSameRows) {
  config_.chunk_orders = 100;
  const RunResult whole = Run(Date("2026-11-28"));
  RunRequest broken = Date("2026-11-28");
  broken.cancel_at_percent = 40;
  const RunResult first = Run(broken);
  EXPECT_EQ(first.outcome.kind, Outcome::Kind::kStopped);
  EXPECT_LT(first.percent, 60);
  EXPECT_FALSE(first.fingerprint.has_value());
  // Whoever began again from the start would write this row anew, with another number.
  const std::string earliest = "SELECT min(difference_id) FROM recon.difference";
  const std::string kept = Query(earliest);

  RunRequest rest = broken;
  rest.attempt = 2;
  rest.cancel_at_percent = -1;
  rest.checkpoint = first.checkpoint;
  const RunResult second = Run(rest);
  ASSERT_TRUE(second.outcome.ok()) << second.outcome.message;
  EXPECT_THAT(second.log, HasSubstr("going on after order"));
  EXPECT_EQ(second.fingerprint, whole.fingerprint);
  EXPECT_EQ(Query(earliest), kept);
}

TEST_F(HandlerTest, ACheckpointBehindWhatWasWrittenDoesNotDoubleRows) {
  config_.chunk_orders = 100;
  RunRequest broken = Date("2026-11-28");
  broken.cancel_at_percent = 20;
  const std::string early = Run(broken).checkpoint;
  RunRequest later = broken;
  later.attempt = 2;
  later.cancel_at_percent = 70;
  Run(later);
  RunRequest rest = broken;
  rest.attempt = 3;
  rest.cancel_at_percent = -1;
  rest.checkpoint = early;
  const RunResult last = Run(rest);
  EXPECT_EQ(last.fingerprint, Run(Date("2026-11-28")).fingerprint);
}

TEST_F(HandlerTest, ACheckpointOfOtherBillsIsNotUsed) {
  RunRequest request = Date("2026-11-28");
  request.checkpoint = FormatCheckpoint({1, "P20261128-999999"});
  const RunResult result = Run(request);
  ASSERT_TRUE(result.outcome.ok());
  EXPECT_THAT(result.log, HasSubstr("from the start"));
  EXPECT_EQ(result.fingerprint, Run(Date("2026-11-28")).fingerprint);
}

TEST_F(HandlerTest, AnAttemptThatWasOvertakenWritesNothing) {
  const RunRequest early = Date("2026-11-28");
  const RunResult newer = Run(Date("2026-11-28"));
  const std::string rows = "SELECT count(*), min(difference_id) FROM recon.difference";
  const std::string before = Query(rows);
  const RunResult overtaken = Run(early);
  EXPECT_EQ(overtaken.outcome.kind, Outcome::Kind::kFailed);
  EXPECT_THAT(overtaken.outcome.message, HasSubstr("a later attempt works on batch"));
  EXPECT_EQ(Query(rows), before);
  EXPECT_TRUE(newer.outcome.ok());
}

TEST_F(HandlerTest, AnAttemptThatIsOvertakenInTheMiddleStopsWriting) {
  DifferenceStore early(url(), StandardStatements());
  DifferenceStore late(url(), StandardStatements());
  ASSERT_TRUE(early.CreateTables().ok());
  const Batch first{"b", "2026-11-28", "1", "r1", 1, 1};
  const Batch second{"b", "2026-11-28", "2", "r2", 1, 1};
  const Difference d{"P1", DifferenceKind::kMissingOurs, std::nullopt, 5, 1};
  ASSERT_TRUE(early.Begin(first, "").ok());
  ASSERT_TRUE(early.Append(first, "", {d}).ok());
  ASSERT_TRUE(late.Begin(second, "").ok());
  EXPECT_TRUE(absl::IsAborted(early.Append(first, "P1", {d})));
  EXPECT_TRUE(absl::IsAborted(early.Finish(first).status()));
  EXPECT_TRUE(absl::IsAborted(early.Begin(first, "")));
  EXPECT_EQ(late.Finish(second)->differences, 0);
}

TEST_F(HandlerTest, ARepeatedAppendWritesOnce) {
  DifferenceStore store(url(), StandardStatements());
  ASSERT_TRUE(store.CreateTables().ok());
  const Batch batch{"b", "2026-11-28", "1", "r1", 1, 1};
  const Difference d{"P1", DifferenceKind::kMissingOurs, std::nullopt, 5, 1};
  ASSERT_TRUE(store.Begin(batch, "").ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(store.Append(batch, "", {d}).ok());
  EXPECT_EQ(store.Finish(batch)->differences, 1);
}

TEST_F(HandlerTest, ABillThatHasNotArrivedIsTriedAgain) {
  config_.generate_bills = false;
  const RunResult result = Run(Date("2026-11-28"));
  EXPECT_EQ(result.outcome.kind, Outcome::Kind::kRetry);
  EXPECT_THAT(result.outcome.message, HasSubstr("2026-11-28/ours.csv is not there"));
}

TEST_F(HandlerTest, ABrokenBillFailsForGood) {
  const absl::CivilDay day(2026, 11, 28);
  ASSERT_TRUE(EnsureBills(config_.bills_dir, day).ok());
  std::ofstream(ChannelPath(config_.bills_dir, day), std::ios::app) << "P1,twelve,x\n";
  const RunResult result = Run(Date("2026-11-28"));
  EXPECT_EQ(result.outcome.kind, Outcome::Kind::kFailed);
  EXPECT_THAT(result.outcome.message, HasSubstr("channel.csv:"));
}

TEST_F(HandlerTest, AnEmptyDateHasNoDifferences) {
  ASSERT_TRUE(SaveBills(config_.bills_dir, absl::CivilDay(2026, 11, 28), {}, {}).ok());
  const RunResult result = Run(Date("2026-11-28"));
  ASSERT_TRUE(result.outcome.ok()) << result.outcome.message;
  EXPECT_EQ(result.fingerprint->rows, 0);
}

TEST_F(HandlerTest, ARunWithoutABusinessDateIsRefused) {
  const RunResult result = Run(Date(""));
  EXPECT_EQ(result.outcome.kind, Outcome::Kind::kFailed);
  EXPECT_THAT(result.outcome.message, HasSubstr("daily schedule"));
}

TEST_F(HandlerTest, ADatabaseThatStaysAwayFailsTheAttemptToBeRetried) {
  config_.database_url = "host=127.0.0.1 port=1 dbname=none";
  config_.database_tries = 1;
  const RunResult result = Run(Date("2026-11-28"));
  EXPECT_EQ(result.outcome.kind, Outcome::Kind::kRetry);
  EXPECT_THAT(result.outcome.message, HasSubstr("database is away"));
}

TEST_F(HandlerTest, TheJournalTellsStartAndEnd) {
  const std::string path = dir() + "/journal";
  config_.executor_id = "recon-1";
  ASSERT_TRUE(journal_.Open(path).ok());
  Run(Date("2026-11-28"));
  std::ifstream in(path);
  std::string enter;
  std::string exit;
  std::getline(in, enter);
  std::getline(in, exit);
  const std::string id = "00000000-0000-7000-8000-000000000001";
  EXPECT_THAT(enter, HasSubstr("\trecon-1\tenter\t2026-11-28\t" + id + "\t1\t-"));
  EXPECT_THAT(exit, HasSubstr("\trecon-1\texit\t2026-11-28\t" + id + "\t1\tsucceeded"));
}

TEST(CheckpointText, RoundTripsAndRefusesTheRest) {
  const Checkpoint checkpoint{0xfedcba9876543210, "P1"};
  const std::string text = FormatCheckpoint(checkpoint);
  EXPECT_EQ(text, "v1 fedcba9876543210 P1");
  EXPECT_EQ(ParseCheckpoint(text)->fingerprint, checkpoint.fingerprint);
  EXPECT_EQ(ParseCheckpoint(text)->last_order_id, "P1");
  for (const char* bad : {"", "v1", "v1 fedcba9876543210", "v1 fedcba9876543210 ",
                          "v2 fedcba9876543210 P1", "v1 fedcba987654321x P1"}) {
    EXPECT_FALSE(ParseCheckpoint(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace tidemark::recon
