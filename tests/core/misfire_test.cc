#include "scheduler/core/misfire.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/id.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/time/time_test_util.h"

namespace tidemark {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Timeline Every(absl::Duration every) {
  ScheduleSpec spec;
  spec.kind = ScheduleSpec::Kind::kEvery;
  spec.every = every;
  spec.zone = "UTC";
  spec.tracking = ScheduleSpec::Tracking::kInterval;
  return Timeline(
      {{absl::InfinitePast(), std::make_shared<const Schedule>(Must(Schedule::Compile(spec)))}});
}

MisfireRule Rule(MisfirePolicy policy, int cap = 100, absl::Duration window = absl::Hours(168)) {
  MisfireRule rule;
  rule.policy = policy;
  rule.cap = cap;
  rule.window = window;
  return rule;
}

const absl::Time kNow = At("2026-11-29T12:00:30Z");

// The minute `ago` minutes before the last one.
absl::Time Minute(int ago) { return At("2026-11-29T12:00:00Z") - absl::Minutes(ago); }

std::string Show(const FirePlan::Skip& skip) {
  const auto ago = [](absl::Time fire) {
    return std::to_string(absl::ToInt64Minutes(Minute(0) - fire));
  };
  return skip.reason + " " + ago(skip.from) + ".." + ago(skip.to) + ": " +
         std::to_string(skip.fires);
}

std::vector<std::string> Skips(const FirePlan& plan) {
  std::vector<std::string> lines;
  for (const FirePlan::Skip& skip : plan.skip) lines.push_back(Show(skip));
  return lines;
}

// "S" a fire on time, "C" one that is caught up, with how many minutes ago it was due.
std::vector<std::string> Launches(const FirePlan& plan) {
  std::vector<std::string> lines;
  for (const FirePlan::Launch& launch : plan.launch) {
    lines.push_back((launch.trigger == TriggerType::kSchedule ? "S" : "C") +
                    std::to_string(absl::ToInt64Minutes(Minute(0) - launch.occurrence.fire_time)));
  }
  return lines;
}

TEST(PlanFires, NothingDueMovesNoCursor) {
  const FirePlan plan = PlanFires(Every(absl::Minutes(1)), Minute(0), kNow, MisfireRule());
  EXPECT_THAT(plan.launch, IsEmpty());
  EXPECT_THAT(plan.skip, IsEmpty());
  EXPECT_FALSE(plan.cursor.has_value());
}

TEST(PlanFires, ACursorInTheFutureFiresNothing) {
  const FirePlan plan =
      PlanFires(Every(absl::Minutes(1)), kNow + absl::Hours(1), kNow, MisfireRule());
  EXPECT_THAT(plan.launch, IsEmpty());
  EXPECT_FALSE(plan.cursor.has_value());
}

TEST(PlanFires, OnTimeWhateverThePolicy) {
  for (const MisfirePolicy policy :
       {MisfirePolicy::kSkip, MisfirePolicy::kFireOnce, MisfirePolicy::kFireAll}) {
    const FirePlan plan = PlanFires(Every(absl::Minutes(1)), Minute(3), kNow, Rule(policy));
    EXPECT_THAT(Launches(plan), ElementsAre("S2", "S1", "S0"));
    EXPECT_THAT(plan.skip, IsEmpty());
    EXPECT_EQ(plan.cursor, Minute(0));
  }
}

// 125 fires since the cursor: the last five within the tolerance, 120 missed.
TEST(PlanFires, EachPolicyOverTwoMissedHours) {
  const Timeline timeline = Every(absl::Minutes(1));
  FirePlan plan = PlanFires(timeline, Minute(125), kNow, Rule(MisfirePolicy::kSkip));
  EXPECT_THAT(Launches(plan), ElementsAre("S4", "S3", "S2", "S1", "S0"));
  EXPECT_THAT(Skips(plan), ElementsAre("misfire 124..5: 120"));

  plan = PlanFires(timeline, Minute(125), kNow, Rule(MisfirePolicy::kFireOnce));
  EXPECT_THAT(Launches(plan), ElementsAre("C5", "S4", "S3", "S2", "S1", "S0"));
  EXPECT_THAT(Skips(plan), ElementsAre("misfire 124..6: 119"));

  plan = PlanFires(timeline, Minute(125), kNow, Rule(MisfirePolicy::kFireAll));
  EXPECT_EQ(plan.launch.size(), 105u);
  EXPECT_EQ(Launches(plan).front(), "C104");
  EXPECT_THAT(Skips(plan), ElementsAre("cap 124..105: 20"));
  EXPECT_EQ(plan.cursor, Minute(0));
}

TEST(PlanFires, TheCapIsExact) {
  const Timeline timeline = Every(absl::Minutes(1));
  // 100 missed fit, 101 do not.
  FirePlan plan = PlanFires(timeline, Minute(105), kNow, Rule(MisfirePolicy::kFireAll));
  EXPECT_EQ(plan.launch.size(), 105u);
  EXPECT_THAT(plan.skip, IsEmpty());
  plan = PlanFires(timeline, Minute(106), kNow, Rule(MisfirePolicy::kFireAll));
  EXPECT_EQ(plan.launch.size(), 105u);
  EXPECT_THAT(Skips(plan), ElementsAre("cap 105..105: 1"));
}

TEST(PlanFires, BeyondTheWindowNothingRuns) {
  const Timeline timeline = Every(absl::Minutes(1));
  FirePlan plan =
      PlanFires(timeline, Minute(60), kNow, Rule(MisfirePolicy::kFireAll, 10, absl::Minutes(30)));
  EXPECT_THAT(Skips(plan), ElementsAre("window 59..30: 30", "cap 29..15: 15"));
  EXPECT_EQ(plan.launch.size(), 15u);
  // A week away: not even the latest is run when it is too old.
  plan = PlanFires(Every(absl::Hours(24)), Minute(0) - absl::Hours(24 * 9), kNow,
                   Rule(MisfirePolicy::kFireOnce, 100, absl::Hours(6)));
  EXPECT_THAT(plan.launch, IsEmpty());
  EXPECT_EQ(plan.skip.size(), 1u);
  EXPECT_EQ(plan.skip[0].fires, 9);
}

TEST(PlanFires, AMillionMissedFiresAreOneRow) {
  const FirePlan plan = PlanFires(Every(absl::Seconds(1)), kNow - absl::Seconds(1000000), kNow,
                                  Rule(MisfirePolicy::kSkip, 100, absl::Hours(24 * 365)));
  EXPECT_EQ(plan.launch.size(), 301u);  // the tolerance, both ends
  ASSERT_EQ(plan.skip.size(), 1u);
  EXPECT_EQ(plan.skip[0].fires, 1000000 - 301);
}

// launches + skipped = due, each fire exactly once, oldest first, and never again afterwards.
TEST(PlanFires, PropertyEachFireIsDealtWithExactlyOnce) {
  SeededRandom random(47);
  for (int round = 0; round < 1500; ++round) {
    const Timeline timeline = Every(absl::Seconds(static_cast<int64_t>(1 + random.Next() % 900)));
    const absl::Time now = kNow + absl::Milliseconds(static_cast<int64_t>(random.Next() % 100000));
    const absl::Time cursor = now - absl::Seconds(random.Uniform() * 40000);
    const auto policy = static_cast<MisfirePolicy>(random.Next() % 3);
    const MisfireRule rule = Rule(policy, 1 + static_cast<int>(random.Next() % 150),
                                  absl::Minutes(static_cast<int64_t>(5 + random.Next() % 700)));
    const FirePlan plan = PlanFires(timeline, cursor, now, rule);
    const std::vector<Occurrence> due = timeline.DueFires(cursor, now, 1000000);

    std::set<absl::Time> seen;
    absl::Time last = absl::InfinitePast();
    int missed = 0;
    for (const FirePlan::Launch& launch : plan.launch) {
      const absl::Time fire = launch.occurrence.fire_time;
      ASSERT_GT(fire, last);
      last = fire;
      seen.insert(fire);
      const bool late = now - fire > kTolerance;
      ASSERT_EQ(launch.trigger, late ? TriggerType::kCatchUp : TriggerType::kSchedule);
      missed += late ? 1 : 0;
      if (late) {
        ASSERT_LE(now - fire, rule.window);
      }
    }
    ASSERT_LE(missed, policy == MisfirePolicy::kSkip       ? 0
                      : policy == MisfirePolicy::kFireOnce ? 1
                                                           : rule.cap);
    last = absl::InfinitePast();
    for (const FirePlan::Skip& skip : plan.skip) {
      ASSERT_GT(skip.from, last);
      ASSERT_GE(skip.to, skip.from);
      last = skip.to;
      const std::vector<Occurrence> within =
          timeline.DueFires(skip.from - absl::Nanoseconds(1), skip.to, 1000000);
      ASSERT_EQ(static_cast<int64_t>(within.size()), skip.fires);
      for (const Occurrence& fire : within) ASSERT_TRUE(seen.insert(fire.fire_time).second);
    }
    ASSERT_EQ(seen.size(), due.size());
    if (due.empty()) continue;
    ASSERT_EQ(*seen.begin(), due.front().fire_time);
    ASSERT_EQ(plan.cursor, due.back().fire_time);
    ASSERT_FALSE(PlanFires(timeline, *plan.cursor, now, rule).cursor.has_value());
  }
}

}  // namespace
}  // namespace tidemark
