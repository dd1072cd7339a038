// X5 on real PostgreSQL: what a take-over sees of an owner that is in the middle of a transaction.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "common/status.h"
#include "scheduler/store/lease_damage.h"
#include "scheduler/store/snapshot.h"
#include "tests/store/flush_fixture.h"
#include "tests/store/store_node.h"
#include "tests/support/process.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kTimes = 100;

class FenceTest : public ::testing::Test {
 protected:
  FenceTest() { InsertJob(database_, 100, "recon"); }

  // Node `node` takes what it can, and is dead afterwards: its lease is over.
  Owner DeadOwner(Connection& connection, int number) {
    const Owner owner{"old", Uuid(number)};
    EXPECT_TRUE(RegisterNode(connection, {owner, "", "", absl::Hours(1)}, true, "").ok());
    EXPECT_THAT(ClaimShards(connection, owner).value(), SizeIs(128));
    database_.Sql("UPDATE scheduler_node SET lease_until = tidemark_now() WHERE node_id = 'old'");
    return owner;
  }
  std::map<int, Epoch> Claim(Connection& connection, const Owner& owner) {
    std::map<int, Epoch> shards;
    const std::map<int, uint64_t> claimed = ClaimShards(connection, owner).value();
    for (const auto& [shard, number] : claimed) shards[shard] = {1, number};
    return shards;
  }
  bool SomebodyWaitsForTheFence() {
    return WaitFor([&] {
      return database_.Sql(
                 "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                 " AND query LIKE '%node_fence%' AND datname = current_database()") == "1";
    });
  }

  MigratedDatabase database_;
  std::unique_ptr<Connection> old_ = database_.Connect();
  std::unique_ptr<Connection> new_ = database_.Connect();
  SeededRandom random_{1};
};

// What the fence is for. An owner that only checks the epoch, in the very statement that writes:
// its transaction is open while the shards change hands, and commits after the successor loaded.
TEST_F(FenceTest, AJoinOnTheEpochAloneLetsARowAppearAfterTheLoad) {
  const Owner old = DeadOwner(*old_, 20);
  const Owner successor{"new", Uuid(21)};
  ASSERT_TRUE(RegisterNode(*new_, {successor, "", "", absl::Hours(1)}, true, "").ok());
  std::map<int, Epoch> shards;
  const absl::Status committed = old_->Transact([&](SqlTransaction& transaction) -> absl::Status {
    TM_ASSIGN_OR_RETURN(
        const SqlRows written,
        transaction.Run("INSERT INTO job_cursor (job_id, last_fire) SELECT 100, tidemark_now()"
                        " FROM shard WHERE shard = 7 AND node_id = $1 AND incarnation = $2::uuid"
                        " AND epoch = 1",
                        {old.node_id, old.incarnation}));
    EXPECT_EQ(written.affected(), 1);
    EXPECT_TRUE(Fence(*new_, old).ok());  // waits for nobody
    shards = Claim(*new_, successor);
    EXPECT_THAT(shards, SizeIs(128));
    const Snapshot loaded = LoadSnapshot(*new_, shards).value();
    EXPECT_FALSE(loaded.jobs.at(0).cursor.has_value());
    return absl::OkStatus();
  });
  EXPECT_TRUE(committed.ok()) << committed;
  // A fire that the successor does not know of, and will fire again.
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM job_cursor"), "1");
}

// The same with the fence, a hundred times: the take-over waits, and its load has the row.
TEST_F(FenceTest, TheLoadHasWhatTheOldOwnerCommitsWhileTheTakeOverWaits) {
  for (int i = 0; i < kTimes; ++i) {
    const Owner old = DeadOwner(*old_, 1000 + 2 * i);
    const Owner successor{"new", Uuid(1001 + 2 * i)};
    ASSERT_TRUE(RegisterNode(*new_, {successor, "", "", absl::Hours(1)}, true, "").ok());
    const ActiveRun run = MakeRun(100, "recon", "2026-11-27", Uuid(5000 + i));
    Snapshot loaded;
    std::thread take_over;
    const absl::Status committed = old_->Transact([&](SqlTransaction& transaction) -> absl::Status {
      Flush flush;
      flush.seq = 1;
      flush.opens.push_back({run, ""});
      FlushResult result;
      TM_RETURN_IF_ERROR(WriteFlush(transaction, old, flush, {}, random_, SystemClock(), &result));
      take_over = std::thread([&] {
        EXPECT_TRUE(Fence(*new_, old).ok());
        loaded = LoadSnapshot(*new_, Claim(*new_, successor)).value();
      });
      EXPECT_TRUE(SomebodyWaitsForTheFence());
      return absl::OkStatus();
    });
    take_over.join();
    ASSERT_TRUE(committed.ok()) << committed;
    ASSERT_THAT(loaded.shards, SizeIs(128));
    ASSERT_THAT(loaded.runs, SizeIs(1));
    ASSERT_EQ(loaded.runs[0].run_id, run.run_id);
    // Nothing of the old owner comes after that.
    const absl::Status late = old_->Transact([&](SqlTransaction& transaction) {
      Flush flush;
      flush.seq = 2;
      FlushResult result;
      return WriteFlush(transaction, old, flush, {}, random_, SystemClock(), &result);
    });
    ASSERT_TRUE(IsTermOver(late)) << late;
    ASSERT_TRUE(ReleaseNode(*new_, successor).ok());
    database_.Sql("DELETE FROM active_run");
  }
}

// ---------------------------------------------------------------- rows that somebody changed

class LeaseDamageTest : public FenceTest {
 protected:
  LeaseDamageTest() {
    node_.emplace(database_, "a", [](StoreOptions* o) { o->renew_every = absl::Milliseconds(50); });
    EXPECT_TRUE(node_->heard.WaitForShards(128));
  }
  // The term ended, a new one has all shards, and one alert says what had happened.
  void ExpectStartedOver(const std::string& summary) {
    ASSERT_TRUE(node_->heard.WaitForEnds(1));
    ASSERT_TRUE(node_->heard.Wait([](const auto& s) { return s.terms.size() >= 2; }));
    ASSERT_TRUE(node_->heard.WaitForShards(128));
    EXPECT_THAT(Alerts("summary"), HasSubstr(summary));
    EXPECT_THAT(Alerts("detail"), HasSubstr("tidemark cluster drain"));
    EXPECT_EQ(Alerts("kind || ' ' || severity"), "lease_damaged warning");
    // An event: nothing is to be resolved.
    EXPECT_EQ(database_.Sql("SELECT count(*) FROM alert WHERE resolved_at IS NULL"), "0");
  }
  std::string Alerts(const std::string& column) {
    return database_.Sql("SELECT string_agg(" + column + ", '; ') FROM alert");
  }

  std::optional<StoreNode> node_;
};

TEST_F(LeaseDamageTest, ADeletedLeaseRowIsTold) {
  database_.Sql("DELETE FROM scheduler_node");
  ExpectStartedOver("row of node a in scheduler_node was deleted");
}

TEST_F(LeaseDamageTest, ADeletedFenceRowIsToldAndNothingIsWrittenWithoutIt) {
  database_.Sql("DELETE FROM node_fence");
  Flush flush;
  flush.seq = 1;
  flush.opens.push_back({MakeRun(100, "recon", "2026-11-27", Uuid(1)), ""});
  node_->store->Submit(1, flush);
  ExpectStartedOver("row of node a in node_fence was deleted");
  EXPECT_THAT(node_->heard.Get().flushed, IsEmpty());
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM active_run"), "0");
}

TEST_F(LeaseDamageTest, ALeaseThatWasSetBackIsTold) {
  database_.Sql("UPDATE scheduler_node SET lease_until = '-infinity'");
  ExpectStartedOver("lease_until of node a was set back");
}

TEST_F(LeaseDamageTest, ALeaseWithoutAnEndDateIsNoLease) {
  database_.Sql("ALTER TABLE scheduler_node ALTER COLUMN lease_until DROP NOT NULL");
  database_.Sql("UPDATE scheduler_node SET lease_until = NULL");
  ExpectStartedOver("lease_until of node a was set back");
}

TEST_F(LeaseDamageTest, ShardRowsThatWereChangedAreTold) {
  database_.Sql("UPDATE shard SET node_id = NULL, incarnation = NULL WHERE shard < 3");
  ExpectStartedOver("rows of the table shard that named node a were changed");
}

TEST_F(LeaseDamageTest, ShardsOfAnOwnerWhomNobodyKnowsAreTakenOnceItIsFenced) {
  node_->store->Stop();
  database_.Sql("UPDATE shard SET node_id = 'ghost', incarnation = $1::uuid", {Uuid(66)});
  StoreNode other(database_, "b");
  ASSERT_TRUE(other.heard.WaitForShards(128));
  EXPECT_THAT(Alerts("summary"), HasSubstr("an owner whose rows are gone: ghost"));
  EXPECT_EQ(database_.Sql("SELECT fenced FROM node_fence WHERE node_id = 'ghost'"), "t");
}

TEST_F(LeaseDamageTest, AnEndAsTermsEndIsNoDamage) {
  StoreNode again(database_, "a");  // a restart
  ASSERT_TRUE(node_->heard.WaitForEnds(1));
  ASSERT_TRUE(again.heard.WaitForShards(128));
  again.store->Stop();
  node_->store->Stop();
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM alert"), "0");
}

TEST_F(FenceTest, ALeaseThatLastsForDaysIsToldUntilItIsMended) {
  DeadOwner(*old_, 20);
  database_.Sql("UPDATE scheduler_node SET lease_until = 'infinity' WHERE node_id = 'old'");
  const Owner other{"b", Uuid(21)};
  ASSERT_TRUE(RegisterNode(*new_, {other, "", "", absl::Hours(1)}, true, "").ok());
  EndlessLeases leases;
  const auto look = [&](int second, int number) {
    const ClusterView view = LookAtCluster(*new_, other).value();
    EXPECT_TRUE(leases.Look(*new_, view.endless, absl::Seconds(second), Uuid(100 + number)).ok());
    return database_.Sql(
        "SELECT string_agg(kind || ' ' || severity, ' ') FROM alert WHERE resolved_at IS NULL");
  };
  EXPECT_EQ(look(10, 1), "");  // a live node's next renewal would mend it
  EXPECT_EQ(look(14, 2), "");
  EXPECT_EQ(look(15, 3), "lease_damaged critical");
  EXPECT_EQ(look(16, 4), "lease_damaged critical");
  EXPECT_THAT(ClaimShards(*new_, other).value(), IsEmpty());  // it may live
  const std::string mend = database_.Sql("SELECT detail FROM alert");
  database_.Sql(mend.substr(mend.find("UPDATE")));
  EXPECT_EQ(look(17, 5), "");
  EXPECT_THAT(Predecessors(*new_, other).value(), SizeIs(1));
}

}  // namespace
}  // namespace tidemark
