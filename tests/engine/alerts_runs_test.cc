// Alerts about runs: raised once an episode, with what to type, and resolved once.
#include "common/time_text.h"
#include "tests/engine/alert_checks.h"

namespace tidemark {
namespace {

using Executor = EngineHarness::Executor;

// Fires at 17:00Z; the date is that day's.
struct Nightly : public EngineHarness {
  explicit Nightly(const JobSpec& spec = DailyJob("recon", "2026-11-28"))
      : EngineHarness("2026-11-29T03:00:00Z"), job(Apply(spec)) {
    StartTerm();
  }
  void Restart() {
    KillScheduler();
    StartTerm();
    for (auto& [id, executor] : executors) Connect(executor);
  }
  int64_t job;
};

TEST(RunAlertsTest, ADateThatFailsTwiceIsToldTwiceAndBothEndWithItsSuccess) {
  Nightly h;
  FailAlways(h);
  h.Start("e1");
  ExpectTold(h, "run_failed", 1,
             {"recon 2026-11-28 FAILED", "no bills", "opened again at the job's next fire",
              "tidemark run rerun " + h.store.history.at(0).run.run_id});
  EXPECT_EQ(LastOf(h, "run_failed").job_name, "recon");
  EXPECT_EQ(LastOf(h, "run_failed").biz_date, absl::CivilDay(2026, 11, 28));
  h.Advance(absl::Hours(2));  // 120 scans
  EXPECT_EQ(h.Told("run_failed"), 1);
  h.AdvanceTo("2026-11-29T17:00:05Z");
  ASSERT_EQ(h.store.history.size(), 2U) << "the next fire opens it again";
  EXPECT_EQ(h.Told("run_failed"), 2);
  EXPECT_EQ(Ended(h, "run_failed"), 0);
  SucceedAlways(h);
  h.Restart();
  h.Command(h.job, "trigger", {{"biz_date", "2026-11-28"}});
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "DONE");
  EXPECT_EQ(Ended(h, "run_failed"), 2) << "of an earlier process, too";
  EXPECT_FALSE(h.HasAlert("run_failed"));
  EXPECT_EQ(h.Told("run_failed"), 2);
}

TEST(RunAlertsTest, AFailureEndsWithAPersonsWordOfAPausedJobToo) {
  Nightly h;
  FailAlways(h);
  h.Start("e1");
  ASSERT_TRUE(h.HasAlert("run_failed"));
  h.Command(h.job, "pause", {{"reason", "holiday"}});
  h.Command(h.job, "waive", {{"date", "2026-11-28"}, {"reason", "closed"}});
  ASSERT_EQ(h.StatusOf(h.job, "2026-11-28"), "WAIVED");
  EXPECT_EQ(Ended(h, "run_failed"), 1);
}

TEST(RunAlertsTest, AFailureEndsWithSqlToo) {
  Nightly h;
  FailAlways(h);
  h.Start("e1");
  h.Advance(absl::Minutes(2));
  ASSERT_TRUE(h.HasAlert("run_failed")) << "a scan that finds it FAILED ends nothing";
  h.store.watermarks[{h.job, absl::CivilDay(2026, 11, 28)}].status = "DONE";
  h.Advance(absl::Minutes(61));
  EXPECT_EQ(Ended(h, "run_failed"), 1);
}

TEST(RunAlertsTest, AFailedFireEndsWithTheNextSuccessOfAnIntervalJob) {
  JobSpec spec = EngineHarness::DailyJob("hourly", "");
  spec.schedule.cron = "0 0 * * * ?";
  Nightly h(spec);
  FailAlways(h);
  h.Start("e1");
  h.AdvanceTo("2026-11-29T05:00:05Z");
  ExpectTold(h, "run_failed", 2, {"hourly at 2026-11-29T05:00:00Z", "goes on with its next fire"});
  SucceedAlways(h);
  h.AdvanceTo("2026-11-29T06:00:05Z");
  EXPECT_EQ(Ended(h, "run_failed"), 2);
}

TEST(RunAlertsTest, AFailedRerunIsToldAndHasNoEnd) {
  Nightly h;
  SucceedAlways(h);
  h.Start("e1");
  FailAlways(h);
  h.Command(h.job, "rerun", {{"biz_date", "2026-11-28"}, {"run_id", "r"}, {"force", "true"}});
  ExpectTold(h, "run_failed", 1, {"recon 2026-11-28", "stays DONE", "tidemark run rerun"});
  EXPECT_TRUE(LastOf(h, "run_failed").event);
  EXPECT_FALSE(h.HasAlert("run_failed")) << "the date is DONE: nothing is open";
}

TEST(RunAlertsTest, ALongRunIsToldOnceAnAttempt) {
  Nightly h;
  Executor& e1 = h.Start("e1");
  h.Begin(e1, e1.triggers.at(0));
  h.Advance(absl::Minutes(29));
  EXPECT_EQ(h.Told("run_long"), 0);
  h.Advance(absl::Hours(1));
  ExpectTold(h, "run_long", 1,
             {"recon 2026-11-28", "30m", "left alone",
              "tidemark run cancel " + e1.triggers[0].attempt.run_id});
  h.Finish(e1, e1.triggers[0], Outcome::kFailedRetryable);
  EXPECT_EQ(Ended(h, "run_long"), 1);
  ASSERT_EQ(e1.triggers.size(), 2U);
  h.Begin(e1, e1.triggers[1]);
  h.Advance(absl::Minutes(31));
  EXPECT_EQ(h.Told("run_long"), 2) << "another attempt takes long again";
  h.Finish(e1, e1.triggers[1], Outcome::kSucceeded);
  EXPECT_EQ(Ended(h, "run_long"), 2);
}

TEST(RunAlertsTest, AReapedRunIsToldOnceAndEndsWhenItIsHeardOf) {
  Nightly h;
  Executor& e1 = h.executors["e1"];
  e1.interruptible = false;
  h.Start("e1");
  h.Begin(e1, e1.triggers.at(0));
  h.Disconnect(e1);
  h.Advance(absl::Hours(4));
  ExpectTold(h, "run_reaped", 1,
             {"recon 2026-11-28 is FAILED (held)", "2h", "e1-host", "nothing opens it again",
              "tidemark run release " + e1.triggers[0].attempt.run_id + " --force"});
  h.Restart();
  EXPECT_EQ(Ended(h, "run_reaped"), 1);
  EXPECT_EQ(h.Told("run_reaped"), 1);
}

TEST(RunAlertsTest, ARunThatDoesNotStopIsToldOnceAndEndsWithIt) {
  Nightly h;
  Executor& e1 = h.Start("e1");
  h.Begin(e1, e1.triggers.at(0));
  h.Command(h.job, "cancel", {{"run_id", e1.triggers[0].attempt.run_id}, {"reason", "wrong"}});
  h.Advance(absl::Minutes(4));
  EXPECT_EQ(h.Told("run_held"), 0);
  h.Advance(absl::Minutes(20));
  ExpectTold(h, "run_held", 1,
             {"recon 2026-11-28 does not end", "5m", "cancelled by tester", "e1-host",
              "tidemark run release " + e1.triggers[0].attempt.run_id});
  h.Finish(e1, e1.triggers[0], Outcome::kStopped);
  EXPECT_EQ(Ended(h, "run_held"), 1);
}

TEST(RunAlertsTest, NoExecutorIsToldOnceAndEndsWithOne) {
  Nightly h;
  SucceedAlways(h);
  h.Advance(absl::Hours(2));
  ExpectTold(h, "no_executor", 1,
             {"recon 2026-11-28 waits", "no executor of app app is up", "within a second",
              "tidemark executor list"});
  h.Restart();
  h.Advance(absl::Minutes(10));
  EXPECT_EQ(h.Told("no_executor"), 1) << "a restart is no new episode";
  h.Start("e1");
  EXPECT_EQ(Ended(h, "no_executor"), 1);
}

TEST(RunAlertsTest, ALateSuccessIsToldOnceHoweverOftenItIsSaid) {
  Nightly h;
  Executor& e1 = h.Start("e1");
  h.Begin(e1, e1.triggers.at(0));
  h.Disconnect(e1);
  e1.beats = false;
  h.Advance(absl::Minutes(6));
  Executor& e2 = h.Start("e2");
  ASSERT_EQ(e2.triggers.size(), 1U);
  h.Connect(e1);
  h.Finish(e1, e1.triggers[0], Outcome::kSucceeded);
  h.Report(e1, e1.triggers[0].attempt, FinishedReport{});
  ExpectTold(
      h, "late_success", 1,
      {"recon 2026-11-28: attempt 1 in e1", "tidemark run get " + e1.triggers[0].attempt.run_id});
  EXPECT_FALSE(h.HasAlert("late_success"));
}

}  // namespace
}  // namespace tidemark
