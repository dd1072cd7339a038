// One suite of two-session interleavings, against the simulated database and against PostgreSQL: so
// that what the simulation proves is no fiction.
#include "tests/sim/interleavings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/store/flush_fixture.h"

namespace tidemark::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kDate[] = "2026-11-27";
constexpr char kNext[] = "2026-11-28";

class InterleavingsTest : public ::testing::TestWithParam<bool> {
 protected:
  // Node a owns all shards.
  void SetUp() override {
    ASSERT_TRUE(db_->Register(a_, true, ""));
    ASSERT_EQ(db_->Claim(a_), 128);
  }
  // … until its lease is over, and node b is there.
  void LetALoseItsLease() {
    db_->Advance(absl::Seconds(11));
    ASSERT_TRUE(db_->Register(b_, true, ""));
    ASSERT_THAT(db_->Predecessors(b_), ElementsAre(a_.incarnation));
  }
  Step Open(const std::string& session, const Owner& owner, uint64_t seq, const char* date,
            int run) {
    return db_->Begin(session, owner, seq, date, Uuid(run));
  }

  const std::unique_ptr<InterleavedCluster> db_ =
      GetParam() ? MakePostgresCluster() : MakeSimulatedCluster();
  const Owner a_{"a", Uuid(901)};
  const Owner b_{"b", Uuid(902)};
};

TEST_P(InterleavingsTest, ATakeOverWaitsForAnOpenFlushAndLoadsWhatItCommits) {
  ASSERT_EQ(Open("a", a_, 1, kDate, 50), Step::kDone);
  LetALoseItsLease();
  EXPECT_EQ(db_->Fence(a_), Step::kWaits);
  EXPECT_EQ(db_->Claim(b_), 0) << "not before it is fenced";
  EXPECT_THAT(db_->Commit("a"), ElementsAre(Uuid(50)));
  EXPECT_EQ(db_->Fenced(), Step::kDone);
  EXPECT_EQ(db_->Claim(b_), 128);
  EXPECT_THAT(db_->Load(b_), ElementsAre(Uuid(50)));
}

TEST_P(InterleavingsTest, ATakeOverGoesOnWhenTheOpenFlushIsRolledBack) {
  ASSERT_EQ(Open("a", a_, 1, kDate, 50), Step::kDone);
  LetALoseItsLease();
  EXPECT_EQ(db_->Fence(a_), Step::kWaits);
  db_->RollBack("a");
  EXPECT_EQ(db_->Fenced(), Step::kDone);
  EXPECT_EQ(db_->Claim(b_), 128);
  EXPECT_THAT(db_->Load(b_), IsEmpty());
}

TEST_P(InterleavingsTest, AFencedOwnerWritesNothingMore) {
  LetALoseItsLease();
  EXPECT_EQ(db_->Fence(a_), Step::kDone);
  EXPECT_EQ(Open("a", a_, 1, kDate, 50), Step::kRefused);
  EXPECT_EQ(db_->Claim(a_), 0);
  EXPECT_EQ(db_->Claim(b_), 128);
  EXPECT_THAT(db_->Load(b_), IsEmpty());
}

TEST_P(InterleavingsTest, ALeaseThatIsOverStopsNoFlushBeforeTheFence) {
  LetALoseItsLease();
  EXPECT_EQ(Open("a", a_, 1, kDate, 50), Step::kDone) << "the fence decides, not the clock";
  EXPECT_THAT(db_->Commit("a"), ElementsAre(Uuid(50)));
  EXPECT_EQ(db_->Fence(a_), Step::kDone);
  EXPECT_EQ(db_->Claim(b_), 128);
  EXPECT_THAT(db_->Load(b_), ElementsAre(Uuid(50)));
}

TEST_P(InterleavingsTest, RenewalWaitsForNoFlushAndDoesNotReviveALease) {
  ASSERT_EQ(Open("a", a_, 1, kDate, 50), Step::kDone);
  db_->Advance(absl::Seconds(8));
  EXPECT_TRUE(db_->Renew(a_));
  db_->Advance(absl::Seconds(8));
  EXPECT_TRUE(db_->Renew(a_));
  db_->Advance(absl::Seconds(11));
  EXPECT_FALSE(db_->Renew(a_));
  db_->Advance(-absl::Seconds(11));  // the database's clock goes back
  EXPECT_TRUE(db_->Renew(a_)) << "nobody fenced it";
  EXPECT_THAT(db_->Commit("a"), ElementsAre(Uuid(50)));
  EXPECT_EQ(db_->Fence(a_), Step::kDone);
  EXPECT_FALSE(db_->Renew(a_));
}

TEST_P(InterleavingsTest, AnOccurrenceIsLiveOnce) {
  ASSERT_EQ(Open("a", a_, 1, kDate, 50), Step::kDone);
  EXPECT_THAT(db_->Commit("a"), ElementsAre(Uuid(50)));
  ASSERT_EQ(Open("a", a_, 2, kDate, 51), Step::kDone);
  EXPECT_THAT(db_->Commit("a"), IsEmpty());
  LetALoseItsLease();
  EXPECT_EQ(db_->Fence(a_), Step::kDone);
  EXPECT_EQ(db_->Claim(b_), 128);
  ASSERT_EQ(Open("b", b_, 1, kDate, 52), Step::kDone);
  EXPECT_THAT(db_->Commit("b"), IsEmpty());
  EXPECT_THAT(db_->Load(b_), ElementsAre(Uuid(50)));
}

TEST_P(InterleavingsTest, FlushesAreCountedAndNoneIsLeftOutOrRepeated) {
  EXPECT_EQ(Open("a", a_, 2, kDate, 50), Step::kRefused);
  ASSERT_EQ(Open("a", a_, 1, kDate, 50), Step::kDone);
  EXPECT_THAT(db_->Commit("a"), ElementsAre(Uuid(50)));
  EXPECT_EQ(Open("a", a_, 1, kNext, 51), Step::kRefused);
  EXPECT_EQ(Open("a", a_, 3, kNext, 51), Step::kRefused);
  ASSERT_EQ(Open("a", a_, 2, kNext, 51), Step::kDone);
  EXPECT_THAT(db_->Commit("a"), ElementsAre(Uuid(51)));
}

TEST_P(InterleavingsTest, ACommitInDoubtIsSettledByWaitingForItsBackend) {
  ASSERT_EQ(Open("a", a_, 1, kDate, 50), Step::kDone);
  EXPECT_EQ(db_->Settle(a_), Step::kWaits);
  EXPECT_THAT(db_->Commit("a"), ElementsAre(Uuid(50)));
  EXPECT_EQ(db_->Settled(), 1u);
  ASSERT_EQ(Open("a", a_, 2, kNext, 51), Step::kDone);
  EXPECT_EQ(db_->Settle(a_), Step::kWaits);
  db_->RollBack("a");
  EXPECT_EQ(db_->Settled(), 1u);
}

TEST_P(InterleavingsTest, ARetryWaitsForTheTransactionThatABrokenConnectionLeftOpen) {
  ASSERT_EQ(Open("left", a_, 1, kDate, 50), Step::kDone);
  EXPECT_EQ(Open("again", a_, 1, kDate, 50), Step::kWaits);
  db_->RollBack("left");
  EXPECT_EQ(db_->Look("again"), Step::kDone);
  EXPECT_THAT(db_->Commit("again"), ElementsAre(Uuid(50)));
  ASSERT_EQ(Open("left", a_, 2, kNext, 51), Step::kDone);
  EXPECT_EQ(Open("again", a_, 2, kNext, 51), Step::kWaits);
  EXPECT_THAT(db_->Commit("left"), ElementsAre(Uuid(51)));
  EXPECT_EQ(db_->Look("again"), Step::kRefused) << "it was committed after all";
}

TEST_P(InterleavingsTest, TwoTakeOversShareWhatADeadNodeLeft) {
  db_->Advance(absl::Seconds(11));
  const Owner c{"c", Uuid(903)};
  ASSERT_TRUE(db_->Register(b_, true, ""));
  ASSERT_TRUE(db_->Register(c, true, ""));
  EXPECT_EQ(db_->Fence(a_), Step::kDone);
  EXPECT_EQ(db_->Claim(b_), 64);
  EXPECT_THAT(db_->Predecessors(c), ElementsAre(a_.incarnation));
  EXPECT_EQ(db_->Fence(a_), Step::kDone);  // once more
  EXPECT_EQ(db_->Claim(c), 64);
  EXPECT_EQ(db_->Claim(b_), 0);
  EXPECT_THAT(db_->Predecessors(b_), IsEmpty());
}

TEST_P(InterleavingsTest, ANewTermWaitsForTheLastFlushOfItsOwn) {
  ASSERT_EQ(Open("a", a_, 1, kDate, 50), Step::kDone);
  const Owner again{"a", Uuid(904)};
  ASSERT_TRUE(db_->Register(again, false, a_.incarnation));
  EXPECT_FALSE(db_->Renew(a_));
  EXPECT_THAT(db_->Predecessors(again), ElementsAre(a_.incarnation));
  EXPECT_EQ(db_->Fence(a_), Step::kWaits);
  EXPECT_THAT(db_->Commit("a"), ElementsAre(Uuid(50)));
  EXPECT_EQ(db_->Fenced(), Step::kDone);
  EXPECT_EQ(db_->Claim(again), 128);
  EXPECT_THAT(db_->Load(again), ElementsAre(Uuid(50)));
}

TEST_P(InterleavingsTest, ShardsThatAreGivenBackAreFreeAtOnce) {
  ASSERT_EQ(Open("a", a_, 1, kDate, 50), Step::kDone);
  EXPECT_THAT(db_->Commit("a"), ElementsAre(Uuid(50)));
  ASSERT_TRUE(db_->Register(b_, true, ""));
  EXPECT_EQ(db_->Claim(b_), 0);
  db_->Release(a_);
  EXPECT_EQ(Open("a", a_, 2, kNext, 51), Step::kRefused);
  EXPECT_FALSE(db_->Renew(a_));
  EXPECT_EQ(db_->Claim(b_), 128);
  EXPECT_THAT(db_->Load(b_), ElementsAre(Uuid(50)));
}

TEST_P(InterleavingsTest, AnotherProcessOfTheNodeWaitsForTheLease) {
  const Owner other{"a", Uuid(905)};
  EXPECT_FALSE(db_->Register(other, false, Uuid(999)));
  EXPECT_TRUE(db_->Renew(a_));
  db_->Advance(absl::Seconds(11));
  EXPECT_TRUE(db_->Register(other, false, Uuid(999)));
  EXPECT_FALSE(db_->Renew(a_));
}

INSTANTIATE_TEST_SUITE_P(Databases, InterleavingsTest, ::testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "PostgreSQL" : "Simulated");
});

}  // namespace
}  // namespace tidemark::sim
