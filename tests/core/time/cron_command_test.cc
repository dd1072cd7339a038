#include "scheduler/cli/cron_command.h"

#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/time/time_test_util.h"

namespace tidemark {
namespace {

using testing::HasSubstr;

struct Result {
  int code;
  std::string out, err;
};

Result Invoke(CronOptions options, bool explain = false) {
  options.now = At("2026-01-01T00:00:00Z");
  std::ostringstream out, err;
  const int code = explain ? RunCronExplain(options, out, err) : RunCronNext(options, out, err);
  return {code, out.str(), err.str()};
}

CronOptions Options(std::string expression, std::string zone) {
  CronOptions options;
  options.expression = std::move(expression);
  options.zone = std::move(zone);
  return options;
}

TEST(CronCommand, JsonListsFiresWithTheZonesOffset) {
  CronOptions options = Options("0 0 1 * * ?", "Asia/Shanghai");
  options.count = 2;
  options.json = true;
  options.from = "2026-11-28T01:00:00+08:00";
  const Result result = Invoke(options);
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out,
            "{\"fires\": [\"2026-11-29T01:00:00+08:00\", \"2026-11-30T01:00:00+08:00\"], "
            "\"never\": false, \"dialect\": \"quartz\", \"warnings\": []}\n");
}

// At most one fire a local day is a dated job, which fires on a day of a gap, too, whatever its
// expression looks like.
TEST(CronCommand, AnswersAsTheJobWouldFire) {
  CronOptions options = Options("0 30 2/23 * * ?", "America/New_York");
  options.count = 2;
  options.from = "2026-03-07T12:00:00-05:00";
  EXPECT_THAT(Invoke(options).out, HasSubstr("2026-03-08T03:00:00-04:00"));
  ScheduleSpec spec = CronSpec(options.expression, options.zone);
  const Schedule schedule = Must(Schedule::Compile(spec));
  EXPECT_EQ(Text(schedule.Next(At(options.from))->fire_time, schedule.zone()),
            "2026-03-08T03:00:00-04:00");
}

TEST(CronCommand, NeverIsSaid) {
  CronOptions options = Options("0 0 0 1 1 ? 2027", "UTC");
  options.json = true;
  EXPECT_THAT(Invoke(options).out, HasSubstr("[\"2027-01-01T00:00:00Z\"], \"never\": true"));
  options.json = false;
  EXPECT_THAT(Invoke(options).out, HasSubstr("2027-01-01T00:00:00Z  Fri\nnever again\n"));
  options.expression = "0 0 0 30 2 ?";
  options.json = true;
  EXPECT_THAT(Invoke(options).out, HasSubstr("\"fires\": [], \"never\": true"));
}

TEST(CronCommand, ExplainHasWordsAndWarnings) {
  CronOptions options = Options("0 30 2 ? * 2-6", "America/New_York");
  const Result table = Invoke(options, true);
  EXPECT_THAT(table.out, HasSubstr("fires    at 02:30 on MON–FRI\n"));
  EXPECT_THAT(table.out, HasSubstr("warning: weekday numbers"));
  options.json = true;
  EXPECT_THAT(Invoke(options, true).out, HasSubstr("\"words\": \"at 02:30 on MON–FRI\""));
}

TEST(CronCommand, RefusalsExitWithTwoAndTheReason) {
  EXPECT_EQ(Invoke(Options("0 *5 * * * ?", "UTC")).code, 2);
  EXPECT_THAT(Invoke(Options("0 *5 * * * ?", "UTC")).err, HasSubstr("minutes field, offset 3"));
  EXPECT_EQ(Invoke(Options("0 *5 * * * ?", "UTC")).out, "");
  EXPECT_THAT(Invoke(Options("0 0 1 * * ?", "Mars")).err, HasSubstr("unknown zone \"Mars\""));
  CronOptions options = Options("0 0 1 * * ?", "UTC");
  options.from = "yesterday";
  EXPECT_THAT(Invoke(options).err, HasSubstr("--from"));
  options.from.clear();
  options.count = 0;
  EXPECT_EQ(Invoke(options).code, 2);
  options.count = 1;
  options.dialect = "unix";
  EXPECT_THAT(Invoke(options).err, HasSubstr("quartz, spring or vixie"));
}

TEST(CronCommand, TheDialectCanBeStated) {
  CronOptions options = Options("0 0 0 ? * 1", "UTC");
  options.dialect = "spring";
  options.count = 1;
  options.json = true;
  EXPECT_THAT(Invoke(options).out, HasSubstr("2026-01-05"));  // a Monday
}

}  // namespace
}  // namespace tidemark
