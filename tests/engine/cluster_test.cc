// Several nodes: each judges its own runs, and what comes about another's goes to that one.
#include "tests/engine/cluster.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

using Executor = EngineHarness::Executor;

TEST(ClusterTest, NoNodeJudgesAnothersRun) {
  TwoNodes c;
  c.Start("e1");
  ASSERT_EQ(c.a.executors["e1"].triggers.size(), 1U);
  ASSERT_EQ(c.b.executors["e1"].triggers.size(), 1U);
  c.Begin(c.a, "e1");
  c.Begin(c.b, "e1");
  c.Advance(absl::Seconds(20));
  for (EngineHarness* node : {&c.a, &c.b}) {  // and with a Hello
    node->Disconnect(node->executors["e1"]);
    node->Connect(node->executors["e1"]);
    EXPECT_TRUE(node->executors["e1"].cancels.empty());
  }
  c.Finish(c.a, "e1");
  c.Finish(c.b, "e1");
  EXPECT_EQ(c.a.StatusOf(c.of_a, "2026-11-28"), "DONE");
  EXPECT_EQ(c.a.StatusOf(c.of_b, "2026-11-28"), "DONE");
}

TEST(ClusterTest, ARunIsRenewedByItsOwnerAlone) {
  TwoNodes c;
  c.Start("e1");
  const AttemptRef of_a = c.Begin(c.a, "e1").attempt;
  const AttemptRef of_b = c.Begin(c.b, "e1").attempt;
  c.Beat("e1");
  EXPECT_EQ(c.a.executors["e1"].renewed, std::vector<AttemptRef>{of_a});
  EXPECT_EQ(c.b.executors["e1"].renewed, std::vector<AttemptRef>{of_b});
}

TEST(ClusterTest, WhatIsNotLiveInAnOwnShardIsCancelled) {
  TwoNodes c;
  c.Start("e1");
  c.Finish(c.a, "e1");
  const TriggerOrder over = c.a.executors["e1"].triggers[0];
  c.a.executors["e1"].held[over.attempt.run_id] = {over.attempt, 1, over.epoch, true, nullptr};
  c.b.executors["e1"].held = c.a.executors["e1"].held;
  c.Beat("e1");
  ASSERT_EQ(c.a.executors["e1"].cancels.size(), 1U);
  EXPECT_EQ(c.a.executors["e1"].cancels[0].attempt, over.attempt);
  EXPECT_EQ(c.a.executors["e1"].cancels[0].epoch, over.epoch);
  EXPECT_TRUE(c.b.executors["e1"].cancels.empty());
}

TEST(ClusterTest, ARunUnderAHigherEpochIsTheNextOwners) {
  TwoNodes c;
  c.Start("e1");
  c.Finish(c.a, "e1");
  Executor& e1 = c.a.executors["e1"];
  const std::string run_id = "00000000-0000-7000-8000-00000000beef";
  e1.held[run_id] = {{run_id, 1}, 1, {1, 2}, true, nullptr};
  c.a.Beat(e1);
  c.a.Disconnect(e1);
  c.a.Connect(e1);
  EXPECT_TRUE(e1.cancels.empty()) << "this node was overtaken, and does not know it yet";
  e1.held[run_id].epoch = {1, 1};
  c.a.Beat(e1);
  EXPECT_EQ(e1.cancels.size(), 1U);
}

TEST(ClusterTest, OtherNodesRunsFillSlots) {
  TwoNodes c;
  c.SetCapacity("e1", 1);
  c.a.Start("e1");
  ASSERT_EQ(c.a.executors["e1"].triggers.size(), 1U);
  c.Begin(c.a, "e1");
  c.Dial(c.b, "e1");  // its Hello says that it is full
  EXPECT_TRUE(c.b.executors["e1"].triggers.empty());
  c.Advance(absl::Minutes(1));
  EXPECT_TRUE(c.b.executors["e1"].triggers.empty());
  c.Finish(c.a, "e1");
  c.b.Beat(c.b.executors["e1"]);
  EXPECT_EQ(c.b.executors["e1"].triggers.size(), 1U) << "at once";
  EXPECT_TRUE(c.a.executors["e1"].cancels.empty());
}

TEST(ClusterTest, CatchUpLeavesASlotFreeOfWhatOthersLeave) {
  TwoNodes c;
  c.SetCapacity("e1", 2);
  c.a.Start("e1");
  c.Begin(c.a, "e1");
  c.Dial(c.b, "e1");
  c.Advance(absl::Seconds(10));
  ASSERT_EQ(c.b.executors["e1"].triggers.size(), 1U) << "a single slot is anybody's";
  c.b.Finish(c.b.executors["e1"], c.b.executors["e1"].triggers[0], Outcome::kSucceeded);
  c.SetCapacity("e1", 3);
  c.b.store.DeleteWatermark(c.of_b, absl::CivilDay(2026, 11, 28));
  c.a.EndTerm();
  c.b.EndTerm();
  c.Make(EngineHarness::DailyJob("", "2026-11-28"), "more", 2);
  c.b.StartTerm();
  c.b.Connect(c.b.executors["e1"]);
  EXPECT_EQ(c.b.executors["e1"].triggers.size(), 2U)
      << "of three slots one is another node's, and one is left to what is due";
}

TEST(ClusterTest, OneNodeSaysThatAnExecutorIsLost) {
  TwoNodes c;
  int said = 0;
  for (EngineHarness* node : {&c.a, &c.b}) {
    node->fate = [&said](const Flush& flush) {
      for (const ExecutorState& row : flush.executors) said += row.state == "LOST" ? 1 : 0;
      return EngineHarness::Fate::kCommitted;
    };
  }
  std::set<int> rest;
  for (int shard = 0; shard < kShards; ++shard) rest.insert(shard);
  rest.erase(1);
  rest.erase(2);
  c.a.Gain(rest);  // so that every executor is some node's
  for (const std::string id : {"e1", "e2", "e3", "e4", "e5", "e6"}) {
    c.Start(id);
    c.a.Disconnect(c.a.executors[id]);
    c.b.Disconnect(c.b.executors[id]);
  }
  c.Advance(absl::Seconds(30));
  EXPECT_EQ(said, 6);
}

TEST(ClusterTest, TheLeastBusyIsItWithOtherNodesRuns) {
  JobSpec like = EngineHarness::DailyJob("", "2026-11-28");
  like.routing.strategy = RoutingStrategy::kLeastBusy;
  TwoNodes c(like);
  c.a.Start("e1");
  c.Begin(c.a, "e1");
  c.b.executors["e1"].draining = true;  // at first
  c.Dial(c.b, "e1");
  c.b.Start("e2");
  ASSERT_EQ(c.b.executors["e2"].triggers.size(), 1U);
  c.b.Finish(c.b.executors["e2"], c.b.executors["e2"].triggers[0], Outcome::kSucceeded);
  c.b.executors["e1"].draining = false;
  c.b.Beat(c.b.executors["e1"]);
  c.b.Command(c.of_b, "rerun",
              {{"from", "2026-11-28"}, {"to", "2026-11-28"}, {"force", "true"}, {"reason", "r"}});
  EXPECT_TRUE(c.b.executors["e1"].triggers.empty()) << "it has a run of the other node";
  EXPECT_EQ(c.b.executors["e2"].triggers.size(), 2U);
}

TEST(ClusterTest, ARefusalForRoomCostsNothingAndIsNoStorm) {
  TwoNodes c;
  c.a.EndTerm();
  for (int i = 0; i < 20; ++i) {
    c.Make(EngineHarness::DailyJob("", "2026-11-28"), "more-" + std::to_string(i), 2);
  }
  c.SetCapacity("e1", 10);
  c.b.budget.per_app = 100;
  c.b.budget.per_node = 100;
  c.b.KillScheduler();
  c.b.StartTerm();
  // Full of runs that this node has not been told of.
  bool full = true;
  c.b.on_trigger = [&](Executor& e, const TriggerOrder& t) {
    if (full) c.b.Report(e, t.attempt, RefusedReport{"CAPACITY", "all slots are taken"});
  };
  c.b.Start("e1");
  Executor& e1 = c.b.executors["e1"];
  e1.beats = false;
  const size_t tried = e1.triggers.size();
  EXPECT_LE(tried, 10U) << "those that were on their way";
  c.b.Advance(absl::Seconds(10));
  EXPECT_EQ(e1.triggers.size(), tried) << "not before it says more";
  full = false;
  c.b.Beat(e1);
  c.b.Advance(absl::Seconds(2));
  EXPECT_EQ(e1.triggers.size(), tried + 9) << "all that catch-up may have of it";
  for (const auto& [key, run] : c.b.store.active) {
    EXPECT_EQ(run.failed_attempts + run.lost_attempts, 0) << run.job_name;
  }
}

TEST(ClusterTest, AResultThroughAnotherNodeCountsAndIsAcknowledgedOnceCommitted) {
  TwoNodes c;
  c.Start("e1");
  const TriggerOrder trigger = c.Begin(c.a, "e1");
  c.a.Disconnect(c.a.executors["e1"]);
  c.b.store_stalled = true;
  c.Finish(c.a, "e1", &c.b);
  EXPECT_TRUE(c.b.executors["e1"].acknowledged.empty()) << "nothing is committed yet";
  c.b.AnswerStalled();
  EXPECT_EQ(c.b.executors["e1"].acknowledged, std::vector<AttemptRef>{trigger.attempt});
  ASSERT_EQ(c.a.store.inbox.size(), 1U);
  EXPECT_EQ(c.a.StatusOf(c.of_a, "2026-11-28"), "RUNNING");
  c.a.Pump();
  EXPECT_EQ(c.a.StatusOf(c.of_a, "2026-11-28"), "DONE");
  EXPECT_TRUE(c.a.store.inbox.empty()) << "taken with what it brought about";
  ASSERT_EQ(c.a.store.attempts.size(), 1U);
  EXPECT_EQ(c.a.store.attempts[0].outcome, "SUCCEEDED");
}

// X3: its executor says hello without the run, whose result another node took in a moment before.
TEST(ClusterTest, NothingIsTakenForLostBeforeTheInboxWasLookedInto) {
  TwoNodes c;
  c.Start("e1");
  c.Begin(c.a, "e1");
  c.a.Disconnect(c.a.executors["e1"]);
  c.a.inbox_stalled = true;
  c.Finish(c.a, "e1", &c.b);
  c.a.Connect(c.a.executors["e1"]);
  c.a.Advance(absl::Seconds(2));
  c.a.AnswerOldLook(absl::Seconds(3));  // it began before the Hello
  EXPECT_TRUE(c.a.store.attempts.empty()) << "judged too early";
  c.a.inbox_stalled = false;
  c.a.Pump();
  EXPECT_EQ(c.a.StatusOf(c.of_a, "2026-11-28"), "DONE");
  ASSERT_EQ(c.a.store.attempts.size(), 1U);
  EXPECT_EQ(c.a.store.attempts[0].outcome, "SUCCEEDED");
}

TEST(ClusterTest, WhatTheInboxDoesNotHaveIsLost) {
  TwoNodes c;
  c.Start("e1");
  c.Begin(c.a, "e1");
  TwoNodes::Executor& there = c.a.executors["e1"];
  c.a.Disconnect(there);
  there.held.clear();
  c.a.inbox_stalled = true;
  c.a.Connect(there);
  c.a.Advance(absl::Seconds(2));
  EXPECT_TRUE(c.a.store.attempts.empty());
  c.a.inbox_stalled = false;
  c.a.Advance(absl::Seconds(2));
  ASSERT_EQ(c.a.store.attempts.size(), 1U);
  EXPECT_EQ(c.a.store.attempts[0].outcome, "LOST");
}

TEST(ClusterTest, NobodyIsLostByLostAfterBeforeTheInboxWasLookedInto) {
  TwoNodes c;
  c.Start("e1");
  c.Begin(c.a, "e1");
  c.a.Disconnect(c.a.executors["e1"]);
  c.a.Start("e2");
  c.a.Advance(absl::Minutes(4));
  c.a.inbox_stalled = true;
  c.Finish(c.a, "e1", &c.b);
  c.a.Advance(absl::Minutes(2));
  EXPECT_TRUE(c.a.executors["e2"].triggers.empty());
  c.a.inbox_stalled = false;
  c.a.Advance(absl::Seconds(1));
  EXPECT_EQ(c.a.StatusOf(c.of_a, "2026-11-28"), "DONE");
  EXPECT_TRUE(c.a.executors["e2"].triggers.empty());
  ASSERT_EQ(c.a.store.attempts.size(), 1U);
  EXPECT_EQ(c.a.store.attempts[0].outcome, "SUCCEEDED");
}

TEST(ClusterTest, LostAfterGoesOnOnceTheInboxWasLookedInto) {
  TwoNodes c;
  c.Start("e1");
  c.Begin(c.a, "e1");
  c.a.Disconnect(c.a.executors["e1"]);
  c.a.Start("e2");
  c.a.inbox_stalled = true;
  c.a.Advance(absl::Minutes(6));
  EXPECT_TRUE(c.a.executors["e2"].triggers.empty());
  c.a.inbox_stalled = false;
  c.a.Advance(absl::Seconds(1));
  EXPECT_EQ(c.a.executors["e2"].triggers.size(), 1U);
}

TEST(ClusterTest, ARefusalThroughAnotherNodeFreesTheRun) {
  TwoNodes c;
  c.Start("e1");
  const TriggerOrder trigger = c.a.executors["e1"].triggers[0];
  c.a.Disconnect(c.a.executors["e1"]);
  c.b.Report(c.b.executors["e1"], trigger.attempt, RefusedReport{"DRAINING", "it leaves"});
  c.a.Start("e2");
  EXPECT_EQ(c.a.executors["e2"].triggers.size(), 1U);
  EXPECT_EQ(c.a.executors["e2"].triggers[0].attempt.attempt, 2);
}

TEST(ClusterTest, WhatIsNotFinalDoesNotGoThroughOtherNodes) {
  TwoNodes c;
  c.Start("e1");
  const TriggerOrder trigger = c.a.executors["e1"].triggers[0];
  c.b.store_stalled = true;
  c.b.Report(c.b.executors["e1"], trigger.attempt, StartedReport{});
  c.b.Report(c.b.executors["e1"], trigger.attempt, ProgressReport{50, "half", ""});
  c.b.AnswerStalled();
  c.a.Pump();
  EXPECT_TRUE(c.a.store.inbox.empty());
  EXPECT_EQ(c.a.store.active.begin()->second.checkpoint, "");
}

TEST(ClusterTest, AStaleResultThroughAnotherNodeChangesNothing) {
  TwoNodes c;
  c.Start("e1");
  const TriggerOrder trigger = c.a.executors["e1"].triggers[0];
  const AttemptResult result;
  c.a.store.inbox = {{1, {{trigger.attempt.run_id, 2}, 1, "", result}},
                     {1, {{trigger.attempt.run_id, 1}, 9, "", result}},
                     {1, {{"00000000-0000-7000-8000-00000000beef", 1}, 1, "", result}}};
  c.a.Pump();
  EXPECT_EQ(c.a.StatusOf(c.of_a, "2026-11-28"), "RUNNING");
  EXPECT_TRUE(c.a.store.inbox.empty()) << "dealt with, and not put back";
  // Nor does it count as contact.
  c.a.executors["e1"].beats = false;
  c.a.Disconnect(c.a.executors["e1"]);
  for (int i = 0; i < 290; ++i) {
    c.a.Advance(absl::Seconds(1));
    c.a.store.inbox = {{1, {{trigger.attempt.run_id, i + 10}, 1, "", result}}};
  }
  c.a.Start("e2");
  EXPECT_TRUE(c.a.executors["e2"].triggers.empty());
  c.a.Advance(absl::Seconds(12));
  EXPECT_EQ(c.a.executors["e2"].triggers.size(), 1U) << "lost_after is over";
}

TEST(ClusterTest, AnotherAppsResultIsNobodys) {
  TwoNodes c;
  c.Start("e1");
  const TriggerOrder trigger = c.Begin(c.a, "e1");
  c.b.executors["evil"].app = "another";
  Executor& evil = c.b.Start("evil");
  c.b.Finish(evil, trigger, Outcome::kSucceeded);
  c.a.Pump();
  EXPECT_EQ(c.a.StatusOf(c.of_a, "2026-11-28"), "RUNNING");
}

TEST(ClusterTest, ANodeThatHasAllShardsNeedsNoInbox) {
  TwoNodes c;
  c.Start("e1");
  const TriggerOrder trigger = c.a.executors["e1"].triggers[0];
  c.a.EndTerm();
  c.b.EndTerm();
  c.a.owned.reset();
  std::vector<InboxWrite> written;
  c.a.fate = [&](const Flush& flush) {
    written.insert(written.end(), flush.inbox.begin(), flush.inbox.end());
    return EngineHarness::Fate::kCommitted;
  };
  c.a.StartTerm();
  c.a.Connect(c.a.executors["e1"]);
  c.a.Report(c.a.executors["e1"], {"00000000-0000-7000-8000-00000000beef", 1}, FinishedReport{});
  EXPECT_TRUE(written.empty());
  EXPECT_TRUE(c.a.executors["e1"].unacknowledged.empty()) << "a late note, as ever";
}

TEST(ClusterTest, ANewProcessIsNewsToEachNode) {
  JobSpec like = EngineHarness::DailyJob("", "2026-11-28");
  like.retry.max_attempts = 1;
  TwoNodes c(like);
  c.Start("e1");
  for (EngineHarness* node : {&c.a, &c.b}) {
    Executor& e1 = node->executors["e1"];
    node->Finish(e1, e1.triggers[0], Outcome::kFailedPermanent);
    ASSERT_EQ(e1.triggers.size(), 1U);
    node->Leave(e1);
  }
  c.Start("e1",
          2);  // whichever of them registers it, the other hears that it was registered before
  EXPECT_EQ(c.a.executors["e1"].triggers.size(), 2U);
  EXPECT_EQ(c.b.executors["e1"].triggers.size(), 2U);
  c.b.Disconnect(c.b.executors["e1"]);
  c.b.Finish(c.b.executors["e1"], c.b.executors["e1"].triggers[1], Outcome::kFailedPermanent);
  c.b.Connect(c.b.executors["e1"]);
  EXPECT_EQ(c.b.executors["e1"].triggers.size(), 2U) << "the same process as before";
}

}  // namespace
}  // namespace tidemark
