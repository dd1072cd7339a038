#include "common/time_text.h"

#include <initializer_list>
#include <string>
#include <string_view>

#include "common/id.h"
#include "common/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tidemark {
namespace {

using testing::HasSubstr;

TEST(ParseDate, TakesDatesThatExist) {
  EXPECT_EQ(*ParseDate("2026-11-28"), absl::CivilDay(2026, 11, 28));
  EXPECT_EQ(*ParseDate("2024-02-29"), absl::CivilDay(2024, 2, 29));
  EXPECT_EQ(*ParseDate("1900-01-01"), absl::CivilDay(1900, 1, 1));
  EXPECT_EQ(*ParseDate("2399-12-31"), absl::CivilDay(2399, 12, 31));
}

TEST(ParseDate, RefusesTheRest) {
  for (const std::string_view bad :
       std::initializer_list<std::string_view>{"",
                                               "2026-11-31",
                                               "2026-02-29",
                                               "2100-02-29",
                                               "2026-13-01",
                                               "2026-00-10",
                                               "2026-10-00",
                                               "1899-12-31",
                                               "2400-01-01",
                                               "2026-1-2",
                                               "2026/11/28",
                                               "20261128",
                                               " 2026-11-28",
                                               "2026-11-28 ",
                                               "2026-11-28T00:00:00",
                                               "+026-11-28",
                                               "２０26-11-28",
                                               "today",
                                               "2026-11-200",
                                               std::string_view("2026-11-28\0", 11)}) {
    const auto date = ParseDate(bad);
    ASSERT_FALSE(date.ok()) << bad;
    EXPECT_EQ(date.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(Message(date.status()), HasSubstr("YYYY-MM-DD"));
  }
  EXPECT_THAT(Message(ParseDate("a\nb").status()), HasSubstr("'a\\nb'"));
}

TEST(ParseCivil, TakesALocalTimeAndNothingElse) {
  EXPECT_EQ(*ParseCivil("2026-11-28T01:02:03"), absl::CivilSecond(2026, 11, 28, 1, 2, 3));
  EXPECT_EQ(*ParseCivil("2026-11-28 23:59:59"), absl::CivilSecond(2026, 11, 28, 23, 59, 59));
  for (const std::string_view bad : std::initializer_list<std::string_view>{
           "", "2026-11-28", "2026-11-28T24:00:00", "2026-11-28T01:60:00", "2026-11-28T01:00:60",
           "2026-11-28T1:00:00", "2026-11-28T01:00", "2026-11-28T01:00:00Z", "2026-11-28t01:00:00",
           "2026-02-30T01:00:00", "2026-11-28T01-00-00", "2026-11-28T-1:00:00"}) {
    EXPECT_FALSE(ParseCivil(bad).ok()) << bad;
  }
}

TEST(ParseInstant, ReadsOffsetsAndFractions) {
  const absl::Time one =
      absl::FromCivil(absl::CivilSecond(2026, 11, 28, 1, 0, 0), absl::FixedTimeZone(8 * 3600));
  EXPECT_EQ(*ParseInstant("2026-11-28T01:00:00+08:00"), one);
  EXPECT_EQ(*ParseInstant("2026-11-27T17:00:00Z"), one);
  EXPECT_EQ(*ParseInstant("2026-11-27T13:30:00-03:30"), one);
  EXPECT_EQ(*ParseInstant("2026-11-27T17:00:00.5Z"), one + absl::Milliseconds(500));
  EXPECT_EQ(*ParseInstant("2026-11-27T17:00:00.123456789Z"), one + absl::Nanoseconds(123456789));
}

TEST(ParseInstant, RefusesWhatIsNoInstant) {
  for (const std::string_view bad :
       std::initializer_list<std::string_view>{"",
                                               "2026-11-28",
                                               "2026-11-28T01:00:00",
                                               "2026-11-28T01:00:00+0800",
                                               "2026-11-28T01:00:00+08",
                                               "2026-11-28 01:00:00+08:00",
                                               "2026-11-28T01:00:00Z ",
                                               " 2026-11-28T01:00:00Z",
                                               "2026-11-28T1:00:00Z",
                                               "2026-11-28T01:00:00.Z",
                                               "2026-11-28T01:00:00.1234567890Z",
                                               "2026-11-28T24:00:00Z",
                                               "2026-11-28T01:60:00Z",
                                               "2026-11-28T23:59:60Z",
                                               "2026-11-28T01:00:00+24:00",
                                               "2026-11-28T01:00:00+08:60",
                                               "2026-02-30T01:00:00Z",
                                               "2026-11-28T01:00:00UTC",
                                               "infinite-future",
                                               "1796000000",
                                               std::string_view("2026-11-28T01:00:00Z\0", 21)}) {
    EXPECT_FALSE(ParseInstant(bad).ok()) << bad;
  }
}

TEST(TimeText, RoundTrips) {
  SeededRandom random(11);
  const absl::TimeZone zones[] = {absl::UTCTimeZone(), absl::FixedTimeZone(8 * 3600),
                                  absl::FixedTimeZone(-(3 * 3600 + 1800))};
  for (int round = 0; round < 5000; ++round) {
    const int64_t seconds = static_cast<int64_t>(random.Next() % 12000000000) - 2000000000;
    absl::Time time = absl::FromUnixSeconds(seconds);
    if (round % 2 == 0) time += absl::Nanoseconds(static_cast<int64_t>(random.Next() % 1000000000));
    const absl::TimeZone& zone = zones[round % 3];
    const std::string text = FormatInstant(time, zone);
    const auto back = ParseInstant(text);
    ASSERT_TRUE(back.ok()) << text;
    ASSERT_EQ(*back, time) << text;
    const absl::CivilSecond civil = absl::ToCivilSecond(time, zone);
    ASSERT_EQ(*ParseCivil(FormatCivil(civil)), civil);
    ASSERT_EQ(*ParseDate(FormatDate(absl::CivilDay(civil))), absl::CivilDay(civil));
  }
}

TEST(FormatInstant, SaysZForUtcAloneAndFractionsOnlyIfAny) {
  const absl::Time time = absl::FromUnixSeconds(1795885200);
  EXPECT_EQ(FormatInstant(time), "2026-11-28T17:00:00Z");
  EXPECT_EQ(FormatInstant(time, absl::FixedTimeZone(8 * 3600)), "2026-11-29T01:00:00+08:00");
  EXPECT_EQ(FormatInstant(time + absl::Milliseconds(250)), "2026-11-28T17:00:00.25Z");
}

struct DurationCase {
  std::string_view text;
  absl::Duration value;
};

TEST(ParseDuration, TakesUnitsAndSums) {
  const DurationCase kCases[] = {{"0s", absl::ZeroDuration()},
                                 {"250ms", absl::Milliseconds(250)},
                                 {"90s", absl::Seconds(90)},
                                 {"5m", absl::Minutes(5)},
                                 {"2h", absl::Hours(2)},
                                 {"7d", absl::Hours(168)},
                                 {"1h30m", absl::Minutes(90)},
                                 {"1m5ms", absl::Minutes(1) + absl::Milliseconds(5)},
                                 {"36500d", absl::Hours(24 * 36500)}};
  for (const DurationCase& c : kCases) EXPECT_EQ(*ParseDuration(c.text), c.value) << c.text;
  for (const std::string_view bad : std::initializer_list<std::string_view>{
           "", "5", "m", "-5m", "+5m", "1.5h", "5 m", "5m ", " 5m", "5M", "5min", "1h30", "1w",
           "1us", "36501d", "999999999999d", "9999999999999s", "18446744073709551616s",
           "999999999999d999999999999d999999999999d"}) {
    EXPECT_FALSE(ParseDuration(bad).ok()) << bad;
  }
}

TEST(DurationText, IsShortAndReadsBack) {
  EXPECT_EQ(DurationText(absl::ZeroDuration()), "0s");
  EXPECT_EQ(DurationText(-absl::Seconds(3)), "0s");
  EXPECT_EQ(DurationText(absl::Minutes(5)), "5m");
  EXPECT_EQ(DurationText(absl::Minutes(90)), "1h30m");
  EXPECT_EQ(DurationText(absl::Hours(168)), "7d");
  EXPECT_EQ(DurationText(absl::Milliseconds(1250)), "1s250ms");
  EXPECT_EQ(DurationText(absl::InfiniteDuration()), "unlimited");
  SeededRandom random(13);
  for (int round = 0; round < 5000; ++round) {
    const absl::Duration d =
        absl::Milliseconds(static_cast<int64_t>(random.Next() % (uint64_t{1} << (round % 40))));
    ASSERT_EQ(*ParseDuration(DurationText(d)), d) << DurationText(d);
  }
}

}  // namespace
}  // namespace tidemark
