// Several nodes on one database: who owns which shards, and when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "tests/store/flush_fixture.h"
#include "tests/store/store_node.h"
#include "tests/support/process.h"
#include "tests/support/socket_proxy.h"

namespace tidemark {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kJob = 100;
constexpr int kLastShard = 127;

// A lease that is over soon after its node is.
void ShortLease(StoreOptions* options) {
  options->lease = absl::Seconds(2);
  options->renew_every = absl::Milliseconds(300);
  options->stop_after = absl::Milliseconds(1500);
}

class ClusterStoreTest : public ::testing::Test {
 protected:
  ClusterStoreTest() { InsertJob(database_, kJob, "recon", kLastShard); }

  void AddCommand(int number) {
    database_.Sql(
        "INSERT INTO command (command_id, shard, job_id, kind, args, actor, created_at)"
        " VALUES ($1, $2, $3, 'trigger', '{}', 'ann', tidemark_now())",
        {Uuid(number), ToParam(kLastShard), ToParam(kJob)});
    database_.Sql("SELECT pg_notify('tidemark_command', '')");
  }
  // "NODE COUNT", the owners of shards.
  std::vector<std::string> Owners() {
    return database_.Rows("SELECT node_id, count(*) FROM shard GROUP BY node_id ORDER BY node_id");
  }

  MigratedDatabase database_;
};

TEST_F(ClusterStoreTest, ANodeThatJoinsGetsItsShareAndGivesItBackWhenItLeaves) {
  StoreNode a(database_, "a");
  ASSERT_TRUE(a.heard.WaitForShards(128));
  StoreNode b(database_, "b");
  ASSERT_TRUE(a.heard.WaitForShards(64));
  ASSERT_TRUE(b.heard.WaitForShards(64));
  // What a node loses it loses with its term; what it gains it gains in the middle of one.
  EXPECT_THAT(a.heard.Get().order, ElementsAre("start", "end", "start"));
  EXPECT_THAT(a.heard.Get().ends, ElementsAre("shards are given to other nodes"));
  const auto joined = b.heard.Get();
  EXPECT_THAT(joined.terms, SizeIs(1));
  EXPECT_THAT(joined.ends, IsEmpty());
  EXPECT_THAT(Owners(), ElementsAre("a|64", "b|64"));
  std::set<int> all;
  const Snapshot kept = a.heard.Get().snapshots.at(1);
  // As a rule it starts with none; it may be that they were free by then.
  const Snapshot got = joined.gained.empty() ? joined.snapshots.at(0) : joined.gained.at(0);
  for (const auto& [shard, epoch] : kept.shards) all.insert(shard);
  for (const auto& [shard, epoch] : got.shards) {
    all.insert(shard);
    EXPECT_EQ(epoch.number, 2u);
  }
  EXPECT_THAT(all, SizeIs(128));
  StoreNode& owner = got.jobs.empty() ? a : b;
  StoreNode& other = &owner == &a ? b : a;
  // Both write, each under its own fence; orders reach the owner alone.
  AddCommand(500);
  ASSERT_TRUE(owner.heard.Wait([](const auto& s) { return s.commands.size() == 1; }));
  Flush flush;
  flush.seq = 1;
  flush.opens.push_back({MakeRun(kJob, "recon", "2026-11-27", Uuid(1)), ""});
  flush.opens.back().run.shard = kLastShard;
  flush.commands.push_back({Uuid(500), absl::StatusCode::kOk, "", {}});
  owner.store->Submit(owner.heard.Get().terms.size(), flush);
  ASSERT_TRUE(owner.heard.WaitForFlush(1));
  EXPECT_THAT(other.heard.Get().commands, IsEmpty());

  // At once: the one that leaves says so, and the lease would last for long.
  const absl::Duration left = SystemClock().Monotonic();
  owner.store->Stop();
  ASSERT_TRUE(other.heard.WaitForShards(128));
  RecordProperty("handover_ms",
                 static_cast<int>(absl::ToInt64Milliseconds(SystemClock().Monotonic() - left)));
  const auto heard = other.heard.Get();
  const Snapshot& gained = heard.gained.back();
  EXPECT_THAT(gained.shards, SizeIs(64));
  ASSERT_THAT(gained.jobs, SizeIs(1));
  ASSERT_THAT(gained.runs, SizeIs(1));
  EXPECT_EQ(gained.runs[0].run_id, Uuid(1));
  EXPECT_FALSE(gained.failed_over);
  AddCommand(501);
  ASSERT_TRUE(other.heard.Wait([](const auto& s) { return s.commands.size() == 1; }));
  EXPECT_EQ(other.heard.Get().commands[0].command_id, Uuid(501));
}

TEST_F(ClusterStoreTest, ThreeNodesHaveAThirdEach) {
  StoreNode a(database_, "a");
  StoreNode b(database_, "b");
  StoreNode c(database_, "c");
  ASSERT_TRUE(WaitFor([&] {
    const size_t most = std::max({a.heard.Shards(), b.heard.Shards(), c.heard.Shards()});
    return most <= 43 && a.heard.Shards() + b.heard.Shards() + c.heard.Shards() == 128;
  })) << a.heard.Shards()
      << " " << b.heard.Shards() << " " << c.heard.Shards();
  // Nobody has what is another's, and it stays so.
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM shard WHERE node_id IS NULL"), "0");
  const auto terms = [&] {
    return a.heard.Get().terms.size() + b.heard.Get().terms.size() + c.heard.Get().terms.size();
  };
  const size_t before = terms();
  const size_t clocks = a.heard.Get().clocks.size();
  ASSERT_TRUE(a.heard.Wait([&](const auto& s) { return s.clocks.size() > clocks + 40; }));
  EXPECT_EQ(terms(), before);
}

// A stop in the middle of a rebalancing: the term that owned them is over, the next has none yet.
TEST_F(ClusterStoreTest, ANodeThatStopsBetweenTwoTermsLeavesNoShardsBehind) {
  StoreNode a(database_, "a", [](StoreOptions* options) { options->lease = absl::Minutes(10); });
  ASSERT_TRUE(a.heard.WaitForShards(128));
  // Sessions that wait for the fence, but for that one; "0" is nobody's.
  const auto waiting_but = [&](const std::string& pid) {
    return database_.Sql(
        "SELECT coalesce(min(pid), 0) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        " AND datname = current_database() AND pid <> $1::integer",
        {pid});
  };
  std::thread stopper;
  const std::unique_ptr<Connection> blocker = database_.Connect();
  const absl::Status held = blocker->Transact([&](SqlTransaction& transaction) -> absl::Status {
    auto rows = transaction.Run("SELECT 1 FROM node_fence WHERE NOT fenced FOR UPDATE");
    {
      StoreNode b(database_, "b");
      EXPECT_TRUE(a.heard.WaitForEnds(1));
    }
    // Its next term waits for the fence of the former one; then, as it stops, it does so itself.
    EXPECT_TRUE(WaitFor([&] { return waiting_but("0") != "0"; }));
    const std::string first = waiting_but("0");
    stopper = std::thread([&] { a.store->Stop(); });
    EXPECT_TRUE(WaitFor([&] { return waiting_but(first) != "0"; }));
    return rows.status();
  });
  stopper.join();
  EXPECT_TRUE(held.ok()) << held;
  // Long before the lease would be over.
  StoreNode c(database_, "c");
  EXPECT_TRUE(c.heard.WaitForShards(128));
}

TEST_F(ClusterStoreTest, ADeadNodesShardsAreTakenWhenItsLeaseIsOver) {
  SocketProxy proxy(database_.url());
  DatabaseOptions far = database_.options();
  far.url = proxy.url();
  StoreNode a(database_, "a");
  ASSERT_TRUE(a.heard.WaitForShards(128));
  // A busy machine may be late by a second, with a renewal as with the stop.
  StoreNode b(far, "b", [](StoreOptions* options) {
    options->lease = absl::Seconds(5);
    options->renew_every = absl::Milliseconds(300);
    options->stop_after = absl::Seconds(3);
  });
  ASSERT_TRUE(b.heard.WaitForShards(64));
  ASSERT_TRUE(a.heard.WaitForShards(64));
  proxy.Refuse(true);
  ASSERT_TRUE(a.heard.WaitForShards(128));
  // By then it had stopped by its own clock.
  EXPECT_THAT(b.heard.Get().ends, ElementsAre("the lease could not be renewed in time"));

  RecordProperty("taken_after_lease_ms_at_most",
                 database_.Sql("SELECT (extract(epoch FROM tidemark_now() - lease_until) * 1000)"
                               "::integer FROM scheduler_node WHERE node_id = 'b'"));

  EXPECT_THAT(Owners(), ElementsAre("a|128"));
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM node_fence WHERE node_id = 'b' AND fenced"), "1");
}

TEST_F(ClusterStoreTest, ADrainedNodeKeepsNothingAndStaysUp) {
  StoreNode a(database_, "a", [](StoreOptions* o) { o->renew_every = absl::Milliseconds(50); });
  ASSERT_TRUE(a.heard.WaitForShards(128));
  StoreNode b(database_, "b");
  ASSERT_TRUE(b.heard.WaitForShards(64));
  database_.Sql("UPDATE scheduler_node SET draining = true WHERE node_id = 'a'");
  ASSERT_TRUE(b.heard.WaitForShards(128));
  // Its second term, or its third, as it was asked before or after it had taken its half.
  ASSERT_TRUE(a.heard.Wait([](const auto& s) { return s.snapshots.back().shards.empty(); }));
  EXPECT_EQ(a.heard.Shards(), 0u);
  EXPECT_TRUE(WaitFor([&] { return a.store->Health().owns; }));
  // Unless nobody else is left: a job without an owner is worse.
  b.store->Stop();
  EXPECT_TRUE(a.heard.WaitForShards(128));
  StoreNode c(database_, "c");
  EXPECT_TRUE(c.heard.WaitForShards(128));
  ASSERT_TRUE(WaitFor([&] { return Owners() == std::vector<std::string>{"c|128"}; }));
  database_.Sql("UPDATE scheduler_node SET draining = false WHERE node_id = 'a'");
  EXPECT_TRUE(a.heard.WaitForShards(64));
}

TEST_F(ClusterStoreTest, AReportReachesTheOwnerThroughTheOtherNode) {
  const auto by_notice = [](StoreOptions* o) { o->command_poll = absl::Hours(1); };
  StoreNode a(database_, "a", by_notice);
  ASSERT_TRUE(a.heard.WaitForShards(128));
  StoreNode b(database_, "b", by_notice);
  ASSERT_TRUE(a.heard.WaitForShards(64));
  ASSERT_TRUE(b.heard.WaitForShards(64));
  const bool a_owns =
      database_.Sql("SELECT node_id FROM shard WHERE shard = $1", {ToParam(kLastShard)}) == "a";
  StoreNode& owner = a_owns ? a : b;
  StoreNode& other = a_owns ? b : a;
  const uint64_t owners_term = owner.heard.Get().terms.size();
  const uint64_t others_term = other.heard.Get().terms.size();
  // LISTEN makes the feed look once more: wait until it is there.
  ASSERT_TRUE(WaitFor([&] {
    return database_.Sql(
               "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%tidemark_cluster%'"
               " AND datname = current_database() AND state = 'idle'") == "2";
  }));
  Flush open;
  open.seq = 1;
  ActiveRun run = MakeRun(kJob, "recon", "2026-11-27", Uuid(1));
  run.shard = kLastShard;
  run.attempt = 1;
  run.registration = 5;
  open.opens.push_back({run, ""});
  owner.store->Submit(owners_term, open);
  ASSERT_TRUE(owner.heard.WaitForFlush(1));
  Flush report;
  report.seq = 1;
  report.inbox.push_back({{{run.run_id, 1}, 5, "", {}}, "recon", "default"});
  other.store->Submit(others_term, report);
  ASSERT_TRUE(owner.heard.Wait([](const auto& s) { return s.inbox.size() == 1; }));
  EXPECT_EQ(owner.heard.Get().inbox[0].attempt.run_id, run.run_id);
  EXPECT_THAT(other.heard.Get().inbox, IsEmpty());
  Flush taken;
  taken.seq = 2;
  taken.inbox_taken.push_back({run.run_id, 1});
  owner.store->Submit(owners_term, taken);
  ASSERT_TRUE(owner.heard.WaitForFlush(2));
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM inbox"), "0");
}

TEST_F(ClusterStoreTest, NodesAreToldWheneverTheyChange) {
  StoreNode a(database_, "a");
  const auto last = [&](const std::vector<std::string>& addresses) {
    return a.heard.Wait(
        [&](const auto& s) { return !s.nodes.empty() && s.nodes.back() == addresses; });
  };
  EXPECT_TRUE(last({"a:7400"}));
  StoreNode b(database_, "b");
  EXPECT_TRUE(last({"a:7400", "b:7400"}));
  EXPECT_TRUE(b.heard.Wait([](const auto& s) {
    return !s.nodes.empty() && s.nodes.back() == std::vector<std::string>{"a:7400", "b:7400"};
  }));
  b.store->Stop();
  EXPECT_TRUE(last({"a:7400"}));
}

TEST_F(ClusterStoreTest, AfterAFailOverTheOwnerKnowsWhomToAsk) {
  database_.Sql("UPDATE shard SET timeline = 77");
  database_.Sql(
      "INSERT INTO executor (executor_id, app, registration, incarnation, host, version, capacity,"
      " handlers, state, registered_at, last_seen) SELECT x, 'recon', n, $1::uuid, '', '', 1, '{}',"
      " state, tidemark_now(), tidemark_now() FROM (VALUES ('up', 4, 'UP'), ('gone', 5, 'GONE'),"
      " ('draining', 6, 'DRAINING'), ('lost', 7, 'LOST')) v (x, n, state)",
      {Uuid(1)});
  StoreNode a(database_, "a");
  a.heard.WaitForTerm(1);
  const Snapshot snapshot = a.heard.Get().snapshots.at(0);
  EXPECT_TRUE(snapshot.failed_over);
  EXPECT_EQ(snapshot.timeline, a.heard.Get().terms.at(0).timeline);
  ASSERT_THAT(snapshot.executors, SizeIs(2));
  EXPECT_EQ(snapshot.executors[0].executor_id, "draining");
  EXPECT_EQ(snapshot.executors[1].executor_id, "up");
  EXPECT_EQ(snapshot.executors[1].app, "recon");
  EXPECT_EQ(snapshot.executors[1].ns, "default");
  EXPECT_EQ(snapshot.executors[1].registration, 4);
}

TEST_F(ClusterStoreTest, ShardsThatAnotherHandTookAwayEndTheTerm) {
  StoreNode a(database_, "a");
  ASSERT_TRUE(a.heard.WaitForShards(128));
  database_.Sql("UPDATE shard SET node_id = NULL, incarnation = NULL WHERE shard = 5");
  ASSERT_TRUE(a.heard.WaitForEnds(1));
  EXPECT_THAT(a.heard.Get().ends.at(0), HasSubstr("rows of its shards are gone"));
  EXPECT_TRUE(a.heard.WaitForShards(128));
}

// Of two hosts the first takes connections and never answers: each new one waits for it in vain.
TEST_F(ClusterStoreTest, ADeadFirstHostCostsNoTerm) {
  SocketProxy dead(database_.url());
  dead.HoldReplies();
  const auto host = [](const std::string& url) {
    const size_t begin = url.find("host=") + 5;
    return url.substr(begin, url.find(' ', begin) - begin);
  };
  DatabaseOptions options = database_.options();
  options.url = database_.url() + " host=" + host(dead.url()) + "," + host(database_.url());
  options.connect_timeout = absl::Seconds(2);
  StoreNode a(options, "a", [](StoreOptions* o) {
    o->renew_every = absl::Milliseconds(2500);
    o->stop_after = absl::Seconds(4);
  });
  ASSERT_TRUE(a.heard.WaitForShards(128));
  const std::string first = database_.Sql("SELECT lease_until FROM scheduler_node");
  ASSERT_TRUE(
      WaitFor([&] { return database_.Sql("SELECT lease_until FROM scheduler_node") != first; }));
  EXPECT_THAT(a.heard.Get().ends, IsEmpty());
}

// The database answers everybody else.
TEST_F(ClusterStoreTest, ATermEndsByItselfWhenItsRenewalIsBlocked) {
  StoreNode a(database_, "a", ShortLease);
  ASSERT_TRUE(a.heard.WaitForShards(128));
  const std::unique_ptr<Connection> blocker = database_.Connect();
  const absl::Status held = blocker->Transact([&](SqlTransaction& transaction) -> absl::Status {
    auto rows = transaction.Run("SELECT 1 FROM scheduler_node FOR UPDATE");
    EXPECT_TRUE(a.heard.WaitForEnds(1));
    return rows.status();
  });
  EXPECT_TRUE(held.ok()) << held;
  EXPECT_THAT(a.heard.Get().ends.at(0), HasSubstr("could not be renewed"));
  EXPECT_TRUE(a.heard.WaitForShards(128));
}

// Every thread of the term waits for an answer; the term ends all the same.
TEST_F(ClusterStoreTest, ATermEndsByItselfWhenTheDatabaseFallsSilent) {
  SocketProxy proxy(database_.url());
  DatabaseOptions far = database_.options();
  far.url = proxy.url();
  far.statement_timeout = absl::Hours(1);
  far.tcp_user_timeout = absl::Hours(1);
  StoreNode a(far, "a", ShortLease);
  ASSERT_TRUE(a.heard.WaitForShards(128));
  proxy.HoldReplies();
  ASSERT_TRUE(a.heard.WaitForEnds(1));
  EXPECT_THAT(a.heard.Get().ends.at(0), HasSubstr("could not be renewed"));
  proxy.Cut();
  EXPECT_TRUE(a.heard.WaitForShards(128));
}

}  // namespace
}  // namespace tidemark
