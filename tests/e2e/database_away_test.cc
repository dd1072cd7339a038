// PostgreSQL goes away and comes back: at the start, and in the middle of a run.
#include <gtest/gtest.h>

#include <algorithm>

#include "common/clock.h"
#include "tests/e2e/own_postgres.h"
#include "tests/e2e/world.h"

namespace tidemark {
namespace {

TEST(DatabaseAwayTest, TwentySecondsDuringARunLoseNothing) {
  OwnPostgres postgres;
  World world(postgres.url());
  world.StartScheduler();
  world.StartAgent("a1", "while [ ! -e $WORLD/go ]; do sleep 0.05; done");
  const auto dates = world.ApplyDaily("daily", "ops", "work", 3);
  ASSERT_TRUE(WaitFor([&] { return !world.Journal().empty(); }));

  postgres.Stop();
  const absl::Duration stopped = SystemClock().Monotonic();
  // The run ends while nobody can record it.
  world.Touch("go");
  ASSERT_TRUE(WaitFor([&] { return world.Journal().size() == 2; }));
  ASSERT_TRUE(WaitFor([&] {
    return ReadFile(world.Path("scheduler.log")).find("term ended") != std::string::npos;
  }));
  ASSERT_TRUE(WaitFor([&] { return SystemClock().Monotonic() - stopped > absl::Seconds(20); }));
  EXPECT_EQ(world.Journal().size(), 2U) << "nothing is started without a record";
  const World::Answer answer = world.Cli({"job", "list"});
  EXPECT_EQ(answer.code, 5) << answer.output;

  postgres.Start();
  ASSERT_TRUE(world.AllDone("daily", dates));
  EXPECT_EQ(world.Journal().size(), 6U);
  EXPECT_EQ(world.Sql("SELECT max(attempt) FROM run_history"), "1");
}

TEST(DatabaseAwayTest, TheSchedulerWaitsForItsDatabaseAtTheStart) {
  OwnPostgres postgres;
  postgres.Stop();
  World world(postgres.url());
  world.StartScheduler();
  world.StartAgent("a1", "true");
  ASSERT_TRUE(WaitFor([&] {
    return ReadFile(world.Path("scheduler.log")).find("will be tried again") != std::string::npos;
  }));
  postgres.Start();
  const auto dates = world.ApplyDaily("daily", "ops", "work", 2);
  EXPECT_TRUE(world.AllDone("daily", dates));
}

}  // namespace
}  // namespace tidemark
