// What nodes are told of jobs that theirs wait for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/store/flush_fixture.h"
#include "tests/store/store_node.h"
#include "tests/support/process.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Job "first" of the first node, and jobs of the other node that may wait for it. Notifications
// alone tell: nobody polls.
class UpstreamNewsTest : public ::testing::Test {
 protected:
  static constexpr int64_t kFirst = 100;
  static constexpr int64_t kLast = 200;

  UpstreamNewsTest() {
    EXPECT_TRUE(a_.heard.WaitForShards(128));
    b_ = std::make_unique<StoreNode>(database_, "b", Silent);
    EXPECT_TRUE(a_.heard.WaitForShards(64));
    EXPECT_TRUE(b_->heard.WaitForShards(64));
    for (StoreNode* node : {&a_, b_.get()}) {
      EXPECT_TRUE(node->heard.Wait([](const auto& s) { return s.listening; }));
    }
    InsertJob(database_, kFirst, "first", ShardOf("a"));
  }

  static void Silent(StoreOptions* options) { options->command_poll = absl::Hours(1); }
  int ShardOf(const std::string& node) {
    return std::atoi(
        database_.Sql("SELECT min(shard) FROM shard WHERE node_id = $1", {node}).c_str());
  }
  void MakeWaiting(int64_t job_id, const std::string& name, const std::string& owner,
                   const std::string& upstream) {
    InsertJob(database_, job_id, name, ShardOf(owner));
    database_.Sql("INSERT INTO job_after (job_id, upstream, date_offset) VALUES ($1, $2, 0)",
                  {ToParam(job_id), upstream});
  }
  // What the engine writes with a verdict of each of these.
  void Settle(const std::vector<std::string>& jobs) {
    Flush flush;
    flush.seq = ++seq_;
    for (const std::string& job : jobs) {
      flush.watermarks.push_back({kFirst, job, Day("2026-11-27"), "DONE", "", "", "ann"});
      flush.news.push_back({kFirst, job});
      flush.news.push_back({kFirst, job});
    }
    a_.store->Submit(a_.heard.Get().terms.size(), flush);
    ASSERT_TRUE(a_.heard.WaitForFlush(seq_));
  }

  MigratedDatabase database_;
  StoreNode a_{database_, "a", Silent};
  std::unique_ptr<StoreNode> b_;
  uint64_t seq_ = 0;
};

TEST_F(UpstreamNewsTest, TheOwnerOfAJobThatWaitsIsToldAtOnce) {
  MakeWaiting(kLast, "last", "b", "first");
  const absl::Duration begin = SystemClock().Monotonic();
  Settle({"first"});
  ASSERT_TRUE(b_->heard.Wait([](const auto& s) { return !s.upstreams.empty(); }));
  const absl::Duration took = SystemClock().Monotonic() - begin;
  RecordProperty("told_after_ms", static_cast<int>(absl::ToInt64Milliseconds(took)));
  EXPECT_LT(took, absl::Seconds(1));
  EXPECT_THAT(b_->heard.Get().upstreams, ElementsAre(ElementsAre("first")));
}

TEST_F(UpstreamNewsTest, NothingIsSaidOfJobsForWhichNoOtherNodeWaits) {
  MakeWaiting(kLast, "last", "a", "first");  // its own: the engine knows
  MakeWaiting(kLast + 1, "other", "b", "second");
  MakeWaiting(kLast + 2, "gone", "b", "first");
  database_.Sql("UPDATE job SET deleted_at = tidemark_now() WHERE name = 'gone'");
  Settle({"first"});
  Settle({"first", "second"});  // notifications come in the order of commits
  ASSERT_TRUE(b_->heard.Wait([](const auto& s) { return !s.upstreams.empty(); }));
  EXPECT_THAT(b_->heard.Get().upstreams, ElementsAre(ElementsAre("second")));
}

TEST_F(UpstreamNewsTest, WhatIsLeftOutOfAFlushIsNotSaid) {
  MakeWaiting(kLast, "last", "b", "first");
  InsertJob(database_, 300, "culprit", ShardOf("a"));
  MakeWaiting(kLast + 1, "waits", "b", "culprit");
  Flush flush;
  flush.seq = ++seq_;
  flush.news.push_back({kFirst, "first"});
  flush.news.push_back({300, "culprit"});
  WatermarkWrite bad{300, "culprit", Day("2026-11-27"), "NO SUCH STATUS", "", "", "ann"};
  flush.watermarks.push_back(bad);
  a_.store->Submit(a_.heard.Get().terms.size(), flush);
  ASSERT_TRUE(a_.heard.WaitForFlush(1));
  ASSERT_THAT(a_.heard.Get().flushed.back().failed_jobs, SizeIs(1));
  ASSERT_TRUE(b_->heard.Wait([](const auto& s) { return !s.upstreams.empty(); }));
  EXPECT_THAT(b_->heard.Get().upstreams, ElementsAre(ElementsAre("first")));
}

// What was said while its session was broken nobody repeats: it is told that it may have missed
// something.
TEST_F(UpstreamNewsTest, ANodeThatListensAnewIsToldSo) {
  const size_t before = b_->heard.Get().began_to_listen;
  database_.Sql(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
      " WHERE query LIKE '%tidemark_cluster%' AND datname = current_database() AND state = 'idle'");
  EXPECT_TRUE(b_->heard.Wait([&](const auto& s) { return s.began_to_listen > before; }));
}

using UpstreamFlushTest = FlushTest;

// A node that is about to take the shard may have read before the commit.
TEST_F(UpstreamFlushTest, ItIsSaidWhileNobodyOwnsTheJobThatWaits) {
  InsertJob(database_, 100, "first", 7);
  InsertJob(database_, 200, "last", 8);
  database_.Sql("INSERT INTO job_after (job_id, upstream, date_offset) VALUES (200, 'first', 0)");
  DatabaseOptions direct = database_.options();
  direct.url = database_.url();
  const auto listener = Connection::Open(direct);
  ASSERT_TRUE(listener.ok()) << listener.status();
  ASSERT_TRUE((*listener)->Listen("tidemark_upstream").ok());
  const auto told = [&] {
    std::vector<std::string> jobs;
    const auto notifications = (*listener)->AwaitNotification(absl::Milliseconds(100));
    EXPECT_TRUE(notifications.ok()) << notifications.status();
    for (const Notification& it : *notifications) jobs.push_back(it.payload);
    return jobs;
  };
  Flush flush;
  flush.news.push_back({100, "first"});
  Commit(flush);
  EXPECT_THAT(told(), IsEmpty()) << "the owner has all";
  database_.Sql("UPDATE shard SET node_id = NULL, incarnation = NULL WHERE shard = 8");
  Commit(flush);
  EXPECT_TRUE(WaitFor([&] { return told() == std::vector<std::string>{"first"}; }));
}

}  // namespace
}  // namespace tidemark
