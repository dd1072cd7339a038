#include "scheduler/store/lease.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <tuple>

#include "common/status.h"
#include "tests/store/flush_fixture.h"
#include "tests/support/process.h"

namespace tidemark {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class LeaseTest : public ::testing::Test {
 protected:
  absl::StatusOr<absl::Time> Register(Connection& connection, const Owner& owner,
                                      bool replace_live = false, const std::string& last_own = "") {
    return RegisterNode(connection, {owner, "addr", "v", absl::Hours(1)}, replace_live, last_own);
  }
  // Moves the time of every statement.
  void AdvanceTime(const std::string& interval) {
    database_.Sql(
        "CREATE OR REPLACE FUNCTION tidemark_now() RETURNS timestamptz LANGUAGE sql"
        " VOLATILE PARALLEL SAFE AS $$ SELECT clock_timestamp() + interval '" +
        interval + "' $$");
  }

  MigratedDatabase database_;
  std::unique_ptr<Connection> one_ = database_.Connect();
  std::unique_ptr<Connection> two_ = database_.Connect();
  const Owner a_{"a", Uuid(1)};
  const Owner b_{"b", Uuid(2)};
};

TEST_F(LeaseTest, SharesAreFairAndEpochsGrowWithEachOwner) {
  ASSERT_TRUE(Register(*one_, a_).ok());
  EXPECT_THAT(Predecessors(*one_, a_).value(), IsEmpty());
  const auto first = ClaimShards(*one_, a_).value();
  EXPECT_THAT(first, SizeIs(128));
  EXPECT_EQ(first.at(0), 1u);
  ASSERT_TRUE(ReleaseNode(*one_, a_).ok());
  // Two live nodes: half each.
  const Owner c{"c", Uuid(3)};
  ASSERT_TRUE(Register(*one_, b_).ok());
  ASSERT_TRUE(Register(*two_, c).ok());
  const auto half = ClaimShards(*one_, b_).value();
  EXPECT_THAT(half, SizeIs(64));
  EXPECT_EQ(half.begin()->second, 2u);
  ClusterView view = LookAtCluster(*two_, c).value();
  EXPECT_EQ(std::tie(view.share, view.owned, view.unowned, view.rows),
            std::make_tuple(64, 0, 64, 128));
  EXPECT_THAT(view.addresses, ::testing::ElementsAre("addr", "addr"));
  EXPECT_GT(view.first_end.value(), absl::Minutes(59));
  EXPECT_LE(view.first_end.value(), absl::Hours(1));
  EXPECT_THAT(ClaimShards(*two_, c).value(), SizeIs(64));
  EXPECT_THAT(ClaimShards(*two_, c).value(), IsEmpty());
  view = LookAtCluster(*two_, c).value();
  EXPECT_EQ(std::tie(view.share, view.owned, view.unowned), std::make_tuple(64, 64, 0));
}

TEST_F(LeaseTest, MoreAreClaimedUnderTheSameIncarnationUpToTheShare) {
  ASSERT_TRUE(Register(*one_, a_).ok());
  ASSERT_TRUE(Register(*two_, b_).ok());
  EXPECT_THAT(ClaimShards(*one_, a_).value(), SizeIs(64));
  EXPECT_THAT(ClaimShards(*two_, b_).value(), SizeIs(64));
  ASSERT_TRUE(ReleaseNode(*two_, b_).ok());
  const auto more = ClaimShards(*one_, a_).value();
  EXPECT_THAT(more, SizeIs(64));
  EXPECT_EQ(more.begin()->second, 2u);  // a new owner, a new epoch
  EXPECT_EQ(database_.Sql("SELECT count(*) || ' ' || min(epoch) || ' ' || max(epoch) FROM shard"
                          " WHERE node_id = 'a'"),
            "128 1 2");
}

TEST_F(LeaseTest, ADrainedNodesShareIsNoneUntilANewProcessComes) {
  ASSERT_TRUE(Register(*one_, a_).ok());
  ASSERT_TRUE(Register(*two_, b_).ok());
  database_.Sql("UPDATE scheduler_node SET draining = true WHERE node_id = 'a'");
  EXPECT_EQ(LookAtCluster(*one_, a_).value().share, 0);
  EXPECT_EQ(LookAtCluster(*two_, b_).value().share, 128);
  EXPECT_THAT(ClaimShards(*one_, a_).value(), IsEmpty());
  EXPECT_THAT(ClaimShards(*two_, b_).value(), SizeIs(128));
  // The next term of the same process is as drained.
  const Owner next{"a", Uuid(11)};
  ASSERT_TRUE(Register(*one_, next, false, a_.incarnation).ok());
  EXPECT_EQ(LookAtCluster(*one_, next).value().share, 0);
  const Owner restarted{"a", Uuid(12)};
  ASSERT_TRUE(Register(*one_, restarted, true).ok());
  EXPECT_EQ(LookAtCluster(*one_, restarted).value().share, 64);
}

TEST_F(LeaseTest, ARenewalTellsHowTheNodeIs) {
  ASSERT_TRUE(Register(*one_, a_).ok());
  const auto told = [&] {
    return database_.Rows("SELECT clock_offset, clock_uncertainty, lag FROM scheduler_node");
  };
  EXPECT_THAT(told(), ::testing::ElementsAre("-|-|-"));
  NodeVitals vitals{-absl::Seconds(2), absl::Microseconds(300), absl::Milliseconds(5)};
  ASSERT_TRUE(RenewLease(*one_, a_, absl::Hours(1), vitals).value().has_value());
  EXPECT_THAT(told(), ::testing::ElementsAre("-2000000|300|5000"));
}

TEST_F(LeaseTest, ShardsThatWereOwnedOnAnotherTimelineSaySo) {
  bool failed_over = true;
  ASSERT_TRUE(Register(*one_, a_).ok());
  EXPECT_THAT(ClaimShards(*one_, a_, 1, &failed_over).value(), SizeIs(128));
  EXPECT_FALSE(failed_over);  // nobody had them before
  ASSERT_TRUE(ReleaseNode(*one_, a_).ok());
  ASSERT_TRUE(Register(*two_, b_).ok());
  ClaimShards(*two_, b_, 1, &failed_over).value();
  EXPECT_FALSE(failed_over);
  ASSERT_TRUE(ReleaseNode(*two_, b_).ok());
  // A standby was promoted. The one that takes the shards may die before it has asked around.
  for (int owner = 20; owner < 22; ++owner) {
    const Owner next{"c", Uuid(owner)};
    ASSERT_TRUE(Register(*one_, next, true).ok());
    ClaimShards(*one_, next, 2, &failed_over).value();
    EXPECT_TRUE(failed_over) << owner;
    ASSERT_TRUE(ReleaseNode(*one_, next).ok());
  }
  AdvanceTime("11 minutes");
  const Owner last{"c", Uuid(22)};
  ASSERT_TRUE(Register(*one_, last, true).ok());
  ClaimShards(*one_, last, 2, &failed_over).value();
  EXPECT_FALSE(failed_over);
}

// The old process of a restarted node looks once more: it must not fence its successor.
TEST_F(LeaseTest, ANodeThatWasReplacedFencesNobodyOfItsName) {
  const Owner again{"a", Uuid(9)};
  ASSERT_TRUE(Register(*one_, a_, true).ok());
  ASSERT_TRUE(Register(*two_, again, true).ok());
  EXPECT_THAT(Predecessors(*two_, again).value(), SizeIs(1));
  EXPECT_THAT(Predecessors(*one_, a_).value(), IsEmpty());
}

TEST_F(LeaseTest, O01ALiveOwnersShardsAreNotTaken) {
  ASSERT_TRUE(Register(*one_, a_).ok());
  ClaimShards(*one_, a_).value();
  ASSERT_TRUE(Register(*two_, b_).ok());
  EXPECT_THAT(Predecessors(*two_, b_).value(), IsEmpty());
  EXPECT_THAT(ClaimShards(*two_, b_).value(), IsEmpty());
}

TEST_F(LeaseTest, ALeaseThatRanOutIsNeverRenewedAndItsShardsAreTakenOnceFenced) {
  ASSERT_TRUE(Register(*one_, a_).ok());
  ClaimShards(*one_, a_).value();
  AdvanceTime("30 minutes");
  EXPECT_TRUE(RenewLease(*one_, a_, absl::Hours(1)).value().has_value());
  AdvanceTime("2 hours");
  EXPECT_FALSE(RenewLease(*one_, a_, absl::Hours(1)).value().has_value());
  ASSERT_TRUE(Register(*two_, b_).ok());
  const auto predecessors = Predecessors(*two_, b_).value();
  ASSERT_THAT(predecessors, SizeIs(1));
  EXPECT_EQ(predecessors[0].incarnation, a_.incarnation);
  EXPECT_THAT(ClaimShards(*two_, b_).value(), IsEmpty());  // not fenced yet
  ASSERT_TRUE(Fence(*two_, predecessors[0]).ok());
  EXPECT_THAT(ClaimShards(*two_, b_).value(), SizeIs(128));
  // The clock goes back: the old lease looks valid again, and is not.
  AdvanceTime("0 seconds");
  EXPECT_FALSE(RenewLease(*one_, a_, absl::Hours(1)).value().has_value());
}

TEST_F(LeaseTest, TwoProcessesWithOneIdDoNotTakeTurns) {
  const Owner again{"a", Uuid(9)};
  ASSERT_TRUE(Register(*one_, a_, true).ok());
  ASSERT_TRUE(Register(*two_, again, true).ok());  // a restart takes over at once
  const Owner back{"a", Uuid(10)};
  const auto refused = Register(*one_, back, false, a_.incarnation);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  // Its own last incarnation it may replace, and one whose lease is over.
  EXPECT_TRUE(Register(*two_, {"a", Uuid(11)}, false, again.incarnation).ok());
  AdvanceTime("2 hours");
  EXPECT_TRUE(Register(*one_, back, false, a_.incarnation).ok());
}

// The interleaving that an epoch alone does not stop: the old owner has written, not committed,
// when the new one takes over. The new one's snapshot must have what the old one commits.
TEST_F(LeaseTest, ATakeOverWaitsForTheOldOwnersOpenTransaction) {
  InsertJob(database_, 100, "recon");
  ASSERT_TRUE(Register(*one_, a_).ok());
  ClaimShards(*one_, a_).value();
  AdvanceTime("2 hours");
  ASSERT_TRUE(Register(*two_, b_).ok());
  bool fenced = false;
  std::thread take_over;
  SeededRandom random(1);
  const absl::Status committed = one_->Transact([&](SqlTransaction& transaction) -> absl::Status {
    Flush flush;  // it holds the fence by itself
    flush.seq = 1;
    flush.opens.push_back({MakeRun(100, "recon", "2026-11-27", Uuid(50)), ""});
    FlushResult result;
    EXPECT_TRUE(WriteFlush(transaction, a_, flush, {}, random, SystemClock(), &result).ok());
    take_over = std::thread([&] { fenced = Fence(*two_, a_).ok(); });
    EXPECT_TRUE(WaitFor([&] {
      return database_.Sql(
                 "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                 " AND query LIKE '%node_fence%' AND datname = current_database()") == "1";
    }));
    EXPECT_FALSE(fenced);
    EXPECT_THAT(database_.Sql("SELECT count(*) FROM active_run"), "0");
    return absl::OkStatus();
  });
  take_over.join();
  EXPECT_TRUE(committed.ok()) << committed;
  EXPECT_TRUE(fenced);
  EXPECT_THAT(ClaimShards(*two_, b_).value(), SizeIs(128));
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM active_run"), "1");
  // From here on the old owner writes nothing.
  const absl::Status late = one_->Transact([&](SqlTransaction& transaction) -> absl::Status {
    return HoldFence(transaction, a_).status();
  });
  EXPECT_TRUE(IsTermOver(late)) << late;
}

// The other way round: the fence is marked, not committed, when the old owner's flush begins. Its
// one statement sees the database as it was before that, and must do nothing all the same.
TEST_F(LeaseTest, AFlushThatWaitsForATakeOverChangesNothing) {
  InsertJob(database_, 100, "recon");
  ASSERT_TRUE(Register(*one_, a_).ok());
  ClaimShards(*one_, a_).value();
  SeededRandom random(1);
  const ActiveRun live = MakeRun(100, "recon", "2026-11-26", Uuid(50));
  const auto write = [&](Flush flush) {
    return one_->Transact([&](SqlTransaction& transaction) {
      FlushResult result;
      return WriteFlush(transaction, a_, flush, {}, random, SystemClock(), &result);
    });
  };
  Flush first;
  first.seq = 1;
  first.opens.push_back({live, ""});
  ASSERT_TRUE(write(first).ok());
  Flush late;
  late.seq = 2;
  late.opens.push_back({MakeRun(100, "recon", "2026-11-27", Uuid(51)), ""});
  late.closes.push_back({live.run_id, live, RunStatus::kCompleted, "", {}, "DONE", live.fire_time});
  late.cursors.push_back({100, live.fire_time});
  absl::Status status;
  std::thread flush;
  const absl::Status fenced = two_->Transact([&](SqlTransaction& transaction) -> absl::Status {
    TM_RETURN_IF_ERROR(transaction
                           .Run("UPDATE node_fence SET fenced = true WHERE node_id = $1 AND "
                                "incarnation = $2::uuid",
                                {a_.node_id, a_.incarnation})
                           .status());
    flush = std::thread([&] { status = write(late); });
    EXPECT_TRUE(WaitFor([&] {
      return database_.Sql(
                 "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                 " AND query LIKE '%node_fence%' AND datname = current_database()") == "1";
    }));
    return absl::OkStatus();
  });
  flush.join();
  EXPECT_TRUE(fenced.ok()) << fenced;
  EXPECT_TRUE(IsTermOver(status)) << status;
  EXPECT_EQ(database_.Sql("SELECT run_id FROM active_run"), Uuid(50));
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM run_history"), "0");
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM job_cursor"), "0");
  EXPECT_EQ(database_.Sql("SELECT string_agg(status, ' ') FROM job_watermark"), "RUNNING");
  EXPECT_EQ(database_.Sql("SELECT seq FROM flush"), "1");
}

// A process that was stopped for longer than its lease wakes up in the middle of what it did.
TEST_F(LeaseTest, L01TheNextWriteOfAnOwnerThatWasStoppedChangesNothing) {
  InsertJob(database_, 100, "recon");
  ASSERT_TRUE(Register(*one_, a_).ok());
  const auto old_epochs = ClaimShards(*one_, a_).value();
  AdvanceTime("2 hours");
  ASSERT_TRUE(Register(*two_, b_).ok());
  ASSERT_TRUE(Fence(*two_, a_).ok());
  const auto new_epochs = ClaimShards(*two_, b_).value();
  EXPECT_GT(new_epochs.at(0), old_epochs.at(0));  // executors refuse the old one's triggers
  SeededRandom random(1);
  const absl::Status late = one_->Transact([&](SqlTransaction& transaction) -> absl::Status {
    Flush flush;
    flush.seq = 1;
    flush.opens.push_back({MakeRun(100, "recon", "2026-11-27", Uuid(50)), ""});
    FlushResult result;
    return WriteFlush(transaction, a_, flush, {}, random, SystemClock(), &result);
  });
  EXPECT_TRUE(IsTermOver(late)) << late;
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM active_run"), "0");
  // Its next renewal makes a follower of it.
  EXPECT_FALSE(RenewLease(*one_, a_, absl::Hours(1)).value().has_value());
}

TEST_F(LeaseTest, AFencedNodeClaimsNothing) {
  ASSERT_TRUE(Register(*one_, a_).ok());
  ASSERT_TRUE(Fence(*two_, a_).ok());
  EXPECT_TRUE(IsTermOver(ClaimShards(*one_, a_).status()));
}

TEST_F(LeaseTest, O01AnOwnerWithoutAFenceRowIsFencedForGood) {
  ASSERT_TRUE(Register(*one_, a_).ok());
  ClaimShards(*one_, a_).value();
  database_.Sql("DELETE FROM node_fence");
  database_.Sql("DELETE FROM scheduler_node");
  ASSERT_TRUE(Register(*two_, b_).ok());
  ASSERT_THAT(Predecessors(*two_, b_).value(), SizeIs(1));
  ASSERT_TRUE(Fence(*two_, a_).ok());
  EXPECT_THAT(ClaimShards(*two_, b_).value(), SizeIs(128));
}

TEST_F(LeaseTest, O01MissingShardsAreToldAndNobodyServes) {
  ASSERT_TRUE(Register(*one_, a_).ok());
  EXPECT_TRUE(CheckShards(*one_, a_).ok());
  database_.Sql("DELETE FROM shard WHERE shard > 125");
  for (int look = 0; look < 2; ++look) {
    const absl::Status missing = CheckShards(*one_, a_);
    EXPECT_EQ(missing.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(missing.message()), ::testing::HasSubstr("2 rows"));
  }
  EXPECT_EQ(database_.Sql("SELECT string_agg(kind, ' ') FROM alert WHERE resolved_at IS NULL"),
            "shards_missing");
  // As the alert says.
  const std::string mend = database_.Sql("SELECT detail FROM alert");
  database_.Sql(mend.substr(mend.find("INSERT")));
  EXPECT_TRUE(CheckShards(*one_, a_).ok());
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM alert WHERE resolved_at IS NULL"), "0");
  EXPECT_THAT(ClaimShards(*one_, a_).value(), SizeIs(128));
}

TEST_F(LeaseTest, HousekeepingMakesPartitionsAheadAndForgetsOldTerms) {
  ASSERT_TRUE(Register(*one_, a_).ok());
  ClaimShards(*one_, a_).value();
  ASSERT_TRUE(ReleaseNode(*one_, a_).ok());
  ASSERT_TRUE(Register(*two_, b_).ok());  // and is killed
  AdvanceTime("2 days");
  ASSERT_TRUE(Housekeeping(*one_).ok());
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM scheduler_node"), "1");
  AdvanceTime("70 days");
  ASSERT_TRUE(Housekeeping(*one_).ok());
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM scheduler_node"), "0");
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM node_fence"), "0");
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM flush"), "0");
  EXPECT_EQ(database_.Sql(
                "SELECT to_regclass('run_history_' || to_char((tidemark_now() AT TIME ZONE 'UTC')"
                " + interval '2 months', 'YYYYMM')) IS NOT NULL"),
            "t");
  EXPECT_GE(ReadTimeline(*one_).value(), 1u);
}

}  // namespace
}  // namespace tidemark
