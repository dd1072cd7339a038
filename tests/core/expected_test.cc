// By when a date is expected: defaults, explicit times, zones, gaps and folds.
#include "scheduler/core/expected.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scheduler/core/job_timeline.h"
#include "tests/core/time/time_test_util.h"

namespace tidemark {
namespace {

Timeline Daily(const std::string& cron, const std::string& zone) {
  return Must(BuildTimeline({{At("2020-01-01T00:00:00Z"), CronSpec(cron, zone)}}, nullptr));
}

// Of the date whose run is nominally on `day`, as local time.
std::string Expected(const std::string& cron, const std::string& zone, absl::CivilDay day,
                     std::optional<absl::Duration> expected_by = std::nullopt) {
  const Timeline timeline = Daily(cron, zone);
  const auto due = timeline.OccurrenceOf(*timeline.current().BizDateOf(absl::CivilSecond(day)));
  EXPECT_TRUE(due.has_value());
  return Text(ExpectedAt(timeline, *due, expected_by), Zone(zone));
}

TEST(ExpectedTest, WithoutAWordItIsNineOrTwoHoursAfterTheFire) {
  const absl::CivilDay day = Day(2026, 11, 28);
  EXPECT_EQ(Expected("0 0 1 * * ?", "Asia/Shanghai", day), "2026-11-28T09:00:00+08:00");
  EXPECT_EQ(Expected("0 0 7 * * ?", "Asia/Shanghai", day), "2026-11-28T09:00:00+08:00");
  EXPECT_EQ(Expected("0 30 7 * * ?", "Asia/Shanghai", day), "2026-11-28T09:30:00+08:00");
  EXPECT_EQ(Expected("0 0 18 * * ?", "America/New_York", day), "2026-11-28T20:00:00-05:00");
  EXPECT_EQ(Expected("0 30 23 * * ?", "Asia/Shanghai", day), "2026-11-29T01:30:00+08:00");
}

TEST(ExpectedTest, TheJobsOwnTimeIsTheFirstAfterTheFire) {
  const absl::CivilDay day = Day(2026, 11, 28);
  EXPECT_EQ(Expected("0 0 1 * * ?", "Asia/Shanghai", day, absl::Hours(2)),
            "2026-11-28T02:00:00+08:00");
  EXPECT_EQ(Expected("0 0 18 * * ?", "Asia/Shanghai", day, absl::Hours(9)),
            "2026-11-29T09:00:00+08:00");
  EXPECT_EQ(Expected("0 0 1 * * ?", "Asia/Shanghai", day, absl::Hours(1)),
            "2026-11-29T01:00:00+08:00")
      << "at the fire itself nothing can be done";
  EXPECT_EQ(Expected("0 0 1 * * ?", "Asia/Shanghai", day, absl::ZeroDuration()),
            "2026-11-29T00:00:00+08:00");
}

// New York: 2026-03-08 02:00 → 03:00, 2026-11-01 02:00 → 01:00.
TEST(ExpectedTest, ClocksThatAreSet) {
  const std::string zone = "America/New_York";
  const absl::Duration half_past_two = absl::Hours(2) + absl::Minutes(30);
  EXPECT_EQ(Expected("0 0 1 * * ?", zone, Day(2026, 3, 8), half_past_two),
            "2026-03-08T03:00:00-04:00")
      << "a time that does not come is the first instant after";
  EXPECT_EQ(Expected("0 15 2 * * ?", zone, Day(2026, 3, 8), half_past_two),
            "2026-03-09T02:30:00-04:00")
      << "both in the gap: it fires at 03:00";
  EXPECT_EQ(Expected("0 30 0 * * ?", zone, Day(2026, 11, 1), absl::Hours(1) + absl::Minutes(30)),
            "2026-11-01T01:30:00-04:00")
      << "the first pass of two";
  EXPECT_EQ(Expected("0 30 8 * * ?", zone, Day(2026, 11, 1)), "2026-11-01T10:30:00-05:00");
  EXPECT_EQ(Expected("0 30 2 * * ?", zone, Day(2026, 3, 8)), "2026-03-08T09:00:00-04:00");
}

TEST(ExpectedTest, ADayThatDoesNotExistIsPassed) {
  // Apia had no 2011-12-30.
  EXPECT_EQ(Expected("0 0 18 * * ?", "Pacific/Apia", Day(2011, 12, 29), absl::Hours(9)),
            "2011-12-31T09:00:00+14:00");
}

std::vector<std::string> Between(const Timeline& timeline, const char* after, const char* until,
                                 std::optional<absl::Duration> by = std::nullopt) {
  std::vector<std::string> dates;
  for (const ExpectedDate& date : ExpectedBetween(timeline, by, At(after), At(until))) {
    dates.push_back(absl::FormatCivilTime(date.due.biz_date));
  }
  return dates;
}

TEST(ExpectedTest, WhatIsExpectedBetweenTwoInstants) {
  const Timeline timeline = Daily("0 0 1 * * ?", "Asia/Shanghai");
  using Dates = std::vector<std::string>;
  EXPECT_EQ(Between(timeline, "2026-11-28T00:59:59Z", "2026-11-28T01:00:00Z"),
            (Dates{"2026-11-27"}));
  EXPECT_EQ(Between(timeline, "2026-11-28T01:00:00Z", "2026-11-29T00:59:59Z"), Dates{});
  EXPECT_EQ(Between(timeline, "2026-11-26T00:00:00Z", "2026-11-28T01:00:00Z"),
            (Dates{"2026-11-25", "2026-11-26", "2026-11-27"}));
  EXPECT_EQ(Between(timeline, "2026-11-28T16:00:00Z", "2026-11-28T16:30:00Z", absl::Minutes(10)),
            (Dates{"2026-11-27"}))
      << "expected ten past midnight of the next day";
}

// The walk that costs only what lies between agrees with a look at every date.
TEST(ExpectedTest, TheWalkFindsWhatALookAtEveryDateFinds) {
  const std::vector<std::optional<absl::Duration>> times = {std::nullopt, absl::ZeroDuration(),
                                                            absl::Hours(1), absl::Hours(9),
                                                            absl::Hours(23) + absl::Minutes(59)};
  for (const char* zone : {"Asia/Shanghai", "America/New_York", "Australia/Lord_Howe"}) {
    for (const char* cron : {"0 0 1 * * ?", "0 30 2 * * ?", "0 45 23 * * ?", "0 0 8 ? * 2-6"}) {
      // Edited in the middle, so that times move.
      const Timeline timeline =
          Must(BuildTimeline({{At("2026-01-01T00:00:00Z"), CronSpec(cron, zone)},
                              {At("2026-06-10T05:00:00Z"), CronSpec("0 0 6 * * ?", zone)}},
                             nullptr));
      for (const auto& by : times) {
        const absl::Time begin = At("2026-02-01T00:00:00Z");
        const absl::Time end = At("2026-12-01T00:00:00Z");
        std::vector<absl::Time> all;
        for (const Occurrence& due : timeline.Due(Day(2026, 1, 1), end)) {
          const absl::Time at = ExpectedAt(timeline, due, by);
          if (at > begin && at <= end) all.push_back(at);
        }
        std::vector<absl::Time> walked;
        for (const ExpectedDate& date : ExpectedBetween(timeline, by, begin, end)) {
          walked.push_back(date.expected_at);
        }
        std::sort(all.begin(), all.end());
        std::sort(walked.begin(), walked.end());
        EXPECT_EQ(walked, all) << zone << " " << cron;
        std::vector<absl::Time> steps;
        absl::Time at = begin;
        for (auto next = NextExpected(timeline, by, at); next.has_value() && *next <= end;
             next = NextExpected(timeline, by, at)) {
          steps.push_back(at = *next);
        }
        all.erase(std::unique(all.begin(), all.end()), all.end());
        EXPECT_EQ(steps, all) << zone << " " << cron;
      }
    }
  }
}

}  // namespace
}  // namespace tidemark
