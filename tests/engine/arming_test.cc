// Runs are recorded before they are due, and launched from memory at the instant, never before it.
#include <gtest/gtest.h>

#include "common/time_text.h"
#include "tests/engine/harness.h"

namespace tidemark {
namespace {

using Executor = EngineHarness::Executor;

JobSpec Minutely(const std::string& name = "minutely") {
  JobSpec spec = EngineHarness::DailyJob(name, "");
  spec.schedule.cron = "0 * * * * ?";
  return spec;
}

// An interval job, half a second before its fire at 03:01:00 UTC.
struct Armed : public EngineHarness {
  explicit Armed(const JobSpec& spec = Minutely())
      : EngineHarness("2026-11-29T03:00:30Z"), job(Apply(spec)) {
    StartTerm();
    Start("e1");
    AdvanceTo("2026-11-29T03:00:59.5Z");
  }
  Executor& e1() { return executors.at("e1"); }
  size_t Live() const { return store.active.size(); }
  const ActiveRun& Row() const { return store.active.begin()->second; }

  int64_t job;
};

// A dated job with yesterday's date done, half a second before the fire of 28 November.
struct ArmedDate : public EngineHarness {
  ArmedDate() : EngineHarness("2026-11-28T16:00:00Z"), job(Apply(DailyJob("recon", "2026-11-26"))) {
    on_trigger = [this](Executor& e, const TriggerOrder& t) {
      Begin(e, t);
      if (finishes) Finish(e, t, Outcome::kSucceeded);
    };
    StartTerm();
    Start("e1");
    AdvanceTo("2026-11-28T16:59:59.5Z");
  }
  Executor& e1() { return executors.at("e1"); }

  bool finishes = true;
  int64_t job;
};

TEST(ArmingTest, TheRowIsThereBeforeTheInstantAndNothingElseHappened) {
  Armed h;
  ASSERT_EQ(h.Live(), 1U);
  EXPECT_TRUE(h.Row().armed);
  EXPECT_EQ(h.Row().executor_id, "e1");
  EXPECT_EQ(FormatInstant(h.Row().fire_time), "2026-11-29T03:01:00Z");
  EXPECT_EQ(h.Row().created_at, h.Row().fire_time);
  EXPECT_FALSE(h.store.jobs[h.job].cursor.has_value());
  EXPECT_TRUE(h.e1().triggers.empty());
  EXPECT_EQ(h.engine().Gauges().live_runs, 0U);
  h.Advance(absl::Milliseconds(499));
  EXPECT_TRUE(h.e1().triggers.empty()) << "never before the instant";
}

TEST(ArmingTest, AtTheInstantTheTriggerLeavesWithoutWaitingForTheDatabase) {
  Armed h;
  h.store_stalled = true;
  h.Advance(absl::Milliseconds(500));
  ASSERT_EQ(h.e1().triggers.size(), 1U);
  EXPECT_EQ(h.e1().triggers[0].attempt.run_id, h.Row().run_id);
  h.Begin(h.e1(), h.e1().triggers[0]);
  h.Finish(h.e1(), h.e1().triggers[0], Outcome::kSucceeded);
  EXPECT_TRUE(h.e1().acknowledged.empty());
  h.AnswerStalled();
  ASSERT_EQ(h.store.history.size(), 1U);
  EXPECT_EQ(h.e1().acknowledged.size(), 1U);
  EXPECT_EQ(FormatInstant(*h.store.jobs[h.job].cursor), "2026-11-29T03:01:00Z");
  EXPECT_EQ(FormatInstant(*h.store.attempts.at(0).sent_at), "2026-11-29T03:01:00Z");
}

// What the loop asks before it looks at what came in meanwhile.
TEST(ArmingTest, WhatIsDueIsLaunchedWithoutATick) {
  Armed h;
  Moment at = h.now();
  EXPECT_FALSE(h.engine().LaunchDue(at)) << "nothing is due yet";
  for (absl::Time* bound : {&at.lo, &at.hi}) *bound += absl::Milliseconds(500);
  at.mono += absl::Milliseconds(500);
  EXPECT_TRUE(h.engine().LaunchDue(at));
  const Effects effects = h.engine().TakeEffects();
  ASSERT_EQ(effects.messages.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<TriggerOrder>(effects.messages[0].body));
  EXPECT_FALSE(h.engine().LaunchDue(at)) << "once";
}

TEST(ArmingTest, NothingIsSentBeforeTheRowIsCommitted) {
  EngineHarness h("2026-11-29T03:00:30Z");
  h.Apply(Minutely());
  h.StartTerm();
  Executor& e1 = h.Start("e1");
  h.AdvanceTo("2026-11-29T03:00:58.5Z");
  h.store_stalled = true;
  h.Advance(absl::Seconds(2));
  EXPECT_TRUE(e1.triggers.empty());
  h.AnswerStalled();
  EXPECT_EQ(e1.triggers.size(), 1U);
}

TEST(ArmingTest, ItTakesNoSlotBeforeItsInstantAndWaitsLikeAnyOtherIfNoneIsLeft) {
  EngineHarness h("2026-11-29T03:00:30Z");
  h.Apply(Minutely());
  JobSpec manual = EngineHarness::DailyJob("manual", "");
  manual.schedule.kind = ScheduleSpec::Kind::kManual;
  const int64_t other = h.Apply(manual);
  h.StartTerm();
  Executor& e1 = h.Start("e1");
  e1.capacity = 1;
  h.Connect(e1);
  h.AdvanceTo("2026-11-29T03:00:59.5Z");
  h.Command(other, "trigger");
  ASSERT_EQ(e1.triggers.size(), 1U) << "an armed run keeps no other from starting";
  EXPECT_EQ(e1.triggers[0].job, "manual");
  h.Begin(e1, e1.triggers[0]);
  h.Advance(absl::Milliseconds(500));
  EXPECT_EQ(e1.triggers.size(), 1U);
  for (const auto& [key, run] : h.store.active) {
    if (run.job_name != "minutely") continue;
    EXPECT_EQ(run.executor_id, "") << "the row claims nothing";
  }
  h.Finish(e1, e1.triggers[0], Outcome::kSucceeded);
  ASSERT_EQ(e1.triggers.size(), 2U);
  EXPECT_EQ(e1.triggers[1].job, "minutely");
}

TEST(ArmingTest, AnExecutorThatLeavesIsReplacedAtTheInstant) {
  Armed h;
  Executor& e2 = h.Start("e2");
  h.Leave(h.e1());
  h.Advance(absl::Milliseconds(500));
  EXPECT_EQ(h.e1().triggers.size(), 0U);
  ASSERT_EQ(e2.triggers.size(), 1U);
  EXPECT_EQ(h.Row().executor_id, "e2");
}

TEST(ArmingTest, PausingTakesTheRowAway) {
  Armed h;
  h.Command(h.job, "pause", {{"reason", "holiday"}});
  EXPECT_EQ(h.Live(), 0U);
  h.Advance(absl::Seconds(5));
  EXPECT_TRUE(h.e1().triggers.empty());
}

TEST(ArmingTest, ADeletedJobTakesItsArmedRunAlong) {
  Armed h;
  const std::string order = h.Command(h.job, "delete");
  EXPECT_EQ(h.Answer(order).code, absl::StatusCode::kOk) << h.Answer(order).message;
  EXPECT_EQ(h.Live(), 0U);
  h.Advance(absl::Seconds(5));
  EXPECT_TRUE(h.e1().triggers.empty());
}

TEST(ArmingTest, AnEditThatKeepsTheTimeIsWhatRuns) {
  Armed h;
  JobSpec spec = Minutely();
  spec.params["bills"] = "/data";
  h.Apply(spec);
  h.Advance(absl::Milliseconds(500));
  ASSERT_EQ(h.e1().triggers.size(), 1U);
  EXPECT_EQ(h.e1().triggers[0].params.at("bills"), "/data");
  ASSERT_EQ(h.Live(), 1U);
  EXPECT_EQ(h.Row().job_version, 2);
}

TEST(ArmingTest, AnEditThatMovesTheTimeLeavesNothingBehind) {
  Armed h;
  JobSpec spec = Minutely();
  spec.schedule.cron = "30 * * * * ?";
  h.Apply(spec);
  EXPECT_EQ(h.Live(), 0U);
  h.Advance(absl::Seconds(10));
  EXPECT_TRUE(h.e1().triggers.empty());
  h.AdvanceTo("2026-11-29T03:01:30Z");
  EXPECT_EQ(h.e1().triggers.size(), 1U);
}

TEST(ArmingTest, AnEditInTheFlushThatArmsLeavesNothingBehind) {
  EngineHarness h("2026-11-29T03:00:30Z");
  h.Apply(Minutely());
  h.StartTerm();
  h.Start("e1");
  h.AdvanceTo("2026-11-29T03:00:58.5Z");
  h.store_stalled = true;
  h.Advance(absl::Seconds(1));  // recorded, but not committed yet
  JobSpec spec = Minutely();
  spec.schedule.cron = "30 * * * * ?";
  h.Apply(spec);
  h.AnswerStalled();
  EXPECT_TRUE(h.store.active.empty());
}

TEST(ArmingTest, ARunThatAPersonStartsGoesFirstAndTheFireWaitsForItsTurn) {
  Armed h;
  h.Command(h.job, "trigger");
  ASSERT_EQ(h.e1().triggers.size(), 1U);
  EXPECT_EQ(h.e1().triggers[0].trigger, TriggerType::kManual);
  h.Begin(h.e1(), h.e1().triggers[0]);
  h.Advance(absl::Seconds(1));
  EXPECT_EQ(h.e1().triggers.size(), 1U) << "serial: not beside it";
  EXPECT_EQ(h.Live(), 2U);
  h.Finish(h.e1(), h.e1().triggers[0], Outcome::kSucceeded);
  ASSERT_EQ(h.e1().triggers.size(), 2U);
  EXPECT_EQ(h.e1().triggers[1].trigger, TriggerType::kSchedule);
}

TEST(ArmingTest, WhileARunIsLiveNothingIsArmedAndThePolicyDecidesAtTheInstant) {
  JobSpec spec = Minutely();
  spec.blocking.policy = BlockingPolicy::kDiscardLater;
  Armed h(spec);
  h.Advance(absl::Milliseconds(500));
  h.Begin(h.e1(), h.e1().triggers.at(0));
  h.AdvanceTo("2026-11-29T03:01:59.5Z");
  EXPECT_EQ(h.Live(), 1U);
  h.Advance(absl::Seconds(1));
  ASSERT_EQ(h.store.history.size(), 1U);
  EXPECT_EQ(h.store.history[0].status, RunStatus::kSkipped);
}

TEST(ArmingTest, AJobOfEverySecondIsArmedAsSoonAsItsLastRunHasEnded) {
  JobSpec spec = Minutely();
  spec.schedule.cron = "* * * * * ?";
  EngineHarness h("2026-11-29T03:00:30Z");
  h.Apply(spec);
  h.on_trigger = [&](Executor& e, const TriggerOrder& t) { h.Begin(e, t); };
  h.StartTerm();
  Executor& e1 = h.Start("e1");
  h.Advance(absl::Seconds(1));
  ASSERT_EQ(e1.triggers.size(), 1U);
  ASSERT_EQ(h.store.active.size(), 1U) << "not armed behind a live run";
  h.Finish(e1, TriggerOrder(e1.triggers[0]), Outcome::kSucceeded);
  ASSERT_EQ(h.store.active.size(), 1U);
  const ActiveRun& row = h.store.active.begin()->second;
  EXPECT_TRUE(row.armed);
  EXPECT_EQ(FormatInstant(row.fire_time), "2026-11-29T03:00:32Z");
  EXPECT_EQ(e1.triggers.size(), 1U);
}

TEST(ArmingTest, AClockThatLeapsDisarms) {
  Armed h;
  h.LeapClock(-absl::Hours(1));
  EXPECT_EQ(h.Live(), 0U);
  h.AdvanceTo("2026-11-29T03:00:58Z");
  EXPECT_TRUE(h.e1().triggers.empty());
  h.AdvanceTo("2026-11-29T03:01:01Z");
  EXPECT_EQ(h.e1().triggers.size(), 1U);
}

TEST(ArmingTest, ASuccessorSendsWhatItFindsArmedAtTheInstantOnce) {
  Armed h;
  const std::string run_id = h.Row().run_id;
  h.KillScheduler();
  h.StartTerm();
  h.Connect(h.e1());
  EXPECT_TRUE(h.e1().triggers.empty()) << "adopted, but not due";
  h.Advance(absl::Milliseconds(499));
  EXPECT_TRUE(h.e1().triggers.empty());
  h.Advance(absl::Milliseconds(1));
  ASSERT_EQ(h.e1().triggers.size(), 1U);
  EXPECT_EQ(h.e1().triggers[0].attempt.run_id, run_id);
  h.Begin(h.e1(), h.e1().triggers[0]);
  h.Finish(h.e1(), h.e1().triggers[0], Outcome::kSucceeded);
  h.Advance(absl::Seconds(30));
  EXPECT_EQ(h.e1().triggers.size(), 1U);
  EXPECT_EQ(h.store.history.size(), 1U);
  EXPECT_EQ(FormatInstant(*h.store.jobs[h.job].cursor), "2026-11-29T03:01:00Z");
  EXPECT_TRUE(h.store.alerts.empty());
}

TEST(ArmingTest, ASuccessorDoesNotFireAgainWhatWasSentAMomentAgo) {
  Armed h;
  h.store_stalled = true;  // what follows the launch is never committed
  h.Advance(absl::Milliseconds(500));
  ASSERT_EQ(h.e1().triggers.size(), 1U);
  h.KillScheduler();
  h.store_stalled = false;
  h.Begin(h.e1(), h.e1().triggers[0]);
  h.Advance(absl::Seconds(2));
  h.StartTerm();
  h.Connect(h.e1());
  h.Advance(absl::Seconds(3));
  EXPECT_EQ(h.e1().triggers.size(), 1U);
  h.Finish(h.e1(), h.e1().triggers[0], Outcome::kSucceeded);
  EXPECT_EQ(h.store.history.size(), 1U);
  EXPECT_TRUE(h.store.active.empty());
  EXPECT_TRUE(h.store.skipped.empty());
}

TEST(ArmingTest, AClockSetBackBetweenTheLaunchAndTheSuccessorStartsNothingTwice) {
  Armed h;
  h.store_stalled = true;
  h.Advance(absl::Milliseconds(500));
  ASSERT_EQ(h.e1().triggers.size(), 1U);
  h.KillScheduler();
  h.store_stalled = false;
  h.Begin(h.e1(), h.e1().triggers[0]);
  h.SetClock("2026-11-29T03:00:50Z");
  h.StartTerm();
  h.Start("e2");  // could be taken for free
  h.AdvanceTo("2026-11-29T03:01:05Z");
  EXPECT_TRUE(h.executors.at("e2").triggers.empty());
  h.Connect(h.e1());
  h.Finish(h.e1(), h.e1().triggers[0], Outcome::kSucceeded);
  EXPECT_EQ(h.store.history.size(), 1U);
  EXPECT_TRUE(h.store.active.empty());
}

TEST(ArmingTest, ADateIsArmedWithoutAWatermarkAndLaunchedWithOne) {
  ArmedDate h;
  ASSERT_EQ(h.StatusOf(h.job, "2026-11-27"), "DONE");
  ASSERT_EQ(h.store.active.size(), 1U);
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "");
  h.finishes = false;
  const size_t before = h.e1().triggers.size();
  h.store_stalled = true;
  h.Advance(absl::Milliseconds(500));
  ASSERT_EQ(h.e1().triggers.size(), before + 1);
  EXPECT_EQ(h.e1().triggers.back().biz_date, "2026-11-28");
  h.AnswerStalled();
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "RUNNING");
  EXPECT_TRUE(h.store.due[h.job].contains(absl::CivilDay(2026, 11, 28)));
  h.Finish(h.e1(), h.e1().triggers.back(), Outcome::kSucceeded);
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "DONE");
  EXPECT_EQ(h.DatesRun(h.job),
            (std::vector<std::string>{"2026-11-26", "2026-11-27", "2026-11-28"}));
}

TEST(ArmingTest, ADateBehindAGapIsNotArmed) {
  EngineHarness h("2026-11-28T16:00:00Z");
  const int64_t job = h.Apply(EngineHarness::DailyJob("recon", "2026-11-26"));
  h.on_trigger = [&](Executor& e, const TriggerOrder& t) {
    h.Begin(e, t);
    h.Finish(e, t, Outcome::kSucceeded);
  };
  h.StartTerm();
  h.Start("e1");
  h.AdvanceTo("2026-11-28T16:59:58Z");
  h.store.DeleteWatermark(job, absl::CivilDay(2026, 11, 27));  // by SQL: nobody is told
  h.AdvanceTo("2026-11-28T16:59:59.5Z");
  EXPECT_TRUE(h.store.active.empty());
  h.Advance(absl::Seconds(1));
  EXPECT_EQ(h.DatesRun(job),
            (std::vector<std::string>{"2026-11-26", "2026-11-27", "2026-11-27", "2026-11-28"}));
}

TEST(ArmingTest, AWordOnAnEarlierDateDisarms) {
  ArmedDate h;
  ASSERT_EQ(h.store.active.size(), 1U);
  h.Command(h.job, "drill", {{"dates", "1"}, {"last", "1"}});
  h.Command(h.job, "rerun", {{"biz_date", "2026-11-27"}, {"force", "true"}});
  h.Advance(absl::Seconds(1));
  EXPECT_EQ(h.DatesRun(h.job).back(), "2026-11-28");
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "DONE");
  EXPECT_TRUE(h.store.active.empty());
}

TEST(ArmingTest, ThousandsAtOneInstantAreAllLaunchedInTheirTurn) {
  constexpr int kJobs = 3000;
  EngineHarness h("2026-11-29T03:00:30Z");
  for (int i = 0; i < kJobs; ++i) h.Apply(Minutely("minutely-" + std::to_string(i)));
  h.StartTerm();
  Executor& e1 = h.Start("e1");
  e1.capacity = 2000;
  h.Connect(e1);
  h.AdvanceTo("2026-11-29T03:00:59.5Z");
  EXPECT_EQ(h.store.active.size(), 2000U) << "as many as there are slots for";
  h.Advance(absl::Milliseconds(500));
  ASSERT_EQ(e1.triggers.size(), 2000U);
  EXPECT_EQ(h.store.active.size(), 3000U);
  for (size_t i = 0; i < e1.triggers.size(); ++i) {
    h.Finish(e1, TriggerOrder(e1.triggers[i]), Outcome::kSucceeded);
  }
  EXPECT_EQ(h.store.history.size(), 3000U);
}

}  // namespace
}  // namespace tidemark
