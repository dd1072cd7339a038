#include "scheduler/core/time/cron_explain.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/time/time_test_util.h"

namespace tidemark {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string Words(const char* cron, Dialect dialect = Dialect::kAuto) {
  return CronInWords(Must(Cron::Parse(cron, dialect)));
}

TEST(CronInWords, SaysTimesDaysMonthsAndYears) {
  EXPECT_EQ(Words("0 0 1 * * ?"), "at 01:00 on every day");
  EXPECT_EQ(Words("30 0 1 * * ?"), "at 01:00:30 on every day");
  EXPECT_EQ(Words("0 0,30 2,3 * * ?"), "at 02:00, 02:30, 03:00 and 03:30 on every day");
  EXPECT_EQ(Words("* * * * *"), "every minute on every day");
  EXPECT_EQ(Words("* * * * * ?"), "every second on every day");
  EXPECT_EQ(Words("0 0/15 9-17 ? * MON-FRI"),
            "at minutes 0, 15, 30 and 45 of hours 9–17 on MON–FRI");
  EXPECT_EQ(Words("15 * 3 * * ?"), "at second 15 of every minute of hour 3 on every day");
  EXPECT_EQ(Words("0 0 * * * ?"), "at minute 0 of every hour on every day");
  EXPECT_EQ(Words("0 0 0 ? * 2"), "at 00:00 on MON");
  EXPECT_EQ(Words("0 0 0 ? * 2", Dialect::kSpring), "at 00:00 on TUE");
  EXPECT_EQ(Words("0 0 0 ? * 6#3"), "at 00:00 on the third FRI of the month");
  EXPECT_EQ(Words("0 0 0 ? * 5L"), "at 00:00 on the last THU of the month");
  EXPECT_EQ(Words("0 0 0 1,L * ?"), "at 00:00 on day 1 and the last day of the month");
  EXPECT_EQ(Words("0 0 0 L-2 3 ? 2030-2032,2040"),
            "at 00:00 on 2 days before the last day of the month, in MAR, in 2030–2032 and 2040");
  EXPECT_EQ(Words("0 0 0 15W,LW * ?"),
            "at 00:00 on the weekday nearest to day 15 and the weekday nearest to the last day of "
            "the month");
  EXPECT_EQ(Words("0 0 13 * 5"), "at 00:00 on day 13 of the month, or on FRI");
  EXPECT_EQ(Words("0 0 */10 * 1"),
            "at 00:00 on days 1, 11, 21 and 31 of the month, if it is also "
            "MON");
}

std::vector<std::string> Warnings(const char* cron, const char* zone = "UTC",
                                  Dialect dialect = Dialect::kAuto) {
  return CronWarnings(Must(Cron::Parse(cron, dialect)), dialect, Zone(zone),
                      At("2026-01-01T00:00:00Z"));
}

TEST(CronWarnings, NothingToSay) {
  EXPECT_THAT(Warnings("0 0 1 * * ?"), IsEmpty());
  EXPECT_THAT(Warnings("0 1 * * 1-5"), IsEmpty());
  EXPECT_THAT(Warnings("*/15 * * * *", "Asia/Shanghai"), IsEmpty());
  EXPECT_THAT(Warnings("0 0 0 1-31 * ?"), IsEmpty());
  EXPECT_THAT(Warnings("0 0 0 L * ?"), IsEmpty());
}

TEST(CronWarnings, ShortMonths) {
  EXPECT_THAT(Warnings("0 0 0 31 * ?"),
              ElementsAre("some months have no such day and are skipped (FEB, APR, JUN, SEP, NOV; "
                          "nothing is moved to another day); next: 2026-01-31, 2026-03-31, "
                          "2026-05-31, 2026-07-31"));
  EXPECT_THAT(Warnings("0 0 0 29 2 ?"),
              ElementsAre("most years have no such day in FEB; next: 2028-02-29, 2032-02-29, "
                          "2036-02-29, 2040-02-29"));
  EXPECT_THAT(Warnings("0 0 0 ? * FRI#5"), Contains(HasSubstr("are skipped")));
  EXPECT_THAT(Warnings("0 0 0 15,31 * ?"), Contains(HasSubstr("L is the last day")));
}

TEST(CronWarnings, GapsAndFoldsOfTheYear) {
  EXPECT_THAT(Warnings("0 30 2 * * ?", "America/New_York"),
              ElementsAre("2026-03-08 02:00:00 to 2026-03-08 03:00:00 does not exist in "
                          "America/New_York: the run of 2026-03-08 02:30:00 fires at "
                          "2026-03-08T03:00:00-04:00"));
  EXPECT_THAT(Warnings("0 30 1 * * ?", "America/New_York"),
              ElementsAre("2026-11-01 01:00:00 to 2026-11-01 02:00:00 comes twice in "
                          "America/New_York: the run of 2026-11-01 01:30:00 fires at "
                          "2026-11-01T01:30:00-04:00, once"));
  EXPECT_THAT(Warnings("*/30 * * * *", "America/New_York"),
              ElementsAre(HasSubstr("nothing fires in it"), HasSubstr("on both passes")));
  EXPECT_THAT(Warnings("0 0 12 * * ?", "America/New_York"), IsEmpty());
}

TEST(CronWarnings, NumericWeekdaysOfSixFields) {
  EXPECT_THAT(Warnings("0 0 0 ? * 2-6"), ElementsAre(HasSubstr("1 = SUN: at 00:00 on MON–FRI")));
  EXPECT_THAT(Warnings("0 0 0 ? * 2-6", "UTC", Dialect::kQuartz), IsEmpty());
  EXPECT_THAT(Warnings("0 0 0 ? * MON-FRI"), IsEmpty());
}

TEST(CronWarnings, StepsThatDoNotFit) {
  EXPECT_THAT(Warnings("*/7 * * * *"), ElementsAre(HasSubstr("a step of 7 minutes")));
  EXPECT_THAT(Warnings("0 */5 * * *"), ElementsAre(HasSubstr("a step of 5 hours")));
  EXPECT_THAT(Warnings("0 0 0 */3 * ?"), Contains(HasSubstr("afresh on the 1st")));
  EXPECT_THAT(Warnings("0 9-17/2 * * *"), IsEmpty());
}

TEST(CronWarnings, EitherDayAndTheEnd) {
  EXPECT_THAT(Warnings("0 0 13 * 5"), ElementsAre(HasSubstr("a day of either fires; next: "
                                                            "2026-01-02, 2026-01-09, 2026-01-13")));
  EXPECT_THAT(Warnings("0 0 0 1 1 ? 2020"), ElementsAre(HasSubstr("nothing fires after 2026-01")));
  EXPECT_THAT(Warnings("0 0 0 30 2 ?"), ElementsAre(HasSubstr("no date fits")));
}

}  // namespace
}  // namespace tidemark
