// The main job on real processes: nothing is lost, nothing runs twice, gaps close by themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "tests/e2e/world.h"

namespace tidemark {
namespace {

using Lines = std::vector<std::string>;

// "enter D" and "exit D" of each date, in order.
Lines InOrder(const std::vector<std::string>& dates) {
  Lines lines;
  for (const std::string& date : dates) {
    lines.push_back("enter " + date);
    lines.push_back("exit " + date);
  }
  return lines;
}

int64_t Count(const Lines& lines, const std::string& line) {
  return std::count(lines.begin(), lines.end(), line);
}

const char kFingerprints[] =
    "SELECT string_agg(biz_date || ' ' || result_rows || ' ' || result_digest, ',' ORDER BY "
    "biz_date) FROM job_watermark WHERE job_name = 'recon' AND status = 'DONE'";
const char kHandled[] =
    "SELECT string_agg(concat_ws(' ', order_id, kind, handling, handled_by, note), ',' ORDER BY "
    "order_id) FROM recon.difference WHERE handling <> 'NEW'";

// Fills five dates, works on a difference by hand, deletes three watermarks, lets the next trigger
// point fill them. Returns whether what the second run left is what the first one did.
bool Rehearse(World& world, const std::vector<std::string>& recon) {
  world.StartScheduler();
  const auto dates =
      world.ApplyDaily("recon", "recon", "recon", 5, "    retry: {max_attempts: 1}\n");
  world.StartRecon("recon-1", recon);
  EXPECT_TRUE(world.AllDone("recon", dates));
  EXPECT_EQ(world.Journal(), InOrder(dates));
  world.ReconSql(
      "UPDATE recon.difference SET handling = 'RESOLVED', handled_by = 'li.na', note = 'refunded' "
      "WHERE difference_id = (SELECT min(difference_id) FROM recon.difference JOIN recon.batch "
      "USING (batch_id) WHERE biz_date = '" +
      dates[3] + "') RETURNING 1");
  const std::string prints = world.Sql(kFingerprints);
  const std::string handled = world.ReconSql(kHandled);
  EXPECT_NE(handled, "");
  world.Sql("WITH gone AS (DELETE FROM job_watermark WHERE job_name = 'recon' AND biz_date >= '" +
            dates[2] + "' RETURNING 1) SELECT count(*) FROM gone");
  world.Terminate("recon-1");
  world.StartRecon("recon-1", recon);
  const bool done = world.AllDone("recon", dates, absl::Seconds(30));
  return done && world.Sql(kFingerprints) == prints && world.ReconSql(kHandled) == handled;
}

TEST(MainJobTest, TheRehearsalLeavesWhatTheFirstRunLeft) {
  World world;
  EXPECT_TRUE(Rehearse(world, {"tidemark-recon"}));
}

TEST(MainJobTest, TheRehearsalNoticesAHandlerThatKeepsItsDraft) {
  World world;
  EXPECT_FALSE(Rehearse(world, {"faulty-recon", "keeps-draft"}));
}

TEST(MainJobTest, TheRehearsalNoticesAHandlerThatDropsHandWork) {
  World world;
  EXPECT_FALSE(Rehearse(world, {"faulty-recon", "drops-carried-over"}));
}

TEST(MainJobTest, TwoExecutorsRunEachDateExactlyOnceAndInOrder) {
  World world;
  world.StartScheduler();
  world.StartAgent("a1", "true");
  world.StartAgent("a2", "true");
  const auto dates = world.ApplyDaily("daily", "ops", "work", 20);
  ASSERT_TRUE(world.AllDone("daily", dates));
  EXPECT_EQ(world.Journal(), InOrder(dates));
}

TEST(MainJobTest, AFailedDateStopsTheRestAndANewProcessWithTheFixLetsItGoOn) {
  World world;
  world.StartScheduler();
  const auto dates =
      world.ApplyDaily("daily", "ops", "work", 5, "    retry: {max_attempts: 2, backoff: [0s]}\n");
  world.StartAgent("a1", "[ \"$FIXED\" = yes ] || [ $TIDEMARK_BIZ_DATE != " + dates[2] + " ]");
  ASSERT_TRUE(WaitFor([&] { return world.StatusOf("daily", dates[2]) == "FAILED"; }));
  EXPECT_EQ(Count(world.Journal(), "enter " + dates[2]), 2);
  EXPECT_EQ(Count(world.Journal(), "enter " + dates[3]), 0);
  const auto told = [&world](const std::string& kind) {
    return world.Cli({"alert", "list"}).output.find(kind) != std::string::npos;
  };
  EXPECT_TRUE(told("run_failed"));
  EXPECT_TRUE(WaitFor([&] { return told("gap_blocked"); }));

  world.Terminate("a1");
  world.StartAgent("a1", "[ \"$FIXED\" = yes ] || [ $TIDEMARK_BIZ_DATE != " + dates[2] + " ]",
                   {{"FIXED", "yes"}});
  EXPECT_TRUE(world.AllDone("daily", dates));
  const Lines journal = world.Journal();
  const Lines rest(journal.end() - 4, journal.end());
  EXPECT_EQ(rest, InOrder({dates[3], dates[4]}));
}

TEST(MainJobTest, KillOfTheSchedulerDuringARunDisturbsItNot) {
  World world;
  world.StartScheduler();
  world.StartAgent("a1", "while [ ! -e $WORLD/go ]; do sleep 0.05; done");
  const auto dates = world.ApplyDaily("daily", "ops", "work", 1);
  ASSERT_TRUE(WaitFor([&] { return Count(world.Journal(), "enter " + dates[0]) == 1; }));
  world.Kill("scheduler");
  world.StartScheduler();
  world.Touch("go");
  ASSERT_TRUE(world.AllDone("daily", dates));
  EXPECT_EQ(world.Journal(), InOrder(dates));
  EXPECT_EQ(world.Sql("SELECT count(*) || ' ' || max(attempt) FROM run_history"), "1 1");
}

TEST(MainJobTest, AResultOfTheTimeWithoutASchedulerIsKept) {
  World world;
  world.StartScheduler();
  world.StartAgent("a1", "while [ ! -e $WORLD/go ]; do sleep 0.05; done");
  const auto dates = world.ApplyDaily("daily", "ops", "work", 1);
  ASSERT_TRUE(WaitFor([&] { return Count(world.Journal(), "enter " + dates[0]) == 1; }));
  world.Kill("scheduler");
  world.Touch("go");
  ASSERT_TRUE(WaitFor([&] { return Count(world.Journal(), "exit " + dates[0]) == 1; }));
  world.StartScheduler();
  ASSERT_TRUE(world.AllDone("daily", dates));
  EXPECT_EQ(world.Journal(), InOrder(dates));
}

TEST(MainJobTest, KillOfTheExecutorDuringARunFreesItForTheNextProcess) {
  World world;
  world.StartScheduler();
  const std::string script = "[ -e $WORLD/go ] || { touch $WORLD/began; sleep 600; }";
  world.StartAgent("a1", script);
  const auto dates = world.ApplyDaily("daily", "ops", "work", 2);
  ASSERT_TRUE(WaitFor([&] { return Count(world.Journal(), "enter " + dates[0]) == 1; }));
  world.Kill("a1");
  world.Touch("go");
  world.StartAgent("a1", script);
  ASSERT_TRUE(world.AllDone("daily", dates));
  EXPECT_EQ(Count(world.Journal(), "enter " + dates[0]), 2);
  EXPECT_EQ(Count(world.Journal(), "exit " + dates[0]), 1);
  EXPECT_EQ(world.Sql("SELECT outcome FROM attempt ORDER BY run_id, attempt LIMIT 1"), "LOST");
}

TEST(MainJobTest, CancelKillsTheCommandWithItsChildren) {
  World world;
  world.StartScheduler();
  world.StartAgent("a1", "sleep 600 & echo $! > $WORLD/child; wait");
  const auto dates = world.ApplyDaily("daily", "ops", "work", 1);
  ASSERT_TRUE(WaitFor([&] { return !ReadFile(world.Path("child")).empty(); }));
  const pid_t child = std::atoi(ReadFile(world.Path("child")).c_str());
  const std::string run = world.Sql("SELECT run_id FROM active_run");
  const World::Answer answer = world.Cli({"run", "cancel", run, "--reason", "test"});
  EXPECT_EQ(answer.code, 0) << answer.output;
  EXPECT_TRUE(WaitFor([&] { return world.StatusOf("daily", dates[0]) == "FAILED"; }));
  EXPECT_TRUE(WaitFor([&] { return kill(child, 0) != 0; }));
  EXPECT_EQ(world.Sql("SELECT status FROM run_history"), "CANCELLED");
}

}  // namespace
}  // namespace tidemark
