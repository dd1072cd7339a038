#include "scheduler/core/time/calendar.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/time/time_test_util.h"

namespace tidemark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Calendar Make(Calendar::Mode mode, std::vector<absl::CivilDay> dates) {
  Calendar::Spec spec;
  spec.name = "test";
  spec.mode = mode;
  spec.dates = std::move(dates);
  return Must(Calendar::Make(spec));
}

TEST(Calendar, ExcludeClosesTheListedDates) {
  const Calendar holidays =
      Make(Calendar::Mode::kExclude, {Day(2026, 10, 1), Day(2026, 1, 1), Day(2026, 10, 1)});
  EXPECT_FALSE(holidays.IsOpen(Day(2026, 10, 1)));
  EXPECT_TRUE(holidays.IsOpen(Day(2026, 10, 2)));
  EXPECT_TRUE(holidays.IsOpen(Day(2026, 10, 3)));          // a Saturday
  EXPECT_FALSE(holidays.IsBusinessDay(Day(2026, 10, 3)));  // but no business day
  EXPECT_THAT(holidays.dates(), ElementsAre(Day(2026, 1, 1), Day(2026, 10, 1)));
}

TEST(Calendar, IncludeOpensTheListedDatesAlone) {
  const Calendar trading =
      Make(Calendar::Mode::kInclude, {Day(2026, 10, 9), Day(2026, 10, 10)});  // with a Saturday
  EXPECT_TRUE(trading.IsBusinessDay(Day(2026, 10, 10)));
  EXPECT_FALSE(trading.IsOpen(Day(2026, 10, 12)));
}

TEST(Calendar, CountsBusinessDays) {
  const Calendar holidays = Make(Calendar::Mode::kExclude, {Day(2026, 10, 1), Day(2026, 10, 2)});
  EXPECT_EQ(holidays.AddBusinessDays(Day(2026, 9, 30), 1), Day(2026, 10, 5));
  EXPECT_EQ(holidays.AddBusinessDays(Day(2026, 10, 5), -1), Day(2026, 9, 30));
  EXPECT_EQ(holidays.AddBusinessDays(Day(2026, 10, 3), -2), Day(2026, 9, 29));
  EXPECT_EQ(holidays.AddBusinessDays(Day(2026, 10, 5), 0), Day(2026, 10, 5));
  EXPECT_EQ(holidays.AddBusinessDays(Day(2026, 10, 3), 0), std::nullopt);
  const Calendar trading = Make(Calendar::Mode::kInclude, {Day(2026, 10, 9)});
  EXPECT_EQ(trading.AddBusinessDays(Day(2026, 10, 9), 1), std::nullopt);
}

TEST(Calendar, RefusesWhatMakesNone) {
  Calendar::Spec spec;
  EXPECT_THAT(Reason(Calendar::Make(spec).status()), HasSubstr("needs a name"));
  spec.name = "x";
  spec.weekend = 0x7f;
  EXPECT_THAT(Reason(Calendar::Make(spec).status()), HasSubstr("seven days"));
  spec.mode = Calendar::Mode::kInclude;
  EXPECT_THAT(Reason(Calendar::Make(spec).status()), HasSubstr("without dates"));
  spec.dates = {Day(1, 1, 1)};
  EXPECT_THAT(Reason(Calendar::Make(spec).status()), HasSubstr("1900 to 2200"));
}

std::string Ics(const std::string& lines) {
  std::string text =
      "BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VEVENT\n" + lines + "\nEND:VEVENT\nEND:VCALENDAR\n";
  std::string crlf;
  for (const char c : text) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  return crlf;
}

std::vector<absl::CivilDay> Dates(const std::string& lines, absl::CivilDay last) {
  return Must(DatesFromICalendar(Ics(lines), last));
}

std::string Refusal(const std::string& lines) {
  const auto dates = DatesFromICalendar(Ics(lines), Day(2030, 12, 31));
  return dates.ok() ? "accepted" : Reason(dates.status());
}

TEST(ICalendar, SingleDaysAndSpans) {
  EXPECT_THAT(Dates("DTSTART;VALUE=DATE:20261001\nDTEND;VALUE=DATE:20261004", Day(2030, 1, 1)),
              ElementsAre(Day(2026, 10, 1), Day(2026, 10, 2), Day(2026, 10, 3)));
  EXPECT_THAT(Dates("DTSTART;VALUE=DATE:20261001", Day(2030, 1, 1)), ElementsAre(Day(2026, 10, 1)));
  EXPECT_THAT(Dates("DTSTART;VALUE=DATE:20261001\nDURATION:P2D", Day(2030, 1, 1)),
              ElementsAre(Day(2026, 10, 1), Day(2026, 10, 2)));
  EXPECT_THAT(Dates("DTSTART;TZID=\"A:B\":20261001T000000\nDTEND:20261002T000000", Day(2030, 1, 1)),
              ElementsAre(Day(2026, 10, 1)));
}

TEST(ICalendar, FoldedLinesAreJoined) {
  EXPECT_THAT(Dates("DTSTART;VALUE=DATE:2026\n 1001", Day(2030, 1, 1)),
              ElementsAre(Day(2026, 10, 1)));
}

TEST(ICalendar, YearlyRulesOfHolidays) {
  EXPECT_THAT(Dates("DTSTART;VALUE=DATE:20260101\nRRULE:FREQ=YEARLY", Day(2028, 6, 1)),
              ElementsAre(Day(2026, 1, 1), Day(2027, 1, 1), Day(2028, 1, 1)));
  // Thanksgiving, Memorial Day, and every other year.
  EXPECT_THAT(Dates("DTSTART;VALUE=DATE:20261126\nRRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH",
                    Day(2028, 12, 31)),
              ElementsAre(Day(2026, 11, 26), Day(2027, 11, 25), Day(2028, 11, 23)));
  EXPECT_THAT(Dates("DTSTART;VALUE=DATE:20260525\nRRULE:FREQ=YEARLY;BYMONTH=5;BYDAY=-1MO",
                    Day(2028, 12, 31)),
              ElementsAre(Day(2026, 5, 25), Day(2027, 5, 31), Day(2028, 5, 29)));
  EXPECT_THAT(
      Dates("DTSTART;VALUE=DATE:20260101\nRRULE:FREQ=YEARLY;INTERVAL=2;COUNT=2", Day(2040, 1, 1)),
      ElementsAre(Day(2026, 1, 1), Day(2028, 1, 1)));
  EXPECT_THAT(Dates("DTSTART;VALUE=DATE:20240229\nRRULE:FREQ=YEARLY", Day(2029, 1, 1)),
              ElementsAre(Day(2024, 2, 29), Day(2028, 2, 29)));
  EXPECT_THAT(Dates("DTSTART;VALUE=DATE:20261228\nRRULE:FREQ=YEARLY;BYDAY=-1MO", Day(2027, 12, 31)),
              ElementsAre(Day(2026, 12, 28), Day(2027, 12, 27)));
}

TEST(ICalendar, OtherFrequencies) {
  EXPECT_THAT(Dates("DTSTART;VALUE=DATE:20260131\nRRULE:FREQ=MONTHLY;BYMONTHDAY=-1;"
                    "UNTIL=20260331T235959Z",
                    Day(2030, 1, 1)),
              ElementsAre(Day(2026, 1, 31), Day(2026, 2, 28), Day(2026, 3, 31)));
  EXPECT_THAT(Dates("DTSTART;VALUE=DATE:20260103\nRRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=SA,SU",
                    Day(2026, 1, 20)),
              ElementsAre(Day(2026, 1, 3), Day(2026, 1, 4), Day(2026, 1, 17), Day(2026, 1, 18)));
  EXPECT_THAT(Dates("DTSTART;VALUE=DATE:20260103\nRRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=SA,SU;WKST=SU",
                    Day(2026, 1, 20)),
              ElementsAre(Day(2026, 1, 3), Day(2026, 1, 11), Day(2026, 1, 17)));
  EXPECT_THAT(Dates("DTSTART;VALUE=DATE:20260130\nRRULE:FREQ=DAILY;COUNT=3", Day(2030, 1, 1)),
              ElementsAre(Day(2026, 1, 30), Day(2026, 1, 31), Day(2026, 2, 1)));
}

TEST(ICalendar, ExtraAndExcludedDates) {
  EXPECT_THAT(Dates("DTSTART;VALUE=DATE:20260101\nRRULE:FREQ=YEARLY;COUNT=3\n"
                    "EXDATE;VALUE=DATE:20270101\nRDATE;VALUE=DATE:20260505,20260506",
                    Day(2030, 1, 1)),
              ElementsAre(Day(2026, 1, 1), Day(2026, 5, 5), Day(2026, 5, 6), Day(2028, 1, 1)));
}

TEST(ICalendar, CancelledEventsAndOtherComponentsAreLeftOut) {
  const std::string text =
      "BEGIN:VCALENDAR\nBEGIN:VTIMEZONE\nBEGIN:STANDARD\nDTSTART:19700101T030000\n"
      "RRULE:FREQ=YEARLY;BYSETPOS=1\nEND:STANDARD\nEND:VTIMEZONE\n"
      "BEGIN:VEVENT\nDTSTART;VALUE=DATE:20260101\nSTATUS:CANCELLED\nEND:VEVENT\n"
      "BEGIN:VEVENT\nDTSTART;VALUE=DATE:20260102\nBEGIN:VALARM\nDURATION:PT5M\nEND:VALARM\n"
      "END:VEVENT\nEND:VCALENDAR\n";
  EXPECT_THAT(Must(DatesFromICalendar(text, Day(2030, 1, 1))), ElementsAre(Day(2026, 1, 2)));
}

TEST(ICalendar, RefusesWhatItDoesNotUnderstand) {
  const std::string start = "DTSTART;VALUE=DATE:20260101\n";
  EXPECT_THAT(Refusal(start + "RRULE:FREQ=YEARLY;BYSETPOS=1"),
              HasSubstr("line 5: RRULE: BYSETPOS"));
  EXPECT_THAT(Refusal(start + "RRULE:FREQ=HOURLY"), HasSubstr("none of DAILY"));
  EXPECT_THAT(Refusal(start + "RRULE:BYMONTH=1"), HasSubstr("FREQ is missing"));
  EXPECT_THAT(Refusal(start + "RRULE:FREQ=YEARLY;BYMONTH=13"), HasSubstr("BYMONTH"));
  EXPECT_THAT(Refusal(start + "RRULE:FREQ=WEEKLY;BYDAY=2MO"), HasSubstr("numbered BYDAY"));
  EXPECT_THAT(Refusal(start + "RRULE:FREQ=YEARLY;COUNT=2;UNTIL=20270101"), HasSubstr("exclude"));
  EXPECT_THAT(Refusal(start + "RECURRENCE-ID:20260101"), HasSubstr("RECURRENCE-ID"));
  EXPECT_THAT(Refusal("DTSTART:20260101T093000Z"), HasSubstr("time of day"));
  EXPECT_THAT(Refusal("DTSTART;VALUE=DATE:20260230"), HasSubstr("line 4: DTSTART: \"20260230\""));
  EXPECT_THAT(Refusal("SUMMARY:x"), HasSubstr("no DTSTART"));
  EXPECT_THAT(Refusal("DTSTART:20260102\nDTEND:20260101"), HasSubstr("ends before"));
  EXPECT_THAT(Refusal("DTSTART:20260102\nDURATION:PT5H"), HasSubstr("no number of days"));
}

TEST(ICalendar, BoundsItsWork) {
  std::string events;
  for (int i = 0; i < 1001; ++i) {
    events += "BEGIN:VEVENT\nDTSTART:20260101\nRRULE:FREQ=YEARLY\nEND:VEVENT\n";
  }
  const auto dates =
      DatesFromICalendar("BEGIN:VCALENDAR\n" + events + "END:VCALENDAR\n", Day(2026, 1, 2));
  EXPECT_THAT(Reason(dates.status()), HasSubstr("more than 1000 RRULEs"));
  EXPECT_THAT(Refusal("DTSTART:20260101\nDTEND:20280101"), HasSubstr("longer than 400 days"));
}

TEST(ICalendar, RefusesWhatIsNoCalendar) {
  const auto refusal = [](std::string_view text) {
    return Reason(DatesFromICalendar(text, Day(2030, 1, 1)).status());
  };
  EXPECT_THAT(refusal(""), HasSubstr("empty"));
  EXPECT_THAT(refusal("dates: [1]"), HasSubstr("BEGIN:VCALENDAR comes first"));
  EXPECT_THAT(refusal("BEGIN:VEVENT\nEND:VEVENT"), HasSubstr("BEGIN:VCALENDAR comes first"));
  EXPECT_THAT(refusal("BEGIN:VCALENDAR\nBEGIN:VEVENT\n"), HasSubstr("ends inside VEVENT"));
  EXPECT_THAT(refusal("BEGIN:VCALENDAR\nEND:VEVENT\n"), HasSubstr("without its BEGIN"));
  EXPECT_THAT(refusal("BEGIN:VCALENDAR\nEND:VCALENDAR\n"), HasSubstr("no dates"));
}

}  // namespace
}  // namespace tidemark
