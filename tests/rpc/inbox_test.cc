#include "scheduler/rpc/inbox.h"

#include "gtest/gtest.h"

namespace tidemark {
namespace {

RpcLimits Limits(size_t inbox, size_t all) {
  RpcLimits limits;
  limits.max_inbox = inbox;
  limits.max_inboxes = all;
  return limits;
}

TEST(InboxTest, HoldsFirstAndStopsReadingLater) {
  const RpcLimits limits = Limits(1000, 100000);
  std::atomic<size_t> total = 0;
  Inbox inbox(limits, total);
  Inbox::Verdict verdict = inbox.Took(500);
  EXPECT_TRUE(verdict.read);
  EXPECT_FALSE(verdict.hold.has_value());
  verdict = inbox.Took(1);
  EXPECT_TRUE(verdict.read) << "told to hold, still read: heartbeats go on";
  EXPECT_EQ(verdict.hold, true);
  verdict = inbox.Took(500);
  EXPECT_FALSE(verdict.read);
  EXPECT_FALSE(verdict.hold.has_value()) << "once";
  EXPECT_EQ(total, 1001u);
  EXPECT_FALSE(inbox.Handled(500).read) << "not at once: it would go to and fro";
  verdict = inbox.Handled(1);
  EXPECT_TRUE(verdict.read);
  EXPECT_FALSE(verdict.hold.has_value());
  EXPECT_EQ(inbox.Handled(250).hold, false);
  EXPECT_EQ(total, 250u);
}

TEST(InboxTest, AFullHouseStopsAllButNobodyIsStuck) {
  const RpcLimits limits = Limits(1000, 1500);
  std::atomic<size_t> total = 0;
  Inbox loud(limits, total);
  Inbox quiet(limits, total);
  EXPECT_FALSE(loud.Took(1490).read);
  EXPECT_FALSE(quiet.Took(20).read) << "the house is full";
  EXPECT_TRUE(quiet.Handled(20).read) << "nothing of it waits: it may say the next thing";
  EXPECT_TRUE(loud.Handled(1490).read);
  EXPECT_EQ(total, 0u);
}

TEST(InboxTest, WhoComesAgainFindsNoNewRoom) {
  const RpcLimits limits = Limits(1000, 1500);
  std::atomic<size_t> total = 0;
  for (int i = 0; i < 2; ++i) Inbox(limits, total).Took(800);  // and hangs up
  EXPECT_EQ(total, 1600u);
  EXPECT_FALSE(Inbox(limits, total).Took(1).read);
  Inbox::Forgotten(total, 800);
  EXPECT_EQ(total, 801u);
}

}  // namespace
}  // namespace tidemark
