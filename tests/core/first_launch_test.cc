#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/id.h"
#include "gtest/gtest.h"
#include "scheduler/core/catch_up.h"
#include "tests/core/time/time_test_util.h"

namespace tidemark {
namespace {

Timeline Cron(const std::string& cron, const std::string& zone = "Asia/Shanghai", int offset = -1) {
  ScheduleSpec spec = CronSpec(cron, zone);
  spec.biz_offset = offset;
  return Timeline(
      {{absl::InfinitePast(), std::make_shared<const Schedule>(Must(Schedule::Compile(spec)))}});
}

CatchUpPolicy Policy(int max_backfill_days, int source_retention_days = 0) {
  CatchUpPolicy policy;
  policy.max_backfill_days = max_backfill_days;
  policy.source_retention_days = source_retention_days;
  return policy;
}

const char kDaily[] = "0 0 1 * * ?";
const char kMondays[] = "0 0 1 ? * MON";
const char kFirstOfMonth[] = "0 0 1 1 * ?";
const absl::Time kNow = At("2026-11-29T12:00:00+08:00");  // a Sunday
const absl::Time kCreated = At("2026-11-29T11:00:00+08:00");

struct LaunchCase {
  const char* what;
  const char* cron;
  std::optional<absl::CivilDay> start_date;
  CatchUpPolicy policy;
  absl::CivilDay first;
  absl::CivilDay from;
};

TEST(PlanFirstLaunch, Table) {
  const absl::CivilDay long_ago = Day(2026, 1, 1);
  const LaunchCase kCases[] = {
      {"five dates are due", kDaily, Day(2026, 11, 24), Policy(30), Day(2026, 11, 24),
       Day(2026, 11, 24)},
      {"thirty days back", kDaily, long_ago, Policy(30), long_ago, Day(2026, 10, 30)},
      {"exactly at the floor", kDaily, Day(2026, 10, 30), Policy(30), Day(2026, 10, 30),
       Day(2026, 10, 30)},
      {"the source forgets first", kDaily, long_ago, Policy(30, 10), long_ago, Day(2026, 11, 19)},
      {"the source forgets last", kDaily, long_ago, Policy(30, 90), long_ago, Day(2026, 10, 30)},
      {"two days at least", kDaily, long_ago, Policy(0), long_ago, Day(2026, 11, 27)},
      {"two days whatever the source", kDaily, long_ago, Policy(30, 1), long_ago,
       Day(2026, 11, 27)},
      {"two weeks at least", kMondays, long_ago, Policy(7), long_ago, Day(2026, 11, 15)},
      {"two weeks whatever the source", kMondays, long_ago, Policy(30, 3), long_ago,
       Day(2026, 11, 15)},
      {"two months at least", kFirstOfMonth, long_ago, Policy(30), long_ago, Day(2026, 9, 30)},
      {"starts in the future", kDaily, Day(2026, 12, 24), Policy(30), Day(2026, 12, 24),
       Day(2026, 12, 24)},
      {"starts by itself with the next date due", kDaily, std::nullopt, Policy(30),
       Day(2026, 11, 29), Day(2026, 11, 29)},
      {"starts by itself with the next week", kMondays, std::nullopt, Policy(30), Day(2026, 11, 29),
       Day(2026, 11, 29)},
  };
  for (const LaunchCase& c : kCases) {
    const FirstLaunch launch =
        PlanFirstLaunch(Cron(c.cron), c.start_date, c.policy, kCreated, kNow);
    EXPECT_EQ(launch.first, c.first) << c.what;
    EXPECT_EQ(launch.from, c.from) << c.what;
  }
}

TEST(PlanFirstLaunch, CountsDaysOfTheJobsZone) {
  // 20:00 UTC on the 28th is the 29th in Shanghai and still the 28th in New York.
  const absl::Time now = At("2026-11-28T20:00:00Z");
  EXPECT_EQ(PlanFirstLaunch(Cron(kDaily), Day(2026, 1, 1), Policy(30), now, now).from,
            Day(2026, 10, 30));
  EXPECT_EQ(
      PlanFirstLaunch(Cron(kDaily, "America/New_York"), Day(2026, 1, 1), Policy(30), now, now).from,
      Day(2026, 10, 29));
}

TEST(PlanFirstLaunch, CreatedLongBeforeItsFirstLaunchItStartsAfterItsCreation) {
  const absl::Time created = At("2026-11-26T12:00:00+08:00");
  const FirstLaunch launch = PlanFirstLaunch(Cron(kDaily), std::nullopt, Policy(30), created, kNow);
  EXPECT_EQ(launch.first, Day(2026, 11, 26));
  EXPECT_EQ(launch.from, Day(2026, 11, 26));
}

TEST(TwoPeriodsInDays, Table) {
  EXPECT_EQ(TwoPeriodsInDays(Cron(kDaily), kNow), 2);
  EXPECT_EQ(TwoPeriodsInDays(Cron(kDaily), At("2026-11-29T00:30:00+08:00")), 3);
  EXPECT_EQ(TwoPeriodsInDays(Cron(kMondays), kNow), 14);
  EXPECT_EQ(TwoPeriodsInDays(Cron(kFirstOfMonth), kNow), 60);
  EXPECT_EQ(TwoPeriodsInDays(Cron("0 0 1 1 JAN ?"), kNow), 698);
  EXPECT_EQ(TwoPeriodsInDays(Cron("0 0 1 1 1 ? 2026"), kNow), 0);  // due once
  EXPECT_EQ(TwoPeriodsInDays(Cron("0 0 1 1 1 ? 2030"), kNow), 0);  // not due yet
}

// Whatever the schedule and the limits: the last two due dates are never below the floor, and
// nothing that is caught up by the first launch expires in the next breath.
TEST(PlanFirstLaunch, PropertyTheLastTwoPeriodsAreAlwaysCaughtUp) {
  SeededRandom random(43);
  const std::string crons[] = {kDaily,        kMondays,       kFirstOfMonth, "0 30 23 ? * MON-FRI",
                               "0 0 2 L * ?", "0 0 1 ? * 2#1"};
  const std::string zones[] = {"Asia/Shanghai", "America/New_York", "UTC"};
  for (int round = 0; round < 400; ++round) {
    const Timeline timeline = Cron(crons[random.Next() % 6], zones[random.Next() % 3],
                                   static_cast<int>(random.Next() % 4) - 2);
    const absl::Time now = kNow + absl::Minutes(static_cast<int64_t>(random.Next() % 600000));
    const absl::CivilDay today = absl::ToCivilDay(now, timeline.current().zone());
    const absl::CivilDay start = today - static_cast<int>(random.Next() % 200);
    const CatchUpPolicy policy =
        Policy(static_cast<int>(random.Next() % 60), static_cast<int>(random.Next() % 60));
    const FirstLaunch launch = PlanFirstLaunch(timeline, start, policy, now, now);
    ASSERT_EQ(launch.first, start);
    ASSERT_GE(launch.from, launch.first);
    const std::vector<Occurrence> due = timeline.Due(launch.first, now);
    size_t caught_up = 0;
    for (const Occurrence& each : due) caught_up += each.biz_date >= launch.from ? 1 : 0;
    ASSERT_GE(caught_up, std::min<size_t>(2, due.size()));

    CatchUpInput input;
    input.point = TriggerPoint::kStart;
    input.policy = policy;
    input.policy.order = CatchUpOrder::kIndependent;
    input.policy.parallelism = 1000;
    input.now = now;
    input.today = today;
    const int two_periods = TwoPeriodsInDays(timeline, now);
    input.longest_gap_days = std::max(policy.max_backfill_days, two_periods);
    if (policy.source_retention_days > 0) {
      input.oldest_source_days = std::max(policy.source_retention_days, two_periods);
    }
    for (const Occurrence& each : due) {
      if (each.biz_date < launch.from) continue;
      input.dates.emplace_back();
      input.dates.back().occurrence = each;
    }
    const CatchUpPlan plan = PlanCatchUp(input);
    ASSERT_EQ(plan.open.size(), caught_up);
    ASSERT_TRUE(plan.expire.empty());
    ASSERT_FALSE(plan.held_from.has_value());
  }
}

}  // namespace
}  // namespace tidemark
