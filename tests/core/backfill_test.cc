// Which dates a backfill takes, still wants and opens (C9).
#include "scheduler/core/backfill.h"

#include "common/id.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/catch_up.h"

namespace tidemark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Tried = OpenBackfill::Tried;

const absl::CivilDay kToday(2026, 11, 29);
absl::CivilDay Day(int ago) { return kToday - ago; }

std::vector<DateStanding> Standings() {
  return {{Day(7), "DONE", "", ""},   {Day(6), "FAILED", "retries", ""},
          {Day(5), "", "", ""},       {Day(4), "EXPIRED", "retention", ""},
          {Day(3), "WAIVED", "", ""}, {Day(2), "RUNNING", "", "run-2"},
          {Day(1), "RUNNING", "", ""}};
}

Backfill Range(int from, int to, Reprocess reprocess) {
  Backfill backfill;
  backfill.from = Day(from);
  backfill.to = Day(to);
  backfill.reprocess = reprocess;
  return backfill;
}

TEST(BackfillTest, WhatItTakesIsWhatItWasAskedToReprocess) {
  EXPECT_THAT(PlanBackfill(Range(7, 1, Reprocess::kMissing), Standings()).dates,
              ElementsAre(Day(5), Day(4), Day(1)));
  EXPECT_THAT(PlanBackfill(Range(7, 1, Reprocess::kFailed), Standings()).dates,
              ElementsAre(Day(6), Day(5), Day(4), Day(1)));
  EXPECT_THAT(PlanBackfill(Range(7, 1, Reprocess::kAll), Standings()).dates,
              ElementsAre(Day(7), Day(6), Day(5), Day(4), Day(1)));
  EXPECT_THAT(PlanBackfill(Range(6, 5, Reprocess::kAll), Standings()).dates,
              ElementsAre(Day(6), Day(5)));
}

TEST(BackfillTest, WaivedAndLiveDatesAreLeftAloneAndSaidSo) {
  const BackfillPlan plan = PlanBackfill(Range(4, 1, Reprocess::kAll), Standings());
  EXPECT_THAT(plan.left, ElementsAre(std::pair(Day(3), std::string("WAIVED")),
                                     std::pair(Day(2), std::string("live in run run-2"))));
}

TEST(BackfillTest, AnEarlierDateThatNothingOpensIsInTheWay) {
  const auto in_the_way = [](const Backfill& b, std::vector<DateStanding> s, absl::CivilDay held) {
    return InTheWay(PlanBackfill(b, s), s, held);
  };
  const auto failed = in_the_way(Range(5, 1, Reprocess::kMissing), Standings(), Day(30));
  ASSERT_TRUE(failed.has_value());
  EXPECT_EQ(failed->date, Day(6));
  EXPECT_FALSE(in_the_way(Range(7, 1, Reprocess::kFailed), Standings(), Day(30)).has_value());
  // Settled dates are no part of the gap: they may be run again behind a failed one.
  EXPECT_FALSE(in_the_way(Range(1, 1, Reprocess::kAll),
                          {{Day(2), "FAILED", "", ""}, {Day(1), "DONE", "", ""}}, Day(30))
                   .has_value());
  const std::vector<DateStanding> gap = {{Day(9), "", "", ""}, {Day(1), "", "", ""}};
  EXPECT_FALSE(in_the_way(Range(1, 1, Reprocess::kMissing), gap, Day(30)).has_value())
      << "catch-up fills it first";
  EXPECT_TRUE(in_the_way(Range(1, 1, Reprocess::kMissing), gap, Day(5)).has_value())
      << "the gap is held";
}

TEST(BackfillTest, OrderAndParallelismNeedIndependentDates) {
  CatchUpPolicy strict;
  Backfill backfill = Range(5, 1, Reprocess::kAll);
  EXPECT_EQ(BackfillProblem(backfill, strict), "");
  backfill.reverse = true;
  EXPECT_THAT(BackfillProblem(backfill, strict), HasSubstr("order: independent"));
  backfill.reverse = false;
  backfill.parallel = 2;
  EXPECT_THAT(BackfillProblem(backfill, strict), HasSubstr("order: independent"));
  CatchUpPolicy independent;
  independent.order = CatchUpOrder::kIndependent;
  backfill.reverse = true;
  EXPECT_EQ(BackfillProblem(backfill, independent), "");
  backfill.parallel = 4;
  EXPECT_THAT(BackfillProblem(backfill, independent), HasSubstr("parallelism: 3"));
}

TEST(BackfillTest, ADateIsTriedOnceAndAgainAfterAResume) {
  OpenBackfill open{Range(7, 1, Reprocess::kMissing), {}};
  open.row.dates = {Day(5), Day(4)};
  EXPECT_TRUE(StillWanted(open, Day(5), ""));
  EXPECT_FALSE(StillWanted(open, Day(5), "DONE")) << "settled by another run meanwhile";
  EXPECT_FALSE(StillWanted(open, Day(5), "WAIVED"));
  EXPECT_FALSE(StillWanted(open, Day(6), "")) << "it was not taken";
  open.tried[Day(5)] = Tried::kFailed;
  EXPECT_FALSE(StillWanted(open, Day(5), "FAILED"));
  EXPECT_EQ(Ended(open), BackfillState::kFailed);
  open.tried[Day(5)] = Tried::kAgain;
  EXPECT_TRUE(StillWanted(open, Day(5), "FAILED")) << "its own failure, though it takes missing";
  EXPECT_FALSE(StillWanted(open, Day(5), "DONE"));
  open.tried[Day(5)] = Tried::kDone;
  EXPECT_FALSE(StillWanted(open, Day(5), "")) << "even when its watermark is deleted later";
  EXPECT_EQ(Ended(open), BackfillState::kDone);
}

// ---------------------------------------------------------------- in the planner

UnsettledDate Unsettled(int ago, const std::string& backfill = "") {
  UnsettledDate date;
  date.occurrence.biz_date = Day(ago);
  date.occurrence.fire_time =
      absl::FromCivil(absl::CivilSecond(Day(ago) + 1) + 3600, absl::UTCTimeZone());
  date.backfill = backfill;
  return date;
}

CatchUpInput Input(std::vector<UnsettledDate> dates, std::vector<UnsettledDate> redo = {}) {
  CatchUpInput input;
  input.dates = std::move(dates);
  input.redo = std::move(redo);
  input.point = TriggerPoint::kContinue;
  input.today = kToday;
  input.now = absl::FromCivil(absl::CivilSecond(kToday) + 4 * 3600, absl::UTCTimeZone());
  input.backfills = {{"b", false, 1, 0}};
  return input;
}

std::vector<std::pair<absl::CivilDay, TriggerType>> Opened(const CatchUpInput& input) {
  std::vector<std::pair<absl::CivilDay, TriggerType>> opened;
  for (const auto& open : PlanCatchUp(input).open) {
    opened.emplace_back(open.occurrence.biz_date, open.trigger);
  }
  return opened;
}

using Open = std::pair<absl::CivilDay, TriggerType>;

TEST(BackfillPlanTest, ADueDateGoesFirstBetweenTwoSettledOnes) {
  EXPECT_THAT(Opened(Input({Unsettled(1)}, {Unsettled(5, "b"), Unsettled(4, "b")})),
              ElementsAre(Open(Day(1), TriggerType::kCatchUp)));
  EXPECT_THAT(Opened(Input({}, {Unsettled(5, "b"), Unsettled(4, "b")})),
              ElementsAre(Open(Day(5), TriggerType::kBackfill)));
}

TEST(BackfillPlanTest, StrictKeepsTheOrderOfTheGap) {
  UnsettledDate expired = Unsettled(6, "b");
  expired.expired = true;
  EXPECT_THAT(Opened(Input({expired, Unsettled(1)})),
              ElementsAre(Open(Day(6), TriggerType::kBackfill)))
      << "today waits behind the gap";
  UnsettledDate failed = Unsettled(7);
  failed.failed = true;
  const CatchUpPlan blocked = PlanCatchUp(Input({failed, expired}));
  EXPECT_THAT(blocked.open, IsEmpty()) << "not past a failed date";
  EXPECT_TRUE(blocked.blocked_by.has_value());
  EXPECT_THAT(Opened(Input({failed}, {Unsettled(3, "b")})),
              ElementsAre(Open(Day(3), TriggerType::kBackfill)))
      << "a settled date is no part of the gap";
}

TEST(BackfillPlanTest, OneAtATimeOverAllTriggerTypes) {
  CatchUpInput input = Input({}, {Unsettled(5, "b")});
  input.live_runs = 1;
  EXPECT_THAT(Opened(input), IsEmpty());
}

TEST(BackfillPlanTest, AHeldGapIsOpenedByABackfillAlone) {
  CatchUpInput input = Input({Unsettled(50), Unsettled(1)});
  EXPECT_THAT(Opened(input), IsEmpty());
  input = Input({Unsettled(50, "b"), Unsettled(49), Unsettled(1)});
  EXPECT_THAT(Opened(input), ElementsAre(Open(Day(50), TriggerType::kBackfill)));
  EXPECT_TRUE(PlanCatchUp(input).held_from.has_value()) << "the rest is still held";
}

TEST(BackfillPlanTest, ARetentionDoesNotExpireWhatAPersonWants) {
  CatchUpInput input = Input({Unsettled(20, "b")});
  input.oldest_source_days = 10;
  EXPECT_THAT(PlanCatchUp(input).expire, IsEmpty());
  EXPECT_THAT(Opened(input), ElementsAre(Open(Day(20), TriggerType::kBackfill)));
}

TEST(BackfillPlanTest, IndependentDatesGoInItsOrderAndPace) {
  CatchUpInput input =
      Input({Unsettled(1)}, {Unsettled(5, "b"), Unsettled(4, "b"), Unsettled(3, "b")});
  input.policy.order = CatchUpOrder::kIndependent;
  input.backfills = {{"b", true, 2, 0}};
  EXPECT_THAT(Opened(input),
              ElementsAre(Open(Day(1), TriggerType::kCatchUp), Open(Day(3), TriggerType::kBackfill),
                          Open(Day(4), TriggerType::kBackfill)));
  input.backfills = {{"b", true, 2, 1}};
  input.live_runs = 1;
  EXPECT_THAT(Opened(input), ElementsAre(Open(Day(1), TriggerType::kCatchUp),
                                         Open(Day(3), TriggerType::kBackfill)));
}

// Whatever the standings: nothing twice, nothing live, never past a failed date of the gap in
// strict, never more than allowed.
TEST(BackfillPlanTest, Properties) {
  SeededRandom random(5);
  const auto draw = [&](int n) { return static_cast<int>(random.Uniform() * n); };
  for (int round = 0; round < 20000; ++round) {
    CatchUpInput input = Input({});
    input.policy.order = draw(2) == 0 ? CatchUpOrder::kStrict : CatchUpOrder::kIndependent;
    input.backfills = {{"b", draw(2) == 0, 1 + draw(3), draw(2)}};
    input.point = static_cast<TriggerPoint>(draw(7));
    for (int ago = 40; ago >= 1; --ago) {
      const int kind = draw(8);
      if (kind > 5) continue;
      UnsettledDate date = Unsettled(ago, draw(3) == 0 ? "b" : "");
      date.failed = kind == 1;
      date.expired = kind == 2;
      date.live = kind == 3;
      if (date.live) {
        date.backfill.clear();
        ++input.live_runs;
      }
      if (kind < 4) input.dates.push_back(date);
      if (kind >= 4 && !date.backfill.empty()) input.redo.push_back(date);
    }
    const CatchUpPlan plan = PlanCatchUp(input);
    std::set<absl::CivilDay> seen;
    const bool strict = input.policy.order == CatchUpOrder::kStrict;
    ASSERT_LE(plan.open.size() + input.live_runs,
              std::max<size_t>(strict ? 1 : 3, input.live_runs));
    for (const auto& open : plan.open) {
      const absl::CivilDay day = open.occurrence.biz_date;
      ASSERT_TRUE(seen.insert(day).second) << "twice";
      for (const UnsettledDate& date : input.dates) {
        const bool same = date.occurrence.biz_date == day;
        ASSERT_FALSE(same && date.live);
        const bool again = std::any_of(input.redo.begin(), input.redo.end(),
                                       [&](const auto& r) { return r.occurrence.biz_date == day; });
        ASSERT_FALSE(strict && !again && date.occurrence.biz_date < day && date.backfill.empty())
            << "past a date of the gap";
      }
    }
  }
}

}  // namespace
}  // namespace tidemark
