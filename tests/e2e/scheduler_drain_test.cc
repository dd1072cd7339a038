// SIGTERM of the scheduler at each stage of a run: it ends at once, loses nothing, and leaves its
// shards free, so that the next one need not wait for a lease.
#include <gtest/gtest.h>

#include <csignal>

#include "common/clock.h"
#include "tests/e2e/job_bench.h"
#include "tests/e2e/own_postgres.h"

namespace tidemark {
namespace {

const char kWaitForGo[] = "while [ ! -e $WORLD/go ]; do sleep 0.05; done";
const char kLockWaiters[] =
    "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock'";

class SchedulerDrainTest : public testing::Test {
 protected:
  SchedulerDrainTest() : world_(postgres_.url()) { world_.StartScheduler(); }

  // Waits for the end after SIGTERM: prompt, with 0, and with nothing owned.
  void ExpectGone() {
    EXPECT_EQ(world_.program("scheduler").Wait(absl::Seconds(10)), 0)
        << ReadFile(world_.Path("scheduler.log"));
    EXPECT_EQ(world_.Sql("SELECT count(*) FROM shard WHERE node_id IS NOT NULL"), "0");
    EXPECT_EQ(world_.Sql("SELECT count(*) FROM scheduler_node"), "0");
  }
  // As another node: it may not count on being the same one.
  void StartNext() {
    world_.settings.node_id = "node-2";
    world_.StartScheduler();
  }
  // The one date ran once, in the last of at most so many attempts: one that was recorded and never
  // sent counts, too.
  void ExpectOnce(const std::vector<std::string>& dates, int attempts = 1) {
    ASSERT_TRUE(world_.AllDone("daily", dates));
    EXPECT_EQ(world_.Journal(),
              (std::vector<std::string>{"enter " + dates[0], "exit " + dates[0]}));
    EXPECT_EQ(world_.Sql("SELECT string_agg(status, ' ') FROM run_history WHERE attempt <= " +
                         std::to_string(attempts)),
              "COMPLETED");
  }
  // Runs `meanwhile` while a session of the test holds `lock`.
  void WithLock(const std::string& lock, const std::function<void()>& meanwhile) {
    DatabaseOptions options;
    options.url = postgres_.url();
    absl::StatusOr<std::unique_ptr<Connection>> connection = Connection::Open(options);
    ASSERT_TRUE(connection.ok()) << connection.status();
    const absl::Status status = (*connection)->Transact([&](SqlTransaction& tx) -> absl::Status {
      const absl::Status locked = tx.Run(lock).status();
      if (locked.ok()) meanwhile();
      return locked;
    });
    ASSERT_TRUE(status.ok()) << status;
  }
  void Stop() {
    world_.program("scheduler").Signal(SIGTERM);
    ASSERT_TRUE(AwaitLog(world_, "scheduler", "stopping"));
  }

  OwnPostgres postgres_;
  World world_;
};

TEST_F(SchedulerDrainTest, NothingToDo) {
  ASSERT_TRUE(AwaitSql(world_, "SELECT count(*) FROM shard WHERE node_id = 'node-1'", "128"));
  Stop();
  ExpectGone();
}

TEST_F(SchedulerDrainTest, ARunThatWaitsForAnExecutor) {
  const auto dates = world_.ApplyDaily("daily", "ops", "work", 1);
  ASSERT_TRUE(AwaitSql(world_, "SELECT status FROM active_run", "PENDING"));
  Stop();
  ExpectGone();
  StartNext();
  world_.StartAgent("a1", "true");
  ExpectOnce(dates);
}

TEST_F(SchedulerDrainTest, ARunThatIsBeingRecorded) {
  world_.StartAgent("a1", "true");
  ASSERT_TRUE(AwaitSql(world_, "SELECT state FROM executor", "UP"));
  std::vector<std::string> dates;
  WithLock("LOCK TABLE active_run IN SHARE MODE", [&] {
    dates = world_.ApplyDaily("daily", "ops", "work", 1);
    ASSERT_TRUE(AwaitSql(world_, kLockWaiters, "t"));
    Stop();
  });
  ExpectGone();
  EXPECT_EQ(world_.Sql("SELECT count(*) FROM run"), "1") << "the flush in flight was finished";
  StartNext();
  // Its executor's link may have been seen to go before the trigger was to leave.
  ExpectOnce(dates, /*attempts=*/2);
}

TEST_F(SchedulerDrainTest, ARunThatWasSentButNotAccepted) {
  world_.StartAgent("a1", "true");
  ASSERT_TRUE(AwaitSql(world_, "SELECT state FROM executor", "UP"));
  world_.program("a1").Signal(SIGSTOP);
  const auto dates = world_.ApplyDaily("daily", "ops", "work", 1);
  ASSERT_TRUE(AwaitSql(world_, "SELECT executor_id || status FROM active_run", "a1PENDING"));
  Stop();
  ExpectGone();
  StartNext();
  world_.program("a1").Signal(SIGCONT);
  ExpectOnce(dates);
}

TEST_F(SchedulerDrainTest, ARunThatGoesOnOverTheChange) {
  world_.StartAgent("a1", kWaitForGo);
  const auto dates = world_.ApplyDaily("daily", "ops", "work", 1);
  ASSERT_TRUE(AwaitSql(world_, "SELECT status FROM active_run", "RUNNING"));
  Stop();
  ExpectGone();
  StartNext();
  ASSERT_TRUE(AwaitLog(world_, "scheduler", "executor registered"));
  world_.Touch("go");
  ExpectOnce(dates);
}

TEST_F(SchedulerDrainTest, ARunThatEndsWhileNobodyIsThere) {
  world_.StartAgent("a1", kWaitForGo);
  const auto dates = world_.ApplyDaily("daily", "ops", "work", 1);
  ASSERT_TRUE(AwaitSql(world_, "SELECT status FROM active_run", "RUNNING"));
  Stop();
  ExpectGone();
  world_.Touch("go");
  ASSERT_TRUE(WaitFor([&] { return world_.Journal().size() == 2; }));
  StartNext();
  ExpectOnce(dates);
}

TEST_F(SchedulerDrainTest, ARunWhoseEndIsBeingCommitted) {
  world_.StartAgent("a1", kWaitForGo);
  const auto dates = world_.ApplyDaily("daily", "ops", "work", 1);
  ASSERT_TRUE(AwaitSql(world_, "SELECT status FROM active_run", "RUNNING"));
  WithLock("LOCK TABLE run_history IN SHARE MODE", [&] {
    world_.Touch("go");
    ASSERT_TRUE(AwaitSql(world_, kLockWaiters, "t"));
    Stop();
  });
  ExpectGone();
  EXPECT_EQ(world_.Sql("SELECT count(*) FROM run_history"), "1");
  StartNext();
  ASSERT_TRUE(AwaitSql(world_, "SELECT state FROM executor", "UP"));
  ExpectOnce(dates);
}

TEST_F(SchedulerDrainTest, AnEndedRunIsNotRunAgain) {
  world_.StartAgent("a1", "true");
  const auto dates = world_.ApplyDaily("daily", "ops", "work", 1);
  ASSERT_TRUE(world_.AllDone("daily", dates));
  Stop();
  ExpectGone();
  StartNext();
  ASSERT_TRUE(AwaitLog(world_, "scheduler", "executor registered"));
  ExpectOnce(dates);
}

TEST_F(SchedulerDrainTest, ItEndsWithoutItsDatabase) {
  ASSERT_TRUE(AwaitSql(world_, "SELECT count(*) FROM shard WHERE node_id = 'node-1'", "128"));
  postgres_.Stop();
  world_.program("scheduler").Signal(SIGTERM);
  EXPECT_EQ(world_.program("scheduler").Wait(absl::Seconds(15)), 0);
  postgres_.Start();
}

TEST_F(SchedulerDrainTest, ANodeThatStandsByTakesOverBeforeALeaseIsOver) {
  ASSERT_TRUE(AwaitSql(world_, "SELECT count(*) FROM shard WHERE node_id = 'node-1'", "128"));
  World standby(postgres_.url());
  standby.settings.node_id = "node-2";
  standby.StartScheduler();
  standby.StartAgent("a1", "true");
  ASSERT_TRUE(AwaitSql(world_, "SELECT count(*) FROM scheduler_node", "2"));
  Stop();
  EXPECT_EQ(world_.program("scheduler").Wait(absl::Seconds(10)), 0);
  const absl::Duration gone = SystemClock().Monotonic();
  ASSERT_TRUE(AwaitSql(standby, "SELECT count(*) FROM shard WHERE node_id = 'node-2'", "128"));
  EXPECT_LT(SystemClock().Monotonic() - gone, absl::Seconds(8)) << "a lease lasts 10 s";
  const auto dates = standby.ApplyDaily("daily", "ops", "work", 1);
  EXPECT_TRUE(standby.AllDone("daily", dates));
}

}  // namespace
}  // namespace tidemark
