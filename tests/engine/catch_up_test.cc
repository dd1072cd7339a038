// The gap closes by itself: trigger points, order, limits.
#include <gtest/gtest.h>

#include "common/time_text.h"
#include "tests/engine/harness.h"

namespace tidemark {
namespace {

using Dates = std::vector<std::string>;
using Executor = EngineHarness::Executor;

void Succeed(EngineHarness& h) {
  h.on_trigger = [&h](Executor& e, const TriggerOrder& t) {
    h.Begin(e, t);
    h.Finish(e, t, Outcome::kSucceeded);
  };
}

TEST(CatchUpTest, FiveDaysAreFilledOldestFirstOnceAnExecutorIsThere) {
  EngineHarness h("2026-11-29T03:00:00Z");
  Succeed(h);
  const int64_t job = h.Apply(EngineHarness::DailyJob("recon", "2026-11-24"));
  h.StartTerm();
  EXPECT_TRUE(h.DatesRun(job).empty());
  ASSERT_EQ(h.store.active.size(), 1U) << "the oldest date is on its way";
  EXPECT_EQ(h.store.active.begin()->second.attempt, 0) << "and consumes no attempt";

  h.Start("e1");
  EXPECT_EQ(h.DatesRun(job),
            (Dates{"2026-11-24", "2026-11-25", "2026-11-26", "2026-11-27", "2026-11-28"}));
  EXPECT_TRUE(h.store.active.empty());
  for (const auto& ended : h.store.history) {
    EXPECT_EQ(ended.status, RunStatus::kCompleted);
    EXPECT_EQ(ended.run.trigger, TriggerType::kCatchUp);
  }
}

TEST(CatchUpTest, TheNextFireRunsItsDateAsScheduled) {
  EngineHarness h("2026-11-28T12:00:00Z");
  Succeed(h);
  const int64_t job = h.Apply(EngineHarness::DailyJob("recon", ""));
  h.StartTerm();
  h.Start("e1");
  h.AdvanceTo("2026-11-28T16:59:59Z");
  EXPECT_TRUE(h.DatesRun(job).empty()) << "not before the instant";
  h.AdvanceTo("2026-11-28T17:00:01Z");
  ASSERT_EQ(h.DatesRun(job), (Dates{"2026-11-28"}));
  EXPECT_EQ(h.store.history[0].run.trigger, TriggerType::kSchedule);
  h.AdvanceTo("2026-11-29T17:00:01Z");
  EXPECT_EQ(h.DatesRun(job), (Dates{"2026-11-28", "2026-11-29"}));
}

TEST(CatchUpTest, ThreeNightsDownThenFourRunsInOrder) {
  EngineHarness h("2026-11-25T12:00:00Z");
  Succeed(h);
  const int64_t job = h.Apply(EngineHarness::DailyJob("recon", "2026-11-24"));
  h.StartTerm();
  h.Start("e1");
  h.KillScheduler();
  h.Advance(absl::Hours(24 * 3 + 4) + absl::Minutes(55));  // 00:55 of the fourth night
  std::vector<TriggerOrder> running;
  h.on_trigger = [&](Executor& e, const TriggerOrder& t) {
    h.Begin(e, t);
    running.push_back(t);
  };
  h.StartTerm();
  Executor& e1 = h.executors.at("e1");
  h.Connect(e1);
  for (int i = 0; i < 3; ++i) {  // each takes 20 minutes; today's fire comes meanwhile
    ASSERT_EQ(running.size(), 1U) << i;
    h.Advance(absl::Minutes(20));
    const TriggerOrder done = running.back();
    running.clear();
    h.Finish(e1, done, Outcome::kSucceeded);
  }
  ASSERT_EQ(running.size(), 1U);
  h.Finish(e1, running.back(), Outcome::kSucceeded);
  EXPECT_EQ(h.DatesRun(job),
            (Dates{"2026-11-24", "2026-11-25", "2026-11-26", "2026-11-27", "2026-11-28"}));
}

TEST(CatchUpTest, CommandsInAlertsAreTypedAsTheyStand) {
  EngineHarness h("2026-11-29T03:00:00Z");
  h.on_trigger = [&](Executor& e, const TriggerOrder& t) {
    h.Begin(e, t);
    h.Finish(e, t, Outcome::kFailedPermanent, "bill is broken");
  };
  h.Apply(EngineHarness::DailyJob("bank's; recon", "2026-11-25"));
  h.StartTerm();
  h.Start("e1", 1);
  std::string detail;
  for (const auto& [key, alert] : h.store.alerts) {
    if (alert.kind == "gap_blocked") detail = alert.detail;
  }
  EXPECT_NE(detail.find("tidemark job trigger 'bank'\\''s; recon' --biz-date 2026-11-25"),
            std::string::npos)
      << detail;
}

TEST(CatchUpTest, AFailedDateStopsTheChainAndANewIncarnationLetsItGoOn) {
  EngineHarness h("2026-11-29T03:00:00Z");
  bool fixed = false;
  h.on_trigger = [&](Executor& e, const TriggerOrder& t) {
    h.Begin(e, t);
    const bool fails = t.biz_date == "2026-11-26" && !fixed;
    h.Finish(e, t, fails ? Outcome::kFailedPermanent : Outcome::kSucceeded, "bill is broken");
  };
  const int64_t job = h.Apply(EngineHarness::DailyJob("recon", "2026-11-25"));
  h.StartTerm();
  h.Start("e1", 1);
  EXPECT_EQ(h.StatusOf(job, "2026-11-25"), "DONE");
  EXPECT_EQ(h.StatusOf(job, "2026-11-26"), "FAILED");
  EXPECT_EQ(h.StatusOf(job, "2026-11-27"), "");
  EXPECT_TRUE(h.HasAlert("run_failed"));
  EXPECT_TRUE(h.HasAlert("gap_blocked"));
  h.Advance(absl::Minutes(10));  // scans and a mere reconnect change nothing
  h.Disconnect(h.executors.at("e1"));
  h.Connect(h.executors.at("e1"));
  EXPECT_EQ(h.DatesRun(job).size(), 2U);

  fixed = true;
  h.Disconnect(h.executors.at("e1"));
  h.Start("e1", 2);
  EXPECT_EQ(h.DatesRun(job),
            (Dates{"2026-11-25", "2026-11-26", "2026-11-26", "2026-11-27", "2026-11-28"}));
  EXPECT_EQ(h.StatusOf(job, "2026-11-28"), "DONE");
  EXPECT_FALSE(h.HasAlert("gap_blocked"));
}

TEST(CatchUpTest, ACrashLoopReopensAFailedDateThreeTimesADayOnly) {
  EngineHarness h("2026-11-29T03:00:00Z");
  h.on_trigger = [&](Executor& e, const TriggerOrder& t) {
    h.Begin(e, t);
    h.Finish(e, t, Outcome::kFailedPermanent);
  };
  const int64_t job = h.Apply(EngineHarness::DailyJob("recon", "2026-11-28"));
  h.StartTerm();
  for (int incarnation = 1; incarnation <= 10; ++incarnation) {
    h.Disconnect(h.executors["e1"]);
    h.Start("e1", incarnation);
  }
  EXPECT_EQ(h.DatesRun(job).size(), 4U) << "once, and three times reopened";
  h.AdvanceTo("2026-11-29T17:00:01Z");  // the next fire reopens it whatever the count
  EXPECT_EQ(h.DatesRun(job).size(), 5U);
  EXPECT_EQ(h.DatesRun(job).back(), "2026-11-28");
  h.AdvanceTo("2026-11-30T03:00:00Z");
  h.Disconnect(h.executors.at("e1"));
  h.Start("e1", 11);
  EXPECT_EQ(h.DatesRun(job).size(), 6U) << "another day, another count";
}

TEST(CatchUpTest, DeletedWatermarksAreFoundByTheScan) {
  EngineHarness h("2026-11-29T03:00:00Z");
  Succeed(h);
  const int64_t job = h.Apply(EngineHarness::DailyJob("recon", "2026-11-24"));
  h.StartTerm();
  h.Start("e1");
  ASSERT_EQ(h.DatesRun(job).size(), 5U);
  for (const char* date : {"2026-11-26", "2026-11-27", "2026-11-28"}) {
    h.store.watermarks.erase({job, *ParseDate(date)});
  }
  h.Advance(absl::Seconds(61));
  EXPECT_EQ(h.DatesRun(job).size(), 8U);
  EXPECT_EQ(h.DatesRun(job)[5], "2026-11-26");
  EXPECT_EQ(h.StatusOf(job, "2026-11-28"), "DONE");
}

TEST(CatchUpTest, DeletingTheWatermarkOfARunningDateFreesNothing) {
  EngineHarness h("2026-11-29T03:00:00Z");
  const int64_t job = h.Apply(EngineHarness::DailyJob("recon", "2026-11-28"));
  h.StartTerm();
  Executor& e1 = h.Start("e1");
  ASSERT_EQ(e1.triggers.size(), 1U);
  h.Begin(e1, e1.triggers[0]);
  h.store.watermarks.clear();
  h.Advance(absl::Minutes(5));
  EXPECT_EQ(e1.triggers.size(), 1U);
  h.Finish(e1, e1.triggers[0], Outcome::kSucceeded);
  EXPECT_EQ(h.StatusOf(job, "2026-11-28"), "DONE");
  h.Advance(absl::Minutes(5));
  EXPECT_EQ(e1.triggers.size(), 1U);
}

TEST(CatchUpTest, WhatLiesBeforeTheFirstLaunchsFloorIsExpiredAndToldOnce) {
  EngineHarness h("2026-11-29T03:00:00Z");
  Succeed(h);
  JobSpec spec = EngineHarness::DailyJob("recon", "2026-09-01");
  spec.catch_up.max_backfill_days = 3;
  const int64_t job = h.Apply(spec);
  h.StartTerm();
  h.Start("e1");
  EXPECT_EQ(h.StatusOf(job, "2026-09-01"), "EXPIRED");
  EXPECT_EQ(h.StatusOf(job, "2026-11-25"), "EXPIRED");
  EXPECT_EQ(h.DatesRun(job), (Dates{"2026-11-26", "2026-11-27", "2026-11-28"}));
  h.Advance(absl::Hours(2));
  EXPECT_EQ(std::count_if(h.store.all_alerts.begin(), h.store.all_alerts.end(),
                          [](const AlertRaise& a) { return a.kind == "gap_expired"; }),
            1);
}

TEST(CatchUpTest, TwoPeriodsAreCaughtUpAtTheFirstLaunchHoweverSoonTheSourceForgets) {
  EngineHarness h("2026-11-29T03:00:00Z");  // a Sunday
  Succeed(h);
  JobSpec spec = EngineHarness::DailyJob("weekly", "2026-10-01");
  spec.schedule.cron = "0 0 1 ? * MON";
  spec.catch_up.source_retention_days = 3;
  const int64_t job = h.Apply(spec);
  h.StartTerm();
  h.Start("e1");
  EXPECT_EQ(h.DatesRun(job), (Dates{"2026-11-15", "2026-11-22"}));
  EXPECT_EQ(h.StatusOf(job, "2026-11-08"), "EXPIRED");
  EXPECT_FALSE(h.HasAlert("gap_blocked"));
}

TEST(CatchUpTest, AGapThatGrewLongIsHeldUntilAPersonDecides) {
  EngineHarness h("2026-11-01T12:00:00Z");
  JobSpec spec = EngineHarness::DailyJob("recon", "2026-10-31");
  spec.catch_up.max_backfill_days = 3;
  const int64_t job = h.Apply(spec);
  h.StartTerm();
  Succeed(h);
  Executor& e1 = h.Start("e1");
  ASSERT_EQ(h.DatesRun(job).size(), 1U);
  h.Disconnect(e1);
  h.KillScheduler();
  h.Advance(absl::Hours(24 * 10));
  h.StartTerm();
  h.Connect(e1);
  EXPECT_EQ(h.DatesRun(job).size(), 1U);
  EXPECT_TRUE(h.HasAlert("gap_held"));
  spec.catch_up.max_backfill_days = 30;
  h.Apply(spec);
  EXPECT_EQ(h.DatesRun(job).size(), 11U);
  EXPECT_EQ(h.StatusOf(job, "2026-11-10"), "DONE");
}

TEST(CatchUpTest, IndependentDatesRunInParallelUpToTheLimit) {
  EngineHarness h("2026-11-29T03:00:00Z");
  JobSpec spec = EngineHarness::DailyJob("recon", "2026-11-24");
  spec.catch_up.order = CatchUpOrder::kIndependent;
  spec.catch_up.parallelism = 2;
  const int64_t job = h.Apply(spec);
  h.StartTerm();
  Executor& e1 = h.Start("e1");
  ASSERT_EQ(e1.triggers.size(), 2U);
  h.Begin(e1, e1.triggers[0]);
  h.Finish(e1, e1.triggers[0], Outcome::kFailedPermanent);
  ASSERT_EQ(e1.triggers.size(), 3U) << "a failed date stops no other";
  Succeed(h);
  for (int i = 1; i < 3; ++i) {
    const TriggerOrder trigger = e1.triggers[static_cast<size_t>(i)];
    h.Begin(e1, trigger);
    h.Finish(e1, trigger, Outcome::kSucceeded);
  }
  EXPECT_EQ(h.StatusOf(job, "2026-11-28"), "DONE");
  EXPECT_EQ(h.StatusOf(job, "2026-11-24"), "FAILED");
}

TEST(CatchUpTest, PauseStopsOpeningAndResumeCatchesUp) {
  EngineHarness h("2026-11-27T03:00:00Z");
  Succeed(h);
  const int64_t job = h.Apply(EngineHarness::DailyJob("recon", "2026-11-26"));
  h.StartTerm();
  h.Start("e1");
  h.Command(job, "pause", {{"reason", "bank holiday"}});
  h.AdvanceTo("2026-11-29T20:00:00Z");
  EXPECT_EQ(h.DatesRun(job), (Dates{"2026-11-26"}));
  h.Command(job, "resume");
  EXPECT_EQ(h.DatesRun(job), (Dates{"2026-11-26", "2026-11-27", "2026-11-28", "2026-11-29"}));
}

TEST(CatchUpTest, ResumeSkippingWhatWasMissedWaivesIt) {
  EngineHarness h("2026-11-27T03:00:00Z");
  Succeed(h);
  const int64_t job = h.Apply(EngineHarness::DailyJob("recon", "2026-11-26"));
  h.StartTerm();
  h.Start("e1");
  h.Command(job, "pause", {{"reason", "bank holiday"}});
  h.AdvanceTo("2026-11-29T20:00:00Z");
  h.Command(job, "resume", {{"skip_missed", "true"}});
  EXPECT_EQ(h.DatesRun(job), (Dates{"2026-11-26"}));
  EXPECT_EQ(h.StatusOf(job, "2026-11-28"), "WAIVED");
  h.AdvanceTo("2026-11-30T17:00:05Z");
  EXPECT_EQ(h.DatesRun(job).back(), "2026-11-30");
}

TEST(CatchUpTest, ABrokenDefinitionStopsItsOwnJobOnly) {
  EngineHarness h("2026-11-29T03:00:00Z");
  Succeed(h);
  const int64_t broken = h.Apply(EngineHarness::DailyJob("broken", "2026-11-28"));
  const int64_t fine = h.Apply(EngineHarness::DailyJob("fine", "2026-11-28"));
  h.Corrupt(broken);
  h.StartTerm();
  h.Start("e1");
  EXPECT_TRUE(h.DatesRun(broken).empty());
  EXPECT_EQ(h.DatesRun(fine).size(), 1U);
  EXPECT_TRUE(h.HasAlert("job_error"));
  EXPECT_FALSE(h.store.jobs[broken].error.empty());
  h.Apply(EngineHarness::DailyJob("broken", "2026-11-28"));
  h.store.jobs[broken].versions.erase(h.store.jobs[broken].versions.begin());
}

TEST(CatchUpTest, ADateThatEndsWhileTheLedgerIsReadIsNotRunAgain) {
  EngineHarness h("2026-11-29T03:00:00Z");
  const int64_t job = h.Apply(EngineHarness::DailyJob("recon", "2026-11-28"));
  h.StartTerm();
  Executor& e1 = h.Start("e1");
  h.Begin(e1, e1.triggers[0]);
  h.ledger_stalled = true;
  h.Apply(EngineHarness::DailyJob("recon", "2026-11-28"));  // asks: the date is not settled
  h.Finish(e1, e1.triggers[0], Outcome::kSucceeded);
  ASSERT_EQ(h.StatusOf(job, "2026-11-28"), "DONE");
  h.AnswerLedger();
  h.Pump();
  EXPECT_EQ(e1.triggers.size(), 1U);
}

TEST(CatchUpTest, AnAnswerOlderThanAWriteIsAskedAgain) {
  // The date ends while its ledger is being read: it must not be run again.
  EngineHarness h("2026-11-29T03:00:00Z");
  const int64_t job = h.Apply(EngineHarness::DailyJob("recon", "2026-11-28"));
  h.StartTerm();
  Executor& e1 = h.Start("e1");
  h.Begin(e1, e1.triggers[0]);
  h.store_stalled = true;
  h.Finish(e1, e1.triggers[0], Outcome::kSucceeded);
  h.Advance(absl::Minutes(2));
  EXPECT_EQ(e1.triggers.size(), 1U);
  EXPECT_TRUE(e1.acknowledged.empty()) << "nothing is acknowledged before it is committed";
  EXPECT_EQ(h.StatusOf(job, "2026-11-28"), "RUNNING");
}

}  // namespace
}  // namespace tidemark
