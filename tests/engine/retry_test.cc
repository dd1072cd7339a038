// Attempts have an end: whatever becomes of the writes of their states, and whoever stops the job.
#include <gtest/gtest.h>

#include <set>

#include "common/time_text.h"
#include "tests/engine/harness.h"

namespace tidemark {
namespace {

using Executor = EngineHarness::Executor;
using Fate = EngineHarness::Fate;

// One date whose handler always fails. The executor enters each attempt once, as the real one does:
// a trigger that comes again is answered with what is known.
struct Failing : public EngineHarness {
  explicit Failing(int attempts) : EngineHarness("2026-11-29T03:00:00Z") {
    JobSpec spec = DailyJob("recon", "2026-11-28");
    spec.retry.max_attempts = attempts;
    spec.retry.backoff = {absl::ZeroDuration(), absl::Seconds(10)};
    job = Apply(spec);
  }
  void Run(absl::Duration d) {
    Executor& e1 = executors.at("e1");
    for (absl::Duration t; t < d; t += absl::Seconds(1)) {
      for (; handled < e1.triggers.size(); ++handled) {
        const TriggerOrder trigger = e1.triggers[handled];
        if (entered.insert({trigger.attempt.run_id, trigger.attempt.attempt}).second) {
          Begin(e1, trigger);
        }
        Finish(e1, trigger, Outcome::kFailedRetryable, "no");
      }
      Advance(absl::Seconds(1));
    }
  }
  std::set<std::pair<std::string, int>> entered;
  size_t handled = 0;
  int64_t job = 0;
};

// Runs a date to its end while flush number `at` meets `what`, and the next one, too, if `twice`.
// Returns the number of flushes.
int RunWithFault(int at, Fate what, bool twice) {
  Failing h(3);
  int flushes = 0;
  h.fate = [&](const Flush&) {
    ++flushes;
    return flushes == at || (twice && flushes == at + 1) ? what : Fate::kCommitted;
  };
  h.StartTerm();
  h.Start("e1");
  for (int i = 0; i < 4; ++i) {
    h.Run(absl::Seconds(15));
    if (h.store_stalled) h.AnswerStalled();
  }
  const std::string where = "flush " + std::to_string(at);
  EXPECT_EQ(h.entered.size(), 3U) << where;
  EXPECT_EQ(h.store.history.size(), 1U) << where;
  EXPECT_TRUE(h.store.active.empty()) << where;
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "FAILED") << where;
  EXPECT_EQ(h.store.history.at(0).run.failed_attempts, 3) << where;
  EXPECT_TRUE(h.executors.at("e1").unacknowledged.empty()) << where;
  return flushes;
}

TEST(RetryTest, O11AttemptsAreBoundedWhateverWriteFails) {
  const int flushes = RunWithFault(0, Fate::kCommitted, false);
  ASSERT_GT(flushes, 5);
  for (int at = 1; at <= flushes; ++at) {
    for (const bool twice : {false, true}) {
      RunWithFault(at, Fate::kLost, twice);
      RunWithFault(at, Fate::kInDoubt, twice);
    }
    RunWithFault(at, Fate::kStalled, false);
  }
}

TEST(RetryTest, O11PauseStopsPendingRetriesUntilTheJobIsResumed) {
  Failing h(4);
  h.StartTerm();
  h.Start("e1");
  h.Run(absl::Seconds(2));
  ASSERT_EQ(h.entered.size(), 2U) << "the third waits for its back-off";
  h.Command(h.job, "pause", {{"reason", "test"}});
  h.Run(absl::Minutes(30));
  EXPECT_EQ(h.entered.size(), 2U);
  h.Command(h.job, "resume");
  h.Run(absl::Seconds(30));
  EXPECT_EQ(h.entered.size(), 4U);
}

TEST(RetryTest, O11DisablingStopsPendingRetriesOverARestart) {
  Failing h(4);
  h.StartTerm();
  h.Start("e1");
  h.Run(absl::Seconds(2));
  JobSpec spec = EngineHarness::DailyJob("recon", "2026-11-28");
  spec.enabled = false;
  h.Apply(spec);
  h.Run(absl::Minutes(30));
  h.KillScheduler();
  h.StartTerm();
  h.Connect(h.executors.at("e1"));
  h.Run(absl::Minutes(30));
  EXPECT_EQ(h.entered.size(), 2U);
}

TEST(RetryTest, O11AnOrderOfAPausedJobRunsButDoesNotRetry) {
  Failing h(4);
  h.store.jobs.at(h.job).paused = true;
  h.StartTerm();
  h.Start("e1");
  h.Run(absl::Seconds(5));
  EXPECT_EQ(h.entered.size(), 0U);
  EXPECT_EQ(h.Answer(h.Command(h.job, "trigger")).code, absl::StatusCode::kOk);
  h.Run(absl::Minutes(10));
  EXPECT_EQ(h.entered.size(), 1U);
}

TEST(RetryTest, O11CancelStopsPendingRetriesAndAnEndedRunIsLeftAlone) {
  Failing h(4);
  h.StartTerm();
  h.Start("e1");
  h.Run(absl::Seconds(2));
  const std::string run_id = h.store.active.begin()->second.run_id;
  h.Command(h.job, "cancel", {{"run_id", run_id}});
  ASSERT_EQ(h.store.history.size(), 1U);
  const std::string again = h.Command(h.job, "cancel", {{"run_id", run_id}});
  EXPECT_EQ(h.Answer(again).result.at("was_terminal"), "true");
  h.Run(absl::Minutes(30));
  EXPECT_EQ(h.entered.size(), 2U);
  EXPECT_EQ(h.store.history.size(), 1U) << "the kill of an ended run runs nothing again";
  EXPECT_EQ(h.store.history.at(0).status, RunStatus::kCancelled);
}

TEST(RetryTest, O10AManualRunLeavesTheScheduledOneAlone) {
  EngineHarness h("2026-11-29T03:00:30Z");
  JobSpec spec = EngineHarness::DailyJob("minutely", "");
  spec.schedule.cron = "0 * * * * ?";
  const int64_t job = h.Apply(spec);
  h.on_trigger = [&](Executor& e, const TriggerOrder& t) {
    h.Begin(e, t);
    h.Finish(e, t, Outcome::kSucceeded);
  };
  h.StartTerm();
  h.Start("e1");
  h.Command(job, "trigger", {{"request_id", "2026-11-29T03:01:00Z"}});  // looks like the next fire
  ASSERT_EQ(h.store.history.size(), 1U);
  h.Advance(absl::Seconds(60));
  ASSERT_EQ(h.store.history.size(), 2U);
  EXPECT_EQ(h.store.history[1].run.trigger, TriggerType::kSchedule);
}

// A run in its back-off when the next fire comes, on a job with that policy.
struct BackingOff : public EngineHarness {
  explicit BackingOff(BlockingPolicy policy) : EngineHarness("2026-11-29T03:00:30Z") {
    JobSpec spec = DailyJob("minutely", "");
    spec.schedule.cron = "0 * * * * ?";
    spec.blocking.policy = policy;
    spec.retry.backoff = {absl::Seconds(90)};
    Apply(spec);
    StartTerm();
    Executor& e1 = Start("e1");
    Advance(absl::Seconds(31));
    Begin(e1, e1.triggers.at(0));
    Finish(e1, e1.triggers.at(0), Outcome::kFailedRetryable, "no");
    Advance(absl::Seconds(60));  // the next fire, during the back-off
  }
  const std::vector<TriggerOrder>& triggers() const { return executors.at("e1").triggers; }
  std::string first() const { return triggers().at(0).attempt.run_id; }
};

TEST(RetryTest, O11ARetryKeepsItsPlaceBeforeTheNextFire) {
  BackingOff h(BlockingPolicy::kSerial);
  EXPECT_EQ(h.triggers().size(), 1U) << "the later one waits behind the retry";
  h.Advance(absl::Seconds(31));
  ASSERT_EQ(h.triggers().size(), 2U);
  EXPECT_EQ(h.triggers()[1].attempt, (AttemptRef{h.first(), 2}));
}

TEST(RetryTest, O11ARetryBlocksTheNextFire) {
  BackingOff h(BlockingPolicy::kDiscardLater);
  ASSERT_EQ(h.store.history.size(), 1U);
  EXPECT_EQ(h.store.history[0].status, RunStatus::kSkipped);
  h.Advance(absl::Seconds(31));
  EXPECT_EQ(h.triggers().size(), 2U);
  EXPECT_EQ(h.triggers()[1].attempt.run_id, h.first());
}

TEST(RetryTest, O11TheNextFireCoversARetry) {
  BackingOff h(BlockingPolicy::kCoverEarly);
  ASSERT_EQ(h.triggers().size(), 2U);
  EXPECT_NE(h.triggers()[1].attempt.run_id, h.first());
  ASSERT_EQ(h.store.history.size(), 1U);
  EXPECT_EQ(h.store.history[0].status, RunStatus::kCancelled);
  h.Advance(absl::Minutes(1));
  EXPECT_EQ(std::count_if(h.triggers().begin(), h.triggers().end(),
                          [&](const TriggerOrder& t) { return t.attempt.run_id == h.first(); }),
            1);
}

}  // namespace
}  // namespace tidemark
