// Executors that leave, and executors that an operator drains.
#include <gtest/gtest.h>

#include "tests/engine/harness.h"

namespace tidemark {
namespace {

using Executor = EngineHarness::Executor;

// A job of which eight runs go on at once, ordered by hand.
struct Eight : public EngineHarness {
  Eight() : EngineHarness("2026-11-29T03:00:00Z") {
    JobSpec spec = DailyJob("sync", "");
    spec.schedule.kind = ScheduleSpec::Kind::kManual;
    spec.blocking.policy = BlockingPolicy::kConcurrent;
    spec.blocking.concurrent = 8;
    job = Apply(spec);
    StartTerm();
  }
  void Order(int count) {
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(Answer(Command(job, "trigger")).code, absl::StatusCode::kOk);
    }
  }
  int64_t job = 0;
};

TEST(DrainTest, E06ThreeRunningEndThereAndFiveQueuedGoElsewhereAtOnce) {
  Eight h;
  Executor& e1 = h.Start("e1");
  h.Order(8);
  ASSERT_EQ(e1.triggers.size(), 8U);
  const std::vector<TriggerOrder> given = e1.triggers;
  for (int i = 0; i < 3; ++i) h.Begin(e1, given[static_cast<size_t>(i)]);
  Executor& e2 = h.Start("e2");

  e1.draining = true;  // SIGTERM: it says so, and hands back what has not started
  h.Beat(e1);
  for (size_t i = 3; i < 8; ++i) h.Report(e1, given[i].attempt, RefusedReport{"DRAINING", ""});
  ASSERT_EQ(e2.triggers.size(), 5U) << "without any time passing";
  for (const auto& [key, run] : h.store.active) {
    EXPECT_EQ(run.failed_attempts + run.lost_attempts, 0);
  }
  h.Order(1);
  EXPECT_EQ(e1.triggers.size(), 8U);
  for (size_t i = 0; i < 3; ++i) h.Finish(e1, given[i], Outcome::kSucceeded);
  EXPECT_TRUE(e1.unacknowledged.empty()) << "all it reports is committed before it leaves";
  h.Leave(e1);
  h.Order(2);
  for (const TriggerOrder& trigger : std::vector<TriggerOrder>(e2.triggers)) {
    h.Begin(e2, trigger);
    h.Finish(e2, trigger, Outcome::kSucceeded);
  }
  EXPECT_EQ(e1.triggers.size(), 8U) << "nothing is sent to it afterwards";
  EXPECT_EQ(h.store.history.size(), 11U);
  EXPECT_TRUE(h.store.active.empty());
}

TEST(DrainTest, E06WhatIsCheckpointedGoesOnElsewhereFromThere) {
  Eight h;
  Executor& e1 = h.Start("e1");
  h.Order(1);
  const TriggerOrder trigger = e1.triggers.at(0);
  h.Begin(e1, trigger);
  Executor& e2 = h.Start("e2");
  e1.draining = true;
  h.Beat(e1);
  FinishedReport drained;
  drained.result.outcome = Outcome::kDrained;
  drained.result.checkpoint = "row-500";
  h.Report(e1, trigger.attempt, drained);
  ASSERT_EQ(e2.triggers.size(), 1U);
  EXPECT_EQ(e2.triggers[0].checkpoint, "row-500");
  EXPECT_EQ(h.store.active.begin()->second.failed_attempts, 0) << "a deploy is no failure";
}

TEST(DrainTest, ADrainedExecutorGetsNothingEvenAfterItRestarted) {
  Eight h;
  h.Start("e1");
  h.Command(0, "drain_executor", {{"executor_id", "e1"}});
  Executor& e1 = h.executors.at("e1");
  h.Order(1);
  EXPECT_TRUE(e1.triggers.empty());
  h.Leave(e1);
  h.Start("e1", 2);
  EXPECT_TRUE(e1.triggers.empty()) << "over its restart";
  h.KillScheduler();
  h.StartTerm();
  h.Connect(e1);
  EXPECT_TRUE(e1.triggers.empty()) << "over the scheduler's";
  h.Command(0, "drain_executor", {{"executor_id", "e1"}, {"undo", "true"}});
  EXPECT_EQ(e1.triggers.size(), 1U);
}

// The order went to another node; this one learns of it from the row.
TEST(DrainTest, AnExecutorThatAnotherNodeDrainedGetsNothingHere) {
  Eight h;
  Executor& e1 = h.Start("e1");
  const auto tell = [&](std::set<std::string> drained) {
    h.engine().ExecutorsDrained(h.now(), std::move(drained));
    h.Pump();
  };
  tell({"e1", "e2"});
  h.Order(1);
  EXPECT_TRUE(e1.triggers.empty());
  // One that registers right after, with what its row said before.
  h.Start("e2");
  EXPECT_TRUE(h.executors.at("e2").triggers.empty());
  tell({"e2"});
  EXPECT_EQ(e1.triggers.size(), 1U);
  // An order of this node holds, whatever was read of the rows before it was committed.
  h.store_stalled = true;
  h.Command(0, "drain_executor", {{"executor_id", "e1"}});
  tell({"e2"});
  h.AnswerStalled();
  h.Order(1);
  EXPECT_EQ(e1.triggers.size(), 1U);
}

TEST(DrainTest, WhatADrainedExecutorRunsGoesOn) {
  Eight h;
  Executor& e1 = h.Start("e1");
  h.Order(1);
  h.Begin(e1, e1.triggers.at(0));
  h.Command(0, "drain_executor", {{"executor_id", "e1"}});
  h.Advance(absl::Hours(1));
  EXPECT_TRUE(e1.cancels.empty());
  h.Finish(e1, e1.triggers.at(0), Outcome::kSucceeded);
  EXPECT_EQ(h.store.history.at(0).status, RunStatus::kCompleted);
}

TEST(DrainTest, AReleasedRunIsOnItsWayAgainInTheLedger) {
  EngineHarness h("2026-11-29T03:00:00Z");
  const int64_t job = h.Apply(EngineHarness::DailyJob("recon", "2026-11-28"));
  h.StartTerm();
  Executor& e1 = h.executors["e1"];
  e1.interruptible = false;
  h.Start("e1");
  h.Begin(e1, e1.triggers.at(0));
  h.Disconnect(e1);
  h.Advance(absl::Hours(3));
  ASSERT_EQ(h.StatusOf(job, "2026-11-28"), "FAILED");
  ASSERT_TRUE(h.HasAlert("run_reaped"));
  h.Command(job, "release", {{"run_id", e1.triggers[0].attempt.run_id}, {"reason", "dead"}});
  EXPECT_FALSE(h.HasAlert("run_reaped"));
  EXPECT_EQ(h.StatusOf(job, "2026-11-28"), "RUNNING");
  EXPECT_EQ(h.store.attempts.at(0).message, "released by tester: dead");
  // It lives all the same: it is told to stop, and its word counts no more.
  e1.held[e1.triggers[0].attempt.run_id] = {e1.triggers[0].attempt, 0, {1, 1}, true};
  h.Connect(e1);
  EXPECT_GE(e1.cancels.size(), 1U);
}

TEST(DrainTest, AHeldRunThatFailsAfterAllIsFailed) {
  EngineHarness h("2026-11-29T03:00:00Z");
  JobSpec spec = EngineHarness::DailyJob("recon", "2026-11-28");
  spec.retry.max_attempts = 1;
  const int64_t job = h.Apply(spec);
  h.StartTerm();
  Executor& e1 = h.executors["e1"];
  e1.interruptible = false;
  h.Start("e1");
  h.Begin(e1, e1.triggers.at(0));
  h.Disconnect(e1);
  h.Advance(absl::Hours(3));
  ASSERT_TRUE(h.HasAlert("run_reaped"));
  h.Finish(e1, e1.triggers[0], Outcome::kFailedRetryable, "no");  // kept until it can be said
  h.Connect(e1);
  EXPECT_EQ(h.StatusOf(job, "2026-11-28"), "FAILED");
  EXPECT_FALSE(h.HasAlert("run_reaped"));
  EXPECT_TRUE(h.HasAlert("run_failed"));
}

}  // namespace
}  // namespace tidemark
