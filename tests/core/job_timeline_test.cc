// Versions of definitions and calendars as one timeline.
#include "scheduler/core/job_timeline.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/time/time_test_util.h"

namespace tidemark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::shared_ptr<const Calendar> Closed(int version, std::vector<absl::CivilDay> dates) {
  Calendar::Spec spec;
  spec.name = "cn";
  spec.version = version;
  spec.dates = std::move(dates);
  return std::make_shared<const Calendar>(Must(Calendar::Make(spec)));
}

DefinitionVersion Daily(const char* from, const std::string& calendar = "cn") {
  ScheduleSpec spec = CronSpec("0 1 * * *", "UTC");
  spec.calendar = calendar;
  return {At(from), spec};
}

std::vector<int> DaysDue(const Timeline& timeline, const char* until) {
  std::vector<int> days;
  for (const Occurrence& due : timeline.Due(Day(2026, 5, 1), At(until))) {
    days.push_back(due.biz_date.day());
  }
  return days;
}

// The job is made on 2 May; on 6 May at noon dates 3 and 8 are closed as well as 4.
CalendarSet Edited(bool retroactive) {
  return {
      {"cn",
       {{At("2026-04-01T00:00:00Z"), false, Closed(1, {Day(2026, 5, 4)})},
        {At("2026-05-06T12:00:00Z"), retroactive, Closed(2, {Day(2026, 5, 3), Day(2026, 5, 8)})}}}};
}

TEST(JobTimeline, ACalendarEditLeavesPastDatesAlone) {
  const CalendarSet calendars = Edited(false);
  const Timeline timeline = Must(BuildTimeline({Daily("2026-05-02T00:00:00Z")}, &calendars));
  // 4 was closed when it was due, and stays so; 3 was open; 8 is closed by the edit.
  EXPECT_THAT(DaysDue(timeline, "2026-05-11T00:00:00Z"), ElementsAre(1, 2, 3, 5, 6, 7, 9));
  EXPECT_EQ(timeline.current().calendar()->version(), 2);
}

TEST(JobTimeline, ARetroactiveEditReplacesAllThatWas) {
  const CalendarSet calendars = Edited(true);
  const Timeline timeline = Must(BuildTimeline({Daily("2026-05-02T00:00:00Z")}, &calendars));
  EXPECT_THAT(DaysDue(timeline, "2026-05-11T00:00:00Z"), ElementsAre(1, 2, 4, 5, 6, 7, 9));
}

TEST(JobTimeline, AnEarlierDefinitionKeepsItsOwnCalendar) {
  CalendarSet calendars = Edited(false);
  calendars["none"] = {{At("2026-04-01T00:00:00Z"), false, Closed(1, {})}};
  Calendar::Spec spec;
  spec.name = "none";
  calendars["none"][0].calendar = std::make_shared<const Calendar>(Must(Calendar::Make(spec)));
  // Leaves the calendar on 7 May: what it had closed by then stays closed, 8 is open.
  const Timeline timeline = Must(BuildTimeline(
      {Daily("2026-05-02T00:00:00Z"), Daily("2026-05-07T12:00:00Z", "none")}, &calendars));
  EXPECT_THAT(DaysDue(timeline, "2026-05-11T00:00:00Z"), ElementsAre(1, 2, 3, 5, 6, 7, 8, 9));
}

TEST(JobTimeline, AnUnknownCalendarIsTheNewestVersionsError) {
  const CalendarSet calendars = Edited(false);
  const auto timeline = BuildTimeline({Daily("2026-05-02T00:00:00Z", "us")}, &calendars);
  EXPECT_THAT(Reason(timeline.status()), HasSubstr("\"us\" is not known"));
  EXPECT_FALSE(BuildTimeline({Daily("2026-05-02T00:00:00Z")}, nullptr).ok());
}

TEST(JobTimeline, AnOldVersionThatCannotBeUsedDoesNotStopTheOneThatMendedIt) {
  DefinitionVersion old = Daily("2026-05-02T00:00:00Z", "");
  old.schedule.zone = "Mars/Olympus";
  const Timeline timeline = Must(BuildTimeline({old, Daily("2026-05-07T12:00:00Z", "")}, nullptr));
  EXPECT_EQ(timeline.versions().size(), 1U);
  EXPECT_TRUE(timeline.Next(At("2026-05-07T12:00:00Z")).has_value());
}

TEST(JobTimeline, ComparisonTellsPastFromUpcoming) {
  CalendarSet before = Edited(false);
  before["cn"].resize(1);
  const std::vector<DefinitionVersion> job = {Daily("2026-05-02T00:00:00Z")};
  const Timeline old = Must(BuildTimeline(job, &before));
  const absl::Time now = At("2026-05-06T12:00:00Z");
  const auto compare = [&](bool retroactive) {
    const CalendarSet after = Edited(retroactive);
    return CompareTimelines(old, Must(BuildTimeline(job, &after)), Day(2026, 5, 1),
                            Day(2026, 5, 20), now);
  };
  const DueChanges kept = compare(false);
  EXPECT_FALSE(kept.past());
  EXPECT_THAT(kept.removed, ElementsAre(Day(2026, 5, 8)));
  EXPECT_THAT(kept.added, IsEmpty());
  const DueChanges changed = compare(true);
  EXPECT_THAT(changed.past_added, ElementsAre(Day(2026, 5, 4)));
  EXPECT_THAT(changed.past_removed, ElementsAre(Day(2026, 5, 3)));
  EXPECT_THAT(changed.removed, ElementsAre(Day(2026, 5, 8)));
}

TEST(JobTimeline, ABusinessDayThatBecomesAHolidayIsNeitherLostNorRepeated) {
  // On Tuesday 5 May at noon the same Tuesday becomes a holiday: Monday ran on Tuesday, and is not
  // run again on Wednesday; Tuesday has no run.
  const CalendarSet calendars = {
      {"cn",
       {{At("2026-04-01T00:00:00Z"), false, Closed(1, {})},
        {At("2026-05-05T12:00:00Z"), false, Closed(2, {Day(2026, 5, 5)})}}}};
  DefinitionVersion job = Daily("2026-04-02T00:00:00Z");
  job.schedule.biz_unit = ScheduleSpec::Unit::kBusinessDay;
  const Timeline timeline = Must(BuildTimeline({job}, &calendars));
  EXPECT_THAT(DaysDue(timeline, "2026-05-09T00:00:00Z"), ElementsAre(1, 4, 6, 7));
}

}  // namespace
}  // namespace tidemark
