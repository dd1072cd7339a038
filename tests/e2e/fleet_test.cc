// Many executors, while the database has other things to do with their rows.
#include "tests/e2e/fleet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <thread>

#include "tests/e2e/world.h"

namespace tidemark {
namespace {

// A clean-up locks rows of executors in the wrong order, while a hundred of them register: a
// deadlock, of which the scheduler's flush is the victim. A hundred others beat all the while.
TEST(FleetTest, D01ADeadlockWithACleanUpDelaysNoHeartbeatAndIsRetried) {
  World world;
  world.StartScheduler();
  ASSERT_TRUE(WaitFor([&] {
    return ReadFile(world.Path("scheduler.log")).find("shards taken") != std::string::npos;
  }));
  Fleet steady(world.address(), "steady", 100);
  Fleet coming(world.address(), "coming", 100);
  steady.SayHello();
  ASSERT_EQ(steady.AwaitWelcomes(), 100);
  coming.SayHello();
  ASSERT_EQ(coming.AwaitWelcomes(), 100);

  std::atomic<bool> locked = false;
  std::thread clean_up([&] {
    DatabaseOptions options;
    options.url = world.database_url();
    auto connection = Connection::Open(options);
    ASSERT_TRUE(connection.ok());
    const absl::Status status =
        (*connection)->Transact([&](SqlTransaction& transaction) -> absl::Status {
          EXPECT_TRUE(
              transaction.Run("SELECT 1 FROM executor WHERE executor_id = 'coming-099' FOR UPDATE")
                  .ok());
          locked = true;
          EXPECT_TRUE(WaitFor([&] {
            return world.Sql(
                       "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND "
                       "datname = current_database()") == "1";
          })) << "no flush waits";
          return transaction
              .Run(
                  "SELECT 1 FROM executor WHERE app = 'fleet' ORDER BY executor_id DESC FOR UPDATE")
              .status();
        });
    EXPECT_TRUE(status.ok() || absl::IsAborted(status)) << status;
  });
  ASSERT_TRUE(WaitFor([&] { return locked.load(); }));
  coming.SayHello();
  std::atomic<bool> welcome = false;
  std::thread waiter([&] {
    EXPECT_EQ(coming.AwaitWelcomes(), 100);
    welcome = true;
  });
  absl::Duration slowest;
  int rounds = 0;
  while (!welcome) {
    slowest = std::max(slowest, steady.Beat());
    ++rounds;
  }
  clean_up.join();
  waiter.join();
  std::printf("%d rounds of 100 heartbeats, the slowest answered within %.0f ms\n", rounds,
              absl::ToDoubleMilliseconds(slowest));
  EXPECT_LT(slowest, absl::Seconds(1));
  const std::string log = ReadFile(world.Path("scheduler.log"));
  EXPECT_NE(log.find("deadlock detected"), std::string::npos) << "the flush was not the victim";
  EXPECT_EQ(log.find("term ended"), std::string::npos);
  EXPECT_EQ(world.Sql("SELECT count(*) FROM executor WHERE registration = 2"), "100");
}

}  // namespace
}  // namespace tidemark
