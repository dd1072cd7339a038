// The lock's rules in virtual time. Tests named Lnn are the cases of the lock family.
#include "executor/lock/lock_core.h"

#include <gtest/gtest.h>

#include "tests/executor/lock/core_bench.h"

namespace tidemark::lock {
namespace {

using Kind = LockNotice::Kind;
constexpr char kKey[] = "job:recon:2026-11-28";
constexpr absl::Duration kTtl = absl::Seconds(30);

class LockCoreTest : public testing::Test {
 protected:
  LockId Hold(CoreBench& bench, absl::Duration ttl = kTtl) {
    const LockId id = bench.core.Acquire(now_, kKey, ttl);
    bench.Step(now_);
    EXPECT_EQ(bench.Last(), Kind::kHeld);
    return id;
  }
  void Release(CoreBench& bench, LockId id) {
    bench.core.Release(now_, id);
    bench.Step(now_);
  }

  absl::Duration now_ = absl::Seconds(1000);
  VirtualRedis redis_;
  CoreBench a_{&redis_, "a"};
  CoreBench b_{&redis_, "b"};
};

TEST_F(LockCoreTest, HoldsExcludesAndReleases) {
  const LockId id = Hold(a_);
  b_.core.Acquire(now_, kKey, kTtl);
  b_.Step(now_);
  EXPECT_EQ(b_.Last(), Kind::kTaken);
  Release(a_, id);
  EXPECT_EQ(a_.Last(), Kind::kReleased);
  EXPECT_TRUE(a_.core.Idle());
  EXPECT_TRUE(b_.core.Idle());
  Hold(b_);
}

TEST_F(LockCoreTest, L01PauseLongerThanTheTtlIsALossAtTheFirstLook) {
  const LockId id = Hold(a_);
  now_ += absl::Seconds(45);  // a's watchdog does not run
  Hold(b_);
  a_.Step(now_);
  EXPECT_EQ(a_.Last(), Kind::kLost);
  EXPECT_EQ(a_.CountSent(LockCommand::Kind::kRenew), 0) << "a lost lock is not renewed";
  Release(a_, id);
  EXPECT_EQ(a_.Last(), Kind::kNotOwner);
  EXPECT_EQ(redis_.TokenAt(kKey, now_), "b1");
}

TEST_F(LockCoreTest, L02ReleaseByANonOwnerLeavesTheOthersKey) {
  const LockId id = Hold(a_);
  redis_.keys[kKey] = {"foreign", now_ + kTtl};
  Release(a_, id);
  EXPECT_EQ(a_.Last(), Kind::kNotOwner);
  EXPECT_EQ(redis_.TokenAt(kKey, now_), "foreign");
  a_.RunUntil(&now_, now_ + absl::Seconds(10));
  EXPECT_EQ(a_.CountSent(LockCommand::Kind::kRelease), 1) << "not asked again and again";
}

class LockCoreTtlTest : public LockCoreTest, public testing::WithParamInterface<absl::Duration> {};

TEST_P(LockCoreTtlTest, L04RenewsEveryThirdOfWhateverTtl) {
  const absl::Duration ttl = GetParam();
  const LockId id = Hold(a_, ttl);
  const absl::Duration end = now_ + 5 * ttl;
  while (now_ < end) {
    a_.RunUntil(&now_, now_ + ttl / 50);
    ASSERT_EQ(redis_.TokenAt(kKey, now_), "a1");
  }
  EXPECT_GE(a_.CountSent(LockCommand::Kind::kRenew), 14);
  EXPECT_LE(a_.CountSent(LockCommand::Kind::kRenew), 15);
  Release(a_, id);
  EXPECT_TRUE(redis_.keys.empty());
  a_.RunUntil(&now_, now_ + 2 * ttl);
  EXPECT_LE(a_.CountSent(LockCommand::Kind::kRenew), 15) << "after the release nothing is renewed";
}

INSTANTIATE_TEST_SUITE_P(Ttls, LockCoreTtlTest,
                         testing::Values(absl::Milliseconds(100), absl::Seconds(1), kTtl,
                                         absl::Hours(24)));

TEST_F(LockCoreTest, L06AKeyDeletedByHandIsALossAtTheNextRenewal) {
  Hold(a_);
  redis_.keys.clear();
  a_.RunUntil(&now_, now_ + kTtl / 3);
  ASSERT_EQ(a_.Last(), Kind::kLost);
  // Taken anew, it has a watchdog of its own, and the lost one does not disturb it.
  Hold(a_);
  for (int i = 0; i < 50; ++i) {
    a_.RunUntil(&now_, now_ + kTtl / 10);
    ASSERT_EQ(redis_.TokenAt(kKey, now_), "a2");
  }
  EXPECT_EQ(a_.Count(Kind::kLost), 1);
}

TEST_F(LockCoreTest, L06TheReleaseOfALostLockSparesTheOneTakenAnew) {
  const LockId lost = Hold(a_);
  redis_.keys.clear();
  a_.RunUntil(&now_, now_ + kTtl / 3);
  Hold(a_);
  Release(a_, lost);
  EXPECT_EQ(a_.Last(), Kind::kNotOwner);
  EXPECT_EQ(redis_.TokenAt(kKey, now_), "a2");
}

TEST_F(LockCoreTest, L07RenewalsThatFailEndTheHoldBeforeTheTtlDoes) {
  Hold(a_);
  const absl::Duration taken = now_;
  a_.link = CoreBench::Link::kDown;
  a_.RunUntil(&now_, taken + kTtl);
  EXPECT_EQ(a_.Count(Kind::kRenewalsFail), 1);
  ASSERT_EQ(a_.Last(), Kind::kLost);
  EXPECT_EQ(a_.seen.back().at, taken + kTtl - LockCore::Margin(kTtl));
  EXPECT_GT(a_.CountSent(LockCommand::Kind::kRenew), 5) << "it tries again before it gives up";
}

TEST_F(LockCoreTest, L07ASuccessAfterTheLossDoesNotUndoIt) {
  const LockId id = Hold(a_);
  a_.core.Tick(now_ + kTtl / 3);
  const auto commands = a_.core.TakeCommands();
  ASSERT_EQ(commands.size(), 1u);
  const absl::Duration sent = now_ + kTtl / 3;
  now_ += kTtl - absl::Seconds(1);
  // No tick between: the late answer itself finds the lock over.
  a_.core.OnReply(now_, commands[0], {LockReply::Kind::kDone, sent, ""});
  a_.Step(now_);
  EXPECT_EQ(a_.Last(), Kind::kLost);
  a_.RunUntil(&now_, now_ + kTtl);
  EXPECT_EQ(a_.CountSent(LockCommand::Kind::kRenew), 0);
  Release(a_, id);
}

TEST_F(LockCoreTest, L07AShortOutageIsSurvived) {
  Hold(a_);
  a_.link = CoreBench::Link::kDown;
  a_.RunUntil(&now_, now_ + absl::Seconds(20));
  a_.link = CoreBench::Link::kUp;
  a_.RunUntil(&now_, now_ + 3 * kTtl);
  EXPECT_EQ(a_.Count(Kind::kLost), 0);
  EXPECT_EQ(a_.Count(Kind::kRenewalsFail), 1);
  EXPECT_EQ(a_.Last(), Kind::kRenewalsResume);
  EXPECT_EQ(redis_.TokenAt(kKey, now_), "a1");
}

TEST_F(LockCoreTest, TheTtlCountsFromBeforeTheCommandLeft) {
  const LockId id = a_.core.Acquire(now_, kKey, kTtl);
  const auto commands = a_.core.TakeCommands();
  // Redis carried it out at once, the answer took 1.5 s.
  a_.core.OnReply(now_ + absl::Milliseconds(1500), commands[0], {LockReply::Kind::kDone, now_, ""});
  EXPECT_EQ(a_.core.NextWake(), now_ + kTtl / 3);
  a_.core.Release(now_ + absl::Seconds(2), id);
}

TEST_F(LockCoreTest, UnreachableIsToldAtOnceAndNoAnswerInTime) {
  a_.link = CoreBench::Link::kDown;
  a_.core.Acquire(now_, kKey, kTtl);
  a_.Step(now_);
  EXPECT_EQ(a_.Last(), Kind::kUnavailable);
  EXPECT_EQ(a_.seen.back().notice.detail, "cannot connect");
  EXPECT_TRUE(a_.core.Idle());

  b_.core.Acquire(now_, kKey, kTtl);
  const auto commands = b_.core.TakeCommands();
  now_ += absl::Seconds(2);
  b_.Step(now_);
  EXPECT_EQ(b_.Last(), Kind::kUnavailable);
  // Then it succeeds after all, and nobody waits: it is undone.
  redis_.Run(commands[0], now_, kTtl);
  b_.core.OnReply(now_, commands[0], {LockReply::Kind::kDone, now_, ""});
  b_.Step(now_);
  EXPECT_TRUE(redis_.keys.empty());
  EXPECT_TRUE(b_.core.Idle());
}

TEST_F(LockCoreTest, AnAcquisitionInDoubtIsUndoneAndTriedWithAnotherToken) {
  a_.link = CoreBench::Link::kNoAnswer;
  const LockId id = a_.core.Acquire(now_, kKey, kTtl);
  const auto first = a_.core.TakeCommands();
  redis_.Run(first[0], now_, kTtl);
  a_.link = CoreBench::Link::kUp;
  a_.core.OnReply(now_, first[0], {LockReply::Kind::kInDoubt, now_, "connection lost"});
  a_.Step(now_);
  EXPECT_EQ(a_.Last(), Kind::kHeld);
  EXPECT_EQ(redis_.TokenAt(kKey, now_), "a2");
  Release(a_, id);
  EXPECT_TRUE(a_.core.Idle());
}

TEST_F(LockCoreTest, ASetThatIsCarriedOutLateIsFoundByTheSecondLook) {
  const LockId id = a_.core.Acquire(now_, kKey, kTtl);
  const auto first = a_.core.TakeCommands();
  a_.core.Abandon(now_, id);
  a_.core.OnReply(now_, first[0], {LockReply::Kind::kInDoubt, now_, "no answer in time"});
  a_.Step(now_);  // finds nothing
  redis_.Run(first[0], now_, kTtl);
  a_.RunUntil(&now_, now_ + absl::Seconds(1));
  EXPECT_TRUE(redis_.keys.empty());
  EXPECT_TRUE(a_.core.Idle());
  EXPECT_TRUE(a_.seen.empty()) << "nobody waits for it";
}

TEST_F(LockCoreTest, AReleaseThatFailedIsTriedUntilRedisAnswers) {
  const LockId id = Hold(a_);
  a_.link = CoreBench::Link::kDown;
  Release(a_, id);
  EXPECT_EQ(a_.Last(), Kind::kReleaseUnknown);
  a_.RunUntil(&now_, now_ + absl::Seconds(10));
  EXPECT_EQ(redis_.TokenAt(kKey, now_), "a1");
  a_.link = CoreBench::Link::kUp;
  a_.RunUntil(&now_, now_ + absl::Seconds(1));
  EXPECT_TRUE(redis_.keys.empty());
  EXPECT_TRUE(a_.core.Idle());
}

TEST_F(LockCoreTest, AReleaseThatIsNeverAnsweredIsGivenUp) {
  const LockId id = Hold(a_);
  a_.link = CoreBench::Link::kDown;
  Release(a_, id);
  a_.RunUntil(&now_, now_ + 3 * kTtl);
  EXPECT_TRUE(a_.core.Idle());
  EXPECT_EQ(a_.core.NextWake(), absl::InfiniteDuration()) << "idle means idle";
}

}  // namespace
}  // namespace tidemark::lock
