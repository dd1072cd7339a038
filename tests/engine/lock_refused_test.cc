// A run whose Redis lock is taken: it waits with back-off, consumes nothing, and is told once.
#include <gtest/gtest.h>

#include <algorithm>

#include "common/time_text.h"
#include "tests/engine/harness.h"

namespace tidemark {
namespace {

using Executor = EngineHarness::Executor;

struct Locked : public EngineHarness {
  Locked() : EngineHarness("2026-11-29T03:00:00Z"), job(Apply(DailyJob("recon", "2026-11-28"))) {
    on_trigger = [this](Executor& e, const TriggerOrder& t) {
      if (taken) {
        refused_at.push_back(now().mono);
        Report(e, t.attempt, RefusedReport{"LOCK_REFUSED", "is held by another program"});
      } else {
        Begin(e, t);
      }
    };
    StartTerm();
    Start("e1");
    Start("e2");
  }
  const TriggerOrder& Last() {
    const Executor& e1 = executors.at("e1");
    const Executor& e2 = executors.at("e2");
    if (e2.triggers.empty()) return e1.triggers.back();
    if (e1.triggers.empty()) return e2.triggers.back();
    return e1.triggers.back().attempt < e2.triggers.back().attempt ? e2.triggers.back()
                                                                   : e1.triggers.back();
  }
  bool taken = true;
  std::vector<absl::Duration> refused_at;
  int64_t job;
};

TEST(LockRefusedTest, K1ItIsTriedAgainWithBackOffAndConsumesNoAttempt) {
  Locked h;
  h.Advance(absl::Minutes(4));
  std::vector<absl::Duration> waits;
  for (size_t i = 1; i < h.refused_at.size(); ++i) {
    waits.push_back(h.refused_at[i] - h.refused_at[i - 1]);
  }
  EXPECT_EQ(waits,
            (std::vector<absl::Duration>{absl::Seconds(5), absl::Seconds(10), absl::Seconds(20),
                                         absl::Seconds(40), absl::Seconds(60), absl::Seconds(60)}));
  h.Advance(absl::Hours(2));  // far more refusals than attempts may fail or be lost
  ASSERT_EQ(h.store.active.size(), 1U);
  const ActiveRun& run = h.store.active.begin()->second;
  EXPECT_EQ(run.status, RunStatus::kPending);
  EXPECT_EQ(run.failed_attempts, 0);
  EXPECT_EQ(run.lost_attempts, 0);
  h.taken = false;
  h.Advance(absl::Minutes(1));
  Executor& holder =
      h.executors.at("e1").held.empty() ? h.executors.at("e2") : h.executors.at("e1");
  h.Finish(holder, h.Last(), Outcome::kSucceeded);
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "DONE");
}

TEST(LockRefusedTest, K1IsToldOnceAnEpisodeAndResolved) {
  Locked h;
  h.Advance(absl::Minutes(5) - absl::Seconds(1));
  EXPECT_EQ(h.Told("lock_refused"), 0);
  h.Advance(absl::Minutes(2));
  EXPECT_TRUE(h.HasAlert("lock_refused"));
  h.Advance(absl::Hours(1));
  EXPECT_EQ(h.Told("lock_refused"), 1);
  EXPECT_FALSE(h.HasAlert("no_executor")) << "there are executors";
  h.taken = false;
  h.Advance(absl::Minutes(1));
  EXPECT_FALSE(h.HasAlert("lock_refused"));
  // A second episode of the same run is told anew.
  h.taken = true;
  Executor& holder =
      h.executors.at("e1").held.empty() ? h.executors.at("e2") : h.executors.at("e1");
  h.Finish(holder, h.Last(), Outcome::kFailedRetryable);
  h.Advance(absl::Minutes(4));
  EXPECT_EQ(h.Told("lock_refused"), 1);
  h.Advance(absl::Minutes(3));
  EXPECT_EQ(h.Told("lock_refused"), 2);
}

TEST(LockRefusedTest, K1ARestartKeepsTheBackOffAndResolvesWhatWasTold) {
  Locked h;
  h.Advance(absl::Minutes(10));
  ASSERT_TRUE(h.HasAlert("lock_refused"));
  const absl::Duration last = h.refused_at.back();
  h.KillScheduler();
  h.StartTerm();
  h.Connect(h.executors.at("e1"));
  h.Connect(h.executors.at("e2"));
  const size_t before = h.refused_at.size();
  h.taken = false;
  h.Advance(last + absl::Seconds(59) - h.now().mono);
  EXPECT_TRUE(h.executors.at("e1").held.empty() && h.executors.at("e2").held.empty());
  h.Advance(absl::Seconds(2));
  EXPECT_EQ(h.refused_at.size(), before);
  EXPECT_FALSE(h.executors.at("e1").held.empty() && h.executors.at("e2").held.empty());
  EXPECT_FALSE(h.HasAlert("lock_refused"));
}

TEST(LockRefusedTest, K1CancelEndsTheWait) {
  Locked h;
  h.Advance(absl::Minutes(10));
  const std::string run_id = h.store.active.begin()->second.run_id;
  const std::string order = h.Command(h.job, "cancel", {{"run_id", run_id}});
  EXPECT_EQ(h.Answer(order).result.at("confirmed"), "true");
  EXPECT_EQ(h.store.history.at(0).status, RunStatus::kCancelled);
  EXPECT_FALSE(h.HasAlert("lock_refused"));
}

}  // namespace
}  // namespace tidemark
