// What is accepted, what is refused, and how a refusal reads.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/time/cron.h"
#include "tests/core/time/time_test_util.h"

namespace tidemark {
namespace {

using testing::HasSubstr;

std::string Refusal(std::string_view expr, Dialect dialect = Dialect::kAuto) {
  const absl::StatusOr<Cron> cron = Cron::Parse(expr, dialect);
  return cron.ok() ? "accepted" : Reason(cron.status());
}

const CronFields Fields(std::string_view expr, Dialect dialect = Dialect::kAuto) {
  return Must(Cron::Parse(expr, dialect)).fields();
}

template <typename Bits>
std::vector<int> Set(Bits bits) {
  std::vector<int> values;
  for (int i = 0; i < 64; ++i) {
    if ((static_cast<uint64_t>(bits) >> i & 1) != 0) values.push_back(i);
  }
  return values;
}

using Values = std::vector<int>;

TEST(CronParse, FieldCountChoosesTheDialect) {
  EXPECT_EQ(Must(Cron::Parse("0 1 * * *")).dialect(), Dialect::kVixie);
  EXPECT_EQ(Must(Cron::Parse("0 0 1 * * ?")).dialect(), Dialect::kQuartz);
  EXPECT_EQ(Must(Cron::Parse("0 0 1 * * ? 2030")).dialect(), Dialect::kQuartz);
  EXPECT_EQ(Must(Cron::Parse("0 0 1 * * *", Dialect::kSpring)).dialect(), Dialect::kSpring);
}

TEST(CronParse, AStatedDialectWantsItsFieldCount) {
  EXPECT_THAT(Refusal("0 0 1 * * ?", Dialect::kVixie), HasSubstr("6 fields; the Vixie dialect"));
  EXPECT_THAT(Refusal("0 1 * * *", Dialect::kQuartz), HasSubstr("5 fields; the Quartz dialect"));
  EXPECT_THAT(Refusal("0 0 1 * * ? 2030", Dialect::kSpring), HasSubstr("the Spring dialect"));
  EXPECT_THAT(Refusal("0 0 2 *"), HasSubstr("4 fields"));
  EXPECT_THAT(Refusal("0 0 2 * * ? 2030 1"), HasSubstr("8 fields"));
  EXPECT_THAT(Refusal("0"), HasSubstr("1 field;"));
}

TEST(CronParse, ListsRangesAndSteps) {
  const CronFields f = Fields("0,15,30-33 5/20 22-6/2 1-5,L,15W 3-12/3 ?");
  EXPECT_EQ(Set(f.seconds), (Values{0, 15, 30, 31, 32, 33}));
  EXPECT_EQ(Set(f.minutes), (Values{5, 25, 45}));
  EXPECT_EQ(Set(f.hours), (Values{0, 2, 4, 6, 22}));
  EXPECT_EQ(Set(f.days), (Values{1, 2, 3, 4, 5}));
  EXPECT_EQ(Set(f.days_from_last), (Values{0}));
  EXPECT_EQ(Set(f.nearest_weekdays), (Values{15}));
  EXPECT_EQ(Set(f.months), (Values{3, 6, 9, 12}));
  EXPECT_EQ(Set(f.weekdays), (Values{0, 1, 2, 3, 4, 5, 6}));
}

TEST(CronParse, SlashAloneStartsAtTheFieldsStart) {
  EXPECT_EQ(Set(Fields("0 0 /8 /10 /5 ?").hours), (Values{0, 8, 16}));
  EXPECT_EQ(Set(Fields("0 0 /8 /10 /5 ?").days), (Values{1, 11, 21, 31}));
  EXPECT_EQ(Set(Fields("0 0 /8 /10 /5 ?").months), (Values{1, 6, 11}));
}

TEST(CronParse, WrapAroundRangesKeepTheirPhase) {
  EXPECT_EQ(Set(Fields("0 50-10/7 * * * ?").minutes), (Values{4, 50, 57}));
  EXPECT_EQ(Set(Fields("0 0 0 25-5/2 * ?").days), (Values{2, 4, 25, 27, 29, 31}));
  EXPECT_EQ(Set(Fields("0 0 0 1 11-2/2 ?").months), (Values{1, 11}));
  EXPECT_EQ(Set(Fields("0 0 0 ? * 6-2/2").weekdays), (Values{0, 5}));
  EXPECT_THAT(Refusal("0 0 0 1 1 ? 2030-2029"), HasSubstr("ends before it begins"));
}

TEST(CronParse, LastDaysAndNearestWeekdays) {
  EXPECT_EQ(Set(Fields("0 0 0 L-3 * ?").days_from_last), (Values{3}));
  EXPECT_EQ(Set(Fields("0 0 0 LW * ?").last_nearest), (Values{0}));
  EXPECT_EQ(Set(Fields("0 0 0 L-3W * ?").last_nearest), (Values{3}));
  EXPECT_EQ(Set(Fields("0 0 0 1W,15w * ?").nearest_weekdays), (Values{1, 15}));
  EXPECT_EQ(Set(Fields("0 0 0 1,L * ?").days), (Values{1}));
}

TEST(CronParse, WeekdaysCountAsTheDialectDoes) {
  EXPECT_EQ(Set(Fields("0 0 0 ? * 2-4").weekdays), (Values{1, 2, 3}));
  EXPECT_EQ(Set(Fields("0 0 0 ? * 2-4", Dialect::kSpring).weekdays), (Values{2, 3, 4}));
  EXPECT_EQ(Set(Fields("0 0 * * 2-4").weekdays), (Values{2, 3, 4}));
  EXPECT_EQ(Set(Fields("0 0 0 ? * 0,7", Dialect::kSpring).weekdays), (Values{0}));
  EXPECT_EQ(Set(Fields("0 0 0 ? * */2", Dialect::kSpring).weekdays), (Values{0, 1, 3, 5}));
  EXPECT_EQ(Set(Fields("0 0 0 ? * 0/2", Dialect::kSpring).weekdays), (Values{0, 2, 4, 6}));
  EXPECT_EQ(Set(Fields("0 0 0 ? * FRI-TUE", Dialect::kSpring).weekdays), (Values{0, 1, 2, 5, 6}));
  EXPECT_EQ(Set(Fields("0 0 0 ? * */2").weekdays), (Values{0, 2, 4, 6}));
  EXPECT_EQ(Set(Fields("0 0 * * */2").weekdays), (Values{0, 2, 4, 6}));
  EXPECT_EQ(Set(Fields("0 0 * * */3").weekdays), (Values{0, 3, 6}));
  EXPECT_EQ(Set(Fields("0 0 * * sat-sun").weekdays), (Values{0, 6}));
  EXPECT_EQ(Set(Fields("0 0 * * sun-tue").weekdays), (Values{0, 1, 2}));
  EXPECT_EQ(Set(Fields("0 0 * * sun").weekdays), (Values{0}));
  EXPECT_EQ(Set(Fields("0 0 * * 0-7").weekdays), (Values{0, 1, 2, 3, 4, 5, 6}));
}

TEST(CronParse, RanksOfWeekdays) {
  EXPECT_EQ(Fields("0 0 0 ? * 6#3").nth, 3);
  EXPECT_EQ(Fields("0 0 0 ? * FRI#3").nth, 3);
  EXPECT_EQ(Fields("0 0 0 ? * 5L").nth, -1);
  EXPECT_EQ(Set(Fields("0 0 0 ? * 5L").weekdays), (Values{4}));
  EXPECT_EQ(Fields("0 0 0 ? * friL").nth, -1);
  EXPECT_EQ(Set(Fields("0 0 0 ? * L").weekdays), (Values{6}));
  EXPECT_EQ(Fields("0 0 0 ? * L").nth, 0);
  EXPECT_EQ(Set(Fields("0 0 0 ? * 5L", Dialect::kSpring).weekdays), (Values{5}));
}

TEST(CronParse, DayFieldsOfFiveFields) {
  EXPECT_TRUE(Fields("0 0 1-31 * 1").either_day);
  EXPECT_TRUE(Fields("0 0 1/1 * 1").either_day);
  EXPECT_TRUE(Fields("0 0 /2 * 1").either_day);
  EXPECT_FALSE(Fields("0 0 */2 * 1").either_day);
  EXPECT_FALSE(Fields("0 0 1 * */2").either_day);
  EXPECT_FALSE(Fields("0 0 * * 1").either_day);
}

TEST(CronParse, DayFieldsOfSixFields) {
  EXPECT_THAT(Refusal("0 0 0 15 * MON"), HasSubstr("both day fields are set: put ?"));
  EXPECT_THAT(Refusal("0 0 0 */2 * MON"), HasSubstr("both day fields are set"));
  EXPECT_THAT(Refusal("0 0 0 ? * ?"), HasSubstr("both day fields are ?"));
  EXPECT_EQ(Refusal("0 0 0 15 * *"), "accepted");
  EXPECT_EQ(Refusal("0 0 0 * * MON"), "accepted");
  EXPECT_EQ(Refusal("0 0 0 * * *"), "accepted");
}

TEST(CronParse, MacrosAndWhatIsNone) {
  for (const char* macro : {"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight",
                            "@hourly", "  @daily "}) {
    EXPECT_EQ(Refusal(macro), "accepted") << macro;
  }
  EXPECT_TRUE(Must(Cron::Parse("@hourly")).IsWildcard());
  EXPECT_FALSE(Must(Cron::Parse("@daily")).IsWildcard());
  EXPECT_THAT(Refusal("@every 1h"), HasSubstr("write every: 1h"));
  EXPECT_THAT(Refusal("@reboot"), HasSubstr("no point in time"));
  EXPECT_THAT(Refusal("@dialy"), HasSubstr("@daily"));
  EXPECT_THAT(Refusal("@daily 5"), HasSubstr("after \"@daily\""));
  EXPECT_THAT(Refusal("CRON_TZ=UTC 0 1 * * *"), HasSubstr("state it as zone"));
  EXPECT_THAT(Refusal("TZ=UTC"), HasSubstr("state it as zone"));
}

TEST(CronParse, WildcardIsDecidedByTheTextOfTheTimeFields) {
  for (const char* wild : {"* 0 0 * * ?", "0 0-0 0 * * ?", "0 0 3/24 * * ?", "0 * * * *"}) {
    const absl::StatusOr<Cron> cron = Cron::Parse(wild);
    if (cron.ok()) {
      EXPECT_TRUE(cron->IsWildcard()) << wild;
    }
  }
  for (const char* fixed : {"0 0 1 */3 * ?", "0,30 1,2 * * 1-5", "5 0 1-5 * *"}) {
    EXPECT_FALSE(Must(Cron::Parse(fixed)).IsWildcard()) << fixed;
  }
}

TEST(CronParse, NumericWeekdaysAreNoticed) {
  EXPECT_TRUE(Must(Cron::Parse("0 0 0 ? * 2-4")).NumericWeekdays());
  EXPECT_TRUE(Must(Cron::Parse("0 0 0 ? * 6#3")).NumericWeekdays());
  EXPECT_FALSE(Must(Cron::Parse("0 0 0 ? * FRI#3")).NumericWeekdays());
  EXPECT_FALSE(Must(Cron::Parse("0 0 0 ? * */2")).NumericWeekdays());
  EXPECT_FALSE(Must(Cron::Parse("0 0 * * 2-4")).NumericWeekdays());
}

struct Refused {
  const char* expr;
  const char* says;
};

TEST(CronParse, RefusalsNameFieldOffsetAndReason) {
  const Refused cases[] = {
      {"0 *5 * * * ?",
       "minutes field, offset 3: after * only /step may follow; did you mean "
       "\"*/5\"?"},
      {"0 ** * * * ?", "minutes field, offset 3"},
      {"0 0/0 * * * ?", "minutes field, offset 4: a step of 0"},
      {"0 0/60 * * * ?", "minutes field, offset 4: the step 60 is wider"},
      {"0 0 */24 * * ?", "hours field, offset 6: the step 24 is wider"},
      {"0 0 0 1/32 * ?", "day-of-month field, offset 8: the step 32"},
      {"0 0 0 1 1/13 ?", "month field, offset 10: the step 13"},
      {"0 0 0 ? * 1/8", "day-of-week field, offset 12: the step 8"},
      {"0 60 * * * ?", "minutes field, offset 2: 60 is outside 0–59"},
      {"0 0 24 * * ?", "hours field, offset 4: 24 is outside 0–23; did you mean \"0\"?"},
      {"0 0 0 0 * ?", "day-of-month field, offset 6: 0 is outside 1–31"},
      {"0 0 0 1 0 ?", "month field, offset 8: 0 is outside 1–12; did you mean \"1\"?"},
      {"0 0 0 ? * 0", "where 1 is SUN and 7 is SAT; did you mean \"SUN\"?"},
      {"0 0 0 ? * 8", "where 1 is SUN"},
      {"0 0 * * 8", "where 0 and 7 are SUN"},
      {"10 59 4RR * * ?",
       "hours field, offset 7: \"RR\" after a complete item; did you mean \"4\"?"},
      {"0 0 0 1.5 * ?", "day-of-month field, offset 7: decimals"},
      {"0 -5 * * * ?", "minutes field, offset 2: signs"},
      {"0 +5 * * * ?", "minutes field, offset 2: signs"},
      {"0 1- * * * ?", "minutes field, offset 4: the range has no end"},
      {"0 5/ * * * ?", "minutes field, offset 4: the step is missing"},
      {"0 5/x * * * ?", "the step must be a number"},
      {"0 1,,5 * * * ?", "minutes field, offset 4: an item of the list is empty"},
      {"0 ,5 * * * ?", "minutes field, offset 2: an item of the list is empty"},
      {"0 5, * * * ?", "minutes field, offset 4: an item of the list is empty"},
      {"0 1-2-3 * * * ?", "only one range"},
      {"0 */5/2 * * * ?", "minutes field, offset 5"},
      {"L 30 * * * ?", "seconds field, offset 0: L has no meaning in the seconds field"},
      {"0 0 0 1 L ?", "month field, offset 8: L has no meaning"},
      {"0 0 0 1 1 ? L", "year field, offset 12: L has no meaning"},
      {"0 0 W * * ?", "hours field, offset 4: W has no meaning"},
      {"? 0 2 * * ?", "seconds field, offset 0: ? is for the two day fields only"},
      {"0 0 2 * * ? ?", "year field, offset 12: ? is for the two day fields"},
      {"0 0 2 ?,5 * *", "? stands alone"},
      {"0 0 2 * * ?h", "? stands alone"},
      {"0 0 * * ?", "day-of-week field, offset 8: ? is for six"},
      {"0 0 L * *", "L needs six fields"},
      {"0 0 15W * *", "W needs six fields"},
      {"0 0 * * 5#2", "# needs six fields"},
      {"0 0 0 L-31 * ?", "day-of-month field, offset 8: L-n goes back at most 30"},
      {"0 0 0 L- * ?", "L- needs the number"},
      {"0 0 0 L/2 * ?", "no step is possible"},
      {"0 0 0 W * ?", "W needs a day before it"},
      {"0 0 0 WL * ?", "day-of-month field, offset 6"},
      {"0 0 0 1L * ?", "L stands for the last day of the month"},
      {"0 0 0 1-5W * ?", "W needs a single day"},
      {"0 0 0 0W * ?", "0 is outside 1–31"},
      {"0 0 0 32W * ?", "32 is outside 1–31"},
      {"0 0 0 15W/2 * ?", "no step is possible"},
      {"0 0 0 ? * 6#6", "# needs a number from 1 to 5"},
      {"0 0 0 ? * 6#0", "# needs a number from 1 to 5"},
      {"0 0 0 ? * 6#", "# needs a number from 1 to 5"},
      {"0 0 0 ? * #3", "# needs one weekday before it"},
      {"0 0 0 ? * 6#31", "after a complete item"},
      {"0 0 0 ? * 2#1,6#3", "stands alone: no list"},
      {"0 0 0 ? * 2L,6L", "stands alone: no list"},
      {"0 0 0 ? * MON,6L", "stands alone: no list"},
      {"0 0 0 ? * L,MON", "stands alone: no list"},
      {"0 0 0 ? * 1-5L", "day-of-week field, offset 13"},
      {"0 0 0 ? * MONDAY", "names have three letters; did you mean \"MON\"?"},
      {"0 0 0 1 JANUARY ?", "names have three letters; did you mean \"JAN\"?"},
      {"0 0 0 1 FOO ?", "\"FOO\" is not understood"},
      {"0 0 0 ? * MO", "\"MO\" is not understood"},
      {"0 0 0 MON * ?", "\"MON\" is not understood"},
      {"0 0 * * fri-mon", "five fields do not wrap around; did you mean \"fri-SAT,SUN-mon\"?"},
      {"0 22-6 * * *", "did you mean \"22-23,0-6\"?"},
      {"0 0 0 1 1 ? 2200", "2200 is outside 1970–2199"},
      {"0 0 0 1 1 ? 1969", "1969 is outside"},
      {"0 0 0 1 1 ? 26", "a year has four digits"},
      {"0 0 0 1 1 ? 02026", "a year has four digits"},
      {"0 0 2 99999999999 * ?", "99999999999 is outside 1–31"},
      {"0 0 2 4294967297 * ?", "4294967297 is outside 1–31"},
      {"\xef\xbc\x90 0 2 * * ?", "seconds field, offset 0: only ASCII"},
      {"0 0 2\xc2\xa0* * * ?", "hours field, offset 5"},
      {"0 0\x01 2 * * ?", "minutes field, offset 3: control characters"},
      {"0 0 2 * * ?\n", "day-of-week field, offset 11: control characters"},
      {"", "the expression is empty"},
      {"   ", "the expression is empty"},
  };
  for (const Refused& refused : cases) {
    EXPECT_THAT(Refusal(refused.expr), HasSubstr(refused.says)) << refused.expr;
  }
}

TEST(CronParse, BlanksAndLeadingZerosAreFine) {
  EXPECT_EQ(Refusal("  00   00 02\t* * ?  "), "accepted");
  EXPECT_EQ(Set(Fields("000000000000005 0 2 * * ?").seconds), (Values{5}));
}

TEST(CronParse, NulByteIsRefusedNotTheEnd) {
  EXPECT_THAT(Refusal(std::string_view("0 1 * * *\0", 10)), HasSubstr("control characters"));
  EXPECT_THAT(Refusal(std::string(2000, '1')), HasSubstr("longer than 1024 bytes"));
}

TEST(CronParse, SpringsLoneLNeedsAWeekday) {
  EXPECT_THAT(Refusal("0 0 0 ? * L", Dialect::kSpring), HasSubstr("L needs a weekday"));
}

TEST(Dialects, ByName) {
  EXPECT_EQ(Must(ParseDialect("spring")), Dialect::kSpring);
  EXPECT_EQ(Must(ParseDialect("")), Dialect::kAuto);
  EXPECT_THAT(Reason(ParseDialect("unix").status()), HasSubstr("quartz, spring or vixie"));
}

}  // namespace
}  // namespace tidemark
