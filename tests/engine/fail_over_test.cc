// The database fails over to a primary that lacks the last commits (N2).
#include <gtest/gtest.h>

#include "common/time_text.h"
#include "tests/engine/harness.h"

namespace tidemark {
namespace {

using Executor = EngineHarness::Executor;

// One daily job with one due date and executors e1 and e2; e1 gets the run. Commits are lost by
// putting the store back to how it was at Keep.
struct FailOverTest : public testing::Test {
  FailOverTest() : h("2026-11-29T03:00:00Z") {}

  void Begin(JobSpec spec = EngineHarness::DailyJob("recon", "2026-11-28")) {
    job = h.Apply(spec);
    Keep();
    h.StartTerm();
    h.Start("e1");
    h.Start("e2");
  }
  void Keep() { kept = h.store; }
  // What a new primary knows: no run of the last seconds, but the executors.
  void FailOver(bool lose = true) {
    h.EndTerm();
    for (auto& [id, executor] : h.executors) executor.stream = 0;
    if (lose) {
      kept.executors = h.store.executors;
      kept.incarnations = h.store.incarnations;
      kept.specs = h.store.specs;
      h.store = kept;
    }
    h.timeline = 2;
    h.failed_over = true;
    h.StartTerm();
  }
  // As the executor library does: the order that each held run came from.
  void Connect(const std::string& id) {
    Executor& executor = h.executors.at(id);
    for (auto& [run_id, held] : executor.held) {
      for (const TriggerOrder& trigger : executor.triggers) {
        if (trigger.attempt == held.attempt) {
          held.trigger = std::make_shared<const TriggerOrder>(trigger);
        }
      }
    }
    h.Connect(executor);
  }
  Executor& e1() { return h.executors.at("e1"); }
  Executor& e2() { return h.executors.at("e2"); }
  const ActiveRun& Live() const { return h.store.active.begin()->second; }

  EngineHarness h;
  MemoryStore kept;
  int64_t job = 0;
};

TEST_F(FailOverTest, ARunThatTheDatabaseLostIsPutBackAndEndsOnce) {
  Begin();
  ASSERT_EQ(e1().triggers.size(), 1U);
  const TriggerOrder run = e1().triggers[0];
  h.Begin(e1(), run);
  FailOver();
  ASSERT_EQ(h.store.active.size(), 1U) << "the date is due: a run is opened, and waits";
  EXPECT_NE(Live().run_id, run.attempt.run_id);
  Connect("e2");
  h.Advance(absl::Minutes(1));
  EXPECT_TRUE(e2().triggers.empty()) << "nothing is sent before e1 has spoken";
  Connect("e1");
  ASSERT_EQ(h.store.active.size(), 1U);
  EXPECT_EQ(Live().run_id, run.attempt.run_id);
  EXPECT_EQ(Live().attempt, 1);
  EXPECT_EQ(Live().status, RunStatus::kRunning);
  EXPECT_EQ(Live().executor_id, "e1");
  EXPECT_EQ(Live().epoch, (Epoch{2, 1}));
  EXPECT_EQ(Live().biz_date, absl::CivilDay(2026, 11, 28));
  EXPECT_EQ(h.StatusOf(job, "2026-11-28"), "RUNNING");
  ASSERT_EQ(h.store.history.size(), 1U) << "what was opened instead";
  EXPECT_EQ(h.store.history[0].status, RunStatus::kSkipped);
  EXPECT_EQ(h.store.history[0].reason, "superseded");
  EXPECT_EQ(h.Told("commits_lost"), 1);
  EXPECT_TRUE(e1().cancels.empty());
  h.Advance(absl::Minutes(10));
  EXPECT_TRUE(e1().cancels.empty());
  h.Finish(e1(), run, Outcome::kSucceeded);
  EXPECT_EQ(h.StatusOf(job, "2026-11-28"), "DONE");
  h.Advance(absl::Minutes(2));
  EXPECT_TRUE(e2().triggers.empty()) << "its date ran once";
  EXPECT_EQ(e1().triggers.size(), 1U);
}

TEST_F(FailOverTest, ItsRetryGetsTheCheckpointAndTheParametersOfTheLostOrder) {
  Begin();
  const TriggerOrder run = e1().triggers[0];
  h.Begin(e1(), run);
  FailOver();
  TriggerOrder said = run;
  said.checkpoint = "row-4";
  said.params["bills"] = "/a \"quoted\"\\path\n";
  e1().held[run.attempt.run_id].trigger = std::make_shared<const TriggerOrder>(said);
  h.Connect(e1());
  h.Connect(e2());
  EXPECT_EQ(Live().checkpoint, "row-4");
  EXPECT_EQ(Live().params, "{\"bills\":\"/a \\\"quoted\\\"\\\\path\\u000a\"}");
  h.Finish(e1(), run, Outcome::kDrained);
  ASSERT_EQ(e1().triggers.size() + e2().triggers.size(), 2U);
}

TEST_F(FailOverTest, NothingIsSentToAnAppBeforeAllItsExecutorsHaveSpoken) {
  Begin();
  h.Finish(e1(), e1().triggers[0], Outcome::kSucceeded);
  JobSpec other = EngineHarness::DailyJob("other-app", "2026-11-28");
  other.app = "another";
  h.Apply(other);
  FailOver(/*lose=*/false);
  h.executors["x"].app = "another";
  h.Start("x");
  EXPECT_EQ(h.executors["x"].triggers.size(), 1U) << "of its app none was known: it does not wait";
  const std::string order =
      h.Command(job, "rerun",
                {{"from", "2026-11-28"}, {"to", "2026-11-28"}, {"force", "true"}, {"reason", "r"}});
  EXPECT_EQ(h.Answer(order).code, absl::StatusCode::kOk) << "orders are taken, and wait";
  Connect("e2");
  h.AdvanceTo("2026-11-29T03:02:00Z");
  EXPECT_TRUE(e2().triggers.empty());
  Connect("e1");
  EXPECT_EQ(e1().triggers.size() + e2().triggers.size(), 2U) << "at once";
}

TEST_F(FailOverTest, AFireMeanwhileIsNeitherArmedNorLost) {
  Begin();
  h.Finish(e1(), e1().triggers[0], Outcome::kSucceeded);
  h.AdvanceTo("2026-11-29T16:59:00Z");
  FailOver(/*lose=*/false);
  Connect("e2");
  h.AdvanceTo("2026-11-29T17:00:30Z");
  EXPECT_TRUE(e2().triggers.empty());
  EXPECT_EQ(h.store.active.size(), 1U) << "recorded, and waits";
  Connect("e1");
  EXPECT_EQ(e1().triggers.size() + e2().triggers.size(), 2U);
}

TEST_F(FailOverTest, OneThatDoesNotComeBackIsWaitedForForLostAfter) {
  Begin();
  h.Begin(e1(), e1().triggers[0]);
  FailOver();
  e1().held.clear();
  Connect("e2");
  h.Advance(absl::Minutes(5) - absl::Seconds(2));
  EXPECT_TRUE(e2().triggers.empty());
  h.Advance(absl::Seconds(4));
  EXPECT_EQ(e2().triggers.size(), 1U);
}

TEST_F(FailOverTest, WhatWaitsToBeSentAgainIsHeldBack) {
  Begin();  // e1 got the trigger, or perhaps not: that is committed
  const TriggerOrder run = e1().triggers[0];
  FailOver(/*lose=*/false);
  Connect("e1");  // it does not have it
  h.Advance(absl::Minutes(2));
  EXPECT_EQ(e1().triggers.size(), 1U) << "e2 may have a later attempt of it";
  EXPECT_TRUE(e1().cancels.empty()) << "it did not start because it was not sent";
  Connect("e2");
  h.Advance(absl::Seconds(1));
  ASSERT_EQ(e1().triggers.size(), 2U);
  EXPECT_EQ(e1().triggers[1].attempt, run.attempt);
}

TEST_F(FailOverTest, ALaterAttemptThatTheDatabaseLostIsFollowed) {
  JobSpec spec = EngineHarness::DailyJob("recon", "2026-11-28");
  spec.retry.backoff = {absl::ZeroDuration()};
  Begin(spec);
  h.Begin(e1(), e1().triggers[0]);
  Keep();  // attempt 1 runs at e1
  e1().draining = true;
  h.Beat(e1());
  h.Finish(e1(), e1().triggers[0], Outcome::kFailedRetryable);
  ASSERT_EQ(e2().triggers.size(), 1U);
  const TriggerOrder second = e2().triggers[0];
  EXPECT_EQ(second.attempt.attempt, 2);
  h.Begin(e2(), second);
  FailOver();
  ASSERT_EQ(Live().attempt, 1);
  Connect("e2");
  EXPECT_EQ(Live().attempt, 2);
  EXPECT_EQ(Live().executor_id, "e2");
  EXPECT_TRUE(e2().cancels.empty());
  EXPECT_EQ(h.Told("commits_lost"), 1);
  Connect("e1");  // which does not have the first attempt any more
  EXPECT_EQ(Live().attempt, 2);
  EXPECT_EQ(e1().triggers.size(), 1U);
  h.Finish(e2(), second, Outcome::kSucceeded);
  EXPECT_EQ(h.StatusOf(job, "2026-11-28"), "DONE");
}

TEST_F(FailOverTest, WhenTheOccurrenceIsLiveElsewhereTheOtherEnds) {
  Begin();
  const TriggerOrder run = e1().triggers[0];
  h.Begin(e1(), run);
  FailOver();
  Connect("e2");
  h.Advance(absl::Minutes(6));  // e1 was waited for in vain
  ASSERT_EQ(e2().triggers.size(), 1U);
  Connect("e1");
  ASSERT_EQ(e1().cancels.size(), 1U);
  EXPECT_EQ(e1().cancels[0].attempt, run.attempt);
  EXPECT_EQ(Live().executor_id, "e2");
  EXPECT_EQ(h.store.active.size(), 1U);
}

TEST_F(FailOverTest, ARunOfADeletedJobEnds) {
  Begin();
  h.Begin(e1(), e1().triggers[0]);
  h.EndTerm();
  h.store.jobs.clear();
  h.store.active.clear();
  Keep();
  FailOver();
  Connect("e1");
  EXPECT_EQ(e1().cancels.size(), 1U);
  EXPECT_TRUE(h.store.active.empty());
}

TEST_F(FailOverTest, WithoutItsOrderARunIsNotPutBack) {
  Begin();
  h.Begin(e1(), e1().triggers[0]);
  FailOver();
  h.Connect(e1());  // an older library: it says no trigger
  EXPECT_EQ(e1().cancels.size(), 1U);
}

TEST_F(FailOverTest, AnUnknownRunOfThisTimelineEndsAsEver) {
  Begin();
  const TriggerOrder run = e1().triggers[0];
  h.Begin(e1(), run);
  FailOver();
  e1().held[run.attempt.run_id].epoch = {2, 1};
  Connect("e1");
  EXPECT_EQ(e1().cancels.size(), 1U);
}

TEST_F(FailOverTest, ABeatThatNamesALostRunAsksForAHello) {
  Begin();
  const TriggerOrder run = e1().triggers[0];
  h.Begin(e1(), run);
  const std::map<std::string, HeldRun> held = std::exchange(e1().held, {});
  FailOver();
  h.Connect(e1());
  e1().held = held;
  h.Beat(e1());
  EXPECT_TRUE(e1().cancels.empty());
  EXPECT_EQ(e1().stream, 0U);
  Connect("e1");
  EXPECT_EQ(Live().run_id, run.attempt.run_id);
}

TEST_F(FailOverTest, AnIntervalJobsRunIsPutBackAsItsFire) {
  JobSpec spec = EngineHarness::DailyJob("minutely", "");
  spec.schedule.cron = "0 * * * * ?";
  Begin(spec);
  h.Advance(absl::Seconds(59));
  Keep();
  h.Advance(absl::Seconds(2));
  ASSERT_EQ(e1().triggers.size() + e2().triggers.size(), 1U);
  Executor& at = e1().triggers.empty() ? e2() : e1();
  const TriggerOrder run = at.triggers[0];
  h.Begin(at, run);
  FailOver();
  Connect("e1");
  Connect("e2");
  ASSERT_EQ(h.store.active.size(), 1U);
  EXPECT_EQ(Live().run_id, run.attempt.run_id);
  EXPECT_EQ(Live().occurrence, FireKey(job, run.fire_time));
  h.Finish(at, run, Outcome::kSucceeded);
  EXPECT_TRUE(h.store.active.empty());
}

TEST_F(FailOverTest, ALeapOfTheClockBetweenTermsHoldsTheNextOne) {
  Begin();
  h.Finish(e1(), e1().triggers[0], Outcome::kSucceeded);
  h.AdvanceTo("2026-11-29T16:59:00Z");
  h.EndTerm();
  h.engine().ClockLeapt(h.now(), absl::Minutes(1));
  h.StartTerm();
  EXPECT_TRUE(h.HasAlert("clock_leap"));
  h.Connect(e1());
  h.AdvanceTo("2026-11-29T17:00:30Z");
  EXPECT_EQ(e1().triggers.size(), 1U) << "nothing fires";
  h.engine().ClockTrusted(h.now());
  h.Pump();
  EXPECT_EQ(e1().triggers.size(), 2U);
  EXPECT_FALSE(h.HasAlert("clock_leap"));
}

}  // namespace
}  // namespace tidemark
