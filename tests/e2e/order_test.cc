// Operators' orders through the command line, on real processes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>
#include <vector>

#include "tests/e2e/job_bench.h"

namespace tidemark {
namespace {

// The first UUID in a text.
std::string RunIdIn(const std::string& text) {
  for (size_t at = 0; at + 36 <= text.size(); ++at) {
    const std::string word = text.substr(at, 36);
    if (word[8] == '-' && word[13] == '-' && word[18] == '-' && word[23] == '-' &&
        word.find_first_not_of("0123456789abcdef-") == std::string::npos) {
      return word;
    }
  }
  return "";
}

void ExpectAnswer(const World::Answer& answer, int code, const std::string& words) {
  EXPECT_EQ(answer.code, code) << answer.output;
  EXPECT_NE(answer.output.find(words), std::string::npos) << answer.output;
}

const char kWaitForGo[] = "while [ ! -e $WORLD/go ]; do sleep 0.05; done";

TEST(OrderTest, O10ARepeatedRequestIdIsTheSameRunWhateverHappensInBetween) {
  World world;
  world.StartScheduler();
  world.StartAgent("a1", kWaitForGo);
  ApplyManual(world, "sync", "    blocking: {policy: discard_later}\n");
  const std::vector<std::string> order = {"job", "trigger", "sync", "--request-id", "ticket-7"};
  const World::Answer first = world.Cli(order);
  const std::string run = RunIdIn(first.output);
  ASSERT_NE(run, "") << first.output;
  EXPECT_EQ(RunIdIn(world.Cli(order).output), run) << "while it runs";
  // Another key while it runs: decided by the policy, seen as a row of its own.
  const World::Answer other = world.Cli({"job", "trigger", "sync", "--request-id", "ticket-8"});
  EXPECT_EQ(other.code, 0) << other.output;
  const std::string skipped = RunIdIn(other.output);
  EXPECT_NE(skipped, run);
  ASSERT_TRUE(AwaitSql(world,
                       "SELECT status || status_reason FROM run WHERE run_id = '" + skipped + "'",
                       "SKIPPEDblocked"));
  world.Kill("scheduler");
  world.StartScheduler();
  ASSERT_TRUE(WaitFor([&] { return world.Cli({"cluster", "status"}).code == 0; }));
  EXPECT_EQ(RunIdIn(world.Cli(order).output), run) << "after a restart";
  world.Touch("go");
  ASSERT_TRUE(AwaitSql(world, "SELECT status FROM run WHERE run_id = '" + run + "'", "COMPLETED"));
  EXPECT_EQ(RunIdIn(world.Cli(order).output), run) << "after its end";
  world.Terminate("scheduler");
  world.StartScheduler();
  ASSERT_TRUE(WaitFor([&] { return world.Cli({"cluster", "status"}).code == 0; }));
  EXPECT_EQ(RunIdIn(world.Cli(order).output), run) << "after its end and a restart";
  EXPECT_EQ(world.Sql("SELECT count(*) FROM run"), "2");
  EXPECT_EQ(world.Journal().size(), 2U) << "entered once";
}

TEST(OrderTest, TriggerTakesOverridesAndWaits) {
  World world;
  world.StartScheduler();
  const std::string script =
      "echo $TIDEMARK_PARAM_BILLS $TIDEMARK_PARAM_MODE > $WORLD/by-$NAME; [ $TIDEMARK_PARAM_BILLS "
      "!= bad ]";
  world.StartAgent("a1", script, {{"NAME", "a1"}});
  world.StartAgent("a2", script, {{"NAME", "a2"}});
  ASSERT_TRUE(AwaitSql(world, "SELECT count(*) FROM executor WHERE state = 'UP'", "2"));
  const auto dates = world.ApplyDaily("daily", "ops", "work", 3,
                                      "    params: {bills: /data, mode: full}\n"
                                      "    retry: {max_attempts: 1}\n");
  ASSERT_TRUE(world.AllDone("daily", dates));
  const std::string run =
      world.Sql("SELECT run_id FROM job_watermark WHERE biz_date = '" + dates[1] + "'");
  // A dated job's trigger of a date that is DONE is refused; a manual job shows the overrides.
  ExpectAnswer(world.Cli({"job", "trigger", "daily", "--biz-date", dates[1], "--wait"}), 4,
               "--force");
  ApplyManual(world, "sync",
              "    params: {bills: /data, mode: full}\n    retry: {max_attempts: 1}\n");
  for (const char* file : {"by-a1", "by-a2"}) unlink(world.Path(file).c_str());
  const World::Answer done = world.Cli({"job", "trigger", "sync", "--param", "bills=/other",
                                        "--executor", "a2", "--reason", "by hand", "--wait"});
  EXPECT_EQ(done.code, 0) << done.output;
  EXPECT_EQ(ReadFile(world.Path("by-a2")), "/other full\n");
  EXPECT_EQ(ReadFile(world.Path("by-a1")), "");
  const World::Answer failed =
      world.Cli({"job", "trigger", "sync", "--param", "bills=bad", "--wait"});
  EXPECT_EQ(failed.code, 1) << failed.output;
  ExpectAnswer(world.Cli({"job", "trigger", "sync", "--executor", "a3"}), 3, "did you mean 'a");
}

TEST(OrderTest, RunGetShowsTheAttemptsOneByOne) {
  World world;
  world.StartScheduler();
  world.StartAgent("a1", "[ $TIDEMARK_ATTEMPT -ge 3 ] || { echo oops; exit 7; }");
  ApplyManual(world, "sync", "    retry: {max_attempts: 3, backoff: [0s]}\n");
  const World::Answer done = world.Cli({"job", "trigger", "sync", "--wait"});
  EXPECT_EQ(done.code, 0) << done.output;
  const std::string run = world.Sql("SELECT run_id FROM run_history");
  const World::Answer shown = world.Cli({"run", "get", run});
  EXPECT_EQ(shown.code, 0);
  std::vector<std::string> rows;
  std::istringstream lines(shown.output);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] >= '1' && line[0] <= '9') rows.push_back(line);
  }
  ASSERT_EQ(rows.size(), 3U) << shown.output;
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(rows[i][0], static_cast<char>('1' + i)) << rows[i];
    EXPECT_NE(rows[i].find("a1"), std::string::npos) << rows[i];
    EXPECT_EQ(rows[i].find(" - "), std::string::npos) << "sent, started and ended: " << rows[i];
    EXPECT_NE(rows[i].find(i < 2 ? "FAILED_RETRYABLE" : "SUCCEEDED"), std::string::npos) << rows[i];
  }
  EXPECT_NE(rows[0].find("7"), std::string::npos) << "the exit code: " << rows[0];
}

TEST(OrderTest, ADrainedExecutorStaysDrainedOverAllRestarts) {
  World world;
  world.StartScheduler();
  world.StartAgent("a1", "true");
  ApplyManual(world, "sync", "    blocking: {policy: concurrent, concurrent: 9}\n");
  ASSERT_TRUE(AwaitSql(world, "SELECT state FROM executor", "UP"));
  ExpectAnswer(world.Cli({"executor", "drain", "a2"}), 3, "did you mean 'a1'?");
  ExpectAnswer(world.Cli({"executor", "drain", "a1", "--reason", "new disk"}), 0,
               "gets nothing new");
  ExpectAnswer(world.Cli({"executor", "list"}), 0, "DRAINED");
  ExpectAnswer(world.Cli({"executor", "list"}), 0, "executor drain a1 --undo");
  EXPECT_EQ(world.Sql("SELECT count(*) FROM audit WHERE action = 'drain_executor' AND detail LIKE "
                      "'%new disk%'"),
            "1");
  ExpectAnswer(world.Cli({"job", "trigger", "sync"}), 0, "");
  world.Terminate("a1");
  world.StartAgent("a1", "true");
  ASSERT_TRUE(AwaitSql(world, "SELECT registration || state FROM executor", "2UP"));
  world.Kill("scheduler");
  world.StartScheduler();
  ASSERT_TRUE(AwaitLog(world, "scheduler", "registration=2"));
  ASSERT_TRUE(WaitFor([&] { return world.Cli({"job", "trigger", "sync"}).code == 0; }));
  EXPECT_EQ(world.Sql("SELECT string_agg(status || attempt, ' ') FROM run"), "PENDING0 PENDING0");
  ExpectAnswer(world.Cli({"executor", "drain", "a1", "--undo"}), 0, "is used again");
  EXPECT_TRUE(AwaitSql(world, "SELECT count(*) FROM run_history WHERE status = 'COMPLETED'", "2"));
}

TEST(OrderTest, AHeldRunIsReleasedByForceAlone) {
  World world;
  world.StartScheduler();
  world.StartAgent("a1", kWaitForGo);
  const auto dates = world.ApplyDaily("daily", "ops", "work", 1, "    on_lost: wait\n");
  ASSERT_TRUE(WaitFor([&] { return world.Journal().size() == 1; }));
  const std::string run = world.Sql("SELECT run_id FROM active_run");
  world.Kill("a1");  // its host is gone for good; nobody registers under its id again
  world.StartAgent("a2", "true");
  ASSERT_TRUE(AwaitSql(world, "SELECT count(*) FROM executor WHERE executor_id = 'a2'", "1"));
  ExpectAnswer(world.Cli({"run", "release", run}), 4, "--force --reason");
  ExpectAnswer(world.Cli({"run", "release", run, "--force"}), 4, "--reason");
  EXPECT_EQ(world.StatusOf("daily", dates[0]), "RUNNING");
  ExpectAnswer(world.Cli({"run", "release", run, "--force", "--reason", "the host burnt down"}), 0,
               "released");
  ASSERT_TRUE(world.AllDone("daily", dates));
  EXPECT_EQ(
      world.Sql("SELECT string_agg(executor_id || outcome, ' ' ORDER BY attempt) FROM attempt"),
      "a1LOST a2SUCCEEDED");
  EXPECT_EQ(
      world.Sql("SELECT count(*) FROM audit WHERE action = 'release' AND detail LIKE '%burnt%'"),
      "1");
  ExpectAnswer(world.Cli({"run", "release", run, "--force", "--reason", "again"}), 4, "had ended");
}

}  // namespace
}  // namespace tidemark
