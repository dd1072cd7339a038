// Losing contact, cancelling, timeouts.
#include <gtest/gtest.h>

#include "tests/executor/core_bench.h"

namespace tidemark::exec {
namespace {

HandlerResult Stopped() {
  HandlerResult result;
  result.kind = HandlerResult::Kind::kStopped;
  return result;
}

TEST(Lost, RetryIsCancelledBeforeLostAfterLessTheGrace) {
  CoreBench bench;
  bench.Connect(1);
  bench.Ack(1);  // answers the heartbeat of second 0
  bench.Run(1, 1);
  bench.Close(1);
  bench.Advance(absl::Seconds(269));
  EXPECT_EQ(bench.Cancels(1), 0);
  bench.Advance(absl::Seconds(1));
  EXPECT_EQ(bench.Cancels(1), 1);
  bench.Finish(1, Stopped());
  bench.Advance(absl::Minutes(10));
  EXPECT_TRUE(bench.All<AbortEffect>().empty());
  bench.Open(2);
  ASSERT_EQ(bench.LastHello(2).results_size(), 1);
  EXPECT_EQ(bench.LastHello(2).results(0).finished().outcome(), v1::Finished::STOPPED);
}

TEST(Lost, HandlerThatIgnoresTheCancelTakesTheProcessDown) {
  CoreBench bench;
  bench.Connect(1);
  bench.Run(1, 1);
  bench.Close(1);
  bench.Advance(absl::Seconds(299));
  EXPECT_TRUE(bench.All<AbortEffect>().empty());
  bench.Advance(absl::Seconds(1));
  EXPECT_EQ(bench.All<AbortEffect>().size(), 1u);
}

TEST(Lost, ClockRunsFromTheSendingOfTheAnsweredHeartbeat) {
  CoreBench bench;
  bench.Connect(1);
  bench.Run(1, 1);
  bench.Advance(absl::Seconds(5));  // a heartbeat leaves at second 5 …
  bench.Advance(absl::Seconds(4));
  bench.Ack(1, {1});  // … and its answer comes at second 9
  bench.Close(1);
  bench.Advance(absl::Seconds(265));  // second 274
  EXPECT_EQ(bench.Cancels(1), 0);
  bench.Advance(absl::Seconds(1));  // second 275 = 5 + 270, not 9 + 270
  EXPECT_EQ(bench.Cancels(1), 1);
}

TEST(Lost, AnswersThatDoNotNameTheAttemptDoNotExtendIt) {
  CoreBench bench;
  bench.Connect(1, "n1");
  bench.Connect(2, "n2");
  bench.Run(1, 1);
  bench.AdvanceInContact(2, absl::Seconds(275), {});  // contact with another node only
  EXPECT_EQ(bench.Cancels(1), 1);
}

TEST(Lost, NewOwnerThatNamesItExtendsIt) {
  CoreBench bench;
  bench.Connect(1, "n1");
  bench.Connect(2, "n2");
  bench.Run(1, 1);
  bench.Close(1);
  bench.AdvanceInContact(2, absl::Minutes(30), {1});
  EXPECT_EQ(bench.Cancels(1), 0);
  bench.core.OnProgress(CoreBench::Key(1), {50, "row-5", ""}, bench.Now());
  bench.Take();
  ASSERT_FALSE(bench.Reports(2, 1).empty());  // reports go to the new owner
  EXPECT_EQ(bench.Reports(2, 1).back().progress().checkpoint(), "row-5");
}

TEST(Lost, ThreeHoursInContactAreLeftAlone) {
  CoreBench bench;
  bench.Connect(1);
  bench.Run(1, 1);
  bench.AdvanceInContact(1, absl::Hours(3), {1});
  EXPECT_EQ(bench.Cancels(1), 0);
}

TEST(Lost, WaitGoesOn) {
  CoreBench bench;
  bench.Connect(1);
  bench.Run(1, 1, "hard");
  bench.Close(1);
  bench.Advance(absl::Hours(5));
  EXPECT_EQ(bench.Cancels(1), 0);
  EXPECT_TRUE(bench.All<AbortEffect>().empty());
}

TEST(Lost, ContactAgainWithinTheGraceSavesTheProcess) {
  CoreBench bench;
  bench.Connect(1);
  bench.Run(1, 1);
  bench.Close(1);
  bench.Advance(absl::Seconds(280));
  EXPECT_EQ(bench.Cancels(1), 1);
  bench.Connect(2);
  bench.Ack(2, {1});
  bench.Advance(absl::Seconds(25));
  EXPECT_TRUE(bench.All<AbortEffect>().empty());
}

TEST(Lost, SuspendedPastLostAfterEndsAtOnce) {
  CoreBench bench;
  bench.Connect(1);
  bench.Run(1, 1);
  bench.Suspend(absl::Minutes(6));
  bench.Advance(absl::ZeroDuration());
  EXPECT_EQ(bench.All<AbortEffect>().size(), 1u);
}

TEST(Cancel, RunningRunIsCancelledOnceAndReportsStopped) {
  CoreBench bench;
  bench.Connect(1);
  bench.Run(1, 1, "hard");
  bench.Cancel(1, 1);
  bench.Cancel(1, 1);
  EXPECT_EQ(bench.Cancels(1), 1);
  bench.Finish(1, Stopped());
  ASSERT_EQ(bench.Finishes(1, 1).size(), 1u);
  EXPECT_EQ(bench.Finishes(1, 1)[0].outcome(), v1::Finished::STOPPED);
  EXPECT_EQ(bench.Finishes(1, 1)[0].message(), "by ann");
}

TEST(Cancel, RunThatSucceedsAllTheSameSaysSo) {
  CoreBench bench;
  bench.Connect(1);
  bench.Run(1, 1);
  bench.Cancel(1, 1);
  bench.Finish(1);
  EXPECT_EQ(bench.Finishes(1, 1)[0].outcome(), v1::Finished::SUCCEEDED);
}

TEST(Cancel, QueuedRunIsRefusedWithATombstone) {
  CoreBench bench;
  bench.Connect(1);
  bench.Ack(1);
  bench.Suspend(absl::Minutes(1));
  bench.Trigger(1, CoreBench::MakeTrigger(1));  // queued: the lease is over
  bench.Cancel(1, 1);
  EXPECT_EQ(bench.LastRefusal(1, 1), v1::Refused::CANCELLED);
  bench.Ack(1, {1});
  bench.Trigger(1, CoreBench::MakeTrigger(1));
  EXPECT_EQ(bench.Starts(1), 0);
}

TEST(Cancel, BeforeTheHandlerIsEnteredIsARefusal) {
  CoreBench bench;
  bench.Connect(1);
  bench.Trigger(1, CoreBench::MakeTrigger(1));
  bench.Cancel(1, 1);
  bench.core.OnNotEntered(CoreBench::Key(1), false, "by ann", bench.Now());
  bench.Take();
  EXPECT_EQ(bench.LastRefusal(1, 1), v1::Refused::CANCELLED);
}

TEST(Cancel, OfAnEndedRunRepeatsItsResult) {
  CoreBench bench;
  bench.Connect(1);
  bench.Run(1, 1);
  bench.Finish(1);
  bench.Acknowledge(1, 1);
  bench.Cancel(1, 1);
  EXPECT_EQ(bench.Finishes(1, 1).size(), 2u);
}

TEST(Cancel, GuardThatRefusesGivesTheRunBack) {
  CoreBench bench;
  bench.Connect(1);
  bench.Trigger(1, CoreBench::MakeTrigger(1));
  bench.core.OnNotEntered(CoreBench::Key(1), true, "locked by another", bench.Now());
  bench.Take();
  EXPECT_EQ(bench.LastRefusal(1, 1), v1::Refused::LOCK_REFUSED);
  EXPECT_EQ(bench.core.running(), 0u);
}

TEST(Timeout, RunLimitCancelsAndFailsToBeRetried) {
  CoreBench bench;
  bench.Connect(1);
  v1::Trigger trigger = CoreBench::MakeTrigger(1, "hard");
  trigger.mutable_run_timeout()->set_seconds(60);
  bench.Trigger(1, trigger);
  bench.Enter(1);
  bench.Advance(absl::Seconds(59));
  EXPECT_EQ(bench.Cancels(1), 0);
  bench.Advance(absl::Seconds(1));
  EXPECT_EQ(bench.Cancels(1), 1);
  bench.Finish(1, Stopped());
  EXPECT_EQ(bench.Finishes(1, 1)[0].outcome(), v1::Finished::FAILED_RETRYABLE);
}

TEST(Outcomes, AsTheHandlerSays) {
  CoreBench bench;
  bench.Connect(1);
  HandlerResult failed;
  failed.kind = HandlerResult::Kind::kFailed;
  failed.message = "bad input";
  bench.Run(1, 1);
  bench.Finish(1, failed);
  EXPECT_EQ(bench.Finishes(1, 1)[0].outcome(), v1::Finished::FAILED_PERMANENT);
  HandlerResult retry;
  retry.kind = HandlerResult::Kind::kRetry;
  bench.Run(1, 2);
  bench.Finish(2, retry);
  EXPECT_EQ(bench.Finishes(1, 2)[0].outcome(), v1::Finished::FAILED_RETRYABLE);
}

}  // namespace
}  // namespace tidemark::exec
