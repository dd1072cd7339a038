// A dated job has exactly one occurrence on every date that exists and is due, in every zone.
//
// Which dates exist is found without asking for local times: by walking through the zone's
// changes of offset in UTC and collecting the local dates that instants have. By default a sample
// of zones over 1970–2100; TIDEMARK_ALL_ZONES=1 in the environment takes all of them.
#include <cstdlib>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "scheduler/core/time/timeline.h"
#include "tests/core/time/time_test_util.h"

namespace tidemark {
namespace {

std::vector<std::string> AllZones() {
  std::vector<std::string> names;
  std::ifstream list(TIDEMARK_TEST_DATA "/zoneinfo/tzdata.zi");
  for (std::string line; std::getline(list, line);) {
    std::istringstream words(line);
    std::string kind, first, second;
    words >> kind >> first >> second;
    if (kind == "Z" && first != "Factory") names.push_back(first);
  }
  return names;
}

std::vector<std::string> Zones() {
  std::vector<std::string> all = AllZones();
  if (std::getenv("TIDEMARK_ALL_ZONES") != nullptr) return all;
  // Those with dates that do not exist, gaps at midnight, odd shifts; and a seeded sample.
  std::vector<std::string> zones = {
      "Pacific/Apia",        "Pacific/Kwajalein", "Pacific/Kiritimati", "Pacific/Kanton",
      "America/Sao_Paulo",   "Africa/Cairo",      "Asia/Beirut",        "America/Havana",
      "America/St_Johns",    "Africa/Monrovia",   "America/Nuuk",       "America/Scoresbysund",
      "Australia/Lord_Howe", "Antarctica/Troll",  "Africa/Casablanca",  "Asia/Pyongyang"};
  std::mt19937 random(1970);
  std::sample(all.begin(), all.end(), std::back_inserter(zones), 24, random);
  return zones;
}

const absl::CivilDay kFirst(1970, 1, 2), kLast(2100, 12, 30);

// The local dates from kFirst to kLast that some instant has.
std::set<absl::CivilDay> ExistingDates(const absl::TimeZone& zone) {
  std::set<absl::CivilDay> dates;
  const absl::Time end = absl::FromCivil(absl::CivilSecond(2101, 1, 1), absl::UTCTimeZone());
  for (absl::Time t = absl::UnixEpoch(); t <= end; t += absl::Hours(1)) {
    const absl::CivilDay date = absl::ToCivilDay(t, zone);
    if (date >= kFirst && date <= kLast) dates.insert(dates.end(), date);
  }
  return dates;
}

class DateProperty : public testing::TestWithParam<std::string> {};

// Every existing date that the cron names is the local date of exactly one occurrence, at an
// instant that is not before it; and every existing date is the biz_date of one.
TEST_P(DateProperty, OneOccurrenceOnEveryExistingDate) {
  const absl::TimeZone zone = Zone(GetParam());
  const std::set<absl::CivilDay> existing = ExistingDates(zone);
  std::mt19937 random(std::hash<std::string>{}(GetParam()) % 1000);
  const auto pick = [&](int high) { return std::uniform_int_distribution<int>(0, high)(random); };
  const std::string crons[] = {"0 0 0 * * ?", "0 30 2 * * ?",
                               std::to_string(pick(59)) + " " + std::to_string(pick(59)) + " " +
                                   std::to_string(pick(23)) + " * * ?"};
  for (const std::string& cron : crons) {
    const Timeline timeline(
        {{absl::InfinitePast(),
          std::make_shared<const Schedule>(Must(Schedule::Compile(CronSpec(cron, GetParam()))))}});
    const absl::Time until = absl::FromCivil(absl::CivilSecond(2101, 6, 1), absl::UTCTimeZone());
    std::set<absl::CivilDay> biz_dates, local_dates;
    absl::Time before = absl::InfinitePast();
    for (const Occurrence& due : timeline.Due(kFirst, until)) {
      EXPECT_GE(due.fire_time, before) << cron;
      before = due.fire_time;
      if (due.biz_date > kLast) break;
      EXPECT_TRUE(biz_dates.insert(due.biz_date).second);
      EXPECT_TRUE(local_dates.insert(absl::CivilDay(due.nominal)).second);
      EXPECT_GE(absl::ToCivilSecond(due.fire_time, zone), due.nominal);
    }
    EXPECT_EQ(biz_dates, existing) << cron;
    for (const absl::CivilDay date : local_dates) {
      EXPECT_TRUE(date > kLast || existing.count(date)) << date;
    }
  }
}

// Walking by Next meets the same dates.
TEST_P(DateProperty, NextWalksOverTheSameDates) {
  const Schedule schedule = Must(Schedule::Compile(CronSpec("0 0 1 * * ?", GetParam())));
  absl::CivilDay expected(1970, 1, 5);
  while (!DateExists(expected, schedule.zone())) ++expected;
  absl::Time after = schedule.OccurrenceOn(expected)->fire_time - absl::Seconds(1);
  while (expected < kLast) {
    const std::optional<Occurrence> next = schedule.Next(after);
    ASSERT_TRUE(next);
    ASSERT_EQ(absl::CivilDay(next->nominal), expected);
    ASSERT_EQ(*schedule.OccurrenceOf(next->biz_date), *next);
    after = next->fire_time;
    do {
      ++expected;
    } while (!DateExists(expected, schedule.zone()));
  }
}

INSTANTIATE_TEST_SUITE_P(Zones, DateProperty, testing::ValuesIn(Zones()), [](const auto& info) {
  std::string name = std::to_string(info.index) + "_" + info.param;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
});

}  // namespace
}  // namespace tidemark
