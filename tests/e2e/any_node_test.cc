// Operators' orders to the node that does not own what they are about.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/e2e/job_bench.h"
#include "tests/e2e/two_nodes.h"

namespace tidemark {
namespace {

using testing::HasSubstr;
using testing::Not;

class AnyNodeTest : public testing::Test {
 protected:
  void SetUp() override {
    nodes_.Start();
    world_.UseLink(world_.address() + "," + world_.address("second"));
    world_.StartProbe("e1", 20);
    ASSERT_TRUE(AwaitSql(world_, "SELECT count(*) FROM executor WHERE state = 'UP'", "1"));
  }
  void TearDown() override {
    // Each was carried out at once, and not at a later look of somebody.
    EXPECT_EQ(world_.Sql("SELECT count(*) FROM command WHERE done_at IS NULL"), "0");
    EXPECT_EQ(world_.Sql("SELECT count(*) FROM command WHERE done_at - created_at > '5 s'"), "0");
    EXPECT_EQ(world_.Sql("SELECT coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY done_at - "
                         "created_at) < '1 s', true) FROM command"),
              "t");
  }
  // Of the node that does not own the job. It must be carried out, not queued.
  std::string Order(const std::string& job, std::vector<std::string> arguments, int code = 0) {
    const World::Answer answer =
        world_.CliOn(nodes_.OtherThan(nodes_.OwnerOf(job)), std::move(arguments));
    EXPECT_EQ(answer.code, code) << answer.output;
    EXPECT_THAT(answer.output, Not(HasSubstr("has not answered yet")));
    EXPECT_THAT(answer.output, Not(HasSubstr("queued")));
    return answer.output;
  }
  // Whether the log has the words once more than at the last time that it had them.
  bool Told(const std::string& scheduler, const std::string& words) {
    size_t& at = told_[scheduler + words];
    const std::string log = ReadFile(world_.Path(scheduler + ".log"));
    const size_t found = log.find(words, at);
    if (found == std::string::npos) return false;
    at = found + words.size();
    return true;
  }
  std::string LastRun(const std::string& job) {
    return world_.Sql("SELECT run_id FROM run WHERE job_name = '" + job +
                      "' ORDER BY run_id DESC LIMIT 1");
  }

  TwoNodes nodes_;
  World& world_ = nodes_.world();
  std::map<std::string, size_t> told_;  // where in the log the last was found
};

TEST_F(AnyNodeTest, RunsAreOrderedWatchedAndRead) {
  nodes_.ApplyJobs("tick",
                   "    handler: work\n    schedule: {manual: true, zone: UTC}\n"
                   "    blocking: {policy: concurrent, concurrent: 4}\n");
  for (const std::string node : {"node-1", "node-2"}) {
    const std::string job = nodes_.JobsOf(node, "tick").at(0);
    Order(job, {"job", "trigger", job, "--wait"});
    const std::string run = LastRun(job);
    EXPECT_THAT(Order(job, {"run", "get", run}), HasSubstr("COMPLETED"));
    EXPECT_THAT(Order(job, {"run", "list", "--job", job}), HasSubstr(run.substr(0, 8)));
    Order(job, {"run", "watch", run});
    Order(job, {"run", "logs", run});

    world_.Touch("hold-work-1");
    Order(job, {"job", "trigger", job});
    ASSERT_TRUE(AwaitSql(world_, "SELECT count(*) FROM active_run WHERE status = 'RUNNING'", "1"));
    const std::string held = LastRun(job);
    Order(job, {"run", "cancel", held, "--reason", "test"});
    ASSERT_TRUE(AwaitSql(
        world_,
        "SELECT count(*) FROM run_history WHERE status = 'CANCELLED' AND run_id = '" + held + "'",
        "1"));
    world_.Remove("hold-work-1");
    Order(job, {"run", "rerun", held});
    ASSERT_TRUE(
        AwaitSql(world_, "SELECT count(*) FROM run_history WHERE rerun_of = '" + held + "'", "1"));
    Order(job, {"run", "release", held, "--force", "--reason", "x"}, 4);
    Order(job, {"job", "delete", job});
    Order(job, {"job", "get", job}, 3);
  }
}

TEST_F(AnyNodeTest, DatesAndDefinitionsAreOrdered) {
  const std::string to = DueDates(1).front();
  nodes_.ApplyJobs("night",
                   "    handler: work\n    schedule: {cron: \"0 0 1 * * ?\", zone: "
                   "Asia/Shanghai}\n    start_date: " +
                       to + "\n");
  for (const std::string node : {"node-1", "node-2"}) {
    const std::string job = nodes_.JobsOf(node, "night").at(0);
    ASSERT_TRUE(world_.AllDone(job, {to}));
    Order(job, {"job", "pause", job, "--reason", "test"});
    EXPECT_THAT(Order(job, {"job", "get", job}), HasSubstr("test"));
    Order(job, {"job", "resume", job});
    EXPECT_THAT(Order(job, {"watermark", "list", job}), HasSubstr("DONE"));
    Order(job, {"run", "rerun", LastRun(job), "--force"});
    ASSERT_TRUE(
        AwaitSql(world_, "SELECT count(*) FROM run_history WHERE job_name = '" + job + "'", "2"));
    Order(job, {"job", "drill", job, "--days", "1", "--now"});
    Order(job, {"job", "next", job});
    Order(job, {"job", "verify", job});
    Order(job, {"backfill", "create", job, "--from", to, "--to", to, "--reprocess", "all"});
    Order(job, {"backfill", "list"});
    ASSERT_TRUE(AwaitSql(world_, "SELECT count(*) FROM backfill WHERE state = 'DONE'",
                         node == "node-1" ? "1" : "2"))
        << world_.Sql("SELECT string_agg(state, ' ') FROM backfill");
  }
  EXPECT_EQ(world_.Sql("SELECT count(*) FROM alert WHERE kind = 'run_failed'"), "0");
}

TEST_F(AnyNodeTest, WaivesAndForcedDonesReachTheOwner) {
  const std::string date = DueDates(1).front();
  nodes_.ApplyJobs("late",
                   "    handler: none\n    schedule: {cron: \"0 0 1 * * ?\", zone: "
                   "Asia/Shanghai}\n    start_date: " +
                       date + "\n");
  for (const std::string node : {"node-1", "node-2"}) {
    const std::string job = nodes_.JobsOf(node, "late").at(0);
    // Nobody has its handler: the run waits, and is called off before the date is given up.
    ASSERT_TRUE(
        AwaitSql(world_, "SELECT count(*) FROM active_run WHERE job_name = '" + job + "'", "1"));
    Order(job, {"job", "pause", job, "--reason", "test"});
    Order(job, {"run", "cancel", LastRun(job), "--reason", "test"});
    Order(job, {"watermark", "waive", job, date, "--reason", "test"});
    EXPECT_EQ(world_.StatusOf(job, date), "WAIVED");
    Order(job, {"watermark", "unwaive", job, date, "--reason", "test"});
    Order(job, {"watermark", "force-done", job, date, "--reason", "test"});
    EXPECT_EQ(world_.StatusOf(job, date), "DONE");
  }
}

TEST_F(AnyNodeTest, ADrainedExecutorGetsNothingOfAnyNode) {
  nodes_.ApplyJobs("tick",
                   "    handler: work\n    schedule: {manual: true, zone: UTC}\n"
                   "    blocking: {policy: concurrent, concurrent: 4}\n");
  world_.StartProbe("e2", 20);
  ASSERT_TRUE(AwaitSql(world_, "SELECT count(*) FROM executor WHERE state = 'UP'", "2"));
  const auto trigger_all = [&] {
    for (const std::string node : {"node-1", "node-2"}) {
      for (const std::string& job : nodes_.JobsOf(node, "tick")) {
        ASSERT_EQ(world_.Cli({"job", "trigger", job, "--wait"}).code, 0);
      }
    }
  };
  const auto runs_of = [&](const std::string& executor) {
    return world_.Sql("SELECT count(*) FROM attempt WHERE executor_id = '" + executor + "'");
  };
  for (const std::string scheduler : {"scheduler", "second"}) {
    ASSERT_EQ(world_.CliOn(scheduler, {"executor", "drain", "e1"}).code, 0);
    for (const std::string name : {"scheduler", "second"}) {
      EXPECT_THAT(world_.CliOn(name, {"executor", "list"}).output, HasSubstr("DRAINED"));
      ASSERT_TRUE(WaitFor([&] { return Told(name, "executor drained"); })) << name;
    }
    const std::string before = runs_of("e1");
    trigger_all();
    EXPECT_EQ(runs_of("e1"), before);
    ASSERT_EQ(world_.CliOn(nodes_.OtherThan(scheduler), {"executor", "drain", "e1", "--undo"}).code,
              0);
    for (const std::string name : {"scheduler", "second"}) {
      ASSERT_TRUE(WaitFor([&] { return Told(name, "executor used again"); })) << name;
    }
  }
  world_.Terminate("e2");
  ASSERT_NO_FATAL_FAILURE(trigger_all()) << "e1 is used again by both";
}

}  // namespace
}  // namespace tidemark
