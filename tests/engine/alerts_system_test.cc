// Alerts about executors and the clock.
#include "common/time_text.h"
#include "tests/engine/alert_checks.h"

namespace tidemark {
namespace {

using Executor = EngineHarness::Executor;

struct Running : public EngineHarness {
  explicit Running(bool interruptible = true)
      : EngineHarness("2026-11-29T03:00:00Z"), job(Apply(DailyJob("recon", "2026-11-28"))) {
    StartTerm();
    executors["e1"].interruptible = interruptible;
    Start("e1");
    Begin(e1(), e1().triggers.at(0));
  }
  Executor& e1() { return executors.at("e1"); }
  void Vanish() {
    e1().beats = false;
    Disconnect(e1());
  }
  int64_t job;
};

TEST(SystemAlertsTest, ALostExecutorIsToldOnceWithItsRunsAndEndsWhenItIsBack) {
  Running h(/*interruptible=*/false);
  h.Vanish();
  h.Advance(absl::Seconds(55));
  EXPECT_EQ(h.Told("executor_lost"), 0);
  h.Advance(absl::Minutes(30));
  ExpectTold(h, "executor_lost", 1,
             {"Executor e1 of app app is lost", "1m", "recon 2026-11-28", "e1-host",
              "waits until that process reports", "tidemark executor list",
              "tidemark run get " + h.e1().triggers[0].attempt.run_id});
  h.e1().beats = true;
  h.Connect(h.e1());
  EXPECT_EQ(Ended(h, "executor_lost"), 1);
  h.Vanish();
  h.Advance(absl::Minutes(2));
  EXPECT_EQ(h.Told("executor_lost"), 2) << "another episode";
}

TEST(SystemAlertsTest, ALostExecutorOfAnEarlierProcessIsToldAndEnds) {
  Running h;
  h.Vanish();
  h.KillScheduler();
  h.StartTerm();
  h.Advance(absl::Minutes(2));
  ExpectTold(h, "executor_lost", 1, {"tried again elsewhere"});
  h.KillScheduler();
  h.StartTerm();
  h.Advance(absl::Minutes(2));
  EXPECT_EQ(h.Told("executor_lost"), 1);
  h.Advance(absl::Minutes(10));  // lost_after is over: nothing of it is live any more
  EXPECT_EQ(Ended(h, "executor_lost"), 1);
}

TEST(SystemAlertsTest, ADeploymentIsNoLostExecutor) {
  Running h;
  h.Vanish();
  h.Advance(absl::Seconds(40));
  h.e1().beats = true;
  h.Start("e1", 2);  // killed and started again: the run goes on in it
  h.Advance(absl::Minutes(10));
  EXPECT_EQ(h.Told("executor_lost"), 0);
  h.Finish(h.e1(), h.e1().triggers.back(), Outcome::kSucceeded);
  h.Leave(h.e1());
  h.Advance(absl::Minutes(3));
  h.Start("e1", 3);
  h.Advance(absl::Minutes(10));
  EXPECT_EQ(h.Told("executor_lost"), 0);
  EXPECT_EQ(h.Told("app_down"), 0);
}

TEST(SystemAlertsTest, AnAppWithoutExecutorsIsToldOnceAndEndsWithOne) {
  EngineHarness h("2026-11-29T03:00:00Z");
  h.Apply(EngineHarness::DailyJob("recon", "2026-11-28"));
  h.Apply(EngineHarness::DailyJob("settle", "2026-11-28"));
  SucceedAlways(h);
  h.StartTerm();
  h.Start("e1");
  h.Start("e2");
  h.Leave(h.executors.at("e1"));
  h.Advance(absl::Minutes(20));
  EXPECT_EQ(h.Told("app_down"), 0) << "there is another";
  h.Leave(h.executors.at("e2"));
  h.Advance(absl::Hours(1));
  ExpectTold(h, "app_down", 1,
             {"No executor of app app is up", "recon, settle", "Next due", "2026-11-30T01:00:00",
              "tidemark executor list"});
  h.Start("e1", 2);
  EXPECT_EQ(Ended(h, "app_down"), 1);
}

TEST(SystemAlertsTest, AnAppThatNobodyWantsIsNotDown) {
  EngineHarness h("2026-11-29T03:00:00Z");
  const int64_t job = h.Apply(EngineHarness::DailyJob("recon", "2026-11-28"));
  SucceedAlways(h);
  h.StartTerm();
  h.Start("e1");
  h.Leave(h.executors.at("e1"));
  h.Advance(absl::Minutes(10));
  ASSERT_TRUE(h.HasAlert("app_down"));
  h.Command(job, "delete");
  h.Advance(absl::Minutes(2));
  EXPECT_EQ(Ended(h, "app_down"), 1);
  EXPECT_EQ(h.Told("app_down"), 1);
}

TEST(SystemAlertsTest, TwoProcessesWithOneIdAreToldOnceAndEnd) {
  EngineHarness h("2026-11-29T03:00:00Z");
  h.Apply(EngineHarness::DailyJob("recon", "2026-11-28"));
  SucceedAlways(h);
  h.StartTerm();
  Executor first = h.Start("e1", 1);
  Executor& second = h.Start("e1", 2);  // while the first has contact
  ASSERT_TRUE(second.waiting);
  ExpectTold(h, "executor_id_shared", 1,
             {"Two processes have the executor id e1", "--executor-id"});
  h.Disconnect(second);
  EXPECT_EQ(Ended(h, "executor_id_shared"), 1);
}

TEST(SystemAlertsTest, ASharedIdOfAnEarlierProcessEnds) {
  EngineHarness h("2026-11-29T03:00:00Z");
  h.Apply(EngineHarness::DailyJob("recon", "2026-11-28"));
  h.StartTerm();
  h.Start("e1", 1);
  h.Start("e1", 2);
  ASSERT_TRUE(h.HasAlert("executor_id_shared"));
  h.KillScheduler();
  h.executors.clear();  // both were stopped meanwhile
  h.StartTerm();
  h.Advance(absl::Minutes(1));
  EXPECT_EQ(Ended(h, "executor_id_shared"), 1);
}

TEST(SystemAlertsTest, AClockLeapIsToldOnceAndEnds) {
  EngineHarness h("2026-11-29T03:00:00Z");
  h.StartTerm();
  h.LeapClock(absl::Hours(1));
  ExpectTold(h, "clock_leap", 1, {"leapt ahead by 1h", "goes on by itself", "timedatectl"});
  EXPECT_EQ(Ended(h, "clock_leap"), 1);
}

}  // namespace
}  // namespace tidemark
