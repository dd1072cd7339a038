// A node takes another's shards in the middle of its term.
#include <gtest/gtest.h>

#include "tests/engine/cluster.h"

namespace tidemark {
namespace {

using Executor = EngineHarness::Executor;

// Node b dies; a gets its shard.
void TakeOver(TwoNodes& c) {
  c.b.EndTerm();
  c.b.executors["e1"].stream = 0;
  c.a.Gain({2});
}

TEST(TakeOverTest, RunsOfTheDeadNodeGoOnAndAreFollowed) {
  TwoNodes c;
  c.Start("e1");
  c.Begin(c.a, "e1");
  c.Begin(c.b, "e1");
  const TriggerOrder run = c.b.executors["e1"].triggers[0];
  TakeOver(c);
  Executor& e1 = c.a.executors["e1"];
  EXPECT_EQ(e1.stream, 0U) << "it is to come back and say what it has";
  c.a.Connect(e1);
  c.a.Advance(absl::Minutes(10));
  EXPECT_TRUE(e1.cancels.empty());
  EXPECT_EQ(e1.triggers.size(), 1U) << "its own of before";
  EXPECT_EQ(c.a.StatusOf(c.of_b, "2026-11-28"), "RUNNING");
  e1.held.clear();
  c.a.Finish(e1, run, Outcome::kSucceeded);
  EXPECT_EQ(c.a.StatusOf(c.of_b, "2026-11-28"), "DONE");
  ASSERT_EQ(c.a.store.attempts.size(), 1U);
}

TEST(TakeOverTest, ATriggerThatNeverArrivedIsSentAgainToTheSameExecutor) {
  TwoNodes c;
  c.Start("e1");
  const TriggerOrder lost = c.b.executors["e1"].triggers[0];
  c.Finish(c.a, "e1");
  TakeOver(c);
  c.a.Start("e2");  // which would be free
  c.a.Connect(c.a.executors["e1"]);
  ASSERT_EQ(c.a.executors["e1"].triggers.size(), 2U);
  EXPECT_EQ(c.a.executors["e1"].triggers[1].attempt, lost.attempt);
  EXPECT_EQ(c.a.executors["e1"].triggers[1].epoch, (Epoch{1, 2})) << "under the new epoch";
  EXPECT_TRUE(c.a.executors["e2"].triggers.empty());
}

TEST(TakeOverTest, AResultThatTheDeadNodeDidNotAcknowledgeComesFirst) {
  TwoNodes c;
  c.Start("e1");
  const TriggerOrder run = c.b.executors["e1"].triggers[0];
  c.Finish(c.a, "e1");
  TakeOver(c);
  Executor& e1 = c.a.executors["e1"];
  e1.unacknowledged.push_back({run.attempt, run.registration, FinishedReport{}});
  c.a.Connect(e1);
  EXPECT_EQ(c.a.StatusOf(c.of_b, "2026-11-28"), "DONE") << "and not lost, as it is held no more";
  EXPECT_EQ(e1.triggers.size(), 1U);
  EXPECT_TRUE(e1.unacknowledged.empty());
}

TEST(TakeOverTest, ExecutorsWithoutItsRunsKeepTheirStreams) {
  TwoNodes c;
  c.Start("e1");
  c.a.Start("e2");
  const StreamId stream = c.a.executors["e2"].stream;
  TakeOver(c);
  EXPECT_EQ(c.a.executors["e1"].stream, 0U);
  EXPECT_EQ(c.a.executors["e2"].stream, stream);
}

TEST(TakeOverTest, NobodyIsJudgedLostBeforeAWholeLostAfter) {
  TwoNodes c;
  c.Start("e1");
  c.Begin(c.b, "e1");
  c.Finish(c.a, "e1");
  c.a.Disconnect(c.a.executors["e1"]);
  c.a.Advance(absl::Minutes(4));
  TakeOver(c);
  c.a.Start("e2");
  c.a.Advance(absl::Minutes(4));
  EXPECT_TRUE(c.a.executors["e2"].triggers.empty());
  c.a.Advance(absl::Minutes(1) + absl::Seconds(2));
  EXPECT_EQ(c.a.executors["e2"].triggers.size(), 1U);
}

TEST(TakeOverTest, GainedJobsFireCatchUpAndTakeOrders) {
  TwoNodes c;
  c.Start("e1");
  for (EngineHarness* node : {&c.a, &c.b}) {
    node->on_trigger = [node](Executor& e, const TriggerOrder& t) {
      node->Begin(e, t);
      node->Finish(e, t, Outcome::kSucceeded);
    };
  }
  c.Finish(c.a, "e1");
  c.Finish(c.b, "e1");
  c.b.EndTerm();
  c.a.AdvanceTo("2026-11-30T18:00:00Z");  // two fires of of-b are missed meanwhile
  EXPECT_EQ(c.a.StatusOf(c.of_b, "2026-11-29"), "");
  c.a.Gain({2});
  c.a.Advance(absl::Seconds(2));
  EXPECT_EQ(c.a.StatusOf(c.of_b, "2026-11-29"), "DONE");
  EXPECT_EQ(c.a.StatusOf(c.of_b, "2026-11-30"), "DONE");
  c.a.AdvanceTo("2026-12-01T17:00:01Z");
  EXPECT_EQ(c.a.StatusOf(c.of_b, "2026-12-01"), "DONE") << "at its time, like its own";
  const std::string order = c.a.Command(c.of_b, "pause", {{"reason", "r"}});
  EXPECT_EQ(c.a.Answer(order).code, absl::StatusCode::kOk);
  EXPECT_TRUE(c.a.store.jobs[c.of_b].paused);
  EXPECT_EQ(c.a.DatesRun(c.of_b),
            (std::vector<std::string>{"2026-11-28", "2026-11-29", "2026-11-30", "2026-12-01"}));
  EXPECT_EQ(c.a.DatesRun(c.of_a).size(), 4U) << "its own go on as if nothing were";
}

TEST(TakeOverTest, WhatIsKnownAlreadyIsNotDoubled) {
  TwoNodes c;
  c.Start("e1");
  c.Begin(c.a, "e1");
  c.a.Gain({1});
  c.a.Gain({1});
  c.a.Connect(c.a.executors["e1"]);
  c.a.Advance(absl::Seconds(10));
  EXPECT_EQ(c.a.executors["e1"].triggers.size(), 1U);
  c.Finish(c.a, "e1");
  c.a.Advance(absl::Minutes(2));
  EXPECT_EQ(c.a.DatesRun(c.of_a).size(), 1U);
  c.a.AdvanceTo("2026-11-29T17:00:01Z");
  EXPECT_EQ(c.a.executors["e1"].triggers.size(), 2U) << "each fire once";
}

TEST(TakeOverTest, ARunOfTheGainedShardThatIsNotLiveIsCancelledFromThenOn) {
  TwoNodes c;
  c.Start("e1");
  const TriggerOrder over = c.b.executors["e1"].triggers[0];
  c.Finish(c.b, "e1");
  Executor& e1 = c.a.executors["e1"];
  e1.held[over.attempt.run_id] = {over.attempt, 2, over.epoch, true, nullptr};
  c.a.Beat(e1);
  EXPECT_TRUE(e1.cancels.empty());
  TakeOver(c);
  c.a.Beat(e1);
  EXPECT_EQ(e1.cancels.size(), 1U);
}

}  // namespace
}  // namespace tidemark
