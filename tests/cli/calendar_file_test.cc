// Calendar files: what is taken, and what a mistake is answered with.
#include "scheduler/cli/calendar_file.h"

#include <string>

#include "common/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tidemark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Problem(const std::string& yaml) {
  const auto spec = ParseCalendarFile(yaml, "c.yaml");
  EXPECT_FALSE(spec.ok());
  return Message(spec.status());
}

TEST(CalendarFile, YamlSaysItAll) {
  const auto spec = ParseCalendarFile(
      "name: cn\nmode: include\nweekend: [fri, SAT]\ndates:\n  - 2026-10-01\n  - \"2026-10-02\"\n",
      "c.yaml");
  ASSERT_TRUE(spec.ok()) << Message(spec.status());
  EXPECT_EQ(spec->name(), "cn");
  EXPECT_EQ(spec->mode(), "include");
  EXPECT_THAT(spec->dates(), ElementsAre("2026-10-01", "2026-10-02"));
  EXPECT_THAT(spec->weekend(), ElementsAre("FRI", "SAT"));
}

TEST(CalendarFile, AnEmptyWeekendIsNoneAndALeftOutOneTheDefault) {
  EXPECT_THAT(ParseCalendarFile("name: a\nweekend: []\n", "c").value().weekend(),
              ElementsAre("NONE"));
  EXPECT_EQ(ParseCalendarFile("name: a\ndates: [2026-10-01]\n", "c").value().weekend_size(), 0);
}

TEST(CalendarFile, MistakesAreToldWithTheirLine) {
  EXPECT_THAT(Problem("name: a\ndate: [2026-10-01]\n"),
              AllOf(HasSubstr("c.yaml:2"), HasSubstr("did you mean 'dates'?")));
  EXPECT_THAT(Problem("name: a\ndates:\n  - 2026-02-30\n"), HasSubstr("c.yaml:3: dates: "));
  EXPECT_THAT(Problem("- 2026-10-01\n"), HasSubstr("expected a map"));
  EXPECT_THAT(Problem("name: [\n"), HasSubstr("not valid YAML"));
  EXPECT_THAT(Problem("a\xff"), HasSubstr("not UTF-8"));
}

TEST(CalendarFile, ICalendarIsKnownByItsText) {
  const std::string ics =
      "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20261001\r\n"
      "DTEND;VALUE=DATE:20261003\r\nRRULE:FREQ=YEARLY\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
  EXPECT_TRUE(IsICalendar(ics));
  EXPECT_TRUE(IsICalendar("\xef\xbb\xbf" + ics));
  EXPECT_FALSE(IsICalendar("name: a\n"));
  const auto spec = ParseICalendarFile("\xef\xbb\xbf" + ics, "h.ics", absl::CivilDay(2027, 12, 31));
  ASSERT_TRUE(spec.ok()) << Message(spec.status());
  EXPECT_THAT(spec->dates(), ElementsAre("2026-10-01", "2026-10-02", "2027-10-01", "2027-10-02"));
  EXPECT_THAT(Message(ParseICalendarFile("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n", "h.ics",
                                         absl::CivilDay(2027, 12, 31))
                          .status()),
              HasSubstr("h.ics: "));
}

}  // namespace
}  // namespace tidemark
