// `after` between jobs of two schedulers.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "tests/e2e/job_bench.h"
#include "tests/e2e/two_nodes.h"

namespace tidemark {
namespace {

// Seconds that a busy machine may add to the second or two that it takes.
constexpr double kBusy = 3;

class ClusterAfterTest : public testing::Test {
 protected:
  ClusterAfterTest() {
    nodes_.Start();
    world_.UseLink(world_.address() + "," + world_.address("second"));
    world_.StartProbe("e1", 20);
    EXPECT_TRUE(AwaitSql(world_, "SELECT count(*) FROM executor WHERE state = 'UP'", "1"));
  }

  // Makes jobs until one that waits for `upstream` is the other node's; returns its name. Which
  // shard a job gets is chance.
  std::string MakeWaiting(const std::string& upstream, const std::string& like, int days) {
    for (int i = 0; i < 40; ++i) {
      const std::string job = like + "-" + std::to_string(i);
      world_.ApplyDaily(job, "ops", "work", days, "    after: [{job: " + upstream + "}]\n");
      if (nodes_.OwnerOf(job) != nodes_.OwnerOf(upstream)) return job;
    }
    ADD_FAILURE() << "no job came to the other node";
    return "";
  }
  // Waits until its dates were looked at and found to wait.
  void AwaitBlocked(const std::string& job, int days) {
    EXPECT_TRUE(
        AwaitSql(world_,
                 "SELECT count(*) FROM due_date d JOIN job j USING (job_id) WHERE j.name = '" +
                     job + "' AND NOT d.settled",
                 std::to_string(days)));
    EXPECT_EQ(world_.Sql("SELECT count(*) FROM run WHERE job_name = '" + job + "'"), "0");
  }
  // The longest that a date of `job` began after that of `upstream` was settled, in seconds.
  double Longest(const std::string& upstream, const std::string& job) {
    return std::atof(
        world_
            .Sql("SELECT max(extract(epoch FROM r.started_at - w.finished_at)) FROM run_history r"
                 " JOIN job_watermark w ON w.biz_date = r.biz_date AND w.job_name = '" +
                 upstream + "' WHERE r.job_name = '" + job + "'")
            .c_str());
  }

  TwoNodes nodes_;
  World& world_ = nodes_.world();
};

TEST_F(ClusterAfterTest, ADateBeginsAsSoonAsThatOfTheOtherNodesJobIsDone) {
  constexpr int kDays = 2;
  world_.Touch("hold-work-1");
  const std::vector<std::string> dates = world_.ApplyDaily("first", "ops", "work", kDays);
  ASSERT_TRUE(AwaitSql(world_, "SELECT count(*) FROM active_run WHERE status = 'RUNNING'", "1"));
  const std::string job = MakeWaiting("first", "last", kDays);
  AwaitBlocked(job, kDays);
  world_.Remove("hold-work-1");
  ASSERT_TRUE(world_.AllDone("first", dates));
  ASSERT_TRUE(world_.AllDone(job, dates));
  const double longest = Longest("first", job);
  std::cout << "a date began at most " << longest << " s after the other node's was done\n";
  EXPECT_GE(longest, 0);
  EXPECT_LT(longest, 2 + kBusy);
}

TEST_F(ClusterAfterTest, ADateBeginsAsSoonAsThatOfTheOtherNodesJobIsWaived) {
  const std::vector<std::string> dates = world_.ApplyDaily("first", "nobody", "work", 1);
  const std::string job = MakeWaiting("first", "last", 1);
  AwaitBlocked(job, 1);
  ASSERT_TRUE(AwaitSql(world_, "SELECT count(*) FROM active_run WHERE job_name = 'first'", "1"));
  const std::string run = world_.Sql("SELECT run_id FROM active_run WHERE job_name = 'first'");
  World::Answer answer = world_.Cli({"run", "cancel", run, "--reason", "a holiday"});
  ASSERT_EQ(answer.code, 0) << answer.output;
  answer = world_.Cli({"watermark", "waive", "first", dates[0], "--reason", "a holiday"});
  ASSERT_EQ(answer.code, 0) << answer.output;
  ASSERT_TRUE(world_.AllDone(job, dates, absl::Seconds(20)));
  EXPECT_LT(Longest("first", job), 2 + kBusy);
}

}  // namespace
}  // namespace tidemark
