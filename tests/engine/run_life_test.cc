// One run: dispatch, retries, loss, re-attachment, cancel, late reports.
#include <gtest/gtest.h>

#include "common/time_text.h"
#include "tests/engine/harness.h"

namespace tidemark {
namespace {

using Executor = EngineHarness::Executor;

struct OneRun : public EngineHarness {
  explicit OneRun(const JobSpec& spec = DailyJob("recon", "2026-11-28"))
      : EngineHarness("2026-11-29T03:00:00Z"), job(Apply(spec)) {
    StartTerm();
  }
  int64_t job;
};

TEST(RunLifeTest, RetriesAtOnceThenAfterAMinuteThenAfterFiveThenFails) {
  OneRun h;
  Executor& e1 = h.Start("e1");
  std::vector<absl::Duration> waits;
  for (size_t attempt = 1; attempt <= 4; ++attempt) {
    ASSERT_EQ(e1.triggers.size(), attempt);
    EXPECT_EQ(e1.triggers.back().attempt.attempt, static_cast<int>(attempt));
    h.Begin(e1, e1.triggers.back());
    h.Finish(e1, e1.triggers.back(), Outcome::kFailedRetryable, "no");
    const absl::Duration since = h.now().mono;
    while (e1.triggers.size() == attempt && h.now().mono - since < absl::Minutes(20)) {
      h.Advance(absl::Seconds(1));
    }
    waits.push_back(h.now().mono - since);
  }
  EXPECT_EQ(waits[0], absl::ZeroDuration());
  EXPECT_EQ(waits[1], absl::Minutes(1));
  EXPECT_EQ(waits[2], absl::Minutes(5));
  EXPECT_EQ(e1.triggers.size(), 4U);
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "FAILED");
  EXPECT_EQ(h.store.attempts.size(), 4U);
  EXPECT_TRUE(h.HasAlert("run_failed"));
}

TEST(RunLifeTest, NothingRetriesWhenTheHandlerSaysSo) {
  OneRun h;
  Executor& e1 = h.Start("e1");
  h.Begin(e1, e1.triggers[0]);
  h.Finish(e1, e1.triggers[0], Outcome::kFailedPermanent);
  h.Advance(absl::Minutes(20));
  EXPECT_EQ(e1.triggers.size(), 1U);
}

TEST(RunLifeTest, TheTriggerLeavesOnlyAfterTheCommit) {
  OneRun h;
  h.store_stalled = true;
  Executor& e1 = h.executors["e1"];
  e1.id = "e1";
  h.Start("e1");
  EXPECT_TRUE(e1.triggers.empty());
}

TEST(RunLifeTest, RefusedGoesToTheNextAndConsumesNoAttempt) {
  OneRun h;
  Executor& e1 = h.Start("e1");
  ASSERT_EQ(e1.triggers.size(), 1U);
  Executor& e2 = h.Start("e2");
  h.Report(e1, e1.triggers[0].attempt, RefusedReport{"SPOOL_FULL", ""});
  ASSERT_EQ(e2.triggers.size(), 1U);
  EXPECT_EQ(h.store.active.begin()->second.failed_attempts, 0);
  EXPECT_EQ(h.store.attempts.at(0).outcome, "REFUSED");
}

TEST(RunLifeTest, NeverSentIsFreeAtOnceWhenItsExecutorLeaves) {
  // Chosen and recorded, but the stream is gone before the commit.
  JobSpec spec = EngineHarness::DailyJob("recon", "");
  OneRun h(spec);
  Executor& e1 = h.Start("e1");
  h.AdvanceTo("2026-11-29T16:59:59Z");
  h.store_stalled = true;
  h.Advance(absl::Seconds(3));
  h.Disconnect(e1);
  h.AnswerStalled();
  EXPECT_TRUE(e1.triggers.empty());
  Executor& e2 = h.Start("e2");
  ASSERT_EQ(e2.triggers.size(), 1U);
  EXPECT_EQ(h.store.active.begin()->second.lost_attempts, 0);
}

TEST(RunLifeTest, E02AHandlerThatTakesItsProcessDownUnheardComesToAnEnd) {
  // Each time before the process can say that it began. A FAILED date is opened again by new
  // processes three times a day; each opening has ten lost attempts.
  OneRun h;
  int processes = 0;
  size_t triggers = 0;
  while (h.StatusOf(h.job, "2026-11-28") != "FAILED" && processes < 100) {
    Executor& e1 = h.Start("e1", ++processes);
    triggers += e1.triggers.size();
    e1.triggers.clear();
    h.Disconnect(e1);
  }
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "FAILED");
  EXPECT_EQ(triggers, 40U);
  EXPECT_EQ(h.store.attempts.at(0).outcome, "LOST");
  EXPECT_TRUE(h.HasAlert("run_failed"));
}

TEST(RunLifeTest, ARegistrationFromBeforeTheFailureReopensNothing) {
  OneRun h;
  Executor& e1 = h.Start("e1");
  h.Begin(e1, e1.triggers[0]);
  h.ledger_stalled = true;
  Executor& e2 = h.Start("e2");
  h.Finish(e1, e1.triggers[0], Outcome::kFailedPermanent);
  h.ledger_stalled = false;
  h.AnswerLedger();
  h.Advance(absl::Seconds(1));
  EXPECT_EQ(e1.triggers.size() + e2.triggers.size(), 1U);
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "FAILED");
  // The next one does.
  h.Start("e3");
  h.Advance(absl::Seconds(1));
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "RUNNING");
}

TEST(RunLifeTest, AReportThatComesAgainIsAcknowledgedWithTheCommitOfItsFirstCopy) {
  OneRun h;
  Executor& e1 = h.Start("e1");
  const TriggerOrder first = e1.triggers[0];
  h.Begin(e1, first);
  h.store_stalled = true;
  h.Finish(e1, first, Outcome::kFailedRetryable, "no");
  h.Finish(e1, first, Outcome::kFailedRetryable, "no");
  EXPECT_TRUE(e1.acknowledged.empty()) << "a crash now would undo it";
  h.AnswerStalled();
  EXPECT_FALSE(e1.acknowledged.empty());
}

TEST(RunLifeTest, ALongRunWithHeartbeatsIsLeftAlone) {
  OneRun h;
  Executor& e1 = h.Start("e1");
  h.Begin(e1, e1.triggers[0]);
  h.Advance(absl::Hours(3));
  EXPECT_EQ(e1.triggers.size(), 1U);
  EXPECT_TRUE(e1.cancels.empty());
  EXPECT_TRUE(h.HasAlert("run_long"));
  h.Finish(e1, e1.triggers[0], Outcome::kSucceeded);
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "DONE");
}

TEST(RunLifeTest, E01LostAfterFiveMinutesOfSilenceWhenItCanBeStopped) {
  OneRun h;
  Executor& e1 = h.Start("e1");
  h.Begin(e1, e1.triggers[0]);
  h.Disconnect(e1);
  Executor& e2 = h.Start("e2");
  h.Advance(absl::Seconds(299));
  EXPECT_TRUE(e2.triggers.empty());
  h.Advance(absl::Seconds(2));
  ASSERT_EQ(e2.triggers.size(), 1U);
  EXPECT_EQ(e2.triggers[0].attempt.attempt, 2);
  EXPECT_EQ(h.store.active.begin()->second.lost_attempts, 1);
  EXPECT_EQ(h.store.active.begin()->second.failed_attempts, 0);
}

TEST(RunLifeTest, E04LateSuccessOfALostAttemptChangesNothing) {
  OneRun h;
  Executor& e1 = h.Start("e1");
  const TriggerOrder first = e1.triggers[0];
  h.Begin(e1, first);
  h.Disconnect(e1);
  Executor& e2 = h.Start("e2");
  h.Advance(absl::Minutes(6));
  ASSERT_EQ(e2.triggers.size(), 1U);
  h.Begin(e2, e2.triggers[0]);
  h.Connect(e1);
  h.Finish(e1, first, Outcome::kSucceeded);
  EXPECT_EQ(e1.acknowledged.size(), 1U) << "acknowledged, so that it leaves the spool";
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "RUNNING");
  EXPECT_EQ(h.Told("late_success"), 1);
  h.Finish(e2, e2.triggers[0], Outcome::kFailedPermanent);
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "FAILED");
}

TEST(RunLifeTest, WhatCannotBeStoppedIsHeldNotRunAgain) {
  OneRun h;
  Executor& e1 = h.executors["e1"];
  e1.interruptible = false;
  h.Start("e1");
  h.Begin(e1, e1.triggers[0]);
  h.Disconnect(e1);
  Executor& e2 = h.Start("e2");
  h.Advance(absl::Hours(5));
  EXPECT_TRUE(e2.triggers.empty());
  EXPECT_TRUE(h.HasAlert("run_reaped"));
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "FAILED");
  EXPECT_TRUE(h.store.active.begin()->second.held);
  h.Connect(e1);  // it was alive all the time
  h.Finish(e1, e1.triggers[0], Outcome::kSucceeded);
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "DONE");
  EXPECT_TRUE(h.store.active.empty());
}

TEST(RunLifeTest, E02ANewIncarnationFreesTheOldOnesRunsAtOnce) {
  OneRun h;
  Executor& e1 = h.executors["e1"];
  e1.interruptible = false;
  h.Start("e1", 1);
  h.Begin(e1, e1.triggers[0]);
  h.Disconnect(e1);
  h.Start("e1", 2);
  ASSERT_EQ(e1.triggers.size(), 2U);
  EXPECT_EQ(e1.triggers[1].attempt.attempt, 2);
  EXPECT_EQ(h.store.attempts.at(0).outcome, "LOST");
}

TEST(RunLifeTest, SpooledResultsOfTheOldIncarnationCountFirst) {
  OneRun h;
  Executor& e1 = h.Start("e1", 1);
  h.Begin(e1, e1.triggers[0]);
  const int64_t registration = e1.registration;
  h.Disconnect(e1);
  h.Finish(e1, e1.triggers[0], Outcome::kSucceeded);  // into the spool; the process dies
  e1.unacknowledged[0].registration = registration;
  h.Start("e1", 2);
  EXPECT_EQ(e1.triggers.size(), 1U);
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "DONE");
  EXPECT_TRUE(e1.unacknowledged.empty());
}

TEST(RunLifeTest, TheSchedulersDeathDisturbsNoRun) {
  OneRun h;
  Executor& e1 = h.Start("e1");
  h.Begin(e1, e1.triggers[0]);
  h.KillScheduler();
  h.Advance(absl::Minutes(2));
  h.StartTerm();
  h.Connect(e1);
  h.Advance(absl::Minutes(10));
  EXPECT_EQ(e1.triggers.size(), 1U);
  h.Finish(e1, e1.triggers[0], Outcome::kSucceeded);
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "DONE");
  EXPECT_EQ(h.store.history.size(), 1U);
}

TEST(RunLifeTest, E05AResultFinishedWhileTheSchedulerWasAwayCountsOnce) {
  OneRun h;
  Executor& e1 = h.Start("e1");
  h.Begin(e1, e1.triggers[0]);
  h.KillScheduler();
  h.Finish(e1, e1.triggers[0], Outcome::kSucceeded);
  h.StartTerm();
  h.Connect(e1);
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "DONE");
  EXPECT_EQ(h.store.history.size(), 1U);
  EXPECT_EQ(e1.triggers.size(), 1U);
}

TEST(RunLifeTest, E09AnUnsentTriggerIsSentAgainToTheSameExecutorAfterATakeOver) {
  OneRun h;
  Executor& e1 = h.Start("e1");
  ASSERT_EQ(e1.triggers.size(), 1U);
  e1.triggers.clear();  // it never arrived
  h.KillScheduler();
  h.StartTerm();
  Executor& e2 = h.Start("e2");
  EXPECT_TRUE(e2.triggers.empty()) << "it may be running in e1";
  h.Connect(e1);
  ASSERT_EQ(e1.triggers.size(), 1U);
  EXPECT_EQ(e1.triggers[0].attempt.attempt, 1);
}

TEST(RunLifeTest, AfterATakeOverNobodyIsLostBeforeAFullTime) {
  OneRun h;
  Executor& e1 = h.Start("e1");
  h.Begin(e1, e1.triggers[0]);
  h.Disconnect(e1);
  h.Start("e2");
  h.Advance(absl::Minutes(4));
  h.KillScheduler();
  h.StartTerm();
  Executor& e2 = h.executors.at("e2");
  h.Connect(e2);
  h.Advance(absl::Minutes(4));
  EXPECT_TRUE(e2.triggers.empty());
  h.Advance(absl::Minutes(2));
  EXPECT_EQ(e2.triggers.size(), 1U);
}

TEST(RunLifeTest, CancelReachesTheHandlerAndIsConfirmed) {
  OneRun h;
  Executor& e1 = h.Start("e1");
  h.Begin(e1, e1.triggers[0]);
  const std::string run_id = e1.triggers[0].attempt.run_id;
  const std::string order = h.Command(h.job, "cancel", {{"run_id", run_id}, {"reason", "wrong"}});
  ASSERT_EQ(e1.cancels.size(), 1U);
  EXPECT_EQ(h.Answer(order).message, "no answer") << "not before it is known";
  h.Finish(e1, e1.triggers[0], Outcome::kStopped);
  EXPECT_EQ(h.Answer(order).result.at("confirmed"), "true");
  EXPECT_EQ(h.store.history.at(0).status, RunStatus::kCancelled);
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "FAILED");
  h.Start("e1", 2);
  h.AdvanceTo("2026-11-29T17:00:05Z");
  EXPECT_EQ(e1.triggers.size(), 1U) << "a cancelled date waits for a person";
  const std::string again = h.Command(h.job, "cancel", {{"run_id", run_id}});
  EXPECT_EQ(h.Answer(again).result.at("was_terminal"), "true");
}

TEST(RunLifeTest, ACancelThatIsNotConfirmedIsSaidToBeSo) {
  OneRun h;
  Executor& e1 = h.Start("e1");
  h.Begin(e1, e1.triggers[0]);
  const std::string order = h.Command(h.job, "cancel", {{"run_id", e1.triggers[0].attempt.run_id}});
  h.Advance(absl::Seconds(6));
  EXPECT_EQ(h.Answer(order).result.at("confirmed"), "false");
  EXPECT_EQ(e1.cancels.size(), 2U) << "said again";
  EXPECT_EQ(h.store.history.size(), 0U) << "it may still be running";
}

TEST(RunLifeTest, RunTimeoutCancelsAndCountsAsAFailure) {
  JobSpec spec = EngineHarness::DailyJob("recon", "2026-11-28");
  spec.timeouts.run = absl::Minutes(10);
  spec.retry.max_attempts = 1;
  OneRun h(spec);
  Executor& e1 = h.Start("e1");
  h.Begin(e1, e1.triggers[0]);
  h.Advance(absl::Minutes(10));
  ASSERT_GE(e1.cancels.size(), 1U);
  h.Finish(e1, e1.triggers[0], Outcome::kStopped);
  EXPECT_EQ(h.store.history.at(0).status, RunStatus::kFailed);
  EXPECT_EQ(h.store.history.at(0).reason, "timeout");
}

// An overloaded scheduler is behind with its reading: that a run has started may be among it.
TEST(RunLifeTest, NothingIsTakenBackForNotStartingWhileWeAreBehind) {
  OneRun h;
  Executor& e1 = h.Start("e1");
  h.Start("e2");
  ASSERT_EQ(e1.triggers.size(), 1U);
  h.unread_for = absl::Seconds(6);
  h.Advance(absl::Minutes(3));  // both beat all the while
  EXPECT_TRUE(e1.cancels.empty());
  h.Begin(e1, e1.triggers[0]);
  h.Finish(e1, e1.triggers[0], Outcome::kSucceeded);
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "DONE");
  EXPECT_TRUE(e1.cancels.empty());
}

TEST(RunLifeTest, StartTimeoutTakesItBackThenGivesItToAnother) {
  OneRun h;
  Executor& e1 = h.Start("e1");
  Executor& e2 = h.Start("e2");
  h.Advance(absl::Seconds(29));
  EXPECT_TRUE(e1.cancels.empty());
  h.Advance(absl::Seconds(2));
  ASSERT_EQ(e1.cancels.size(), 1U);
  EXPECT_TRUE(e2.triggers.empty()) << "not before e1 said that it will not start it";
  h.Report(e1, e1.triggers[0].attempt, RefusedReport{"CANCELLED", ""});
  EXPECT_EQ(e2.triggers.size(), 1U);
}

TEST(RunLifeTest, E07TwoLostBeatsStayFourDoNot) {
  OneRun h;
  Executor& e1 = h.Start("e1");
  h.Begin(e1, e1.triggers[0]);
  h.Finish(e1, e1.triggers[0], Outcome::kSucceeded);
  e1.beats = false;
  h.Advance(absl::Seconds(14));
  h.Command(h.job, "rerun", {{"biz_date", "2026-11-28"}, {"force", "true"}});
  EXPECT_EQ(e1.triggers.size(), 2U);
  h.Finish(e1, e1.triggers[1], Outcome::kSucceeded);
  h.Advance(absl::Seconds(22));
  h.Command(h.job, "rerun", {{"biz_date", "2026-11-28"}, {"force", "true"}});
  EXPECT_EQ(e1.triggers.size(), 2U);
  ASSERT_EQ(h.store.active.size(), 1U);
}

TEST(RunLifeTest, E11NoExecutorAlertsAfterTheToleranceAndStartsWhenOneComes) {
  OneRun h;
  h.Advance(absl::Minutes(4));
  EXPECT_FALSE(h.HasAlert("no_executor"));
  h.Advance(absl::Minutes(2));
  EXPECT_TRUE(h.HasAlert("no_executor"));
  Executor& e1 = h.Start("e1");
  EXPECT_EQ(e1.triggers.size(), 1U);
  EXPECT_FALSE(h.HasAlert("no_executor"));
  EXPECT_EQ(e1.triggers[0].attempt.attempt, 1);
}

TEST(RunLifeTest, LateSuccessAfterTheRunFailedIsTold) {
  JobSpec spec = EngineHarness::DailyJob("recon", "2026-11-28");
  spec.retry.max_lost = 1;
  OneRun h(spec);
  Executor& e1 = h.Start("e1");
  const TriggerOrder first = e1.triggers[0];
  h.Begin(e1, first);
  h.Disconnect(e1);
  h.Advance(absl::Minutes(6));
  ASSERT_EQ(h.StatusOf(h.job, "2026-11-28"), "FAILED");
  h.Connect(e1);
  h.Finish(e1, first, Outcome::kSucceeded);
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "FAILED");
  EXPECT_EQ(h.Told("late_success"), 1);
}

TEST(RunLifeTest, ARunThatMayStillBeRunningIsReleasedByAnOperatorOnly) {
  OneRun h;
  Executor& e1 = h.executors["e1"];
  e1.interruptible = false;
  h.Start("e1");
  const std::string run_id = e1.triggers[0].attempt.run_id;
  h.Begin(e1, e1.triggers[0]);
  h.Disconnect(e1);
  Executor& e2 = h.Start("e2");
  h.Advance(absl::Hours(3));
  ASSERT_TRUE(e2.triggers.empty());
  const std::string order = h.Command(h.job, "release", {{"run_id", run_id}, {"reason", "dead"}});
  EXPECT_EQ(h.Answer(order).code, absl::StatusCode::kOk);
  ASSERT_EQ(e2.triggers.size(), 1U);
  EXPECT_EQ(e2.triggers[0].attempt.attempt, 2);
  h.Begin(e2, e2.triggers[0]);
  h.Finish(e2, e2.triggers[0], Outcome::kSucceeded);
  EXPECT_EQ(h.Answer(h.Command(h.job, "release", {{"run_id", run_id}})).code,
            absl::StatusCode::kFailedPrecondition);
}

TEST(RunLifeTest, E09ALostReplyEntersTheHandlerOnce) {
  OneRun h;
  Executor& e1 = h.Start("e1");
  Executor& e2 = h.Start("e2");
  const TriggerOrder trigger = e1.triggers.at(0);
  // It was taken and entered, but the word of it is lost with the stream.
  e1.held[trigger.attempt.run_id] = {trigger.attempt, trigger.shard, trigger.epoch, true};
  h.Disconnect(e1);
  h.Advance(absl::Seconds(100));
  EXPECT_TRUE(e2.triggers.empty()) << "not before the first one is released";
  h.Connect(e1);
  h.Advance(absl::Seconds(20));
  EXPECT_EQ(e1.triggers.size(), 1U) << "it is there: not sent again";
  EXPECT_TRUE(e1.cancels.empty()) << "it is re-attached";
  h.Finish(e1, trigger, Outcome::kSucceeded);
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "DONE");
  EXPECT_TRUE(e2.triggers.empty());
  EXPECT_EQ(h.store.attempts.size(), 1U);
}

}  // namespace
}  // namespace tidemark
