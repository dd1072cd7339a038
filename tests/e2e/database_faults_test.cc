// The database takes back, loses the answer, or refuses: what is recorded and what runs agree.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "common/clock.h"
#include "tests/e2e/world.h"
#include "tests/support/link_proxy.h"
#include "tests/support/socket_proxy.h"

namespace tidemark {
namespace {

// Every commit of the scheduler's loop has this statement.
constexpr char kFlush[] = "UPDATE flush SET seq";

std::vector<std::string> EnteredOnceInOrder(const std::vector<std::string>& dates) {
  std::vector<std::string> lines;
  for (const std::string& date : dates) {
    lines.push_back("enter " + date + " 1 e1 -");
    lines.push_back("exit " + date + " 1 e1 -");
  }
  return lines;
}

class DatabaseFaultsTest : public testing::Test {
 protected:
  DatabaseFaultsTest() : database_(world_.database_url()) {
    world_.UseDatabase(database_.url());
    link_.emplace(world_.Reserve());
    world_.UseLink(link_->address());
    world_.StartScheduler();
    world_.StartProbe("e1");
    EXPECT_TRUE(WaitFor([&] {
      return world_.Cli({"cluster", "status"}).code == 0 &&
             world_.Sql("SELECT count(*) FROM executor WHERE registration > 0") == "1";
    }));
  }

  // The next `count` commits that insert a live run fail with these states, one after the other.
  void FailCommits(int count, const std::string& first, const std::string& second) {
    world_.Sql("CREATE SEQUENCE tries");
    world_.Sql(
        "CREATE FUNCTION fail_commit() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE n bigint := "
        "nextval('tidemark.tries'); BEGIN IF n <= " +
        std::to_string(count) + " THEN RAISE EXCEPTION USING ERRCODE = CASE n % 2 WHEN 0 THEN '" +
        second + "' ELSE '" + first + "' END; END IF; RETURN NULL; END $$");
    world_.Sql(
        "CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON active_run DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION fail_commit()");
  }

  World world_;
  SocketProxy database_;
  std::optional<LinkProxy> link_;
};

// Between COMMIT and its answer, before COMMIT, right after it was sent; and backends are killed.
TEST_F(DatabaseFaultsTest, D02ALostAnswerToACommitLosesNothingAndRunsNothingTwice) {
  int cuts = 0;
  std::minstd_rand random(20261129);
  database_.AtCommit(kFlush, [&] {
    constexpr CommitFate kFates[] = {CommitFate::kPass,       CommitFate::kPass,
                                     CommitFate::kCutReplied, CommitFate::kCutReplied,
                                     CommitFate::kCutSent,    CommitFate::kCutBefore};
    const CommitFate fate = kFates[random() % std::size(kFates)];
    if (fate != CommitFate::kPass) ++cuts;
    return fate;
  });
  const auto dates =
      world_.ApplyDaily("job", "ops", "work", 120, "    catch_up: {max_backfill_days: 200}\n");
  int killed = 0;
  const std::string done = "SELECT count(*) FROM job_watermark WHERE status = 'DONE'";
  EXPECT_TRUE(WaitFor(
      [&] {
        killed += std::atoi(
            world_
                .Sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname "
                     "= current_database() AND pid <> pg_backend_pid() AND (state <> 'idle' OR "
                     "query = 'COMMIT')")
                .c_str());
        WaitFor([] { return false; }, absl::Seconds(1));
        return world_.Sql(done) == "120";
      },
      absl::Seconds(150)));  // a busy machine
  database_.AtCommit("", nullptr);
  std::printf("%d commits in doubt, %d backends killed\n", cuts, killed);
  EXPECT_GE(cuts, 75);
  ASSERT_TRUE(world_.AllDone("job", dates));
  EXPECT_EQ(world_.Journal(), EnteredOnceInOrder(dates));
  EXPECT_EQ(world_.Sql("SELECT count(*) || ' ' || max(attempt) FROM run_history"), "120 1");
}

TEST_F(DatabaseFaultsTest, D01DeadlocksAndSerializationFailuresAreRetriedWhole) {
  FailCommits(6, "40P01", "40001");
  const auto dates = world_.ApplyDaily("job", "ops", "work", 2);
  ASSERT_TRUE(world_.AllDone("job", dates));
  EXPECT_EQ(world_.Sql("SELECT last_value >= 8 FROM tries"), "t");
  EXPECT_EQ(world_.Journal(), EnteredOnceInOrder(dates));
  EXPECT_EQ(ReadFile(world_.Path("scheduler.log")).find("term ended"), std::string::npos);
}

// The trigger leaves after the commit that records its run, never before.
TEST_F(DatabaseFaultsTest, D03ACommitThatFailsDispatchesNothing) {
  FailCommits(5, "40001", "40001");
  std::vector<std::string> tries_at_trigger;
  link_->HoldNext([&](const LinkMessage& message) {
    if (IsTrigger()(message)) {
      tries_at_trigger.push_back(world_.Sql("SELECT last_value FROM tries"));
    }
    return false;
  });
  const auto dates = world_.ApplyDaily("job", "ops", "work", 1);
  ASSERT_TRUE(world_.AllDone("job", dates));
  link_->HoldNext(nullptr);
  EXPECT_EQ(tries_at_trigger, (std::vector<std::string>{"6"}));
  EXPECT_EQ(world_.Journal(), EnteredOnceInOrder(dates));
}

// A job of every second, which must miss none and run none twice.
class EverySecondTest : public DatabaseFaultsTest {
 protected:
  EverySecondTest() {
    world_.Apply(
        "jobs:\n  - name: tick\n    app: ops\n    handler: work\n"
        "    schedule: {every: 1s, zone: UTC}\n    misfire: {policy: fire_all}\n"
        "    blocking: {policy: concurrent, concurrent: 100}\n");
    WaitForRuns(2);
  }
  void WaitForRuns(int more) {
    const int target = std::atoi(world_.Sql("SELECT count(*) FROM run_history").c_str()) + more;
    EXPECT_TRUE(WaitFor([&] {
      return std::atoi(world_.Sql("SELECT count(*) FROM run_history").c_str()) >= target;
    }));
  }
  void ExpectEverySecondOnce() {
    EXPECT_EQ(
        world_.Sql("SELECT count(*) = count(DISTINCT fire_time) AND count(*) = extract(epoch "
                   "FROM max(fire_time) - min(fire_time)) + 1 AND max(attempt) = 1 AND "
                   "max(status) = 'COMPLETED' AND min(status) = 'COMPLETED' FROM run_history"),
        "t");
    EXPECT_EQ(world_.Sql("SELECT count(*) FROM skipped_range"), "0");
    const auto journal = world_.Journal();
    const std::set<std::string> distinct(journal.begin(), journal.end());
    EXPECT_EQ(journal.size(), distinct.size()) << "a run was entered twice";
  }
};

TEST_F(EverySecondTest, D09KilledBetweenDueAndSentEachIsSentOnce) {
  for (int i = 0; i < 3; ++i) {
    auto held = std::make_shared<bool>(false);
    database_.AtCommit("INSERT INTO active_run", [held] {
      return std::exchange(*held, true) ? CommitFate::kPass : CommitFate::kHoldReply;
    });
    ASSERT_TRUE(WaitFor([&] { return database_.HoldingReply(); }));
    world_.Kill("scheduler");
    world_.StartScheduler();
    WaitForRuns(3);
  }
  ExpectEverySecondOnce();
}

TEST_F(EverySecondTest, D09StoppedForTenSecondsEachDueOneIsSentOncePromptlyAfterwards) {
  world_.Pause("scheduler");
  const absl::Duration since = SystemClock().Monotonic();
  WaitFor([&] { return SystemClock().Monotonic() - since >= absl::Seconds(10.5); });
  const std::string resumed = world_.Sql("SELECT now()");
  const absl::Duration continued = SystemClock().Monotonic();
  world_.Continue("scheduler");
  const std::string due_until =
      world_.Sql("SELECT date_trunc('second', '" + resumed + "'::timestamptz)");
  ASSERT_TRUE(WaitFor([&] {
    return world_.Sql("SELECT count(*) FROM run_history WHERE fire_time = '" + due_until + "'") ==
           "1";
  }));
  const absl::Duration took = SystemClock().Monotonic() - continued;
  std::printf("all that came due was run %.1f s after the end of the stop\n",
              absl::ToDoubleSeconds(took));
  EXPECT_LT(took, absl::Seconds(5));
  WaitForRuns(3);
  ExpectEverySecondOnce();
}

}  // namespace
}  // namespace tidemark
