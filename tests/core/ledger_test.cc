#include "scheduler/core/ledger.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/job.h"

namespace tidemark {
namespace {

using testing::ElementsAre;

absl::CivilDay Day(int n) { return absl::CivilDay(2026, 11, n); }

// Due on the given days of November.
LedgerInput DueOn(const std::vector<int>& days) {
  LedgerInput input;
  for (const int n : days) {
    Occurrence due;
    due.biz_date = Day(n);
    due.nominal = absl::CivilSecond(Day(n + 1)) + 3600;
    due.fire_time = absl::FromCivil(due.nominal, absl::UTCTimeZone());
    input.due.push_back(due);
  }
  return input;
}

std::vector<std::string> States(const Ledger& ledger) {
  std::vector<std::string> states;
  for (const LedgerLine& line : ledger.lines) {
    std::string state(Name(line.state));
    if (line.blocked_by.has_value()) state += " " + std::to_string(line.blocked_by->day());
    states.push_back(state);
  }
  return states;
}

TEST(Ledger, NothingDueIsNothing) {
  const Ledger ledger = BuildLedger({});
  EXPECT_TRUE(ledger.lines.empty());
  EXPECT_FALSE(ledger.high_watermark.has_value());
}

TEST(Ledger, EveryDueDateHasALine) {
  LedgerInput input = DueOn({1, 2, 3, 4, 5});
  input.rows = {{Day(1), "DONE"}, {Day(2), "WAIVED"}, {Day(4), "DONE"}};
  const Ledger ledger = BuildLedger(input);
  EXPECT_THAT(States(ledger), ElementsAre("DONE", "WAIVED", "MISSING", "DONE", "MISSING"));
  EXPECT_EQ(ledger.high_watermark, Day(2));  // holes in the middle count
}

TEST(Ledger, StrictOrderWaitsBehindWhatFailedOrRuns) {
  LedgerInput input = DueOn({1, 2, 3, 4});
  input.rows = {{Day(1), "DONE"}, {Day(2), "FAILED"}};
  EXPECT_THAT(States(BuildLedger(input)), ElementsAre("DONE", "FAILED", "BLOCKED 2", "BLOCKED 2"));
  input.rows[Day(2)] = "RUNNING";
  input.live = {Day(2)};
  EXPECT_THAT(States(BuildLedger(input)), ElementsAre("DONE", "RUNNING", "BLOCKED 2", "BLOCKED 2"));
  input.strict = false;
  EXPECT_THAT(States(BuildLedger(input)), ElementsAre("DONE", "RUNNING", "MISSING", "MISSING"));
}

TEST(Ledger, RunningWithoutALiveRunHasNoVerdict) {
  LedgerInput input = DueOn({1});
  input.rows = {{Day(1), "RUNNING"}};
  EXPECT_THAT(States(BuildLedger(input)), ElementsAre("MISSING"));
}

TEST(Ledger, ALiveRunWithoutARowIsRunning) {
  LedgerInput input = DueOn({1});
  input.live = {Day(1)};
  EXPECT_THAT(States(BuildLedger(input)), ElementsAre("RUNNING"));
}

TEST(Ledger, ARerunLeavesDoneDone) {
  LedgerInput input = DueOn({1, 2});
  input.rows = {{Day(1), "DONE"}, {Day(2), "DONE"}};
  input.live = {Day(1)};
  const Ledger ledger = BuildLedger(input);
  EXPECT_THAT(States(ledger), ElementsAre("DONE", "DONE"));
  EXPECT_EQ(ledger.high_watermark, Day(2));
}

TEST(Ledger, ExpiredAtTheFirstLaunchIsPassedLaterOnesAreInTheWay) {
  LedgerInput input = DueOn({1, 2, 3, 4, 5});
  input.rows = {{Day(1), "EXPIRED"}, {Day(2), "EXPIRED"}, {Day(3), "DONE"}, {Day(4), "EXPIRED"}};
  input.passed = {Day(1), Day(2)};
  const Ledger ledger = BuildLedger(input);
  EXPECT_THAT(States(ledger), ElementsAre("EXPIRED", "EXPIRED", "DONE", "EXPIRED", "BLOCKED 4"));
  EXPECT_EQ(ledger.high_watermark, Day(3));
}

TEST(Ledger, OnlyPassedDatesAreNoHighWatermark) {
  LedgerInput input = DueOn({1, 2});
  input.rows = {{Day(1), "EXPIRED"}};
  input.passed = {Day(1)};
  EXPECT_FALSE(BuildLedger(input).high_watermark.has_value());
}

TEST(Ledger, PausedDatesSaySo) {
  LedgerInput input = DueOn({1, 2, 3});
  input.rows = {{Day(1), "FAILED"}};
  input.live = {Day(2)};
  input.paused = true;
  EXPECT_THAT(States(BuildLedger(input)), ElementsAre("FAILED", "RUNNING", "PAUSED"));
}

// Whatever the rows say, no due date is left out, none has two lines, and what is below the high
// watermark is settled.
TEST(Ledger, PropertyOverAllSmallLedgers) {
  const std::vector<std::string> words = {"", "DONE", "FAILED", "WAIVED", "EXPIRED", "RUNNING"};
  for (int code = 0; code < 6 * 6 * 6 * 6; ++code) {
    for (int flags = 0; flags < 8; ++flags) {
      LedgerInput input = DueOn({1, 2, 3, 4});
      for (int i = 0, rest = code; i < 4; ++i, rest /= 6) {
        if (rest % 6 != 0) input.rows[Day(i + 1)] = words[rest % 6];
      }
      input.paused = (flags & 1) != 0;
      input.strict = (flags & 2) != 0;
      if ((flags & 4) != 0) input.live = {Day(2)};
      const Ledger ledger = BuildLedger(input);
      ASSERT_EQ(ledger.lines.size(), 4u);
      for (size_t i = 0; i < 4; ++i) {
        const LedgerLine& line = ledger.lines[i];
        ASSERT_EQ(line.occurrence.biz_date, input.due[i].biz_date);
        ASSERT_EQ(line.state == LedgerState::kBlocked, line.blocked_by.has_value());
        if (line.blocked_by.has_value()) {
          ASSERT_LT(*line.blocked_by, line.occurrence.biz_date);
        }
        if (ledger.high_watermark.has_value() &&
            line.occurrence.biz_date <= *ledger.high_watermark) {
          ASSERT_TRUE(line.state == LedgerState::kDone || line.state == LedgerState::kWaived);
        }
      }
    }
  }
}

// Stored with every row: a change of the hash would hand jobs to the wrong owner.
TEST(ShardOf, NeverChanges) {
  EXPECT_EQ(ShardOf(1), 65);
  EXPECT_EQ(ShardOf(457000000000000001), 114);
  std::vector<int> count(kShards);
  for (int64_t id = 1; id <= 128 * 200; ++id) ++count[ShardOf(id)];
  for (const int n : count) {
    EXPECT_GT(n, 120);
    EXPECT_LT(n, 290);
  }
}

}  // namespace
}  // namespace tidemark
