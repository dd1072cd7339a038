#include "scheduler/core/time/zone.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/time/time_test_util.h"

namespace tidemark {
namespace {

using testing::HasSubstr;

std::string Refusal(std::string_view name) {
  const absl::StatusOr<absl::TimeZone> zone = LoadZone(name);
  return zone.ok() ? "accepted" : Reason(zone.status());
}

TEST(LoadZone, EveryListedNameAndNothingElse) {
  int loaded = 0;
  std::ifstream list(TIDEMARK_TEST_DATA "/zoneinfo/tzdata.zi");
  for (std::string line; std::getline(list, line);) {
    std::istringstream words(line);
    std::string kind, first, second;
    words >> kind >> first >> second;
    if (kind != "Z" && kind != "L") continue;
    const std::string name = kind == "Z" ? first : second;
    if (name == "Factory") continue;
    EXPECT_EQ(Refusal(name), "accepted") << name;
    ++loaded;
  }
  EXPECT_EQ(loaded, 597);
}

TEST(LoadZone, RefusesWhatIsNoZoneName) {
  for (const char* name : {"localtime",
                           "Factory",
                           "Fixed/UTC+08:00:00",
                           "libc:localtime",
                           "libc:UTC",
                           "/etc/localtime",
                           "../zoneinfo/UTC",
                           "Asia/../UTC",
                           "./UTC",
                           "posix/UTC",
                           "right/UTC",
                           ":UTC",
                           "EST5EDT4",
                           "Asia//Shanghai",
                           "Asia/Shanghai/",
                           "Asia",
                           "tzdata.zi",
                           "zone.tab",
                           "UTC\n",
                           " UTC",
                           "CST",
                           "Asia/Shanghai\xe3\x80\x80",
                           "UTC0",
                           "<+08>-8"}) {
    EXPECT_THAT(Refusal(name), HasSubstr("unknown zone")) << name;
  }
  EXPECT_THAT(Refusal(""), HasSubstr("the zone is empty"));
  EXPECT_THAT(Refusal(std::string_view("UTC\0", 4)), HasSubstr("unknown zone"));
  EXPECT_THAT(Refusal(std::string(100000, 'A')), HasSubstr("unknown zone"));
}

TEST(LoadZone, SuggestsTheNearName) {
  EXPECT_THAT(Refusal("asia/shanghai"), HasSubstr("did you mean \"Asia/Shanghai\"?"));
  EXPECT_THAT(Refusal("Asia/Shangai"), HasSubstr("did you mean \"Asia/Shanghai\"?"));
  EXPECT_THAT(Refusal("Shanghai"), HasSubstr("did you mean \"Asia/Shanghai\"?"));
  EXPECT_THAT(Refusal("America/New York"), HasSubstr("did you mean \"America/New_York\"?"));
  EXPECT_THAT(Refusal("UTC+8"), HasSubstr("\"Etc/GMT-8\""));
  EXPECT_THAT(Refusal("+08:00"), HasSubstr("\"Etc/GMT-8\""));
  EXPECT_THAT(Refusal("GMT-5"), HasSubstr("\"Etc/GMT+5\""));
}

// Without the list, files decide, by strict syntax.
TEST(LoadZone, ReadsDataWithoutAList) {
  const std::string pinned = TIDEMARK_TEST_DATA "/zoneinfo";
  setenv("TZDIR", (pinned + "/America").c_str(), 1);
  EXPECT_EQ(Refusal("New_York"), "accepted");
  EXPECT_THAT(Refusal("Nowhere"), HasSubstr("unknown zone"));
  EXPECT_THAT(Refusal("../UTC"), HasSubstr("unknown zone"));
  setenv("TZDIR", pinned.c_str(), 1);
}

std::string Resolved(const char* zone, absl::CivilSecond local) {
  const absl::TimeZone tz = Zone(zone);
  const std::optional<FixedInstant> fixed = ResolveFixed(local, tz);
  if (!fixed) return "none";
  const char* kinds[] = {"unique", "skipped", "repeated"};
  return Text(fixed->instant, tz) + " " + kinds[static_cast<int>(fixed->kind)];
}

TEST(ResolveFixed, NamesWhatTheZoneDoes) {
  EXPECT_EQ(Resolved("America/New_York", absl::CivilSecond(2026, 3, 8, 2, 30)),
            "2026-03-08T03:00:00-04:00 skipped");
  EXPECT_EQ(Resolved("America/New_York", absl::CivilSecond(2026, 11, 1, 1, 30)),
            "2026-11-01T01:30:00-04:00 repeated");
  EXPECT_EQ(Resolved("America/New_York", absl::CivilSecond(2026, 11, 1, 2, 0)),
            "2026-11-01T02:00:00-05:00 unique");
  EXPECT_EQ(Resolved("Pacific/Apia", absl::CivilSecond(2011, 12, 30, 9)), "none");
}

TEST(DateExists, MissesOnlyTheDatesThatNoInstantHas) {
  EXPECT_FALSE(DateExists(Day(2011, 12, 30), Zone("Pacific/Apia")));
  EXPECT_TRUE(DateExists(Day(2011, 12, 29), Zone("Pacific/Apia")));
  EXPECT_TRUE(DateExists(Day(2011, 12, 31), Zone("Pacific/Apia")));
  EXPECT_FALSE(DateExists(Day(1993, 8, 21), Zone("Pacific/Kwajalein")));
  EXPECT_FALSE(DateExists(Day(1994, 12, 31), Zone("Pacific/Kiritimati")));
  EXPECT_TRUE(DateExists(Day(2025, 4, 25), Zone("Africa/Cairo")));  // begins at 01:00
}

}  // namespace
}  // namespace tidemark
