// Two schedulers on one database: joining, handing over, taking over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <set>

#include "common/clock.h"
#include "scheduler/store/migrate.h"
#include "tests/e2e/job_bench.h"
#include "tests/e2e/own_postgres.h"
#include "tests/e2e/two_nodes.h"

namespace tidemark {
namespace {

using testing::HasSubstr;

const char kEachSecond[] =
    "    handler: work\n    schedule: {every: 1s, zone: UTC}\n"
    "    misfire: {policy: fire_all, window: 1h, cap: 1000}\n"
    "    blocking: {policy: concurrent, concurrent: 100}\n";

// What a machine that builds and tests besides may add to a time that is promised.
constexpr double kBusy = 3;

class ClusterTest : public testing::Test {
 protected:
  explicit ClusterTest(const std::string& database_url = "") : nodes_(database_url) {}

  // An executor that is told of both nodes, or (`learns`) of the first alone.
  void StartProbe(bool learns = false) {
    if (!learns) world_.UseLink(world_.address() + "," + world_.address("second"));
    world_.StartProbe("e1", 100);
    ASSERT_TRUE(AwaitSql(world_, "SELECT count(*) FROM executor WHERE state = 'UP'", "1"));
  }
  int Runs() { return std::atoi(world_.Sql("SELECT count(*) FROM run_history").c_str()); }
  void AwaitRuns(int more) {
    const int before = Runs();
    ASSERT_TRUE(WaitFor([&] { return Runs() >= before + more; }, absl::Seconds(60)));
  }
  // Seconds from that instant until the first run of one of these jobs was sent by its new owner.
  double FirstFireAfter(const std::string& instant, const std::vector<std::string>& jobs,
                        const std::string& epoch) {
    std::string names;
    for (const std::string& job : jobs) names += (names.empty() ? "'" : ", '") + job + "'";
    const std::string first =
        "SELECT extract(epoch FROM min(a.started_at) - '" + instant +
        "'::timestamptz) FROM attempt a JOIN run r ON r.run_id = a.run_id WHERE r.job_name IN (" +
        names + ") AND r.epoch > " + epoch;
    EXPECT_TRUE(WaitFor([&] { return !world_.Sql(first).empty(); }, absl::Seconds(60)));
    return std::atof(world_.Sql(first).c_str());
  }
  // Every fire once: by the tables and by what the handlers say.
  void ExpectEachFireOnce() {
    EXPECT_EQ(world_.Sql("SELECT count(*) FROM (SELECT FROM run_history GROUP BY job_id, fire_time "
                         "HAVING count(*) > 1) d"),
              "0");
    const auto journal = world_.Journal();
    EXPECT_EQ(std::set<std::string>(journal.begin(), journal.end()).size(), journal.size());
    const World::Answer verify = world_.CliOn("second", {"job", "verify"});
    EXPECT_EQ(verify.code, 0) << verify.output;
  }
  std::string MaxEpoch(const std::string& node) {
    return world_.Sql("SELECT max(epoch) FROM shard WHERE node_id = '" + node + "'");
  }

  TwoNodes nodes_;
  World& world_ = nodes_.world();
};

TEST_F(ClusterTest, ASecondNodeTakesHalfAndItsJobsRunOnAnExecutorThatKnewTheFirst) {
  nodes_.Start();
  StartProbe(/*learns=*/true);
  nodes_.ApplyJobs("tick", "    handler: work\n    schedule: {manual: true, zone: UTC}\n");
  for (const std::string node : {"node-1", "node-2"}) {
    for (const std::string& job : nodes_.JobsOf(node, "tick")) {
      const World::Answer answer = world_.Cli({"job", "trigger", job, "--wait"});
      EXPECT_EQ(answer.code, 0) << answer.output;
    }
  }
  const World::Answer status = world_.CliOn("second", {"cluster", "status"});
  EXPECT_THAT(status.output, HasSubstr("node-1"));
  EXPECT_THAT(status.output, HasSubstr(world_.address("second")));
}

TEST_F(ClusterTest, AGracefulStopHandsOverAtOnce) {
  nodes_.Start();
  StartProbe();
  nodes_.ApplyJobs("tick", kEachSecond);
  AwaitRuns(20);
  const std::vector<std::string> moved = nodes_.JobsOf("node-1", "tick");
  const std::string epoch = MaxEpoch("node-1");
  const std::string stopped = DatabaseNow(world_);
  const absl::Duration begin = SystemClock().Monotonic();
  world_.Terminate("scheduler");
  ASSERT_TRUE(nodes_.AwaitShards("node-2", 128));
  const double handed_over = absl::ToDoubleSeconds(SystemClock().Monotonic() - begin);
  // What was armed for the next second the new owner takes up as it is; its own is the one after.
  const double seconds = FirstFireAfter(stopped, moved, epoch);
  std::cout << "handed over " << handed_over << " s after SIGTERM, first new run after " << seconds
            << " s\n";
  EXPECT_LT(handed_over, 1 + kBusy);
  EXPECT_LT(seconds, 2 + kBusy);
  AwaitRuns(20);
  ExpectEachFireOnce();
}

TEST_F(ClusterTest, ADeadNodesJobsFireWithinALeaseAndASecond) {
  nodes_.Start();
  StartProbe();
  nodes_.ApplyJobs("tick", kEachSecond);
  AwaitRuns(20);
  const std::vector<std::string> moved = nodes_.JobsOf("node-1", "tick");
  const std::string epoch = MaxEpoch("node-1");
  const std::string killed = DatabaseNow(world_);
  world_.Kill("scheduler");
  const double seconds = FirstFireAfter(killed, moved, epoch);
  std::cout << "first fire " << seconds << " s after kill -9\n";
  EXPECT_LT(seconds, 10 + 1 + kBusy);
  AwaitRuns(20);
  ExpectEachFireOnce();
}

TEST_F(ClusterTest, ARunSurvivesTheDeathOfItsNodeAndReportsToTheOther) {
  nodes_.Start();
  StartProbe(/*learns=*/true);  // it is told of the first node alone, and the first dies
  nodes_.ApplyJobs("long", "    handler: work\n    schedule: {manual: true, zone: UTC}\n");
  world_.Touch("hold-work-1");
  const std::string job = nodes_.JobsOf("node-1", "long").at(0);
  ASSERT_EQ(world_.Cli({"job", "trigger", job}).code, 0);
  ASSERT_TRUE(AwaitSql(world_, "SELECT count(*) FROM active_run WHERE status = 'RUNNING'", "1"));
  world_.Kill("scheduler");
  ASSERT_TRUE(nodes_.AwaitShards("node-2", 128));
  world_.Remove("hold-work-1");
  ASSERT_TRUE(AwaitSql(world_, "SELECT count(*) FROM run_history WHERE status = 'COMPLETED'", "1"));
  EXPECT_EQ(world_.Sql("SELECT attempt FROM run_history"), "1");
  EXPECT_EQ(world_.Journal().size(), 2U) << "entered once, left once";
}

TEST_F(ClusterTest, ADrainedNodeGivesItsShardsAwayAndGetsThemBack) {
  nodes_.Start();
  StartProbe();
  nodes_.ApplyJobs("tick", kEachSecond);
  AwaitRuns(10);
  World::Answer answer = world_.CliOn("second", {"cluster", "drain", "node-1", "--wait"});
  EXPECT_EQ(answer.code, 0) << answer.output;
  EXPECT_EQ(world_.Sql("SELECT count(*) FROM shard WHERE node_id = 'node-2'"), "128");
  EXPECT_THAT(world_.Cli({"cluster", "status"}).output, HasSubstr("DRAINING"));
  answer = world_.Cli({"cluster", "drain", "node-2"});
  EXPECT_EQ(answer.code, 4) << answer.output;
  AwaitRuns(20);
  ASSERT_EQ(world_.Cli({"cluster", "drain", "node-1", "--undo"}).code, 0);
  ASSERT_TRUE(nodes_.AwaitShards("node-1", 64));
  // A new process of the node is in use, whatever was ordered before.
  ASSERT_EQ(world_.Cli({"cluster", "drain", "node-1", "--wait"}).code, 0);
  world_.Terminate("scheduler");
  world_.StartScheduler("scheduler", "node-1");
  ASSERT_TRUE(nodes_.AwaitShards("node-1", 64));
  AwaitRuns(20);
  ExpectEachFireOnce();
}

// Two versions side by side: the newer one's migrations say whether the older can live with them.
TEST_F(ClusterTest, ANodeGoesOnUnderALaterSchemaThatSaysItMay) {
  const std::string known = std::to_string(EmbeddedMigrations().back().version);
  nodes_.Start();
  const auto later = [&](const std::string& needs) {
    world_.Sql(
        "WITH made AS (INSERT INTO schema_migration (version, name, checksum, applied_at, "
        "needs) VALUES (9999, '9999_later', 'x', tidemark_now(), " +
        needs +
        ") ON CONFLICT (version) DO UPDATE SET needs = EXCLUDED.needs RETURNING 1) "
        "SELECT count(*) FROM made");
  };
  later(known);
  world_.Terminate("second");
  world_.StartScheduler("second", "node-2");
  ASSERT_TRUE(nodes_.AwaitShards("node-2", 64));
  later("9999");
  world_.Terminate("second");
  world_.StartScheduler("second", "node-2");
  ASSERT_TRUE(AwaitLog(world_, "second", "can work with: start the version"));
  EXPECT_EQ(world_.Sql("SELECT count(*) FROM shard WHERE node_id = 'node-1'"), "128")
      << "who was up goes on";
}

class ClusterOutageTest : public ClusterTest {
 protected:
  ClusterOutageTest() : ClusterOutageTest(std::make_unique<OwnPostgres>()) {}
  explicit ClusterOutageTest(std::unique_ptr<OwnPostgres> postgres)
      : ClusterTest(postgres->url()), postgres_(std::move(postgres)) {}

  std::unique_ptr<OwnPostgres> postgres_;
};

TEST_F(ClusterOutageTest, ARestartOfTheDatabaseCostsNoFire) {
  nodes_.Start();
  StartProbe();
  nodes_.ApplyJobs("tick", kEachSecond);
  AwaitRuns(20);
  postgres_->Stop();
  postgres_->Start();
  AwaitRuns(40);
  EXPECT_EQ(world_.Sql("SELECT count(*) FROM shard WHERE node_id IS NOT NULL"), "128");
  ExpectEachFireOnce();
}

}  // namespace
}  // namespace tidemark
