// Ways in which real schedulers lost or repeated dates, one test a kind. M02 is in budget_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/time_text.h"
#include "tests/engine/harness.h"

namespace tidemark {
namespace {

using Dates = std::vector<std::string>;
using Executor = EngineHarness::Executor;
using testing::ElementsAre;
using testing::HasSubstr;

void Succeed(EngineHarness& h) {
  h.on_trigger = [&h](Executor& e, const TriggerOrder& t) {
    h.Begin(e, t);
    h.Finish(e, t, Outcome::kSucceeded);
  };
}

int64_t RunsOf(const EngineHarness& h, TriggerType trigger) {
  return std::count_if(h.store.history.begin(), h.store.history.end(),
                       [&](const auto& ended) { return ended.run.trigger == trigger; });
}

// A minutely job while the scheduler is down for 150 minutes. The fires of the last five minutes
// are on time within the tolerance; the others were missed.
void M01(const MisfireRule& rule, int64_t caught_up) {
  EngineHarness h("2026-11-29T03:00:30Z");
  JobSpec spec = EngineHarness::DailyJob("minutely", "");
  spec.schedule.cron = "0 * * * * ?";
  spec.misfire = rule;
  spec.blocking.queue = 1000;
  h.Apply(spec);
  Succeed(h);
  h.StartTerm();
  h.Start("e1");
  h.KillScheduler();
  h.Advance(absl::Minutes(150));
  h.StartTerm();
  h.Connect(h.executors.at("e1"));
  const int64_t on_time = RunsOf(h, TriggerType::kSchedule);
  EXPECT_EQ(RunsOf(h, TriggerType::kCatchUp), caught_up);
  int64_t skipped = 0;
  for (const SkippedRange& range : h.store.skipped) skipped += range.fires;
  EXPECT_EQ(on_time + caught_up + skipped, 150) << "every fire is accounted for";
  EXPECT_EQ(h.Told("fires_skipped"), skipped > 0 ? 1 : 0);
  h.Advance(absl::Minutes(1));
  EXPECT_EQ(RunsOf(h, TriggerType::kSchedule), on_time + 1) << "the next tick is within a period";
}

TEST(MissedCasesTest, M01MoreThanAHundredMissedFiresAreNothingSpecial) {
  M01({MisfirePolicy::kSkip}, 0);
  M01({MisfirePolicy::kFireOnce}, 1);
  M01({MisfirePolicy::kFireAll, absl::Hours(24), 40}, 40);
  M01({MisfirePolicy::kFireAll, absl::Hours(24), 1000}, 145);
}

TEST(MissedCasesTest, M04APausedIntervalJobGoesOnFromNow) {
  EngineHarness h("2026-11-26T03:10:00Z");
  JobSpec spec = EngineHarness::DailyJob("hourly", "");
  spec.schedule.cron = "0 0 * * * ?";
  const int64_t job = h.Apply(spec);
  Succeed(h);
  h.StartTerm();
  h.Start("e1");
  h.Command(job, "pause", {{"reason", "holiday"}});
  h.Advance(absl::Hours(72));
  h.Command(job, "resume");
  EXPECT_TRUE(h.store.history.empty()) << "nothing is run back, nothing at once";
  EXPECT_TRUE(h.store.all_alerts.empty()) << "and nobody is alarmed";
  h.AdvanceTo("2026-11-29T04:00:01Z");
  ASSERT_EQ(h.store.history.size(), 1U);
  EXPECT_EQ(h.store.history[0].run.trigger, TriggerType::kSchedule);
}

TEST(MissedCasesTest, M04APausedDatedJobCatchesUpOrWaivesAsAsked) {
  for (const bool skip : {false, true}) {
    EngineHarness h("2026-11-26T03:00:00Z");
    const int64_t job = h.Apply(EngineHarness::DailyJob("recon", "2026-11-25"));
    Succeed(h);
    h.StartTerm();
    h.Start("e1");
    h.Command(job, "pause", {{"reason", "holiday"}});
    h.Advance(absl::Hours(72));
    EXPECT_EQ(h.DatesRun(job), (Dates{"2026-11-25"}));
    for (const AlertRaise& alert : h.store.all_alerts) EXPECT_EQ(alert.kind, "catch_up_done");
    h.Command(job, "resume", {{"skip_missed", skip ? "true" : "false"}});
    const Dates all = {"2026-11-25", "2026-11-26", "2026-11-27", "2026-11-28"};
    EXPECT_EQ(h.DatesRun(job), skip ? Dates{"2026-11-25"} : all);
    EXPECT_EQ(h.StatusOf(job, "2026-11-27"), skip ? "WAIVED" : "DONE");
    h.AdvanceTo("2026-11-29T17:00:01Z");
    EXPECT_EQ(h.DatesRun(job).back(), "2026-11-29");
  }
}

TEST(MissedCasesTest, M05EditingTheCronRunsNothingAtOnce) {
  EngineHarness h("2026-11-28T16:59:00Z");  // 00:59 in Shanghai
  const int64_t job = h.Apply(EngineHarness::DailyJob("recon", "2026-11-28"));
  Succeed(h);
  h.StartTerm();
  h.Start("e1");
  h.AdvanceTo("2026-11-29T07:00:00Z");  // ran at 01:00; now 15:00
  ASSERT_EQ(h.DatesRun(job), (Dates{"2026-11-28"}));
  for (const char* cron : {"0 0 2 * * ?", "0 0 14 * * ?", "0 30 2 * * ?", "0 0 2 * * ?"}) {
    JobSpec spec = EngineHarness::DailyJob("recon", "2026-11-28");
    spec.schedule.cron = cron;
    h.Apply(spec);
    h.Advance(absl::Minutes(10));
  }
  h.AdvanceTo("2026-11-29T17:59:59Z");
  EXPECT_EQ(h.DatesRun(job), (Dates{"2026-11-28"})) << "nor at the old time";
  h.AdvanceTo("2026-11-29T18:00:01Z");
  EXPECT_EQ(h.DatesRun(job), (Dates{"2026-11-28", "2026-11-29"}));
}

TEST(MissedCasesTest, M07ThreeDaysMissedFiveMinutesBeforeTodaysTickAreFourRunsInOrder) {
  EngineHarness h("2026-11-25T12:00:00Z");
  const int64_t job = h.Apply(EngineHarness::DailyJob("recon", "2026-11-25"));
  h.Advance(absl::Hours(24 * 3) + absl::Hours(4) + absl::Minutes(55));  // 00:55 in Shanghai
  Dates course;
  std::vector<std::pair<TriggerOrder, absl::Duration>> running;
  h.on_trigger = [&](Executor& e, const TriggerOrder& t) {
    h.Begin(e, t);
    EXPECT_TRUE(running.empty()) << "at most one at a time";
    running.emplace_back(t, h.now().mono + absl::Minutes(20));
    course.push_back("begin " + t.biz_date);
  };
  h.StartTerm();
  Executor& e1 = h.Start("e1");
  for (int second = 0; second < 3 * 3600; ++second) {
    h.Advance(absl::Seconds(1));
    if (running.empty() || h.now().mono < running[0].second) continue;
    const TriggerOrder done = running[0].first;
    running.clear();
    course.push_back("end " + done.biz_date);
    h.Finish(e1, done, Outcome::kSucceeded);
  }
  EXPECT_THAT(course, ElementsAre("begin 2026-11-25", "end 2026-11-25", "begin 2026-11-26",
                                  "end 2026-11-26", "begin 2026-11-27", "end 2026-11-27",
                                  "begin 2026-11-28", "end 2026-11-28"));
  EXPECT_EQ(h.DatesRun(job).size(), 4U);
}

TEST(MissedCasesTest, M08AFailureInTheMiddleStopsTheChainAloudAndItsRepairResumesIt) {
  EngineHarness h("2026-11-29T03:00:00Z");
  bool broken = true;
  h.on_trigger = [&](Executor& e, const TriggerOrder& t) {
    h.Begin(e, t);
    h.Finish(
        e, t,
        broken && t.biz_date == "2026-11-27" ? Outcome::kFailedRetryable : Outcome::kSucceeded);
  };
  const int64_t job = h.Apply(EngineHarness::DailyJob("recon", "2026-11-26"));
  h.StartTerm();
  h.Start("e1");
  h.Advance(absl::Minutes(20));  // all its attempts
  EXPECT_EQ(h.StatusOf(job, "2026-11-27"), "FAILED");
  EXPECT_EQ(h.StatusOf(job, "2026-11-28"), "");
  ASSERT_TRUE(h.HasAlert("gap_blocked"));
  h.AdvanceTo("2026-11-29T17:30:00Z");  // today's tick tries the failed date again, no later one
  EXPECT_EQ(h.StatusOf(job, "2026-11-29"), "");
  EXPECT_EQ(h.StatusOf(job, "2026-11-28"), "");
  broken = false;
  h.Command(job, "trigger", {{"biz_date", "2026-11-27"}});
  EXPECT_EQ(h.StatusOf(job, "2026-11-29"), "DONE");
  EXPECT_FALSE(h.HasAlert("gap_blocked"));
}

TEST(MissedCasesTest, M08IndependentDatesGoOnPastAFailure) {
  EngineHarness h("2026-11-29T03:00:00Z");
  h.on_trigger = [&](Executor& e, const TriggerOrder& t) {
    h.Begin(e, t);
    h.Finish(e, t, t.biz_date == "2026-11-27" ? Outcome::kFailedPermanent : Outcome::kSucceeded);
  };
  JobSpec spec = EngineHarness::DailyJob("recon", "2026-11-26");
  spec.catch_up.order = CatchUpOrder::kIndependent;
  const int64_t job = h.Apply(spec);
  h.StartTerm();
  h.Start("e1");
  EXPECT_EQ(h.StatusOf(job, "2026-11-27"), "FAILED");
  EXPECT_EQ(h.StatusOf(job, "2026-11-28"), "DONE");
}

TEST(MissedCasesTest, M10AMinuteWithoutTheDatabaseAcrossTheTickLosesNothing) {
  EngineHarness h("2026-11-28T15:00:00Z");
  std::vector<int64_t> jobs;
  for (int i = 0; i < 30; ++i) {
    JobSpec spec = EngineHarness::DailyJob("daily" + std::to_string(i), "");
    spec.schedule.cron = "0 5 0 * * ?";
    jobs.push_back(h.Apply(spec));
  }
  Succeed(h);
  h.StartTerm();
  h.executors["e1"].capacity = 100;
  h.Start("e1");
  h.AdvanceTo("2026-11-28T16:04:45Z");
  h.store_stalled = true;
  h.ledger_stalled = true;
  h.Advance(absl::Seconds(60));
  EXPECT_TRUE(h.store.history.empty());
  h.AnswerLedger();
  h.AnswerStalled();
  h.Advance(absl::Seconds(1));
  for (const int64_t job : jobs) EXPECT_EQ(h.DatesRun(job), (Dates{"2026-11-28"}));
  EXPECT_EQ(RunsOf(h, TriggerType::kSchedule), 30) << "late, and not thrown away";
  h.Advance(absl::Minutes(10));
  EXPECT_EQ(h.store.history.size(), 30U);
}

}  // namespace
}  // namespace tidemark
