// Draining, leaving, being rejected.
#include <gtest/gtest.h>

#include "tests/executor/core_bench.h"

namespace tidemark::exec {
namespace {

HandlerResult Stopped() {
  HandlerResult result;
  result.kind = HandlerResult::Kind::kStopped;
  return result;
}

std::optional<int> Left(const CoreBench& bench) {
  const auto leaves = bench.All<LeaveEffect>();
  return leaves.empty() ? std::nullopt : std::optional<int>(leaves.back().code);
}

TEST(Drain, IdleProcessSaysGoodbyeAndLeaves) {
  CoreBench bench;
  bench.Connect(1);
  bench.Stop();
  EXPECT_TRUE(bench.LastHeartbeat(1).draining());
  EXPECT_TRUE(bench.SaidGoodbye(1));
  EXPECT_EQ(Left(bench), kExitDrained);
}

TEST(Drain, E06RunningOnesEndQueuedOnesGoBackNewOnesAreRefused) {
  CoreBench bench;
  bench.Connect(1);
  bench.Run(1, 1);
  bench.Ack(1, {1});
  bench.Suspend(absl::Seconds(20));
  bench.Trigger(1, CoreBench::MakeTrigger(2));  // queued: the lease is over
  bench.Stop();
  EXPECT_TRUE(bench.LastHeartbeat(1).draining());
  EXPECT_EQ(bench.LastHeartbeat(1).free_slots(), 0u);
  EXPECT_EQ(bench.LastRefusal(1, 2), v1::Refused::DRAINING);
  bench.Trigger(1, CoreBench::MakeTrigger(3));
  EXPECT_EQ(bench.LastRefusal(1, 3), v1::Refused::DRAINING);
  bench.AdvanceInContact(1, absl::Seconds(20), {1});
  EXPECT_EQ(bench.Cancels(1), 0);
  bench.Finish(1);
  EXPECT_EQ(Left(bench), std::nullopt);  // nothing leaves before it is committed
  for (const int run : {1, 2, 3}) bench.Acknowledge(1, run);
  EXPECT_TRUE(bench.SaidGoodbye(1));
  EXPECT_EQ(Left(bench), kExitDrained);
}

TEST(Drain, AfterTheTimeoutRunsAreCheckpointedAndHandedBack) {
  CoreBench bench;
  bench.Connect(1);
  bench.Run(1, 1);
  bench.core.OnProgress(CoreBench::Key(1), {50, "row-500", ""}, bench.Now());
  bench.Stop();
  bench.AdvanceInContact(1, absl::Seconds(60), {1});
  EXPECT_EQ(bench.Cancels(1), 1);
  bench.Finish(1, Stopped());
  const v1::Finished finished = bench.Finishes(1, 1)[0];
  EXPECT_EQ(finished.outcome(), v1::Finished::DRAINED);
  EXPECT_EQ(finished.checkpoint(), "row-500");
}

TEST(Drain, CancelOrderedDuringTheDrainIsAnsweredAsSuch) {
  CoreBench bench;
  bench.Connect(1);
  bench.Run(1, 1);
  bench.Stop();
  bench.Stop();  // cancels at once
  EXPECT_EQ(bench.Cancels(1), 1);
  bench.Cancel(1, 1);
  bench.Finish(1, Stopped());
  EXPECT_EQ(bench.Finishes(1, 1)[0].outcome(), v1::Finished::STOPPED);
}

TEST(Drain, HandlerThatNeverEndsDoesNotKeepTheProcess) {
  CoreBench bench;
  bench.Connect(1);
  bench.Run(1, 1, "hard");
  bench.Stop();
  bench.AdvanceInContact(1, absl::Seconds(95), {1});
  EXPECT_EQ(Left(bench), kExitHandlersStuck);
  EXPECT_FALSE(bench.SaidGoodbye(1));
}

TEST(Drain, WithoutASchedulerResultsStayInTheSpool) {
  CoreBench bench;
  bench.Connect(1);
  bench.Run(1, 1, "hard");
  bench.Close(1);
  bench.Finish(1);
  bench.Stop();
  EXPECT_EQ(Left(bench), std::nullopt);
  bench.Advance(absl::Seconds(10));
  EXPECT_EQ(Left(bench), kExitDrained);
  EXPECT_TRUE(bench.All<SpoolDeleteEffect>().empty());
}

TEST(Drain, ReconnectsWhileDrainingToHandItsResultOver) {
  CoreBench bench;
  bench.Connect(1);
  bench.Run(1, 1, "hard");
  bench.Stop();
  bench.Close(1);
  bench.Finish(1);
  bench.Advance(absl::Seconds(2));
  bench.Open(2);
  EXPECT_TRUE(bench.LastHello(2).draining());
  EXPECT_EQ(bench.LastHello(2).results_size(), 1);
  bench.Welcome(2);
  bench.Acknowledge(2, 1);
  EXPECT_TRUE(bench.SaidGoodbye(2));
  EXPECT_EQ(Left(bench), kExitDrained);
}

TEST(Drain, LogsThatAreOnTheirWayAreSentBeforeItLeaves) {
  CoreBench bench;
  bench.Connect(1);
  const size_t bytes = 1000 * 1000;
  v1::SchedulerMessage acknowledged;
  for (int run = 1; run <= 3; ++run) {
    bench.Run(1, run);
    *acknowledged.add_orders()->mutable_acknowledged()->mutable_attempt() = CoreBench::Ref(run);
  }
  for (int run = 1; run <= 3; ++run) {
    bench.core.OnLog(CoreBench::Key(run), std::string(bytes, 'a'));
    bench.core.OnFinished(CoreBench::Key(run), {}, bench.Now());
  }
  bench.Stop();  // as much as the window takes is sent
  bench.Deliver(1, acknowledged);
  EXPECT_EQ(Left(bench), std::nullopt) << "all results are committed, but not all logs are sent";
  bench.Take();
  EXPECT_EQ(Left(bench), kExitDrained);
  size_t sent = 0;
  for (int run = 1; run <= 3; ++run) {
    for (const auto& report : bench.Reports(1, run)) sent += report.log().data().size();
  }
  EXPECT_EQ(sent, 3 * bytes);
}

void Reject(CoreBench* bench) {
  v1::SchedulerMessage message;
  message.mutable_rejected()->set_reason(v1::Rejected::SUPERSEDED);
  message.mutable_rejected()->set_message("registration 9 is newer");
  bench->Deliver(1, message);
}

TEST(Rejected, LeavesWithAnError) {
  CoreBench bench;
  bench.Open(1);
  Reject(&bench);
  EXPECT_EQ(Left(bench), kExitRejected);
}

TEST(Rejected, StopsWhatRunsFirstAndAbortsWhatDoesNotStop) {
  CoreBench bench;
  bench.Connect(1);
  bench.Run(1, 1);
  bench.Run(1, 2, "hard");
  Reject(&bench);
  EXPECT_EQ(bench.Cancels(1), 1);
  EXPECT_EQ(bench.Cancels(2), 1);
  bench.Finish(1, Stopped());
  EXPECT_EQ(Left(bench), std::nullopt);
  bench.Advance(absl::Seconds(30));
  EXPECT_EQ(bench.All<AbortEffect>().size(), 1u);
}

}  // namespace
}  // namespace tidemark::exec
