// Alerts about jobs as a whole.
#include "common/time_text.h"
#include "tests/engine/alert_checks.h"

namespace tidemark {
namespace {

TEST(JobAlertsTest, SkippedFiresAreToldAndHaveNoEnd) {
  EngineHarness h("2026-11-29T03:00:30Z");
  JobSpec spec = EngineHarness::DailyJob("minutely", "");
  spec.schedule.cron = "0 * * * * ?";
  spec.misfire = {MisfirePolicy::kSkip};
  h.Apply(spec);
  SucceedAlways(h);
  h.StartTerm();
  h.Start("e1");
  h.KillScheduler();
  h.Advance(absl::Hours(1));
  h.StartTerm();
  h.Advance(absl::Minutes(10));
  ExpectTold(
      h, "fires_skipped", 1,
      {"minutely:", "fires from 2026-11-29T03:01:00Z", "misfire", "tidemark job trigger minutely"});
  EXPECT_FALSE(h.HasAlert("fires_skipped"));
}

TEST(JobAlertsTest, ACursorAheadIsToldOnceAndEndsThoughTheProcessIsAnother) {
  EngineHarness h("2026-11-29T03:00:00Z");
  JobSpec spec = EngineHarness::DailyJob("my hourly", "");
  spec.schedule.cron = "0 0 * * * ?";
  const int64_t job = h.Apply(spec);
  h.store.jobs[job].cursor = *ParseInstant("2026-11-30T03:00:00Z");
  h.StartTerm();
  h.Advance(absl::Hours(2));
  ExpectTold(h, "cursor_ahead", 1,
             {"my hourly does not fire before 2026-11-30T03:00:00Z",
              "tidemark job reset-cursor 'my hourly' --reason"});
  h.KillScheduler();
  h.SetClock("2026-11-30T03:10:00Z");
  h.StartTerm();
  EXPECT_EQ(Ended(h, "cursor_ahead"), 1);
}

TEST(JobAlertsTest, AJobInErrorIsToldOnceAndEndsWhenItIsMended) {
  EngineHarness h("2026-11-29T03:00:00Z");
  JobSpec spec = EngineHarness::DailyJob("recon", "2026-11-28");
  const int64_t job = h.Apply(spec);
  h.Corrupt(job);
  h.StartTerm();
  h.Advance(absl::Hours(1));
  ExpectTold(h, "job_error", 1,
             {"recon cannot be scheduled: not a definition", "tidemark job apply -f FILE"});
  h.KillScheduler();
  h.StartTerm();
  EXPECT_EQ(h.Told("job_error"), 1);
  h.Apply(spec);
  EXPECT_EQ(Ended(h, "job_error"), 1);
}

TEST(JobAlertsTest, WhatIsToldOfADeletedJobEnds) {
  EngineHarness h("2026-11-29T03:00:00Z");
  const int64_t job = h.Apply(EngineHarness::DailyJob("recon", "2026-11-25"));
  FailAlways(h);
  h.StartTerm();
  h.Start("e1");
  ASSERT_TRUE(h.HasAlert("run_failed"));
  ASSERT_TRUE(h.HasAlert("gap_blocked"));
  h.Command(job, "delete");
  EXPECT_TRUE(h.store.alerts.empty()) << h.store.alerts.begin()->first;
}

TEST(JobAlertsTest, AStoppedBackfillIsToldOnceAndEndsWhenItGoesOn) {
  EngineHarness h("2026-11-29T03:00:00Z");
  const int64_t job = h.Apply(EngineHarness::DailyJob("recon", "2026-11-25"));
  SucceedAlways(h);
  h.StartTerm();
  h.Start("e1");
  FailAlways(h);
  h.Command(job, "backfill_create",
            {{"backfill_id", "b1"},
             {"from", "2026-11-25"},
             {"to", "2026-11-26"},
             {"reprocess", "all"},
             {"parallel", "1"}});
  h.Advance(absl::Hours(1));
  ExpectTold(h, "backfill_stopped", 1,
             {"recon: the backfill stopped at 2026-11-25", "tidemark backfill resume b1",
              "tidemark backfill cancel b1"});
  h.KillScheduler();
  SucceedAlways(h);
  h.StartTerm();
  h.Connect(h.executors.at("e1"));
  h.Command(job, "backfill_resume", {{"backfill_id", "b1"}});
  h.Advance(absl::Minutes(1));
  EXPECT_EQ(Ended(h, "backfill_stopped"), 1);
  ExpectTold(h, "backfill_finished", 1, {"recon: the backfill from 2026-11-25 to 2026-11-26"});
  EXPECT_FALSE(h.HasAlert("backfill_finished"));
}

}  // namespace
}  // namespace tidemark
