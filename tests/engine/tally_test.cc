// What the engine counts, and who gets nothing new while it sends too much.
#include <gtest/gtest.h>

#include "tests/engine/harness.h"

namespace tidemark {
namespace {

using Executor = EngineHarness::Executor;

TEST(TallyTest, CountsFollowARunFromDueToDone) {
  EngineHarness h("2026-11-28T16:59:00Z");  // a minute before 01:00 in Shanghai
  const int64_t job = h.Apply(EngineHarness::DailyJob("recon", "2026-11-28"));
  h.StartTerm();
  int entered = 0;
  h.on_trigger = [&](Executor& e, const TriggerOrder& trigger) {
    h.Begin(e, trigger);
    h.Finish(e, trigger, entered++ == 0 ? Outcome::kFailedRetryable : Outcome::kSucceeded);
  };
  h.Start("e1");
  h.engine().TakeTally();
  h.Advance(absl::Minutes(3));
  ASSERT_EQ(h.StatusOf(job, "2026-11-28"), "DONE");
  const Tally tally = h.engine().TakeTally();
  const AppTally& app = tally.apps.at("app");
  EXPECT_EQ(app.due, 1u);
  EXPECT_EQ(app.fired, 1u);
  EXPECT_EQ(app.retries, 1u);
  EXPECT_EQ(app.ended.at(RunStatus::kCompleted), 1u);
  EXPECT_EQ(app.attempts.at(Outcome::kFailedRetryable), 1u);
  EXPECT_EQ(app.attempts.at(Outcome::kSucceeded), 1u);
  EXPECT_EQ(tally.lateness.counts.back(), 0u);
  EXPECT_LE(tally.lateness.sum, 1.0);
  EXPECT_TRUE(h.engine().TakeTally().apps.empty()) << "each is told once";
  const EngineGauges gauges = h.engine().Gauges();
  EXPECT_TRUE(gauges.active);
  EXPECT_EQ(gauges.jobs, 1u);
  EXPECT_EQ(gauges.live_runs, 0u);
  EXPECT_EQ(gauges.apps.at("app").executors_up, 1);
  EXPECT_EQ(gauges.apps.at("app").slots, 10);
  EXPECT_EQ(gauges.apps.at("app").slots_used, 0);
}

TEST(TallyTest, GaugesShowWhatWaitsAndWhoIsLost) {
  EngineHarness h("2026-11-29T03:00:00Z");
  h.Apply(EngineHarness::DailyJob("recon", "2026-11-28"));
  h.StartTerm();
  EXPECT_EQ(h.engine().Gauges().apps.at("app").waiting, 1);
  Executor& e1 = h.Start("e1");
  EXPECT_EQ(h.engine().Gauges().apps.at("app").waiting, 0);
  EXPECT_EQ(h.engine().Gauges().apps.at("app").slots_used, 1);
  e1.beats = false;
  h.Advance(absl::Seconds(30));
  EXPECT_EQ(h.engine().Gauges().apps.at("app").executors_lost, 1);
  EXPECT_EQ(h.engine().Gauges().apps.at("app").slots, 0);
  h.EndTerm();
  EXPECT_FALSE(h.engine().Gauges().active);
}

TEST(CongestionTest, AnExecutorThatSendsTooMuchGetsNothingNew) {
  EngineHarness h("2026-11-29T03:00:00Z");
  h.StartTerm();
  Executor& e1 = h.Start("e1");
  h.engine().StreamCongested(h.now(), e1.stream, true);
  h.Apply(EngineHarness::DailyJob("recon", "2026-11-28"));
  h.Advance(absl::Seconds(5));
  EXPECT_TRUE(e1.triggers.empty());
  h.engine().StreamCongested(h.now(), e1.stream, false);
  h.Pump();
  EXPECT_EQ(e1.triggers.size(), 1u) << "at once when it may go on";
}

}  // namespace
}  // namespace tidemark
