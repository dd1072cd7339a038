// Blocking, decided centrally at the moment of launch.
#include <gtest/gtest.h>

#include "tests/engine/harness.h"

namespace tidemark {
namespace {

using Executor = EngineHarness::Executor;

JobSpec Minutely(BlockingPolicy policy) {
  JobSpec spec = EngineHarness::DailyJob("minutely", "");
  spec.schedule.cron = "0 * * * * ?";
  spec.blocking.policy = policy;
  return spec;
}

struct Running : public EngineHarness {
  explicit Running(const JobSpec& spec) : EngineHarness("2026-11-29T03:00:30Z"), job(Apply(spec)) {
    on_trigger = [this](Executor& e, const TriggerOrder& t) { Begin(e, t); };
    StartTerm();
    Start("e1");
    Start("e2");
  }
  // Triggers that any executor got.
  std::vector<TriggerOrder> Triggers() const {
    std::vector<TriggerOrder> all;
    for (const auto& [id, executor] : executors) {
      all.insert(all.end(), executor.triggers.begin(), executor.triggers.end());
    }
    return all;
  }
  Executor& Of(const TriggerOrder& trigger) {
    for (auto& [id, executor] : executors) {
      if (executor.held.contains(trigger.attempt.run_id)) return executor;
    }
    return executors.begin()->second;
  }
  int64_t job;
};

TEST(BlockingTest, O07BlockingIsDecidedCentrallyDiscardLaterWritesARowAndSendsNothing) {
  Running h(Minutely(BlockingPolicy::kDiscardLater));
  h.Advance(absl::Seconds(95));  // a 90 s run under a 60 s tick, on two executors
  EXPECT_EQ(h.Triggers().size(), 1U);
  ASSERT_EQ(h.store.history.size(), 1U);
  EXPECT_EQ(h.store.history[0].status, RunStatus::kSkipped);
  EXPECT_EQ(h.store.history[0].reason, "blocked");
  const TriggerOrder first = h.Triggers()[0];
  h.Finish(h.Of(first), first, Outcome::kSucceeded);
  h.Advance(absl::Seconds(60));
  EXPECT_EQ(h.Triggers().size(), 2U);
}

TEST(BlockingTest, O08CoverEarlyStartsTheLaterOneOnlyWhenTheEarlierIsReleased) {
  Running h(Minutely(BlockingPolicy::kCoverEarly));
  h.Advance(absl::Seconds(95));
  ASSERT_EQ(h.Triggers().size(), 1U);
  const TriggerOrder first = h.Triggers()[0];
  Executor& old = h.Of(first);
  EXPECT_GE(old.cancels.size(), 1U) << "told to stop";
  EXPECT_EQ(h.store.active.size(), 2U) << "the later one waits";
  h.Finish(old, first, Outcome::kStopped);
  EXPECT_EQ(h.Triggers().size(), 2U);
  EXPECT_EQ(h.store.history.at(0).status, RunStatus::kCancelled);
  // Its late success, from a process that did not listen, changes nothing.
  h.Report(old, first.attempt, FinishedReport{});
  EXPECT_EQ(h.store.history.size(), 1U);
}

TEST(BlockingTest, ConcurrentRunsSoManyAtOnce) {
  JobSpec spec = Minutely(BlockingPolicy::kConcurrent);
  spec.blocking.concurrent = 2;
  Running h(spec);
  h.Advance(absl::Seconds(4 * 60));
  EXPECT_EQ(h.Triggers().size(), 2U);
  EXPECT_EQ(h.store.active.size(), 4U);
}

TEST(BlockingTest, SerialQueuesUpToItsLimitThenSkips) {
  JobSpec spec = Minutely(BlockingPolicy::kSerial);
  spec.blocking.queue = 2;
  Running h(spec);
  h.Advance(absl::Seconds(5 * 60));
  EXPECT_EQ(h.Triggers().size(), 1U);
  EXPECT_EQ(h.store.active.size(), 3U);
  ASSERT_EQ(h.store.history.size(), 2U);
  EXPECT_EQ(h.store.history[0].reason, "queue_full");
}

TEST(BlockingTest, ThePolicyOfTheMomentCounts) {
  Running h(Minutely(BlockingPolicy::kSerial));
  h.Advance(absl::Seconds(95));
  EXPECT_EQ(h.store.active.size(), 2U);
  h.Apply(Minutely(BlockingPolicy::kDiscardLater));
  h.Advance(absl::Seconds(60));
  EXPECT_EQ(h.store.active.size(), 2U);
  EXPECT_EQ(h.store.history.size(), 1U);
  h.KillScheduler();
  h.StartTerm();
  h.Advance(absl::Seconds(60));
  EXPECT_EQ(h.store.active.size(), 2U) << "after a restart, too";
  EXPECT_EQ(h.store.history.size(), 2U);
}

}  // namespace
}  // namespace tidemark
