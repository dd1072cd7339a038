// Clocks that lie: a leap is held and told, a clock set back fires nothing twice, a suspended
// process finds what it slept through.
#include <gtest/gtest.h>

#include "tests/engine/harness.h"

namespace tidemark {
namespace {

using Executor = EngineHarness::Executor;

struct Clocks : public EngineHarness {
  Clocks() : EngineHarness("2026-11-28T16:55:30Z") {
    on_trigger = [this](Executor& e, const TriggerOrder& t) {
      Begin(e, t);
      Finish(e, t, Outcome::kSucceeded);
    };
    JobSpec minutely = DailyJob("minutely", "");
    minutely.schedule.cron = "0 * * * * ?";
    interval = Apply(minutely);
    dated = Apply(DailyJob("daily", ""));
    StartTerm();
    Start("e1");
  }
  size_t Runs(int64_t job) const {
    size_t runs = 0;
    for (const auto& ended : store.history) runs += ended.run.occurrence.job_id == job ? 1 : 0;
    return runs;
  }
  int64_t interval = 0;
  int64_t dated = 0;
};

TEST(ClockTest, ALeapHoldsFiringAndIsTold) {
  Clocks h;
  h.Advance(absl::Seconds(60));
  ASSERT_EQ(h.Runs(h.interval), 1U);
  h.LeapClock(absl::Seconds(1));
  EXPECT_FALSE(h.HasAlert("clock_leap")) << "resolved once it is trusted";
  ASSERT_EQ(h.store.all_alerts.size(), 1U);
  EXPECT_EQ(h.store.all_alerts[0].kind, "clock_leap");
}

TEST(ClockTest, O05AClockSetBackFiresNothingTwice) {
  Clocks h;
  h.AdvanceTo("2026-11-28T17:10:05Z");
  ASSERT_EQ(h.Runs(h.dated), 1U);
  const size_t before = h.Runs(h.interval);
  h.LeapClock(-absl::Minutes(30));
  h.Advance(absl::Minutes(29));
  EXPECT_EQ(h.Runs(h.dated), 1U) << "01:00 came twice";
  EXPECT_EQ(h.Runs(h.interval), before) << "its cursor never moves back";
  h.Advance(absl::Minutes(3));
  EXPECT_GT(h.Runs(h.interval), before) << "and it goes on where it was";
}

TEST(ClockTest, O05AClockSetAheadLosesNoDate) {
  Clocks h;
  h.LeapClock(absl::Hours(20));
  h.Advance(absl::Seconds(5));
  EXPECT_EQ(h.DatesRun(h.dated), std::vector<std::string>{"2026-11-28"});
}

// The order of turns is the order of ids, and those of an earlier process may be of a later time.
TEST(ClockTest, ARestartAfterAStepBackLetsNothingOvertakeWhatRuns) {
  EngineHarness h("2026-11-29T03:00:00Z");
  JobSpec spec = EngineHarness::DailyJob("sync", "");
  spec.schedule.kind = ScheduleSpec::Kind::kManual;
  const int64_t job = h.Apply(spec);
  h.StartTerm();
  Executor& e1 = h.Start("e1");
  h.Command(job, "trigger", {{"request_id", "first"}});
  ASSERT_EQ(e1.triggers.size(), 1U);
  h.Begin(e1, e1.triggers[0]);
  h.KillScheduler();
  h.SetClock("2026-11-29T02:00:00Z");
  h.StartTerm();
  h.Connect(e1);
  h.Command(job, "trigger", {{"request_id", "second"}});
  h.Advance(absl::Seconds(5));
  ASSERT_EQ(e1.triggers.size(), 1U) << "serial";
  h.Finish(e1, e1.triggers[0], Outcome::kSucceeded);
  EXPECT_EQ(e1.triggers.size(), 2U);
}

TEST(ClockTest, ASuspendedProcessFindsWhatItSleptThrough) {
  Clocks h;
  h.Advance(absl::Seconds(60));
  const size_t before = h.Runs(h.interval);
  h.Suspend(absl::Hours(26));
  h.Connect(h.executors.at("e1"));
  h.Advance(absl::Seconds(5));
  EXPECT_EQ(h.DatesRun(h.dated), (std::vector<std::string>{"2026-11-28", "2026-11-29"}));
  int64_t skipped = 0;
  for (const SkippedRange& range : h.store.skipped) skipped += range.fires;
  EXPECT_EQ(skipped + static_cast<int64_t>(h.Runs(h.interval) - before), 26 * 60)
      << "every slot is a run or is counted as skipped";
}

}  // namespace
}  // namespace tidemark
