// The executor session between wire and engine.
#include "scheduler/rpc/executor_codec.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TriggerOrder SomeOrder() {
  TriggerOrder order;
  order.attempt = {"00000000-0000-7000-8000-000000000001", 3};
  order.registration = 7;
  order.shard = 12;
  order.epoch = {2, 40};
  order.job = "recon";
  order.handler = "work";
  order.biz_date = "2026-11-28";
  order.fire_time = absl::FromUnixSeconds(1795000000);
  order.nominal_time = "2026-11-29T01:00:00";
  order.zone = "Asia/Shanghai";
  order.trigger = TriggerType::kCatchUp;
  order.params = {{"bills", "/data"}};
  order.checkpoint = "row-4";
  order.batch_id = "recon/2026-11-28";
  order.on_lost = OnLost::kRetry;
  order.run_timeout = absl::Hours(2);
  order.lost_after = absl::Minutes(5);
  order.cancel_grace = absl::Seconds(30);
  return order;
}

TEST(ExecutorCodecTest, ATriggerThatItsExecutorSaysBackIsWhatItWas) {
  const TriggerOrder order = SomeOrder();
  v1::SchedulerMessage out;
  AddTo({1, order}, out);
  v1::ExecutorMessage message;
  v1::HeldRun& held = *message.mutable_hello()->add_held();
  *held.mutable_attempt() = out.orders(0).trigger().attempt();
  held.set_shard(12);
  *held.mutable_trigger() = out.orders(0).trigger();
  const ExecutorMessage in = FromProto(message);
  ASSERT_TRUE(in.hello.has_value());
  ASSERT_EQ(in.hello->held.size(), 1U);
  ASSERT_NE(in.hello->held[0].trigger, nullptr);
  // The same on the wire, so the same in every field that the wire has.
  v1::SchedulerMessage again;
  AddTo({1, *in.hello->held[0].trigger}, again);
  EXPECT_EQ(again.DebugString(), out.DebugString());
}

TEST(ExecutorCodecTest, EveryTriggerTypeComesBack) {
  for (const TriggerType type : {TriggerType::kSchedule, TriggerType::kCatchUp,
                                 TriggerType::kBackfill, TriggerType::kManual}) {
    TriggerOrder order = SomeOrder();
    order.trigger = type;
    v1::SchedulerMessage out;
    AddTo({1, order}, out);
    v1::ExecutorMessage message;
    *message.mutable_hello()->add_held()->mutable_trigger() = out.orders(0).trigger();
    EXPECT_EQ(FromProto(message).hello->held[0].trigger->trigger, type);
  }
}

TEST(ExecutorCodecTest, AHeldRunWithoutItsTriggerHasNone) {
  v1::ExecutorMessage message;
  message.mutable_heartbeat()->add_held()->set_shard(3);
  const ExecutorMessage in = FromProto(message);
  ASSERT_EQ(in.heartbeat->held.size(), 1U);
  EXPECT_EQ(in.heartbeat->held[0].trigger, nullptr);
}

TEST(ExecutorCodecTest, AWelcomeSaysTheTimeline) {
  v1::SchedulerMessage out;
  AddTo({1, WelcomeMessage{7, absl::Seconds(5), absl::Seconds(17), 4}}, out);
  EXPECT_EQ(out.welcome().timeline(), 4U);
}

}  // namespace
}  // namespace tidemark
