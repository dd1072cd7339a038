// The oracle's own reading of edits agrees with the scheduler's over many of them, and with what is
// written of single ones.
#include "scheduler/verify/due_plan.h"

#include <gtest/gtest.h>

#include "common/id.h"
#include "common/time_text.h"
#include "scheduler/core/job_timeline.h"

namespace tidemark::verify {
namespace {

absl::Time At(std::string_view text) { return *ParseInstant(text); }
absl::CivilDay Day(std::string_view text) { return *ParseDate(text); }

void AddVersion(History& history, std::string_view from, const std::string& cron,
                const std::string& calendar = "") {
  Definition definition;
  definition.version = static_cast<int>(history.definitions.size()) + 1;
  definition.valid_from = At(from);
  definition.schedule.cron = cron;
  definition.schedule.zone = "UTC";
  definition.schedule.calendar = calendar;
  history.definitions.push_back(definition);
}

void AddEdition(History& history, std::string_view from, bool retroactive,
                const std::vector<std::string>& closed) {
  Calendar::Spec spec;
  spec.name = "cn";
  spec.version = static_cast<int>(history.calendars["cn"].size()) + 1;
  for (const std::string& date : closed) spec.dates.push_back(Day(date));
  history.calendars["cn"].push_back(
      {At(from), retroactive, std::make_shared<const Calendar>(*Calendar::Make(spec))});
}

TEST(DuePlanTest, ADateWhoseTimeMovesLaterInItsDayWasDueTwice) {
  History history;
  AddVersion(history, "2026-11-01T00:00:00Z", "0 0 1 * * ?");
  AddVersion(history, "2026-11-10T15:00:00Z", "0 0 18 * * ?");
  const DuePlan plan(history);
  const auto today = plan.DateOf(Day("2026-11-09"));  // the date of the 10th
  ASSERT_TRUE(today.has_value());
  EXPECT_EQ(today->first, At("2026-11-10T01:00:00Z"));
  EXPECT_EQ(today->last, At("2026-11-10T18:00:00Z"));
  EXPECT_EQ(plan.DateOf(Day("2026-11-08"))->last, At("2026-11-09T01:00:00Z"));
}

TEST(DuePlanTest, PastTimesOfANewVersionNeverFire) {
  History history;
  AddVersion(history, "2026-11-01T00:00:00Z", "0 0 1 ? * MON");
  AddVersion(history, "2026-11-10T15:00:00Z", "0 0 1 * * ?");  // a Tuesday
  const DuePlan plan(history);
  EXPECT_FALSE(plan.DateOf(Day("2026-11-09")).has_value()) << "01:00 of the 10th had passed";
  EXPECT_TRUE(plan.DateOf(Day("2026-11-10")).has_value());
  EXPECT_FALSE(plan.DateOf(Day("2026-11-07")).has_value());
}

TEST(DuePlanTest, WhatWasKnownThenAndWhatIsKnownNow) {
  History history;
  AddVersion(history, "2026-11-01T00:00:00Z", "0 0 1 * * ?", "cn");
  AddEdition(history, "2026-11-01T00:00:00Z", false, {"2026-12-25"});
  AddEdition(history, "2026-11-20T00:00:00Z", true, {"2026-11-11", "2026-12-25"});
  EXPECT_FALSE(DuePlan(history).DateOf(Day("2026-11-11")).has_value());
  const DuePlan then(history, 1, At("2026-11-12T01:00:00Z"));
  EXPECT_TRUE(then.DateOf(Day("2026-11-11")).has_value());
}

TEST(DuePlanTest, FiresOfEachVersionInItsTime) {
  History history;
  AddVersion(history, "2026-11-01T00:00:00Z", "0 0/20 * * * ?");
  AddVersion(history, "2026-11-01T01:00:00Z", "0 15,45 * * * ?");
  const DuePlan plan(history);
  const std::vector<absl::Time> fires =
      plan.Fires(At("2026-11-01T00:00:00Z"), At("2026-11-01T01:50:00Z"), 100);
  EXPECT_EQ(fires,
            (std::vector<absl::Time>{At("2026-11-01T00:20:00Z"), At("2026-11-01T00:40:00Z"),
                                     At("2026-11-01T01:15:00Z"), At("2026-11-01T01:45:00Z")}));
  EXPECT_TRUE(plan.IsFire(At("2026-11-01T00:40:00Z")));
  EXPECT_FALSE(plan.IsFire(At("2026-11-01T01:20:00Z")));
}

// Two pieces of code, written apart, one rule.
TEST(DuePlanTest, AgreesWithTheSchedulerOverRandomEdits) {
  const std::vector<std::string> crons = {"0 0 1 * * ?", "0 0 18 * * ?", "0 30 6 ? * MON-FRI",
                                          "0 0 23 ? * SUN", "0 0 1 1,15 * ?"};
  SeededRandom random(3);
  int compared = 0;
  for (int round = 0; round < 300; ++round) {
    History history;
    std::vector<DefinitionVersion> versions;
    absl::Time at = At("2026-11-01T00:00:00Z");
    for (int v = 0; v < 4; ++v) {
      AddVersion(history, FormatInstant(at), crons[random.Next() % crons.size()]);
      history.definitions.back().schedule.biz_offset = -1;
      versions.push_back({at, history.definitions.back().schedule});
      at += absl::Minutes(static_cast<int64_t>(random.Next() % (20 * 1440)));
    }
    const absl::StatusOr<Timeline> timeline = BuildTimeline(versions, nullptr);
    ASSERT_TRUE(timeline.ok());
    const DuePlan plan(history);
    for (absl::CivilDay date = Day("2026-10-25"); date < Day("2026-12-05"); ++date) {
      const auto theirs = timeline->OccurrenceOf(date);
      const auto ours = plan.DateOf(date);
      ASSERT_EQ(theirs.has_value(), ours.has_value()) << FormatDate(date) << " round " << round;
      if (!ours) continue;
      EXPECT_EQ(theirs->fire_time, ours->last) << FormatDate(date) << " round " << round;
      ++compared;
    }
  }
  EXPECT_GT(compared, 1000);
}

}  // namespace
}  // namespace tidemark::verify
