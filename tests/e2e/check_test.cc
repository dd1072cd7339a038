// The daily check on real processes and PostgreSQL. The database's clock is moved, nobody waits for
// a night.
#include <gtest/gtest.h>

#include "absl/time/civil_time.h"
#include "common/clock.h"
#include "common/time_text.h"
#include "tests/e2e/world.h"

namespace tidemark {
namespace {

class CheckE2eTest : public testing::Test {
 protected:
  // From now on the database's time is that of Shanghai at `local`.
  void MoveTo(absl::CivilSecond local) {
    absl::TimeZone zone;
    ASSERT_TRUE(absl::LoadTimeZone("Asia/Shanghai", &zone));
    const absl::Duration ahead = absl::FromCivil(local, zone) - SystemClock().WallNow();
    world_.Sql(
        "CREATE OR REPLACE FUNCTION tidemark_now() RETURNS timestamptz LANGUAGE sql VOLATILE "
        "PARALLEL SAFE AS $$ SELECT clock_timestamp() + interval '" +
        std::to_string(absl::ToInt64Seconds(ahead)) + " seconds' $$");
  }
  // A job whose dates so far are done; returns the next date, and the day on which it is run.
  std::pair<std::string, absl::CivilDay> NextDate() {
    world_.StartScheduler();
    world_.StartAgent("a1", "true");
    const auto dates = world_.ApplyDaily("daily", "ops", "work", 1);
    EXPECT_TRUE(world_.AllDone("daily", dates));
    const absl::CivilDay next = *ParseDate(dates.back()) + 1;
    return {FormatDate(next), next + 1};
  }
  bool Becomes(const std::string& query, const std::string& wanted) {
    return WaitFor([&] { return world_.Sql(query) == wanted; });
  }

  World world_;
};

TEST_F(CheckE2eTest, KilledAtFiveToOneAndStartedAtHalfPastNine) {
  const auto [date, run_day] = NextDate();
  world_.Terminate("scheduler");
  MoveTo(absl::CivilSecond(run_day) + 50 * 60);
  world_.StartScheduler();
  ASSERT_TRUE(WaitFor([&] { return world_.Cli({"check", "run", "daily"}).code == 0; }))
      << "nothing is late so far";
  world_.Kill("scheduler");  // 00:50
  MoveTo(absl::CivilSecond(run_day) + 9 * 3600 + 30 * 60);
  world_.StartScheduler();

  const std::string of_date = " WHERE job_name = 'daily' AND biz_date = '" + date + "'";
  EXPECT_TRUE(
      Becomes("SELECT verdict || ' ' || state FROM check_verdict" + of_date, "LATE MISSING"));
  EXPECT_TRUE(world_.AllDone("daily", {date}));
  EXPECT_TRUE(
      Becomes("SELECT (settled_at > checked_at)::text FROM check_verdict" + of_date, "true"));
  EXPECT_TRUE(Becomes(
      "SELECT (resolved_at IS NOT NULL)::text FROM alert" + of_date + " AND kind = 'date_missed'",
      "true"));
  EXPECT_EQ(world_.Sql("SELECT count(*) FROM alert" + of_date + " AND kind = 'date_missed'"), "1");

  World::Answer answer = world_.Cli({"check", "list", "daily", "--late"});
  EXPECT_EQ(answer.code, 0);
  EXPECT_NE(answer.output.find(date), std::string::npos) << answer.output;
  EXPECT_NE(answer.output.find("LATE, settled"), std::string::npos) << answer.output;
  answer = world_.Cli({"check", "run", "--date", FormatDate(run_day)});
  EXPECT_EQ(answer.code, 0) << answer.output;
  EXPECT_NE(answer.output.find("LATE, settled"), std::string::npos) << answer.output;
  answer = world_.Cli({"check", "run", "daily", "-o", "json"});
  EXPECT_NE(answer.output.find("\"expected_at\""), std::string::npos) << answer.output;
}

TEST_F(CheckE2eTest, WhatNobodyRunsIsLateUntilItIsWaived) {
  const auto [date, run_day] = NextDate();
  world_.Terminate("a1");
  world_.Terminate("scheduler");
  MoveTo(absl::CivilSecond(run_day) + 9 * 3600 - 5);
  world_.StartScheduler();  // the time comes while it runs
  const std::string of_date = " WHERE job_name = 'daily' AND biz_date = '" + date + "'";
  ASSERT_TRUE(Becomes("SELECT verdict FROM check_verdict" + of_date, "LATE"));
  World::Answer answer = world_.Cli({"check", "run"});
  EXPECT_EQ(answer.code, 1) << answer.output;
  EXPECT_NE(answer.output.find("1 date is late"), std::string::npos) << answer.output;
  answer = world_.Cli({"alert", "list", "--job", "daily"});
  EXPECT_NE(answer.output.find("date_missed"), std::string::npos) << answer.output;

  std::string run;
  ASSERT_TRUE(WaitFor([&] { return (run = world_.Sql("SELECT run_id FROM active_run")) != ""; }));
  EXPECT_EQ(world_.Cli({"run", "cancel", run}).code, 0);
  ASSERT_TRUE(WaitFor([&] {
    return world_.Cli({"watermark", "waive", "daily", date, "--reason", "no file"}).code == 0;
  }));
  EXPECT_TRUE(Becomes(
      "SELECT (resolved_at IS NOT NULL)::text FROM alert" + of_date + " AND kind = 'date_missed'",
      "true"));
  EXPECT_EQ(world_.Cli({"check", "run"}).code, 0);
}

TEST_F(CheckE2eTest, APausedJobIsShownWithItsReason) {
  const auto [date, run_day] = NextDate();
  ASSERT_EQ(world_.Cli({"job", "pause", "daily", "--reason", "the bank moves"}).code, 0);
  world_.Terminate("scheduler");
  MoveTo(absl::CivilSecond(run_day) + 10 * 3600);
  world_.StartScheduler();
  ASSERT_TRUE(
      Becomes("SELECT verdict FROM check_verdict WHERE biz_date = '" + date + "'", "PAUSED"));
  const World::Answer answer = world_.Cli({"check", "list", "daily"});
  EXPECT_NE(answer.output.find("the bank moves"), std::string::npos) << answer.output;
  EXPECT_EQ(world_.Cli({"check", "run", "daily"}).code, 0);
  EXPECT_EQ(world_.Sql("SELECT count(*) FROM alert WHERE kind = 'date_missed'"), "0");
  // A week later somebody is reminded.
  world_.Terminate("scheduler");
  MoveTo(absl::CivilSecond(run_day + 7) + 10 * 3600);
  world_.StartScheduler();
  EXPECT_TRUE(Becomes("SELECT count(*) FROM alert WHERE kind = 'job_paused'", "1"));
}

}  // namespace
}  // namespace tidemark
