#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "common/id.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/catch_up.h"

namespace tidemark {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr TriggerPoint kPoints[] = {TriggerPoint::kScan,     TriggerPoint::kStart,
                                    TriggerPoint::kExecutor, TriggerPoint::kContinue,
                                    TriggerPoint::kOperator, TriggerPoint::kNewIncarnation,
                                    TriggerPoint::kFire};
const char* const kPointNames[] = {"scan",     "start",           "executor", "continue",
                                   "operator", "new incarnation", "fire"};

const absl::CivilDay kToday(2026, 11, 29);

// The occurrence that handles the date `ago` days back: daily at 01:00 UTC, for the day before.
Occurrence DueFor(int ago) {
  Occurrence due;
  due.biz_date = kToday - ago;
  due.nominal = absl::CivilSecond(due.biz_date + 1) + 3600;
  due.fire_time = absl::FromCivil(due.nominal, absl::UTCTimeZone());
  return due;
}

UnsettledDate Missing(int ago) {
  UnsettledDate date;
  date.occurrence = DueFor(ago);
  return date;
}

UnsettledDate Failed(int ago, const std::string& reason = "retries", int reopened = 0) {
  UnsettledDate date = Missing(ago);
  date.failed = true;
  date.reason = reason;
  date.reopened_today = reopened;
  return date;
}

UnsettledDate Live(UnsettledDate date) {
  date.live = true;
  return date;
}

UnsettledDate Expired(int ago) {
  UnsettledDate date = Missing(ago);
  date.expired = true;
  return date;
}

CatchUpInput At(absl::Duration time_of_day, std::vector<UnsettledDate> dates,
                CatchUpOrder order = CatchUpOrder::kStrict,
                TriggerPoint point = TriggerPoint::kStart) {
  CatchUpInput input;
  input.dates = std::move(dates);
  input.point = point;
  input.policy.order = order;
  input.today = kToday;
  input.now = absl::FromCivil(absl::CivilSecond(kToday), absl::UTCTimeZone()) + time_of_day;
  for (const UnsettledDate& date : input.dates) input.live_runs += date.live ? 1 : 0;
  return input;
}

CatchUpInput AtNoon(std::vector<UnsettledDate> dates, CatchUpOrder order = CatchUpOrder::kStrict,
                    TriggerPoint point = TriggerPoint::kStart) {
  return At(absl::Hours(12), std::move(dates), order, point);
}

std::vector<int> Opened(const CatchUpPlan& plan) {
  std::vector<int> ago;
  for (const CatchUpPlan::Open& open : plan.open) {
    ago.push_back(static_cast<int>(kToday - open.occurrence.biz_date));
  }
  return ago;
}

std::vector<int> Expiring(const CatchUpPlan& plan) {
  std::vector<int> ago;
  for (const Occurrence& due : plan.expire) ago.push_back(static_cast<int>(kToday - due.biz_date));
  return ago;
}

// ---------------------------------------------------------------- C4: who opens what

struct PointCase {
  const char* what;
  UnsettledDate date;
  absl::Duration time_of_day;
  const char* opens;  // one letter a trigger point, in the order of kPoints: x opens, - does not
};

TEST(PlanCatchUp, EachTriggerPointOpensWhatItsRuleSays) {
  const PointCase kCases[] = {
      {"missing, due just now", Missing(1), absl::Hours(1), "-xxxxxx"},
      {"missing, just within the tolerance", Missing(1), absl::Hours(1) + kTolerance, "-xxxxxx"},
      {"missing, later than the tolerance", Missing(1),
       absl::Hours(1) + kTolerance + absl::Nanoseconds(1), "xxxxxxx"},
      {"missing for days", Missing(4), absl::Hours(12), "xxxxxxx"},
      {"failed after its retries", Failed(4), absl::Hours(12), "-----xx"},
      {"failed for good", Failed(4, "permanent"), absl::Hours(12), "-----xx"},
      {"failed, reopened twice today", Failed(4, "lost", 2), absl::Hours(12), "-----xx"},
      {"failed, reopened three times today", Failed(4, "lost", 3), absl::Hours(12), "------x"},
      {"cancelled by a person", Failed(4, "cancelled"), absl::Hours(12), "-------"},
      {"held: may still run", Failed(4, "held"), absl::Hours(12), "-------"},
      {"live", Live(Missing(4)), absl::Hours(12), "-------"},
      {"failed before, live now", Live(Failed(4)), absl::Hours(12), "-------"},
      {"expired after it was noticed", Expired(4), absl::Hours(12), "-------"},
  };
  for (const PointCase& c : kCases) {
    for (const CatchUpOrder order : {CatchUpOrder::kStrict, CatchUpOrder::kIndependent}) {
      for (int i = 0; i < 7; ++i) {
        const CatchUpPlan plan = PlanCatchUp(At(c.time_of_day, {c.date}, order, kPoints[i]));
        EXPECT_EQ(plan.open.size(), c.opens[i] == 'x' ? 1u : 0u)
            << c.what << ", " << kPointNames[i] << ", strict " << (order == CatchUpOrder::kStrict);
      }
    }
  }
}

TEST(PlanCatchUp, OnlyANewIncarnationCountsAsAReopening) {
  const auto reopening = [](const UnsettledDate& date, TriggerPoint point) {
    return PlanCatchUp(AtNoon({date}, CatchUpOrder::kStrict, point)).open.at(0).reopening;
  };
  EXPECT_TRUE(reopening(Failed(2), TriggerPoint::kNewIncarnation));
  EXPECT_FALSE(reopening(Failed(2), TriggerPoint::kFire));
  EXPECT_FALSE(reopening(Missing(2), TriggerPoint::kNewIncarnation));
}

TEST(PlanCatchUp, WhatFailedAfterTheRegistrationOrFireIsNotReopenedByIt) {
  for (const TriggerPoint point : {TriggerPoint::kNewIncarnation, TriggerPoint::kFire}) {
    UnsettledDate date = Failed(2);
    EXPECT_EQ(PlanCatchUp(AtNoon({date}, CatchUpOrder::kStrict, point)).open.size(), 1u);
    date.just_failed = true;
    EXPECT_THAT(PlanCatchUp(AtNoon({date}, CatchUpOrder::kStrict, point)).open, IsEmpty());
    EXPECT_EQ(
        PlanCatchUp(AtNoon({date, Missing(1)}, CatchUpOrder::kIndependent, point)).open.size(), 1u);
  }
}

TEST(PlanCatchUp, WhatIsOnTimeIsScheduledWhatIsLateIsCaughtUp) {
  const auto type = [](absl::Duration time_of_day) {
    return PlanCatchUp(At(time_of_day, {Missing(1)}, CatchUpOrder::kStrict, TriggerPoint::kFire))
        .open.at(0)
        .trigger;
  };
  EXPECT_EQ(type(absl::Hours(1)), TriggerType::kSchedule);
  EXPECT_EQ(type(absl::Hours(1) + kTolerance), TriggerType::kSchedule);
  EXPECT_EQ(type(absl::Hours(1) + kTolerance + absl::Seconds(1)), TriggerType::kCatchUp);
}

// ---------------------------------------------------------------- C3: order

TEST(PlanCatchUp, NothingUnsettledIsNothingToDo) {
  const CatchUpPlan plan = PlanCatchUp(AtNoon({}));
  EXPECT_THAT(plan.open, IsEmpty());
  EXPECT_FALSE(plan.blocked_by.has_value());
  EXPECT_FALSE(plan.held_from.has_value());
}

TEST(PlanCatchUp, StrictOpensTheOldestAlone) {
  EXPECT_THAT(Opened(PlanCatchUp(AtNoon({Missing(5), Missing(4), Missing(1)}))), ElementsAre(5));
}

TEST(PlanCatchUp, StrictWaitsForWhateverIsLive) {
  EXPECT_THAT(Opened(PlanCatchUp(AtNoon({Live(Missing(5)), Missing(4)}))), IsEmpty());
  CatchUpInput rerun = AtNoon({Missing(4)});
  rerun.live_runs = 1;  // of a date that is DONE: over all trigger types
  EXPECT_THAT(Opened(PlanCatchUp(rerun)), IsEmpty());
}

TEST(PlanCatchUp, StrictStopsAtWhatFailedAndSaysWhichDateThatIs) {
  for (const UnsettledDate& head :
       {Failed(5), Failed(5, "cancelled"), Failed(5, "held"), Expired(5)}) {
    const CatchUpPlan plan = PlanCatchUp(AtNoon({head, Missing(4), Missing(3)}));
    EXPECT_THAT(plan.open, IsEmpty());
    ASSERT_TRUE(plan.blocked_by.has_value());
    EXPECT_EQ(plan.blocked_by->biz_date, kToday - 5);
  }
}

TEST(PlanCatchUp, IndependentFillsUpToItsParallelism) {
  const std::vector<UnsettledDate> dates = {Missing(9), Failed(8),  Live(Missing(7)),  Missing(6),
                                            Expired(5), Missing(4), Failed(3, "held"), Missing(2)};
  CatchUpInput input = AtNoon(dates, CatchUpOrder::kIndependent);
  input.policy.parallelism = 3;  // one of which is live
  EXPECT_THAT(Opened(PlanCatchUp(input)), ElementsAre(9, 6));
  input.policy.parallelism = 10;
  EXPECT_THAT(Opened(PlanCatchUp(input)), ElementsAre(9, 6, 4, 2));
  input.policy.parallelism = 1;
  EXPECT_THAT(Opened(PlanCatchUp(input)), IsEmpty());
}

// ---------------------------------------------------------------- C2: limits

TEST(PlanCatchUp, AGapThatIsTooLongIsHeldForAPerson) {
  CatchUpInput input = AtNoon({Missing(32), Missing(31), Missing(1)});
  CatchUpPlan plan = PlanCatchUp(input);
  EXPECT_THAT(plan.open, IsEmpty());
  ASSERT_TRUE(plan.held_from.has_value());
  EXPECT_EQ(plan.held_from->biz_date, kToday - 32);

  input.policy.order = CatchUpOrder::kIndependent;  // the younger ones need not wait
  plan = PlanCatchUp(input);
  EXPECT_TRUE(plan.held_from.has_value());
  EXPECT_THAT(Opened(plan), ElementsAre(31, 1));

  EXPECT_FALSE(PlanCatchUp(AtNoon({Missing(31), Missing(1)})).held_from.has_value());
  input.longest_gap_days = 60;
  EXPECT_FALSE(PlanCatchUp(input).held_from.has_value());
}

TEST(PlanCatchUp, WhatTheSourceCannotGiveAgainExpires) {
  CatchUpInput input = AtNoon({Failed(9), Live(Missing(8)), Missing(8), Missing(7), Missing(6)});
  input.oldest_source_days = 7;
  CatchUpPlan plan = PlanCatchUp(input);
  EXPECT_THAT(Expiring(plan), ElementsAre(9, 8));
  EXPECT_THAT(plan.open, IsEmpty());  // strict waits behind it
  EXPECT_EQ(plan.blocked_by->biz_date, kToday - 9);

  input.policy.order = CatchUpOrder::kIndependent;
  plan = PlanCatchUp(input);
  EXPECT_THAT(Expiring(plan), ElementsAre(9, 8));
  EXPECT_THAT(Opened(plan), ElementsAre(7, 6));

  input.oldest_source_days = 0;
  EXPECT_THAT(PlanCatchUp(input).expire, IsEmpty());
}

TEST(PlanCatchUp, WhatExpiredIsNotExpiredAgain) {
  CatchUpInput input = AtNoon({Expired(9), Missing(6)});
  input.oldest_source_days = 7;
  EXPECT_THAT(PlanCatchUp(input).expire, IsEmpty());
}

// ---------------------------------------------------------------- properties

UnsettledDate RandomDate(int ago, Random& random) {
  switch (random.Next() % 8) {
    case 0:
      return Failed(ago, "retries", static_cast<int>(random.Next() % 5));
    case 1:
      return Failed(ago, random.Next() % 2 == 0 ? "cancelled" : "held");
    case 2:
      return Live(Missing(ago));
    case 3:
      return random.Next() % 2 == 0 ? Expired(ago) : Live(Failed(ago));
    default:
      return Missing(ago);
  }
}

CatchUpInput RandomInput(Random& random) {
  std::vector<UnsettledDate> dates;
  const int sparse = 1 + static_cast<int>(random.Next() % 4);
  for (int ago = 1 + static_cast<int>(random.Next() % 40); ago > 0; --ago) {
    if (random.Next() % sparse == 0) dates.push_back(RandomDate(ago, random));
  }
  CatchUpInput input =
      At(absl::Hours(1) + absl::Minutes(random.Uniform() * 15), std::move(dates),
         random.Next() % 2 == 0 ? CatchUpOrder::kStrict : CatchUpOrder::kIndependent,
         kPoints[random.Next() % 7]);
  if (random.Next() % 4 == 0) ++input.live_runs;  // a rerun of a settled date
  input.policy.parallelism = 1 + static_cast<int>(random.Next() % 4);
  input.longest_gap_days = 5 + static_cast<int>(random.Next() % 40);
  if (random.Next() % 3 == 0) input.oldest_source_days = 5 + static_cast<int>(random.Next() % 40);
  return input;
}

const UnsettledDate& DateOf(const CatchUpInput& input, const Occurrence& due) {
  return *std::find_if(input.dates.begin(), input.dates.end(), [&](const UnsettledDate& date) {
    return date.occurrence.biz_date == due.biz_date;
  });
}

void CheckPlan(const CatchUpInput& input, const CatchUpPlan& plan) {
  std::set<absl::CivilDay> named;
  for (const Occurrence& due : plan.expire) {
    const UnsettledDate& date = DateOf(input, due);
    ASSERT_TRUE(named.insert(due.biz_date).second);
    ASSERT_FALSE(date.live || date.expired);
    ASSERT_GT(input.oldest_source_days, 0);
    ASSERT_GT(input.today - due.biz_date, input.oldest_source_days);
  }
  absl::CivilDay last = absl::CivilDay::min();
  for (const CatchUpPlan::Open& open : plan.open) {
    const absl::CivilDay day = open.occurrence.biz_date;
    const UnsettledDate& date = DateOf(input, open.occurrence);
    ASSERT_GT(day, last);  // oldest first, none twice
    last = day;
    ASSERT_TRUE(named.insert(day).second);  // never both opened and expired
    ASSERT_FALSE(date.live || date.expired);
    ASSERT_NE(date.reason, "cancelled");
    ASSERT_NE(date.reason, "held");
    ASSERT_EQ(open.occurrence, date.occurrence);
    ASSERT_EQ(open.reopening, date.failed && input.point == TriggerPoint::kNewIncarnation);
    if (open.reopening) {
      ASSERT_LT(date.reopened_today, kReopeningsPerDay);
    }
    if (!date.failed) {
      ASSERT_LE(input.today - day, input.longest_gap_days + 1);
    }
    if (input.oldest_source_days > 0) {
      ASSERT_LE(input.today - day, input.oldest_source_days);
    }
  }
  if (input.policy.order == CatchUpOrder::kIndependent) {
    ASSERT_LE(static_cast<int>(plan.open.size()),
              std::max(0, input.policy.parallelism - input.live_runs));
    return;
  }
  ASSERT_LE(plan.open.size(), 1u);
  if (plan.open.empty()) return;
  ASSERT_EQ(input.live_runs, 0);
  ASSERT_FALSE(plan.blocked_by.has_value());
  ASSERT_FALSE(plan.held_from.has_value());
  // Nothing unsettled is older: neither a hole, nor what failed, nor what expired.
  ASSERT_EQ(last, input.dates.front().occurrence.biz_date);
}

TEST(PlanCatchUp, PropertyOverRandomGaps) {
  SeededRandom random(37);
  int opened = 0;
  for (int round = 0; round < 30000; ++round) {
    const CatchUpInput input = RandomInput(random);
    const CatchUpPlan plan = PlanCatchUp(input);
    CheckPlan(input, plan);
    if (HasFatalFailure()) FAIL() << "round " << round;
    opened += static_cast<int>(plan.open.size());
  }
  EXPECT_GT(opened, 5000);  // the property has something to look at
}

TEST(PlanCatchUp, PropertyADateThatWaitsForAnotherJobIsNeverOpened) {
  SeededRandom random(43);
  int held_back = 0;
  for (int round = 0; round < 20000; ++round) {
    CatchUpInput input = RandomInput(random);
    std::set<absl::CivilDay> waiting;
    for (UnsettledDate& date : input.dates) {
      if (random.Next() % 3 != 0) continue;
      date.waits_for = {"upstream", date.occurrence.biz_date};
      waiting.insert(date.occurrence.biz_date);
    }
    const CatchUpPlan plan = PlanCatchUp(input);
    CheckPlan(input, plan);
    if (HasFatalFailure()) FAIL() << "round " << round;
    for (const CatchUpPlan::Open& open : plan.open) {
      ASSERT_FALSE(waiting.contains(open.occurrence.biz_date)) << "round " << round;
    }
    // Without the other job something would be opened.
    for (UnsettledDate& date : input.dates) date.waits_for.reset();
    held_back += plan.open.size() < PlanCatchUp(input).open.size() ? 1 : 0;
  }
  EXPECT_GT(held_back, 1000);
}

TEST(PlanCatchUp, ABackfillWaitsForAnotherJobAsWell) {
  UnsettledDate waiting = Expired(3);
  waiting.backfill = "b1";
  waiting.waits_for = {"upstream", waiting.occurrence.biz_date};
  UnsettledDate free = Failed(2);
  free.backfill = "b1";
  CatchUpInput input = AtNoon({waiting, free}, CatchUpOrder::kStrict, TriggerPoint::kContinue);
  input.backfills = {{"b1", false, 2, 0}};
  EXPECT_TRUE(PlanCatchUp(input).open.empty()) << "strict order passes nothing";
  input.policy.order = CatchUpOrder::kIndependent;
  const CatchUpPlan plan = PlanCatchUp(input);
  ASSERT_EQ(plan.open.size(), 1U);
  EXPECT_EQ(plan.open[0].occurrence.biz_date, free.occurrence.biz_date);
  input.dates[0].waits_for.reset();
  EXPECT_EQ(PlanCatchUp(input).open.size(), 2U);
}

// Whatever the start, planning over and over ends, and leaves only what waits for a person or for a
// later trigger point.
TEST(PlanCatchUp, PropertyTheChainEndsWithTheGapFilledUpToWhatStopsIt) {
  SeededRandom random(41);
  for (int round = 0; round < 5000; ++round) {
    CatchUpInput input = RandomInput(random);
    input.point = TriggerPoint::kContinue;
    // What is live ends well; a failed date stays as it is.
    std::erase_if(input.dates, [](const UnsettledDate& date) { return date.live; });
    input.live_runs = 0;
    const size_t dates = input.dates.size();
    size_t steps = 0;
    for (CatchUpPlan plan = PlanCatchUp(input); !plan.open.empty() || !plan.expire.empty();
         plan = PlanCatchUp(input)) {
      ASSERT_LE(++steps, 2 * dates + 1);
      for (const Occurrence& due : plan.expire) {
        const_cast<UnsettledDate&>(DateOf(input, due)).expired = true;
      }
      std::set<absl::CivilDay> done;
      for (const CatchUpPlan::Open& open : plan.open) done.insert(open.occurrence.biz_date);
      std::erase_if(input.dates, [&](const UnsettledDate& date) {
        return done.contains(date.occurrence.biz_date);
      });
    }
    const CatchUpPlan last = PlanCatchUp(input);
    if (input.policy.order == CatchUpOrder::kStrict) {
      ASSERT_EQ(input.dates.empty(), !last.blocked_by.has_value() && !last.held_from.has_value());
      continue;
    }
    for (const UnsettledDate& date : input.dates) {
      const bool held =
          input.today - date.occurrence.biz_date > input.longest_gap_days + 1 && last.held_from;
      ASSERT_TRUE(date.failed || date.expired || held);
    }
  }
}

}  // namespace
}  // namespace tidemark
