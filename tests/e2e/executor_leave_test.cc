// Executors that leave, that are two under one id, and that find their lock taken.
#include <gtest/gtest.h>

#include <csignal>

#include "tests/e2e/job_bench.h"
#include "tests/executor/lock/redis_server.h"

namespace tidemark {
namespace {

const char kWaitForGo[] = "while [ ! -e $WORLD/go ]; do sleep 0.05; done";

TEST(ExecutorLeaveTest, E06ThreeRunningAndFiveQueued) {
  World world;
  world.StartScheduler();
  world.settings.agent_yaml = "capacity: 3\n";
  world.StartAgent("a1", kWaitForGo);
  world.settings.agent_yaml = "capacity: 8\n";
  world.StartAgent("a2", kWaitForGo);
  ASSERT_TRUE(AwaitSql(world, "SELECT count(*) FROM executor", "2"));
  ASSERT_EQ(world.Cli({"executor", "drain", "a2"}).code, 0);
  ApplyManual(world, "sync", "    blocking: {policy: concurrent, concurrent: 20}\n");
  for (int i = 0; i < 8; ++i) ASSERT_EQ(world.Cli({"job", "trigger", "sync"}).code, 0);
  const std::string of =
      "SELECT count(*) FROM active_run WHERE status = 'RUNNING' AND executor_id = ";
  ASSERT_TRUE(AwaitSql(world, of + "'a1'", "3"));
  EXPECT_EQ(world.Sql("SELECT count(*) FROM active_run WHERE status = 'PENDING'"), "5");

  world.program("a1").Signal(SIGTERM);
  ASSERT_TRUE(AwaitSql(world, "SELECT state FROM executor WHERE executor_id = 'a1'", "DRAINING"));
  ASSERT_EQ(world.Cli({"executor", "drain", "a2", "--undo"}).code, 0);
  ASSERT_TRUE(AwaitSql(world, of + "'a2'", "5"));
  ASSERT_EQ(world.Cli({"job", "trigger", "sync"}).code, 0);
  ASSERT_TRUE(AwaitSql(world, of + "'a2'", "6"));
  EXPECT_EQ(world.Sql(of + "'a1'"), "3") << "what runs goes on";
  EXPECT_TRUE(world.program("a1").Running());
  world.Touch("go");
  EXPECT_EQ(world.program("a1").Wait(absl::Seconds(20)), 0);
  // All it had is committed when it has left.
  EXPECT_EQ(world.Sql("SELECT string_agg(outcome, ' ') FROM attempt WHERE executor_id = 'a1'"),
            "SUCCEEDED SUCCEEDED SUCCEEDED");
  EXPECT_EQ(world.Sql("SELECT state FROM executor WHERE executor_id = 'a1'"), "GONE");
  ASSERT_EQ(world.Cli({"job", "trigger", "sync", "--wait"}).code, 0);
  ASSERT_TRUE(AwaitSql(world, "SELECT count(*) FROM run_history WHERE status = 'COMPLETED'", "10"));
  EXPECT_EQ(world.Sql("SELECT string_agg(DISTINCT executor_id || outcome, ' ') FROM attempt"),
            "a1SUCCEEDED a2SUCCEEDED");
  EXPECT_EQ(world.Sql("SELECT count(*) FROM attempt"), "10") << "no dispatch went wrong";
}

TEST(ExecutorLeaveTest, E11AStartBeforeAnyExecutorFailsNothing) {
  World world;
  world.StartScheduler();
  const auto dates = world.ApplyDaily("daily", "ops", "work", 3);
  ASSERT_TRUE(AwaitSql(world, "SELECT status || attempt FROM active_run", "PENDING0"));
  world.Terminate("scheduler");
  world.StartScheduler();  // what it missed is due before any executor has dialled
  ASSERT_TRUE(AwaitSql(world, "SELECT count(*) FROM shard WHERE node_id IS NOT NULL", "128"));
  EXPECT_EQ(world.Sql("SELECT status || attempt FROM active_run"), "PENDING0");
  world.StartAgent("a1", "true");
  ASSERT_TRUE(world.AllDone("daily", dates));
  EXPECT_EQ(world.Sql("SELECT string_agg(DISTINCT status || attempt, ' ') FROM run_history"),
            "COMPLETED1");
}

TEST(CoverEarlyTest, O08TheCoveredCommandIsKilledWithItsChildrenFirst) {
  World world;
  world.StartScheduler();
  // Neither the command nor its child heeds TERM.
  world.settings.agent_yaml = "    kill_grace: 1s\n";
  world.StartAgent("a1",
                   "[ -e $WORLD/second ] || { touch $WORLD/second; trap \"\" TERM; sleep 600 & "
                   "echo $! > $WORLD/child; wait; }");
  ApplyManual(world, "sync", "    blocking: {policy: cover_early}\n");
  ASSERT_EQ(world.Cli({"job", "trigger", "sync"}).code, 0);
  ASSERT_TRUE(WaitFor([&] { return !ReadFile(world.Path("child")).empty(); }));
  const pid_t child = std::atoi(ReadFile(world.Path("child")).c_str());
  ASSERT_EQ(world.Cli({"job", "trigger", "sync", "--wait"}).code, 0);
  EXPECT_TRUE(WaitFor([&] { return kill(child, 0) != 0; }));
  EXPECT_EQ(world.Sql("SELECT string_agg(status, ' ' ORDER BY run_id) FROM run_history"),
            "CANCELLED COMPLETED");
  EXPECT_EQ(world.Sql("SELECT max(a.ended_at) <= min(b.sent_at) FROM attempt a, attempt b "
                      "WHERE a.outcome = 'STOPPED' AND b.outcome = 'SUCCEEDED'"),
            "t");
}

TEST(ExecutorLeaveTest, TwoProcessesWithOneIdAreToldInAllLogs) {
  World world;
  world.StartScheduler();
  world.StartAgent("a1", kWaitForGo);
  const auto dates = world.ApplyDaily("daily", "ops", "work", 1);
  ASSERT_TRUE(AwaitSql(world, "SELECT status FROM active_run", "RUNNING"));
  world.settings.executor_id = "a1";
  world.StartAgent("other", "true");
  EXPECT_TRUE(AwaitLog(world, "other", "another process with this executor_id"));
  EXPECT_TRUE(AwaitLog(world, "scheduler", "two processes with one executor id"));
  EXPECT_TRUE(AwaitLog(world, "a1", "give each an id of its own"));
  const std::string open =
      "SELECT count(*) FROM alert WHERE kind = 'executor_id_shared' AND resolved_at IS NULL";
  ASSERT_TRUE(AwaitSql(world, open, "1"));
  world.Terminate("other");
  EXPECT_TRUE(AwaitSql(world, open, "0")) << "it was one of two, and has gone";

  world.StartAgent("other", "true");
  ASSERT_TRUE(AwaitSql(world, open, "1"));
  world.Touch("go");
  ASSERT_TRUE(world.AllDone("daily", dates));
  EXPECT_EQ(world.Sql("SELECT registration FROM executor"), "1");
  world.Terminate("a1");
  EXPECT_TRUE(AwaitSql(world, "SELECT registration FROM executor", "2"));
  EXPECT_TRUE(AwaitSql(world, open, "0"));
  EXPECT_EQ(world.Sql("SELECT string_agg(status || attempt, ' ') FROM run_history"), "COMPLETED1");
}

TEST(ExecutorLeaveTest, K1ATakenLockSendsTheRunBackUntilItIsFree) {
  lock::RedisServer redis;
  World world;
  world.StartScheduler();
  const std::string date = DueDates(1)[0];
  redis.Ask({"SET", "job:daily:" + date, "another program"});
  world.settings.agent_yaml = "    lock: {redis: '" + redis.patient_address() + "'}\n";
  world.StartAgent("a1", "true");
  world.ApplyDaily("daily", "ops", "work", 1);
  ASSERT_TRUE(AwaitSql(world, "SELECT count(*) > 1 FROM attempt", "t"));
  EXPECT_EQ(world.Sql("SELECT DISTINCT outcome || ' ' || substr(message, 1, 12) FROM attempt"),
            "REFUSED LOCK_REFUSED");
  EXPECT_EQ(world.Sql("SELECT status || failed_attempts || lost_attempts FROM active_run"),
            "PENDING00");
  EXPECT_TRUE(world.Journal().empty());
  EXPECT_EQ(redis.Ask({"GET", "job:daily:" + date}), "another program");
  redis.Ask({"DEL", "job:daily:" + date});
  ASSERT_TRUE(world.AllDone("daily", {date}, absl::Seconds(90)));
  EXPECT_EQ(world.Journal(), (std::vector<std::string>{"enter " + date, "exit " + date}));
  EXPECT_EQ(world.Sql("SELECT failed_attempts + lost_attempts FROM run_history"), "0");
  EXPECT_FALSE(redis.Has("job:daily:" + date)) << "released";
}

}  // namespace
}  // namespace tidemark
