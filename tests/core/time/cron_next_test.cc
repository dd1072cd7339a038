// Evaluation against a brute force that walks every second, and its bound on steps.
#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/time/cron.h"
#include "tests/core/time/time_test_util.h"

namespace tidemark {
namespace {

// All fires in (from, to], by asking every second what its local time is; fixed times by
// asking which local times the seconds passed over or repeated.
std::vector<absl::Time> BruteForce(const Cron& cron, absl::Time from, absl::Time to,
                                   const absl::TimeZone& zone, bool fixed) {
  std::vector<absl::Time> fires;
  absl::CivilSecond furthest = absl::ToCivilSecond(from - absl::Hours(30), zone);
  for (absl::Time t = from - absl::Hours(30); t <= to; t += absl::Seconds(1)) {
    const absl::CivilSecond local = absl::ToCivilSecond(t, zone);
    bool fires_now = false;
    if (fixed) {
      // A local time counts when it is reached or passed for the first time.
      for (absl::CivilSecond passed = furthest + 1; passed <= local; ++passed) {
        fires_now |= cron.Matches(passed);
      }
      furthest = std::max(furthest, local);
    } else {
      fires_now = cron.Matches(local);
    }
    if (fires_now && t > from) fires.push_back(t);
  }
  return fires;
}

std::vector<absl::Time> Chain(const Cron& cron, absl::Time from, absl::Time to,
                              const absl::TimeZone& zone, Cron::Rule rule) {
  std::vector<absl::Time> fires;
  while (const std::optional<Fire> fire = cron.Next(from, zone, rule)) {
    if (fire->instant > to) break;
    from = fire->instant;
    fires.push_back(from);
  }
  return fires;
}

struct Change {
  const char* zone;
  const char* around;
};
// Gaps and folds of an hour, half an hour, two hours and at midnight; a shift of the standard time.
const Change kChanges[] = {
    {"America/New_York", "2026-03-08T07:00:00Z"},
    {"America/New_York", "2026-11-01T06:00:00Z"},
    {"Australia/Lord_Howe", "2026-10-03T15:30:00Z"},
    {"Australia/Lord_Howe", "2026-04-04T15:00:00Z"},
    {"Antarctica/Troll", "2026-03-29T01:00:00Z"},
    {"Antarctica/Troll", "2026-10-25T01:00:00Z"},
    {"America/Sao_Paulo", "2018-11-04T03:00:00Z"},
    {"America/Sao_Paulo", "2018-02-18T02:00:00Z"},
    {"America/St_Johns", "2006-10-29T02:31:00Z"},
    {"Asia/Pyongyang", "2018-05-04T15:00:00Z"},
    {"America/Caracas", "2007-12-09T07:00:00Z"},
    {"Africa/Casablanca", "2025-02-23T02:00:00Z"},
    {"Pacific/Chatham", "2026-09-26T14:00:00Z"},
    {"America/Scoresbysund", "2024-03-31T01:00:00Z"},
    {"Africa/Monrovia", "1972-01-07T00:44:30Z"},
    {"America/Nuuk", "2024-03-31T01:00:00Z"},
};

std::string RandomField(std::mt19937& random, int low, int high, bool wild) {
  const auto number = [&](int from, int to) {
    return std::uniform_int_distribution<int>(from, to)(random);
  };
  if (!wild) {
    std::string list = std::to_string(number(low, high));
    for (int i = number(0, 2); i > 0; --i) list += "," + std::to_string(number(low, high));
    return list;
  }
  switch (number(0, 3)) {
    case 0:
      return "*";
    case 1:
      return "*/" + std::to_string(number(1, high));
    case 2:
      return std::to_string(number(low, high)) + "-" + std::to_string(number(low, high));
    default:
      return std::to_string(number(low, high)) + "/" + std::to_string(number(1, high));
  }
}

TEST(CronNext, AgreesWithEverySecondAroundChanges) {
  std::mt19937 random(20261129);
  int compared = 0;
  for (const Change& change : kChanges) {
    const absl::TimeZone zone = Zone(change.zone);
    const absl::Time from = At(change.around) - absl::Hours(5);
    const absl::Time to = At(change.around) + absl::Hours(5);
    for (int i = 0; i < 24; ++i) {
      const bool wild = i % 2 == 0;
      const std::string hours = i % 3 == 0 ? "0,1,2,3,22,23" : RandomField(random, 0, 23, wild);
      const std::string text = RandomField(random, 0, 59, false) + " " +
                               RandomField(random, 0, 59, wild) + " " + hours + " * * ?";
      const Cron cron = Must(Cron::Parse(text));
      for (const Cron::Rule rule : {Cron::Rule::kAsWritten, Cron::Rule::kFixed}) {
        const bool fixed = rule == Cron::Rule::kFixed || !cron.IsWildcard();
        EXPECT_EQ(Chain(cron, from, to, zone, rule), BruteForce(cron, from, to, zone, fixed))
            << text << " in " << change.zone << " around " << change.around;
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, 16 * 24 * 2);
}

// The chain does not depend on where it is entered.
TEST(CronNext, IsStrictlyAfterAndTheSameFromEverySecond) {
  const absl::TimeZone zone = Zone("America/New_York");
  for (const char* text : {"0 30 1,2 * * ?", "0 */30 * * * ?", "30 1 * * *"}) {
    const Cron cron = Must(Cron::Parse(text));
    for (const char* around : {"2026-03-08T07:00:00Z", "2026-11-01T06:00:00Z"}) {
      const absl::Time end = At(around) + absl::Hours(3);
      std::optional<Fire> expected = cron.Next(end, zone);
      for (absl::Time t = end; t > At(around) - absl::Hours(3); t -= absl::Seconds(1)) {
        const std::optional<Fire> next = cron.Next(t - absl::Nanoseconds(1), zone);
        ASSERT_TRUE(next);
        EXPECT_GE(next->instant, t);
        if (next->instant == t) expected = next;
        ASSERT_EQ(next->instant, expected->instant) << text << " after " << t;
      }
    }
  }
}

TEST(CronNext, NamesTheOutcome) {
  const absl::TimeZone zone = Zone("America/New_York");
  const Cron fixed = Must(Cron::Parse("0 0,30 2,3 * * ?"));
  const Fire gap = *fixed.Next(At("2026-03-08T06:00:00Z"), zone);
  EXPECT_EQ(gap.kind, CivilKind::kSkipped);
  EXPECT_EQ(gap.nominal, absl::CivilSecond(2026, 3, 8, 2, 0));
  EXPECT_EQ(Text(gap.instant, zone), "2026-03-08T03:00:00-04:00");
  const Cron once = Must(Cron::Parse("30 1 * * *"));
  EXPECT_EQ(once.Next(At("2026-11-01T00:00:00Z"), zone)->kind, CivilKind::kRepeated);
  EXPECT_EQ(once.Next(At("2026-11-01T12:00:00Z"), zone)->kind, CivilKind::kUnique);
  const Cron wild = Must(Cron::Parse("*/30 * * * *"));
  EXPECT_EQ(wild.Next(At("2026-11-01T06:00:00Z"), zone)->kind, CivilKind::kRepeated);
}

// Of two passes only the second may hold what is left of the year.
TEST(CronNext, AWildcardsLastFireCanBeInTheSecondPass) {
  const absl::TimeZone zone = Zone("America/New_York");
  const Cron cron = Must(Cron::Parse("0 30-31 1 1 11 ? 2026"));
  const std::optional<Fire> fire = cron.Next(At("2026-11-01T05:45:00Z"), zone);
  ASSERT_TRUE(fire);
  EXPECT_EQ(Text(fire->instant, zone), "2026-11-01T01:30:00-05:00");
  EXPECT_FALSE(cron.Next(At("2026-11-01T06:31:00Z"), zone));
}

TEST(CronNext, DayRules) {
  const absl::TimeZone utc = absl::UTCTimeZone();
  const auto day = [&](const char* text, const char* from) {
    const std::optional<Fire> fire = Must(Cron::Parse(text)).Next(At(from), utc);
    return fire ? Text(fire->instant, utc).substr(0, 10) : "never";
  };
  EXPECT_EQ(day("0 0 0 31W * ?", "2026-05-01T00:00:00Z"), "2026-05-29");  // 31 May is a Sunday
  EXPECT_EQ(day("0 0 0 31W * ?", "2026-06-01T00:00:00Z"), "2026-07-31");  // June has no 31st
  EXPECT_EQ(day("0 0 0 1W * ?", "2026-07-31T00:00:00Z"), "2026-08-03");   // 1 Aug is a Saturday
  EXPECT_EQ(day("0 0 0 L-3W * ?", "2026-05-01T00:00:00Z"), "2026-05-28");
  EXPECT_EQ(day("0 0 0 L-30W * ?", "2026-01-15T00:00:00Z"), "2026-03-02");  // 1 March is a Sunday
  EXPECT_EQ(day("0 0 0 ? * 5L", "2026-05-01T00:00:00Z"), "2026-05-28");
  EXPECT_EQ(day("0 0 0 ? * SUNL", "2026-05-01T00:00:00Z"), "2026-05-31");  // not the 24th
  EXPECT_EQ(day("0 0 0 ? * 5#5", "2026-05-01T00:00:00Z"), "2026-07-30");
  EXPECT_EQ(day("0 0 0 ? * SUN#1", "2026-05-01T00:00:00Z"), "2026-05-03");
  EXPECT_EQ(day("0 0 31 * 1", "2026-02-01T00:00:00Z"), "2026-02-02");
  EXPECT_EQ(day("0 0 0 29 2 ? 2097-2103", "2026-01-01T00:00:00Z"), "never");
  EXPECT_EQ(day("0 0 0 29 2 ? 2097-2104", "2026-01-01T00:00:00Z"), "2104-02-29");
}

const char* kHard[] = {
    "0 0 0 30 2 ?",        "0 0 0 29 2 ? 2100", "0 0 0 ? 2 7#5",         "0 0-59 2 ? 3 1#2",
    "0 30-31 1 ? 11 1#1",  "* * * * * ?",       "59 59 23 31 12 ? 2199", "0 0 0 L-30W 2 ?",
    "0 0 0 31 4,6,9,11 ?", "0 0-30 2 8 3 ?",    "* 30 2 ? 3 1#2 2007/1", "0 0 0 29 2 ? 1970,2196",
};

TEST(CronNext, NeverTakesMoreStepsThanPromised) {
  int most = 0;
  for (const char* text : kHard) {
    const Cron cron = Must(Cron::Parse(text));
    for (const char* name : {"UTC", "America/New_York", "Pacific/Apia", "Africa/Casablanca"}) {
      const absl::TimeZone zone = Zone(name);
      for (const char* from : {"1000-01-01T00:00:00Z", "1970-01-01T00:00:00Z",
                               "2026-11-01T05:45:00Z", "2199-12-31T23:59:59Z"}) {
        int steps = 0;
        cron.Next(At(from), zone, Cron::Rule::kAsWritten, &steps);
        most = std::max(most, steps);
        cron.Next(At(from), zone, Cron::Rule::kFixed, &steps);
        most = std::max(most, steps);
      }
    }
  }
  EXPECT_LT(most, Cron::kMaxSteps - 1);  // an answer, not a surrender
  EXPECT_GT(most, 1000);                 // the counter counts
}

// Ten milliseconds are promised; a hundred times as much is never noise.
TEST(CronNext, AnswersAtOnce) {
  for (const char* text : kHard) {
    const Cron cron = Must(Cron::Parse(text));
    const absl::TimeZone zone = Zone("America/New_York");
    const auto begin = std::chrono::steady_clock::now();
    cron.Next(At("1970-01-01T00:00:00Z"), zone);
    const auto took = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(took, std::chrono::seconds(1)) << text;
  }
}

TEST(CronNext, EndsOfTime) {
  const Cron cron = Must(Cron::Parse("0 0 * * *"));
  EXPECT_TRUE(cron.Next(absl::InfinitePast(), absl::UTCTimeZone()));
  EXPECT_FALSE(cron.Next(absl::InfiniteFuture(), absl::UTCTimeZone()));
  EXPECT_TRUE(cron.Next(At("2399-12-30T12:00:00Z"), absl::UTCTimeZone()));
  EXPECT_FALSE(cron.Next(At("2399-12-31T12:00:00Z"), absl::UTCTimeZone()));
  EXPECT_EQ(cron.Next(At("1969-12-31T23:59:59.5Z"), absl::UTCTimeZone())->instant,
            absl::UnixEpoch());
}

TEST(CronNext, NeverFiresIsAboutDates) {
  EXPECT_TRUE(Must(Cron::Parse("0 0 0 30 2 ?")).NeverFires());
  EXPECT_TRUE(Must(Cron::Parse("0 0 0 29 2 ? 2100")).NeverFires());
  EXPECT_FALSE(Must(Cron::Parse("0 0 0 29 2 ?")).NeverFires());
  EXPECT_FALSE(Must(Cron::Parse("0 0 30 2 1")).NeverFires());  // Mondays in February
  EXPECT_TRUE(Must(Cron::Parse("0 0 31 2 *")).NeverFires());
}

}  // namespace
}  // namespace tidemark
