// One trigger, one start: epochs, registrations, tombstones, de-duplication, the lease.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/executor/core_bench.h"

namespace tidemark::exec {
namespace {

TEST(Fencing, HelloSaysWhoItIs) {
  CoreBench bench;
  bench.Open(1);
  const v1::Hello hello = bench.LastHello(1);
  EXPECT_EQ(hello.executor_id(), "e1");
  EXPECT_EQ(hello.app(), "recon");
  EXPECT_EQ(hello.registration(), 0);
  EXPECT_EQ(hello.capacity(), 3u);
  ASSERT_EQ(hello.handlers_size(), 3);
  EXPECT_TRUE(hello.handlers(0).interruptible());
  bench.Welcome(1);
  bench.Close(1);
  bench.Open(2);
  EXPECT_EQ(bench.LastHello(2).registration(), 7);
}

TEST(Fencing, TriggerIsAcceptedAndStartedOnce) {
  CoreBench bench;
  bench.Connect(1);
  bench.Run(1, 1);
  EXPECT_EQ(bench.Starts(1), 1);
  bench.Advance(absl::Seconds(1));
  const auto reports = bench.Reports(1, 1);
  ASSERT_EQ(reports.size(), 1u) << "Started says that it was accepted, too";
  EXPECT_TRUE(reports[0].has_started());
  EXPECT_EQ(reports[0].registration(), 7);
}

TEST(Fencing, AcceptedIsSaidWhenTheHandlerIsNotEnteredSoon) {
  CoreBench bench;
  bench.Connect(1);
  bench.Trigger(1, CoreBench::MakeTrigger(1));
  bench.Trigger(1, CoreBench::MakeTrigger(2));
  EXPECT_TRUE(bench.Reports(1, 1).empty());
  bench.Advance(absl::Milliseconds(10));
  bench.Enter(2);
  bench.Advance(absl::Milliseconds(40));
  ASSERT_EQ(bench.Reports(1, 1).size(), 1u);
  EXPECT_TRUE(bench.Reports(1, 1)[0].has_accepted());
  EXPECT_EQ(bench.Reports(1, 1)[0].registration(), 7);
  bench.Advance(absl::Seconds(1));
  EXPECT_EQ(bench.Reports(1, 1).size(), 1u) << "once";
  EXPECT_EQ(bench.Reports(1, 2).size(), 1u);
  bench.Enter(1);
  EXPECT_TRUE(bench.Reports(1, 1).back().has_started());
}

TEST(Fencing, OfARunThatIsOverAtOnceTheEndSaysAll) {
  CoreBench bench;
  bench.Connect(1);
  bench.Trigger(1, CoreBench::MakeTrigger(1));
  bench.core.OnEntered(CoreBench::Key(1), bench.Now());
  bench.core.OnFinished(CoreBench::Key(1), {}, bench.Now());
  bench.Take();
  const auto reports = bench.Reports(1, 1);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_TRUE(reports[0].has_finished());
  EXPECT_TRUE(reports[0].finished().has_started_at());
}

TEST(Fencing, E09RepeatedTriggerIsAnsweredNotStarted) {
  CoreBench bench;
  bench.Connect(1);
  bench.Trigger(1, CoreBench::MakeTrigger(1));
  bench.Trigger(1, CoreBench::MakeTrigger(1));
  EXPECT_TRUE(bench.Reports(1, 1).back().has_accepted());
  bench.Enter(1);
  bench.Trigger(1, CoreBench::MakeTrigger(1));
  EXPECT_TRUE(bench.Reports(1, 1).back().has_started());
  bench.Finish(1);
  bench.Trigger(1, CoreBench::MakeTrigger(1));
  EXPECT_EQ(bench.Finishes(1, 1).size(), 2u);
  bench.Acknowledge(1, 1);
  bench.Trigger(1, CoreBench::MakeTrigger(1));  // acknowledged, but still known
  EXPECT_EQ(bench.Finishes(1, 1).size(), 3u);
  EXPECT_EQ(bench.Starts(1), 1);
}

TEST(Fencing, LowerEpochIsRefusedAndLeavesATombstone) {
  CoreBench bench;
  bench.Connect(1, "n1");
  bench.Connect(2, "n2");
  v1::Trigger newer = CoreBench::MakeTrigger(1);
  newer.mutable_epoch()->set_number(11);
  bench.Trigger(2, newer);
  bench.Trigger(1, CoreBench::MakeTrigger(2));  // epoch 10, same shard
  EXPECT_EQ(bench.Starts(2), 0);
  EXPECT_EQ(bench.LastRefusal(1, 2), v1::Refused::STALE_EPOCH);
  v1::Trigger again = CoreBench::MakeTrigger(2);
  again.mutable_epoch()->set_number(12);
  bench.Trigger(2, again);  // it was denied: nobody may start it here any more
  EXPECT_EQ(bench.Starts(2), 0);
  EXPECT_EQ(bench.LastRefusal(2, 2), v1::Refused::TOMBSTONE);
}

TEST(Fencing, TimelineComesBeforeNumber) {
  CoreBench bench;
  bench.Connect(1);
  v1::Trigger trigger = CoreBench::MakeTrigger(1);
  trigger.mutable_epoch()->set_timeline(2);
  trigger.mutable_epoch()->set_number(1);
  bench.Trigger(1, trigger);
  EXPECT_EQ(bench.Starts(1), 1);
  bench.Trigger(1, CoreBench::MakeTrigger(2));  // timeline 1, number 10
  EXPECT_EQ(bench.LastRefusal(1, 2), v1::Refused::STALE_EPOCH);
}

TEST(Fencing, EpochsAreKeptPerShard) {
  CoreBench bench;
  bench.Connect(1);
  v1::Trigger other = CoreBench::MakeTrigger(1);
  other.set_shard(2);
  other.mutable_epoch()->set_number(99);
  bench.Trigger(1, other);
  bench.Trigger(1, CoreBench::MakeTrigger(2));
  EXPECT_EQ(bench.Starts(2), 1);
}

TEST(Fencing, FormerOwnerLearnsNothingOfARunThatGoesOn) {
  CoreBench bench;
  bench.Connect(1, "n1");
  bench.Connect(2, "n2");
  v1::Trigger trigger = CoreBench::MakeTrigger(1);
  trigger.mutable_epoch()->set_number(11);
  bench.Trigger(2, trigger);
  bench.Enter(1);
  bench.Trigger(1, CoreBench::MakeTrigger(1));
  bench.Cancel(1, 1, 10);
  EXPECT_TRUE(bench.Reports(1, 1).empty());
  EXPECT_EQ(bench.Cancels(1), 0);
  EXPECT_EQ(bench.core.running(), 1u);
}

TEST(Fencing, WrongRegistrationIsRefused) {
  CoreBench bench;
  bench.Connect(1);
  v1::Trigger trigger = CoreBench::MakeTrigger(1);
  trigger.set_registration(6);
  bench.Trigger(1, trigger);
  EXPECT_EQ(bench.LastRefusal(1, 1), v1::Refused::WRONG_REGISTRATION);
  bench.Trigger(1, CoreBench::MakeTrigger(1));
  EXPECT_EQ(bench.LastRefusal(1, 1), v1::Refused::TOMBSTONE);
  EXPECT_EQ(bench.Starts(1), 0);
}

TEST(Fencing, OrderOnAStreamThatIsNotWelcomedDoesNothing) {
  CoreBench bench;
  bench.Open(1);
  bench.Trigger(1, CoreBench::MakeTrigger(1));
  EXPECT_EQ(bench.core.running(), 0u);
  bench.Welcome(1);
  bench.Close(1);
  bench.Trigger(1, CoreBench::MakeTrigger(1));  // bytes that arrive after the end
  EXPECT_EQ(bench.core.running(), 0u);
}

TEST(Fencing, RefusalsForReasonsOfItsOwn) {
  CoreBench bench;
  bench.Connect(1);
  bench.Trigger(1, CoreBench::MakeTrigger(1, "nobody"));
  EXPECT_EQ(bench.LastRefusal(1, 1), v1::Refused::UNKNOWN_HANDLER);
  v1::Trigger nameless = CoreBench::MakeTrigger(2);
  nameless.mutable_attempt()->set_run_id("../../etc/passwd");
  bench.Trigger(1, nameless);
  EXPECT_EQ(bench.core.running(), 0u);
  v1::Trigger unstoppable = CoreBench::MakeTrigger(3, "hard");
  unstoppable.set_on_lost(v1::RETRY);
  bench.Trigger(1, unstoppable);
  EXPECT_EQ(bench.LastRefusal(1, 3), v1::Refused::INVALID);
  v1::Trigger hasty = CoreBench::MakeTrigger(4);
  hasty.mutable_lost_after()->set_seconds(30);
  bench.Trigger(1, hasty);
  EXPECT_EQ(bench.LastRefusal(1, 4), v1::Refused::INVALID);
}

TEST(Fencing, CapacityAndConcurrency) {
  CoreBench bench;
  bench.Connect(1);
  bench.Run(1, 1, "single");
  bench.Trigger(1, CoreBench::MakeTrigger(2, "single"));
  EXPECT_EQ(bench.LastRefusal(1, 2), v1::Refused::CAPACITY);
  bench.Run(1, 3);
  bench.Run(1, 4);
  bench.Trigger(1, CoreBench::MakeTrigger(5));
  EXPECT_EQ(bench.LastRefusal(1, 5), v1::Refused::CAPACITY);
  bench.Advance(absl::Seconds(5));
  EXPECT_EQ(bench.LastHeartbeat(1).free_slots(), 0u);
  bench.Finish(3);
  bench.Trigger(1, CoreBench::MakeTrigger(6));
  EXPECT_EQ(bench.Starts(6), 1);
}

TEST(Fencing, CancelOfAnUnknownAttemptKeepsItFromStarting) {
  CoreBench bench;
  bench.Connect(1);
  bench.Cancel(1, 1);
  EXPECT_EQ(bench.LastRefusal(1, 1), v1::Refused::TOMBSTONE);
  bench.Trigger(1, CoreBench::MakeTrigger(1));
  EXPECT_EQ(bench.Starts(1), 0);
}

TEST(Fencing, TombstoneLastsForLostAfterAndAtLeastTenMinutes) {
  CoreBench bench;
  bench.Connect(1);
  v1::Trigger trigger = CoreBench::MakeTrigger(1, "nobody");
  trigger.mutable_lost_after()->set_seconds(1800);
  bench.Trigger(1, trigger);
  v1::Trigger brief = CoreBench::MakeTrigger(2, "nobody");
  brief.mutable_lost_after()->set_seconds(60);
  bench.Trigger(1, brief);
  const auto known = [&](int run) { return bench.core.outbox().Find(bench.Key(run)) != nullptr; };
  bench.Advance(absl::Seconds(599));
  EXPECT_TRUE(known(2));
  bench.Advance(absl::Seconds(2));
  EXPECT_FALSE(known(2));
  bench.Advance(absl::Seconds(1190));
  EXPECT_TRUE(known(1));
  bench.Advance(absl::Seconds(20));
  EXPECT_FALSE(known(1));
}

TEST(Fencing, RefusalIsRepeatedUntilAcknowledged) {
  CoreBench bench;
  bench.Connect(1);
  bench.Trigger(1, CoreBench::MakeTrigger(1, "nobody"));
  EXPECT_EQ(bench.Reports(1, 1).size(), 1u);
  bench.Advance(absl::Seconds(10));
  EXPECT_EQ(bench.Reports(1, 1).size(), 2u);
  bench.Acknowledge(1, 1);
  bench.Advance(absl::Seconds(60));
  EXPECT_EQ(bench.Reports(1, 1).size(), 2u);
}

// ---- the lease governs starting, and nothing else

TEST(Lease, E07TwoLostBeatsStayFourDoNot) {
  CoreBench bench;
  bench.Connect(1);
  bench.Ack(1);
  bench.Advance(absl::Seconds(14));  // beats at 5 and 10 unanswered
  bench.Trigger(1, CoreBench::MakeTrigger(1));
  EXPECT_EQ(bench.Starts(1), 1);
  bench.Advance(absl::Seconds(7));  // 21 s since the last answered one was sent
  bench.Trigger(1, CoreBench::MakeTrigger(2));
  EXPECT_EQ(bench.Starts(2), 0);
  bench.Advance(absl::Seconds(1));
  EXPECT_TRUE(bench.Reports(1, 2).back().has_accepted());
}

TEST(Lease, TriggerFromBeforeASuspensionStartsOnlyWhenTheOwnerNamesIt) {
  CoreBench bench;
  bench.Connect(1);
  bench.Ack(1);
  bench.Suspend(absl::Minutes(20));
  bench.Trigger(1, CoreBench::MakeTrigger(1));
  bench.Trigger(1, CoreBench::MakeTrigger(2));
  EXPECT_EQ(bench.Starts(1), 0);
  bench.Ack(1, {2});  // the heartbeat that asked; run 1 is no longer live here
  EXPECT_EQ(bench.Starts(1), 0);
  EXPECT_EQ(bench.Starts(2), 1);
  bench.Advance(absl::Seconds(17));
  EXPECT_EQ(bench.LastRefusal(1, 1), v1::Refused::LEASE_OVER);
  EXPECT_EQ(bench.core.running(), 1u);
}

TEST(Lease, DoesNotDisturbWhatRuns) {
  CoreBench bench;
  bench.Connect(1);
  bench.Run(1, 1, "hard");
  bench.Close(1);
  bench.Advance(absl::Hours(3));
  EXPECT_EQ(bench.Cancels(1), 0);
  bench.Connect(2);
  EXPECT_EQ(bench.LastHello(2).held_size(), 1);
  EXPECT_TRUE(bench.LastHello(2).held(0).started());
  bench.Finish(1);
  EXPECT_EQ(bench.Finishes(2, 1).size(), 1u);
}

TEST(Lease, AfterAWaitOnlyAnAnsweredHeartbeatProvesContact) {
  CoreBench bench;
  bench.Open(1);
  v1::SchedulerMessage wait;
  wait.mutable_wait()->set_message("another process");
  bench.Deliver(1, wait);
  bench.Advance(absl::Minutes(10));
  bench.Welcome(1);
  bench.Trigger(1, CoreBench::MakeTrigger(1));
  EXPECT_EQ(bench.Starts(1), 0);
  bench.Ack(1, {1});
  EXPECT_EQ(bench.Starts(1), 1);
}

}  // namespace
}  // namespace tidemark::exec
