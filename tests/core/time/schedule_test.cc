#include "scheduler/core/time/schedule.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/time/time_test_util.h"

namespace tidemark {
namespace {

using testing::HasSubstr;
using Kind = ScheduleSpec::Kind;
using Tracking = ScheduleSpec::Tracking;
using Unit = ScheduleSpec::Unit;

std::string Refusal(const ScheduleSpec& spec) {
  const absl::StatusOr<Schedule> schedule = Schedule::Compile(spec);
  return schedule.ok() ? "accepted" : Reason(schedule.status());
}

Schedule Make(std::string cron, std::string zone) {
  return Must(Schedule::Compile(CronSpec(std::move(cron), std::move(zone))));
}

std::shared_ptr<const Calendar> Holidays(Calendar::Mode mode, std::vector<absl::CivilDay> dates) {
  Calendar::Spec spec;
  spec.name = "holidays";
  spec.mode = mode;
  spec.dates = std::move(dates);
  return std::make_shared<const Calendar>(Must(Calendar::Make(spec)));
}

// "biz_date<fire" of the next n fires.
std::vector<std::string> Fires(const Schedule& schedule, const char* from, int n) {
  std::vector<std::string> fires;
  absl::Time after = At(from);
  for (int i = 0; i < n; ++i) {
    const std::optional<Occurrence> next = schedule.Next(after);
    if (!next) {
      fires.push_back("never");
      break;
    }
    after = next->fire_time;
    fires.push_back(absl::FormatCivilTime(next->biz_date) + "<" +
                    Text(next->fire_time, schedule.zone()));
  }
  return fires;
}

using List = std::vector<std::string>;

TEST(Schedule, BizDateIsTheDayBefore) {
  const Schedule schedule = Make("0 0 1 * * ?", "Asia/Shanghai");
  EXPECT_TRUE(schedule.dated());
  EXPECT_EQ(Fires(schedule, "2026-11-28T00:00:00Z", 2),
            (List{"2026-11-28<2026-11-29T01:00:00+08:00", "2026-11-29<2026-11-30T01:00:00+08:00"}));
  const Occurrence of = *schedule.OccurrenceOf(Day(2026, 11, 28));
  EXPECT_EQ(of.fire_time, At("2026-11-29T01:00:00+08:00"));
  EXPECT_EQ(of.nominal, absl::CivilSecond(2026, 11, 29, 1));
  EXPECT_EQ(of, *schedule.Next(of.fire_time - absl::Nanoseconds(1)));
}

TEST(Schedule, DerivesTracking) {
  EXPECT_TRUE(Make("0 1 * * *", "UTC").dated());
  EXPECT_TRUE(Make("0 1 1 * *", "UTC").dated());
  EXPECT_FALSE(Make("0 1,2 * * *", "UTC").dated());
  EXPECT_FALSE(Make("@hourly", "UTC").dated());
  ScheduleSpec spec = CronSpec("0 1 * * *", "UTC");
  spec.tracking = Tracking::kInterval;
  EXPECT_FALSE(Must(Schedule::Compile(spec)).dated());
}

TEST(Schedule, ADatedJobFiresOnceADay) {
  ScheduleSpec spec = CronSpec("0 0 1,13 * * ?", "UTC");
  spec.tracking = Tracking::kDated;
  EXPECT_THAT(Refusal(spec),
              HasSubstr("fires 2 times a local day (first at 01:00:00 and 13:00:00)"));
  spec.cron = "0 0 1 * * ?";
  EXPECT_EQ(Refusal(spec), "accepted");
}

// A wildcard that names one time a day is dated, and a dated job is always fixed.
TEST(Schedule, ADatedJobKeepsTheDayOfAGap) {
  const Schedule schedule = Make("0 30 2-2 * * ?", "America/New_York");
  EXPECT_TRUE(schedule.cron().IsWildcard());
  EXPECT_EQ(Fires(schedule, "2026-03-08T00:00:00Z", 1),
            (List{"2026-03-07<2026-03-08T03:00:00-04:00"}));
}

TEST(Schedule, ADateThatDoesNotExistIsSkippedByTheOffset) {
  const Schedule schedule = Make("0 0 9 * * ?", "Pacific/Apia");
  EXPECT_EQ(Fires(schedule, "2011-12-29T00:00:00Z", 3),
            (List{"2011-12-28<2011-12-29T09:00:00-10:00", "2011-12-29<2011-12-31T09:00:00+14:00",
                  "2011-12-31<2012-01-01T09:00:00+14:00"}));
  EXPECT_EQ(schedule.OccurrenceOf(Day(2011, 12, 30)), std::nullopt);
  EXPECT_EQ(schedule.OccurrenceOf(Day(2011, 12, 29))->fire_time, At("2011-12-31T09:00:00+14:00"));
}

TEST(Schedule, WindowIsInclusive) {
  ScheduleSpec spec = CronSpec("0 1 * * *", "UTC");
  spec.start_at = At("2026-01-02T01:00:00Z");
  spec.end_at = At("2026-01-03T01:00:00Z");
  const Schedule schedule = Must(Schedule::Compile(spec));
  EXPECT_EQ(Fires(schedule, "2020-01-01T00:00:00Z", 3),
            (List{"2026-01-01<2026-01-02T01:00:00Z", "2026-01-02<2026-01-03T01:00:00Z", "never"}));
  EXPECT_EQ(schedule.OccurrenceOf(Day(2025, 12, 31)), std::nullopt);
  EXPECT_TRUE(schedule.OccurrenceOf(Day(2026, 1, 2)));
  EXPECT_EQ(schedule.OccurrenceOf(Day(2026, 1, 3)), std::nullopt);
  std::swap(spec.start_at, spec.end_at);
  EXPECT_THAT(Refusal(spec), HasSubstr("end_at is before start_at"));
}

TEST(Schedule, EveryIsElapsedTimeFromItsAnchor) {
  ScheduleSpec spec;
  spec.kind = Kind::kEvery;
  spec.zone = "America/New_York";
  spec.every = absl::Minutes(90);
  spec.anchor = At("2026-03-08T05:00:00Z");
  const Schedule schedule = Must(Schedule::Compile(spec));
  EXPECT_FALSE(schedule.dated());
  EXPECT_EQ(Fires(schedule, "2026-01-01T00:00:00Z", 3),
            (List{"2026-03-07<2026-03-08T00:00:00-05:00", "2026-03-07<2026-03-08T01:30:00-05:00",
                  "2026-03-07<2026-03-08T04:00:00-04:00"}));
  EXPECT_EQ(schedule.Next(At("2026-03-08T06:30:00Z"))->fire_time, At("2026-03-08T08:00:00Z"));
  EXPECT_EQ(schedule.Next(At("2026-03-08T06:29:59.9Z"))->fire_time, At("2026-03-08T06:30:00Z"));
  EXPECT_EQ(schedule.Next(absl::InfinitePast())->fire_time, spec.anchor);
  EXPECT_EQ(schedule.Next(absl::InfiniteFuture()), std::nullopt);
}

TEST(Schedule, EveryRefusals) {
  ScheduleSpec spec;
  spec.kind = Kind::kEvery;
  spec.zone = "UTC";
  for (const absl::Duration d : {absl::ZeroDuration(), absl::Milliseconds(1500), -absl::Hours(1),
                                 absl::Hours(24 * 4000), absl::InfiniteDuration()}) {
    spec.every = d;
    EXPECT_THAT(Refusal(spec), HasSubstr("whole seconds from 1s")) << d;
  }
  spec.every = absl::Hours(24);
  spec.tracking = Tracking::kDated;
  EXPECT_THAT(Refusal(spec), HasSubstr("cannot be dated"));
}

TEST(Schedule, AtFiresOnce) {
  ScheduleSpec spec;
  spec.kind = Kind::kAt;
  spec.zone = "Asia/Shanghai";
  spec.at = At("2026-12-01T03:00:00+08:00");
  const Schedule schedule = Must(Schedule::Compile(spec));
  EXPECT_TRUE(schedule.dated());
  EXPECT_EQ(Fires(schedule, "2026-01-01T00:00:00Z", 2),
            (List{"2026-11-30<2026-12-01T03:00:00+08:00", "never"}));
  EXPECT_TRUE(schedule.OccurrenceOf(Day(2026, 11, 30)));
  EXPECT_FALSE(schedule.OccurrenceOf(Day(2026, 12, 1)));
}

TEST(Schedule, ManualIsNeverDue) {
  ScheduleSpec spec;
  spec.kind = Kind::kManual;
  spec.zone = "UTC";
  EXPECT_EQ(Must(Schedule::Compile(spec)).Next(absl::InfinitePast()), std::nullopt);
  EXPECT_FALSE(Must(Schedule::Compile(spec)).dated());
  spec.tracking = Tracking::kDated;
  EXPECT_TRUE(Must(Schedule::Compile(spec)).dated());
  EXPECT_EQ(Must(Schedule::Compile(spec)).OccurrenceOf(Day(2026, 1, 1)), std::nullopt);
}

TEST(Schedule, UnitDayFiltersBizDates) {
  ScheduleSpec spec = CronSpec("0 1 * * *", "UTC");
  spec.calendar = "holidays";
  const Schedule schedule = Must(Schedule::Compile(
      spec, Holidays(Calendar::Mode::kExclude, {Day(2026, 10, 1), Day(2026, 10, 2)})));
  // The run of the 1st handles 30 September; those of the 2nd and 3rd would handle holidays.
  EXPECT_EQ(Fires(schedule, "2026-09-30T12:00:00Z", 2),
            (List{"2026-09-30<2026-10-01T01:00:00Z", "2026-10-03<2026-10-04T01:00:00Z"}));
  EXPECT_EQ(schedule.OccurrenceOf(Day(2026, 10, 1)), std::nullopt);
  EXPECT_TRUE(schedule.OccurrenceOf(Day(2026, 9, 30)));
}

TEST(Schedule, UnitBusinessDayFiltersFires) {
  ScheduleSpec spec = CronSpec("0 1 * * *", "UTC");
  spec.calendar = "holidays";
  spec.biz_unit = Unit::kBusinessDay;
  const Schedule schedule = Must(Schedule::Compile(
      spec, Holidays(Calendar::Mode::kExclude, {Day(2026, 10, 1), Day(2026, 10, 2)})));
  // 1 and 2 October are holidays, 3 and 4 a weekend: Monday the 5th handles Wednesday.
  EXPECT_EQ(Fires(schedule, "2026-09-29T12:00:00Z", 3),
            (List{"2026-09-29<2026-09-30T01:00:00Z", "2026-09-30<2026-10-05T01:00:00Z",
                  "2026-10-05<2026-10-06T01:00:00Z"}));
  EXPECT_EQ(schedule.OccurrenceOf(Day(2026, 9, 30))->fire_time, At("2026-10-05T01:00:00Z"));
  EXPECT_EQ(schedule.OccurrenceOf(Day(2026, 10, 1)), std::nullopt);
}

TEST(Schedule, ACalendarAlsoHoldsBackIntervalJobs) {
  ScheduleSpec spec = CronSpec("* * * * * ?", "America/St_Johns");
  spec.calendar = "holidays";
  spec.biz_offset = 0;
  const Schedule schedule = Must(Schedule::Compile(
      spec, Holidays(Calendar::Mode::kInclude, {Day(2026, 5, 1), Day(2027, 5, 1)})));
  EXPECT_EQ(Fires(schedule, "2026-05-02T02:29:58Z", 2),
            (List{"2026-05-01<2026-05-01T23:59:59-02:30", "2027-05-01<2027-05-01T00:00:00-02:30"}));
  EXPECT_EQ(Fires(schedule, "2027-06-01T00:00:00Z", 1), List{"never"});
}

TEST(Schedule, RefusalsSayWhatToDo) {
  EXPECT_THAT(Refusal(CronSpec("0 0 1 * * ?", "Asia/Shangai")), HasSubstr("Asia/Shanghai"));
  EXPECT_THAT(Refusal(CronSpec("0 0 1 * *  ? x y", "UTC")), HasSubstr("8 fields"));
  EXPECT_THAT(Refusal(CronSpec("0 0 0 30 2 ?", "UTC")), HasSubstr("can never fire"));
  EXPECT_THAT(Refusal(CronSpec("0 0 9 30 12 ? 2011", "Pacific/Apia")),
              HasSubstr("can never fire in the zone Pacific/Apia"));
  ScheduleSpec spec = CronSpec("0 1 * * *", "UTC");
  spec.biz_unit = Unit::kBusinessDay;
  EXPECT_THAT(Refusal(spec), HasSubstr("needs a calendar"));
  spec.calendar = "none";
  EXPECT_THAT(Refusal(spec), HasSubstr("calendar \"none\" is not known"));
  spec = CronSpec("0 1 * * *", "UTC");
  spec.biz_offset = 1000;
  EXPECT_THAT(Refusal(spec), HasSubstr("at most 366"));
}

}  // namespace
}  // namespace tidemark
