// Several nodes: who hears what, and what a fail-over of the database makes uncertain again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/src/reports.h"
#include "tests/executor/core_bench.h"

namespace tidemark::exec {
namespace {

using ::testing::ElementsAre;

void Welcome(CoreBench& bench, LinkId link, const std::string& node, uint32_t timeline) {
  v1::SchedulerMessage message;
  message.mutable_welcome()->set_registration(7);
  message.mutable_welcome()->set_node_id(node);
  message.mutable_welcome()->mutable_beat()->set_seconds(5);
  message.mutable_welcome()->mutable_lease()->set_seconds(17);
  message.mutable_welcome()->set_timeline(timeline);
  bench.Deliver(link, message);
}

void Connect(CoreBench& bench, LinkId link, const std::string& node, uint32_t timeline) {
  bench.Open(link);
  Welcome(bench, link, node, timeline);
}

int Heartbeats(const CoreBench& bench, LinkId link) {
  int count = 0;
  for (const auto& [to, message] : bench.sent) count += to == link && message.has_heartbeat();
  return count;
}

TEST(ManyNodes, AreLearnedFromAnyNodeWhenTheyChange) {
  CoreBench bench;
  bench.Connect(1);
  EXPECT_TRUE(bench.All<NodesEffect>().empty()) << "it names none: that is not the word of any";
  v1::SchedulerMessage message;
  message.mutable_nodes()->add_addresses("a:1");
  message.mutable_nodes()->add_addresses("b:1");
  bench.Deliver(1, message);
  ASSERT_EQ(bench.All<NodesEffect>().size(), 1u);
  EXPECT_THAT(bench.All<NodesEffect>()[0].addresses, ElementsAre("a:1", "b:1"));
}

TEST(ManyNodes, AHelloSaysWhatOrderEachRunCameFrom) {
  CoreBench bench;
  bench.Connect(1, "n1");
  bench.Run(1, 1, "hard");
  bench.core.OnProgress(CoreBench::Key(1), {40, "row-4", ""}, bench.Now());
  bench.Open(2);
  const v1::Hello hello = bench.LastHello(2);
  ASSERT_EQ(hello.held_size(), 1);
  EXPECT_TRUE(hello.held(0).started());
  v1::Trigger expected = CoreBench::MakeTrigger(1, "hard");
  expected.set_checkpoint("row-4");
  EXPECT_EQ(hello.held(0).trigger().SerializeAsString(), expected.SerializeAsString());
  bench.Advance(absl::Seconds(5));
  ASSERT_EQ(bench.LastHeartbeat(1).held_size(), 1);
  EXPECT_FALSE(bench.LastHeartbeat(1).held(0).has_trigger()) << "too much for each beat";
}

TEST(ManyNodes, AHelloIsBoundedWhateverItHolds) {
  CoreOptions options = DefaultOptions();
  options.capacity = 100;
  CoreBench bench(options);
  bench.Connect(1, "n1");
  for (int run = 1; run <= 30; ++run) {
    v1::Trigger trigger = CoreBench::MakeTrigger(run);
    (*trigger.mutable_params())["big"] = std::string(1000000, 'x');
    bench.Trigger(1, trigger);
  }
  bench.Open(2);
  EXPECT_EQ(bench.LastHello(2).held_size(), 30);
  EXPECT_LT(bench.LastHello(2).ByteSizeLong(), 8u << 20);
}

TEST(ManyNodes, AResultGoesThroughAnotherNodeOnceTheOwnersLinkIsGone) {
  CoreBench bench;
  bench.Connect(1, "n1");
  bench.Connect(2, "n2");
  bench.Run(1, 1);
  bench.Finish(1);
  EXPECT_EQ(bench.Finishes(1, 1).size(), 1u);
  EXPECT_TRUE(bench.Finishes(2, 1).empty()) << "the owner is there";
  bench.Close(1);
  bench.Advance(absl::ZeroDuration());
  EXPECT_EQ(bench.Finishes(2, 1).size(), 1u) << "at once";
  bench.Acknowledge(2, 1);
  bench.Advance(absl::Minutes(1));
  EXPECT_EQ(bench.Finishes(2, 1).size(), 1u);
}

TEST(ManyNodes, WhatTheOwnerDoesNotAcknowledgeIsOfferedToTheOthersInTurn) {
  CoreBench bench;
  bench.Connect(1, "n1");
  bench.Connect(2, "n2");
  bench.Connect(3, "n3");
  bench.Run(2, 1);
  bench.Finish(1);
  bench.Advance(absl::Seconds(25));
  EXPECT_EQ(bench.Finishes(1, 1).size(), 1u);
  EXPECT_EQ(bench.Finishes(2, 1).size(), 1u);
  EXPECT_EQ(bench.Finishes(3, 1).size(), 1u);
}

TEST(ManyNodes, ContactWithAnotherNodeDoesNotExtendARun) {
  CoreBench bench;
  bench.Connect(1, "n1");
  bench.Connect(2, "n2");
  bench.Run(1, 1);
  bench.Close(1);
  bench.AdvanceInContact(2, absl::Seconds(265), {});
  EXPECT_TRUE(bench.All<CancelEffect>().empty());
  bench.AdvanceInContact(2, absl::Seconds(10), {});
  EXPECT_EQ(bench.All<CancelEffect>().size(), 1u) << "lost_after less the grace is over";
}

TEST(ManyNodes, ANewOwnerRenewsTheRunAndHearsOfItsProgress) {
  CoreBench bench;
  bench.Connect(1, "n1");
  bench.Connect(2, "n2");
  bench.Run(1, 1);
  bench.Close(1);
  bench.AdvanceInContact(2, absl::Seconds(200), {});
  bench.AdvanceInContact(2, absl::Seconds(200), {1});  // it took the shard over
  EXPECT_TRUE(bench.All<CancelEffect>().empty());
  bench.core.OnProgress(CoreBench::Key(1), {40, "row-4", ""}, bench.Now());
  bench.Take();
  ASSERT_FALSE(bench.Reports(2, 1).empty());
  EXPECT_EQ(bench.Reports(2, 1).back().progress().checkpoint(), "row-4");
  bench.Finish(1);
  EXPECT_EQ(bench.Finishes(2, 1).size(), 1u);
}

TEST(ManyNodes, AFormerOwnersCancelIsIgnoredTimelineFirst) {
  CoreBench bench;
  bench.Connect(1, "n1");
  bench.Connect(2, "n2");
  v1::Trigger trigger = CoreBench::MakeTrigger(1);
  trigger.mutable_epoch()->set_timeline(2);
  trigger.mutable_epoch()->set_number(1);
  bench.Trigger(2, trigger);
  bench.Cancel(1, 1, 10);  // timeline 1
  bench.Advance(absl::Seconds(1));
  EXPECT_TRUE(bench.All<CancelEffect>().empty());
  EXPECT_EQ(bench.core.running(), 1u);
  EXPECT_FALSE(bench.LastRefusal(1, 1).has_value());
}

// The new owner was told what is run here, and opens again what is not: what an owner from before
// the fail-over sent late must not begin beside it.
TEST(ManyNodes, NothingOfAnEarlierTimelineBeginsOnceANodeSpokeOfALaterOne) {
  CoreBench bench;
  Connect(bench, 1, "n1", 1);
  Connect(bench, 2, "n2", 2);
  bench.Trigger(1, CoreBench::MakeTrigger(1));  // timeline 1, and no order of its shard before
  EXPECT_EQ(bench.Starts(1), 0);
  EXPECT_EQ(bench.LastRefusal(1, 1), v1::Refused::STALE_EPOCH);
  v1::Trigger trigger = CoreBench::MakeTrigger(2);
  trigger.mutable_epoch()->set_timeline(2);
  bench.Trigger(2, trigger);
  EXPECT_EQ(bench.Starts(2), 1);
}

TEST(ManyNodes, ACancelledRunIsNamedUnderTheEpochThatCancelledIt) {
  CoreBench bench;
  bench.Connect(1, "n1");
  bench.Run(1, 1);
  bench.Cancel(1, 1, 12);
  bench.Advance(absl::Seconds(5));
  ASSERT_EQ(bench.LastHeartbeat(1).held_size(), 1);
  EXPECT_EQ(bench.LastHeartbeat(1).held(0).epoch().number(), 12u);
}

TEST(ManyNodes, AllOfThemTogetherGetNoMoreThanTheCapacity) {
  CoreBench bench;  // 3 slots
  bench.Connect(1, "n1");
  bench.Connect(2, "n2");
  for (int run = 1; run <= 3; ++run) {
    bench.Trigger(1, CoreBench::MakeTrigger(run));
    v1::Trigger other = CoreBench::MakeTrigger(10 + run);
    other.set_shard(2);
    bench.Trigger(2, other);
  }
  EXPECT_EQ(bench.core.running(), 3u);
  EXPECT_EQ(bench.All<StartEffect>().size(), 3u);
  EXPECT_EQ(bench.LastRefusal(2, 12), v1::Refused::CAPACITY);
  EXPECT_EQ(bench.LastRefusal(1, 3), v1::Refused::CAPACITY);
  for (const LinkId link : {1, 2}) {
    bench.Advance(absl::Seconds(5));
    EXPECT_EQ(bench.LastHeartbeat(link).held_size(), 3) << "each hears of all";
  }
}

TEST(ManyNodes, WhoKnowsOfNoFreeSlotHearsOfOneSoon) {
  CoreOptions options = DefaultOptions();
  options.capacity = 1;
  CoreBench bench(options);
  bench.Connect(1, "n1");
  bench.Connect(2, "n2");
  bench.Run(1, 1);
  bench.Advance(absl::Seconds(6));
  const int before_1 = Heartbeats(bench, 1);
  const int before_2 = Heartbeats(bench, 2);
  bench.Finish(1);
  bench.Advance(absl::Milliseconds(250));
  EXPECT_EQ(Heartbeats(bench, 2), before_2 + 1);
  EXPECT_EQ(bench.LastHeartbeat(2).free_slots(), 1u);
  EXPECT_EQ(Heartbeats(bench, 1), before_1) << "it knows that its run is over";
}

TEST(ManyNodes, WhoWasRefusedForRoomHearsOfASlotSoonAndNotTooOften) {
  CoreOptions options = DefaultOptions();
  options.capacity = 1;
  CoreBench bench(options);
  bench.Connect(1, "n1");
  bench.Connect(2, "n2");
  bench.Advance(absl::Seconds(1));
  int beats = Heartbeats(bench, 2);
  for (int run = 1; run <= 20; ++run) {
    bench.Run(1, run);
    v1::Trigger other = CoreBench::MakeTrigger(100 + run);
    bench.Trigger(2, other);
    EXPECT_EQ(bench.LastRefusal(2, 100 + run), v1::Refused::CAPACITY);
    bench.Finish(run);
    bench.Advance(absl::Milliseconds(10));
  }
  beats = Heartbeats(bench, 2) - beats;
  EXPECT_GE(beats, 1);
  EXPECT_LE(beats, 3) << "in 200 ms";
}

TEST(FailOver, WhatWasAcknowledgedUnderAnEarlierTimelineIsOfferedAgain) {
  CoreBench bench;
  Connect(bench, 1, "n1", 1);
  for (const int run : {1, 2, 3}) {
    bench.Run(1, run);
    bench.Finish(run);
    if (run < 3) bench.Acknowledge(1, run);
    if (run == 1) bench.Advance(absl::Minutes(11));
  }
  bench.Close(1);
  Connect(bench, 2, "n1", 1);
  bench.Advance(absl::Seconds(1));
  EXPECT_TRUE(bench.Finishes(2, 2).empty()) << "the same timeline";
  bench.Close(2);
  Connect(bench, 3, "n1", 2);
  bench.Advance(absl::Seconds(1));
  EXPECT_TRUE(bench.Finishes(3, 1).empty()) << "long committed";
  EXPECT_EQ(bench.Finishes(3, 2).size(), 1u);
  bench.Acknowledge(3, 2);
  const size_t acks = bench.All<SpoolAckEffect>().size();
  bench.Advance(absl::Minutes(1));
  EXPECT_EQ(bench.Finishes(3, 2).size(), 1u);
  EXPECT_EQ(acks, 3u) << "its second acknowledgement counts, too";
  bench.Connect(4, "n2");  // a node that says no timeline
  Connect(bench, 5, "n3", 1);
  bench.Advance(absl::Seconds(1));
  EXPECT_TRUE(bench.Finishes(5, 2).empty()) << "a lower one: that node does not know yet";
}

TEST(FailOver, ResultsOfAnEarlierProcessAreOfferedAgainUnlessThereWasNoFailOverEver) {
  std::vector<SpooledResult> spool(1);
  const HandlerResult result;
  FinishedParts parts;
  parts.outcome = v1::Finished::SUCCEEDED;
  parts.result = &result;
  spool[0].report = FinishedReport(CoreBench::Key(1), 6, parts);
  spool[0].acknowledged = true;
  for (const uint32_t timeline : {1u, 2u}) {
    CoreBench bench(DefaultOptions(), spool);
    Connect(bench, 1, "n1", timeline);
    bench.Advance(absl::Seconds(1));
    EXPECT_EQ(bench.Finishes(1, 1).size(), timeline - 1);
  }
}

}  // namespace
}  // namespace tidemark::exec
