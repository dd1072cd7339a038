// Results are acknowledged when they are committed, and kept until then.
#include <gtest/gtest.h>

#include "common/clock.h"
#include "tests/e2e/job_bench.h"
#include "tests/e2e/own_postgres.h"

namespace tidemark {
namespace {

constexpr int kRuns = 100;

TEST(ResultKeptTest, E05AHundredRunsThatEndWithoutADatabaseAreAllRecordedOnce) {
  OwnPostgres postgres;
  World world(postgres.url());
  world.StartScheduler();
  world.settings.agent_yaml = "capacity: 100\n";
  world.StartAgent("a1", "while [ ! -e $WORLD/go ]; do sleep 1; done");
  ApplyManual(world, "sync", "    blocking: {policy: concurrent, concurrent: 100}\n");
  ASSERT_TRUE(AwaitSql(world, "SELECT state FROM executor", "UP"));
  for (int i = 0; i < kRuns; ++i) ASSERT_EQ(world.Cli({"job", "trigger", "sync"}).code, 0);
  const std::string running = "SELECT count(*) FROM active_run WHERE status = 'RUNNING'";
  ASSERT_TRUE(AwaitSql(world, running, "100"));

  postgres.Stop();
  world.Touch("go");
  ASSERT_TRUE(WaitFor([&] { return world.Journal().size() == 2 * kRuns; }, absl::Seconds(60)));
  const absl::Duration ended = SystemClock().Monotonic();
  ASSERT_TRUE(WaitFor([&] { return SystemClock().Monotonic() - ended > absl::Seconds(10); }));
  postgres.Start();
  // Dies right after the first ones are acknowledged.
  ASSERT_TRUE(AwaitSql(world, "SELECT count(*) > 0 FROM run_history", "t"));
  world.Kill("scheduler");
  world.StartScheduler();
  ASSERT_TRUE(AwaitSql(world, "SELECT count(*) FROM active_run", "0"));
  EXPECT_EQ(world.Sql("SELECT string_agg(DISTINCT status || attempt, ' ') FROM run_history"),
            "COMPLETED1");
  EXPECT_EQ(world.Sql("SELECT count(*) || ' ' || count(DISTINCT run_id) FROM run_history"),
            "100 100");
  EXPECT_EQ(world.Journal().size(), 2U * kRuns) << "each was entered once";
}

}  // namespace
}  // namespace tidemark
