// The gap on real processes and PostgreSQL: nights without a scheduler, pauses, edits, backfills
// over a kill, the drill. The database's clock is moved, nobody waits for a night.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "common/clock.h"
#include "common/time_text.h"
#include "tests/e2e/world.h"

namespace tidemark {
namespace {

using Lines = std::vector<std::string>;

Lines InOrder(const std::vector<std::string>& dates) {
  Lines lines;
  for (const std::string& date : dates) {
    lines.push_back("enter " + date);
    lines.push_back("exit " + date);
  }
  return lines;
}

// From now on the database's time is ahead of the real one by so much.
void MoveTime(World& world, absl::Duration ahead) {
  world.Sql(
      "CREATE OR REPLACE FUNCTION tidemark_now() RETURNS timestamptz LANGUAGE sql VOLATILE "
      "PARALLEL SAFE AS $$ SELECT clock_timestamp() + interval '" +
      std::to_string(absl::ToInt64Seconds(ahead)) + " seconds' $$");
}

std::vector<std::string> After(const std::string& date, int days) {
  std::vector<std::string> dates;
  for (int i = 1; i <= days; ++i) dates.push_back(FormatDate(*ParseDate(date) + i));
  return dates;
}

// Applies the job, lets `days` dates be done by an agent, and stops the scheduler.
std::vector<std::string> DoneThenDown(World& world, int days, const std::string& script = "true") {
  world.StartScheduler();
  world.StartAgent("a1", script);
  const auto dates = world.ApplyDaily("daily", "ops", "work", days);
  EXPECT_TRUE(world.AllDone("daily", dates));
  world.Terminate("scheduler");
  return dates;
}

TEST(NightsTest, ThreeNightsDownAreFilledInOrder) {
  World world;
  const auto dates = DoneThenDown(world, 2);
  MoveTime(world, absl::Hours(72));
  world.StartScheduler();
  const auto missed = After(dates.back(), 3);
  ASSERT_TRUE(world.AllDone("daily", missed));
  std::vector<std::string> all = dates;
  all.insert(all.end(), missed.begin(), missed.end());
  EXPECT_EQ(world.Journal(), InOrder(all));
  EXPECT_EQ(world.Sql("SELECT count(*) FROM run WHERE trigger_type = 'CATCH_UP' AND biz_date >= '" +
                      missed.front() + "'"),
            "3");
}

TEST(NightsTest, StartedShortBeforeTodaysTickItMakesFourRunsInOrder) {
  World world;
  // Runs of four seconds: the tick comes while the gap is being filled.
  const auto dates = DoneThenDown(world, 1, "[ ! -e $WORLD/slow ] || sleep 4");
  world.Touch("slow");
  absl::TimeZone zone;
  ASSERT_TRUE(absl::LoadTimeZone("Asia/Shanghai", &zone));
  const absl::Time now = SystemClock().WallNow();
  const absl::CivilDay run_day = *ParseDate(dates.back()) + 5;  // three missed, then today's
  const absl::Time tick = absl::FromCivil(absl::CivilSecond(run_day) + 3600, zone);
  MoveTime(world, tick - now - absl::Seconds(10));
  world.StartScheduler();
  const auto runs = After(dates.back(), 4);
  ASSERT_TRUE(world.AllDone("daily", runs, absl::Seconds(90)));
  std::vector<std::string> all = dates;
  all.insert(all.end(), runs.begin(), runs.end());
  EXPECT_EQ(world.Journal(), InOrder(all));
}

TEST(NightsTest, WhatAPauseKeptIsShownAndCaughtUp) {
  World world;
  const auto dates = DoneThenDown(world, 1);
  world.StartScheduler();
  ASSERT_TRUE(WaitFor(
      [&] { return world.Cli({"job", "pause", "daily", "--reason", "bank holiday"}).code == 0; }));
  world.Terminate("scheduler");
  MoveTime(world, absl::Hours(48));
  world.StartScheduler();
  const auto missed = After(dates.back(), 2);
  World::Answer list;
  ASSERT_TRUE(WaitFor([&] {
    list = world.Cli({"watermark", "list", "daily"});
    return list.code == 0;
  }));
  EXPECT_NE(list.output.find("PAUSED"), std::string::npos) << list.output;
  EXPECT_NE(list.output.find("bank holiday"), std::string::npos) << list.output;
  EXPECT_EQ(world.Journal(), InOrder(dates));
  EXPECT_EQ(world.Cli({"job", "resume", "daily"}).code, 0);
  EXPECT_TRUE(world.AllDone("daily", missed));
}

TEST(NightsTest, AnEditAfterNightsDownLeavesThemUnderTheOldTime) {
  World world;
  const auto dates = DoneThenDown(world, 1);
  world.Terminate("a1");
  MoveTime(world, absl::Hours(48));
  world.StartScheduler();
  const std::string file = world.Path("edit.yaml");
  std::ofstream(file) << "jobs:\n  - name: daily\n    app: ops\n    handler: work\n"
                         "    schedule: {cron: \"0 30 1 * * ?\", zone: Asia/Shanghai}\n"
                         "    start_date: "
                      << dates.front() << "\n";
  ASSERT_TRUE(WaitFor([&] { return world.Cli({"job", "apply", "-f", file}).code == 0; }));
  world.StartAgent("a1", "true");
  const auto missed = After(dates.back(), 2);
  ASSERT_TRUE(world.AllDone("daily", missed));
  std::vector<std::string> all = dates;
  all.insert(all.end(), missed.begin(), missed.end());
  EXPECT_EQ(world.Journal(), InOrder(all)) << "each once, none of the new time";
  EXPECT_EQ(world.Sql("SELECT count(*) FROM run WHERE nominal_time::time = '01:00'"), "3");
}

TEST(NightsTest, ABackfillGoesOnWhereItWasAfterAKill) {
  World world;
  world.StartScheduler();
  world.StartAgent("a1", "[ ! -e $WORLD/hold ] || while [ ! -e $WORLD/go ]; do sleep 0.05; done");
  const auto dates = world.ApplyDaily("daily", "ops", "work", 5);
  ASSERT_TRUE(world.AllDone("daily", dates));
  world.Touch("hold");
  const World::Answer made = world.Cli({"backfill", "create", "daily", "--from", dates[0], "--to",
                                        dates[3], "--reprocess", "all", "--reason", "new rates"});
  ASSERT_EQ(made.code, 0) << made.output;
  const std::string id = world.Sql("SELECT backfill_id FROM backfill");
  const World::Answer second = world.Cli(
      {"backfill", "create", "daily", "--from", dates[3], "--to", dates[4], "--reprocess", "all"});
  EXPECT_EQ(second.code, 4) << second.output;
  EXPECT_NE(second.output.find(id), std::string::npos) << second.output;
  ASSERT_TRUE(WaitFor([&] { return world.Journal().size() == 11; }));
  EXPECT_EQ(world.Cli({"backfill", "pause", id, "--reason", "month end"}).code, 0);
  world.Kill("scheduler");
  world.Touch("go");
  world.StartScheduler();
  ASSERT_TRUE(WaitFor([&] {
    return world.Sql("SELECT count(*) FROM run_history WHERE backfill_id IS NOT NULL") == "1";
  }));
  World::Answer get = world.Cli({"backfill", "get", id});
  EXPECT_NE(get.output.find("PAUSED"), std::string::npos) << get.output;
  EXPECT_NE(get.output.find("month end"), std::string::npos) << get.output;
  EXPECT_EQ(world.Journal().size(), 12U) << "paused: no further date";
  EXPECT_EQ(world.Cli({"backfill", "resume", id}).code, 0);
  const World::Answer watch = world.Cli({"backfill", "watch", id});
  EXPECT_EQ(watch.code, 0) << watch.output;
  std::vector<std::string> all = dates;
  all.insert(all.end(), dates.begin(), dates.begin() + 4);
  EXPECT_EQ(world.Journal(), InOrder(all));
  get = world.Cli({"backfill", "get", id});
  EXPECT_NE(get.output.find("4 of 4: 4 done"), std::string::npos) << get.output;
  EXPECT_EQ(world.Sql("SELECT count(*) FROM job_watermark WHERE status = 'DONE'"), "5");
}

TEST(NightsTest, ABackfillThatFailsStopsThereAndIsResumedWithTheFix) {
  World world;
  world.StartScheduler();
  const std::string script =
      "[ ! -e $WORLD/broken ] || [ $TIDEMARK_BIZ_DATE != " + DueDates(4)[1] + " ]";
  world.StartAgent("a1", script);
  const auto dates = world.ApplyDaily("daily", "ops", "work", 4, "    retry: {max_attempts: 1}\n");
  ASSERT_TRUE(world.AllDone("daily", dates));
  world.Touch("broken");
  ASSERT_EQ(world
                .Cli({"backfill", "create", "daily", "--from", dates[0], "--to", dates[2],
                      "--reprocess", "all"})
                .code,
            0);
  const std::string id = world.Sql("SELECT backfill_id FROM backfill");
  EXPECT_EQ(world.Cli({"backfill", "watch", id}).code, 1);
  EXPECT_EQ(world.Sql("SELECT state FROM backfill"), "PAUSED");
  EXPECT_NE(world.Sql("SELECT state_reason FROM backfill").find(dates[1]), std::string::npos);
  unlink(world.Path("broken").c_str());
  EXPECT_EQ(world.Cli({"backfill", "resume", id}).code, 0);
  EXPECT_EQ(world.Cli({"backfill", "watch", id}).code, 0);
  EXPECT_EQ(world.Sql("SELECT count(*) FROM run WHERE backfill_id IS NOT NULL"), "4");
}

World::Answer DrillRecon(World& world, const std::vector<std::string>& program) {
  world.StartScheduler();
  const auto dates =
      world.ApplyDaily("recon", "recon", "recon", 3, "    retry: {max_attempts: 1}\n");
  world.StartRecon("recon-1", program);
  EXPECT_TRUE(world.AllDone("recon", dates));
  world.ReconSql(
      "UPDATE recon.difference SET handling = 'RESOLVED', handled_by = 'li.na', note = 'refunded' "
      "WHERE difference_id = (SELECT min(difference_id) FROM recon.difference JOIN recon.batch "
      "USING (batch_id) WHERE biz_date = '" +
      dates[2] + "') RETURNING 1");
  return world.Cli({"job", "drill", "recon", "--days", "2", "--now", "--wait-minutes", "0.4"});
}

TEST(DrillTest, EveryDateIsDoneAgainWithWhatItsFirstRunFound) {
  World world;
  const World::Answer drill = DrillRecon(world, {"tidemark-recon"});
  EXPECT_EQ(drill.code, 0) << drill.output;
  EXPECT_NE(drill.output.find("SAME"), std::string::npos) << drill.output;
  EXPECT_EQ(world.Sql("SELECT count(*) FROM run WHERE tag = 'drill' AND status = 'COMPLETED'"),
            "2");
}

TEST(DrillTest, AHandlerThatKeepsItsDraftIsNoticed) {
  World world;
  const World::Answer drill = DrillRecon(world, {"faulty-recon", "keeps-draft"});
  EXPECT_EQ(drill.code, 1) << drill.output;
}

// The fingerprint of recon covers the differences, not what people did with them: a drill compares
// what the handler reports and nothing else, so this fault is seen in the business table alone.
TEST(DrillTest, WhatAFingerprintDoesNotCoverADrillCannotSee) {
  World world;
  const World::Answer drill = DrillRecon(world, {"faulty-recon", "drops-carried-over"});
  EXPECT_EQ(drill.code, 0) << drill.output;
  EXPECT_EQ(world.ReconSql("SELECT count(*) FROM recon.difference WHERE handling <> 'NEW'"), "0");
}

}  // namespace
}  // namespace tidemark
