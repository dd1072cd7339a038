// Fires over deaths of the owner, lost locks and wrong clocks, on an every-second job.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "tests/e2e/job_bench.h"

namespace tidemark {
namespace {

constexpr char kFakeTime[] = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";

class OwnerChangeTest : public testing::Test {
 protected:
  void Apply() {
    const std::string file = world_.Path("tick.yaml");
    std::ofstream(file) << "jobs:\n  - name: tick\n    app: ops\n    handler: work\n"
                        << "    schedule: {cron: \"* * * * * ?\", zone: Asia/Shanghai}\n";
    World::Answer answer;
    ASSERT_TRUE(WaitFor([&] {
      answer = world_.Cli({"job", "apply", "-f", file});
      return answer.code != 5;
    }));
    ASSERT_EQ(answer.code, 0) << answer.output;
  }
  void StartAgent() { world_.StartAgent("a1", "echo $TIDEMARK_FIRE_TIME >> $WORLD/fires"); }
  void AwaitRuns(int more) {
    const int before = std::stoi(world_.Sql("SELECT count(*) FROM run_history"));
    ASSERT_TRUE(WaitFor(
        [&] { return std::stoi(world_.Sql("SELECT count(*) FROM run_history")) >= before + more; },
        absl::Seconds(120)))
        << ReadFile(world_.Path("scheduler.log"));
  }
  // No fire twice, none early, none left out, no two at once.
  void ExpectEachFireOnce() {
    ASSERT_EQ(world_.Cli({"job", "pause", "tick", "--reason", "test"}).code, 0);
    // What was opened right before the pause and not sent by then waits for the resume.
    ASSERT_TRUE(AwaitSql(world_, "SELECT count(*) FROM active_run WHERE executor_id <> ''", "0"));
    EXPECT_EQ(world_.Sql("SELECT string_agg(DISTINCT status, ' ') FROM run_history"), "COMPLETED");
    EXPECT_EQ(world_.Sql("SELECT count(*) - count(DISTINCT occurrence) FROM run_history"), "0");
    EXPECT_EQ(world_.Sql("SELECT count(*) FROM run_history WHERE created_at < fire_time"), "0");
    EXPECT_EQ(world_.Sql("SELECT extract(epoch FROM max(fire_time) - min(fire_time))::bigint + 1 - "
                         "count(*) FROM run_history"),
              "0")
        << "fires without a run";
    std::ifstream fires(world_.Path("fires"));
    std::multiset<std::string> entered;
    for (std::string line; std::getline(fires, line);) entered.insert(line);
    EXPECT_EQ(std::to_string(entered.size()), world_.Sql("SELECT count(*) FROM run_history"));
    for (const std::string& fire : entered) EXPECT_EQ(entered.count(fire), 1U) << fire;
    const std::vector<std::string> journal = world_.Journal();
    for (size_t i = 0; i < journal.size(); ++i) {
      ASSERT_EQ(journal[i].substr(0, 2), i % 2 == 0 ? "en" : "ex") << "two at once";
    }
  }
  // Runs, without one that is armed: it was none when the owner went, and is none while nobody
  // launches it, but as its instant passes the view shows it.
  std::string Launched() {
    return world_.Sql(
        "SELECT (SELECT count(*) FROM active_run WHERE NOT armed) + (SELECT count(*) FROM "
        "run_history)");
  }
  World world_;
};

TEST_F(OwnerChangeTest, O03DeathsRightAfterTheDispatchFireNothingTwice) {
  world_.StartScheduler();
  StartAgent();
  Apply();
  for (int death = 0; death < 10; ++death) {
    AwaitRuns(1);
    // At the next dispatch.
    ASSERT_TRUE(
        AwaitSql(world_, "SELECT count(*) > 0 FROM active_run WHERE executor_id <> ''", "t"));
    world_.Kill("scheduler");
    world_.StartScheduler();
  }
  AwaitRuns(3);
  ExpectEachFireOnce();
}

TEST_F(OwnerChangeTest, O04AnotherNodeGoesOnWithinALeaseAndATickAndLosesNothing) {
  world_.StartScheduler();
  StartAgent();
  Apply();
  AwaitRuns(2);
  world_.Kill("scheduler");
  world_.settings.node_id = "node-2";
  world_.StartScheduler();
  AwaitRuns(5);
  EXPECT_LE(std::stod(world_.Sql("SELECT max(gap) FROM (SELECT extract(epoch FROM created_at - "
                                 "lag(created_at) OVER (ORDER BY created_at)) AS gap FROM "
                                 "run_history) g")),
            10 + 1 + 15)
      << "the lease, a tick, and the time of a busy machine to start a process";
  ExpectEachFireOnce();
}

TEST_F(OwnerChangeTest, O01WithoutItsLockRowsAnOwnerDispatchesNothing) {
  world_.StartScheduler();
  StartAgent();
  Apply();
  AwaitRuns(2);
  // Its lease is gone: that term is over, and it starts over with a new one.
  world_.Sql("WITH gone AS (DELETE FROM scheduler_node RETURNING 1) SELECT count(*) FROM gone");
  ASSERT_TRUE(AwaitLog(world_, "scheduler", "term ended"));
  AwaitRuns(2);
  // Its fence is gone: no transaction of an owner can be made without it.
  world_.Sql("WITH gone AS (DELETE FROM node_fence RETURNING 1) SELECT count(*) FROM gone");
  AwaitRuns(2);
  // The shards themselves are gone: nobody serves until they are back, and an alert says so.
  world_.Terminate("scheduler");
  world_.Sql("WITH gone AS (DELETE FROM shard RETURNING 1) SELECT count(*) FROM gone");
  const std::string before = Launched();
  world_.StartScheduler();
  ASSERT_TRUE(AwaitSql(world_, "SELECT count(*) FROM alert WHERE kind = 'shards_missing'", "1"));
  EXPECT_EQ(Launched(), before);
  world_.Sql(
      "WITH made AS (INSERT INTO shard (shard, epoch) SELECT s, 1000000 FROM generate_series(0, "
      "127) s RETURNING 1) SELECT count(*) FROM made");
  AwaitRuns(2);
  ExpectEachFireOnce();
  EXPECT_GE(std::stoi(world_.Sql("SELECT max(epoch) FROM shard")), 3);
}

TEST_F(OwnerChangeTest, O05TheClockOfTheNodeDecidesNothing) {
  ASSERT_TRUE(std::filesystem::exists(kFakeTime)) << "apt-get install faketime";
  world_.settings.scheduler_env = {
      {"LD_PRELOAD", kFakeTime}, {"FAKETIME_DONT_FAKE_MONOTONIC", "1"}, {"FAKETIME", "+5m"}};
  world_.StartScheduler();
  StartAgent();
  Apply();
  AwaitRuns(4);
  world_.Terminate("scheduler");
  world_.settings.scheduler_env["FAKETIME"] = "-5m";
  world_.settings.node_id = "node-2";
  world_.StartScheduler();
  AwaitRuns(6);
  ExpectEachFireOnce();
  EXPECT_EQ(world_.Sql("SELECT count(*) FROM run_history WHERE created_at > clock_timestamp() OR "
                       "created_at < clock_timestamp() - interval '4 minutes'"),
            "0");
}

TEST_F(OwnerChangeTest, E07TheClockOfAnExecutorDecidesNothing) {
  ASSERT_TRUE(std::filesystem::exists(kFakeTime)) << "apt-get install faketime";
  world_.StartScheduler();
  for (const auto& [id, offset] : {std::pair("a1", "+3h"), std::pair("a2", "-3h")}) {
    world_.StartAgent(
        id, "true",
        {{"LD_PRELOAD", kFakeTime}, {"FAKETIME_DONT_FAKE_MONOTONIC", "1"}, {"FAKETIME", offset}});
  }
  Apply();
  AwaitRuns(20);  // longer than a lease
  EXPECT_EQ(world_.Sql("SELECT string_agg(state || registration, ' ') FROM executor"), "UP1 UP1");
  EXPECT_EQ(ReadFile(world_.Path("scheduler.log")).find("executor silent"), std::string::npos);
  EXPECT_EQ(world_.Sql("SELECT count(DISTINCT executor_id) FROM attempt"), "2");
  EXPECT_EQ(world_.Sql("SELECT string_agg(DISTINCT status, ' ') FROM run_history"), "COMPLETED");
}

}  // namespace
}  // namespace tidemark
