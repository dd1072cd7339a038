// Alerts about business dates and gaps.
#include "common/time_text.h"
#include "tests/engine/alert_checks.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(DateAlertsTest, ABlockedGapIsToldOncePerDateInTheWay) {
  EngineHarness h("2026-11-29T03:00:00Z");
  JobSpec spec = EngineHarness::DailyJob("recon", "2026-11-25");
  const int64_t job = h.Apply(spec);
  FailAlways(h);
  h.StartTerm();
  h.Start("e1");
  h.Advance(absl::Hours(2));
  ExpectTold(h, "gap_blocked", 1,
             {"recon: 3 due dates wait behind 2026-11-25", "follows by itself",
              "tidemark job trigger recon --biz-date 2026-11-25",
              "tidemark watermark waive recon 2026-11-25"});
  h.Command(job, "waive", {{"date", "2026-11-25"}, {"reason", "closed"}});
  h.Advance(absl::Minutes(2));
  ExpectTold(h, "gap_blocked", 2, {"wait behind 2026-11-26"});
  EXPECT_EQ(Ended(h, "gap_blocked"), 1) << "the first date is in nobody's way any more";
  SucceedAlways(h);
  h.Command(job, "trigger", {{"biz_date", "2026-11-26"}});
  EXPECT_EQ(h.StatusOf(job, "2026-11-28"), "DONE");
  EXPECT_EQ(Ended(h, "gap_blocked"), 2);
}

TEST(DateAlertsTest, ABlockedGapOfAnEarlierProcessEnds) {
  EngineHarness h("2026-11-29T03:00:00Z");
  const int64_t job = h.Apply(EngineHarness::DailyJob("recon", "2026-11-25"));
  FailAlways(h);
  h.StartTerm();
  h.Start("e1");
  ASSERT_TRUE(h.HasAlert("gap_blocked"));
  h.KillScheduler();
  SucceedAlways(h);
  h.StartTerm();
  h.Start("e1", 2);  // a new version of the app: the failed date is opened again
  EXPECT_EQ(h.StatusOf(job, "2026-11-28"), "DONE");
  EXPECT_EQ(Ended(h, "gap_blocked"), 1);
  EXPECT_EQ(h.Told("gap_blocked"), 1);
}

TEST(DateAlertsTest, AHeldGapIsToldOnceAndEndsWhenItIsClosed) {
  EngineHarness h("2026-10-01T03:00:00Z");
  JobSpec spec = EngineHarness::DailyJob("recon", "2026-09-29");
  spec.catch_up.max_backfill_days = 10;
  const int64_t job = h.Apply(spec);
  SucceedAlways(h);
  h.StartTerm();
  h.Start("e1");
  h.KillScheduler();
  h.SetClock("2026-11-29T03:00:00Z");
  h.StartTerm();
  h.Connect(h.executors.at("e1"));
  h.Advance(absl::Hours(1));
  ExpectTold(h, "gap_held", 1,
             {"recon: the gap since 2026-10-01", "59 dates", "until a person decides",
              "tidemark backfill create recon --from 2026-10-01 --to 2026-11-28",
              "tidemark watermark waive recon --from 2026-10-01 --to 2026-11-28"});
  h.Command(job, "waive", {{"from", "2026-10-01"}, {"to", "2026-11-28"}, {"reason", "closed"}});
  EXPECT_EQ(Ended(h, "gap_held"), 1);
}

TEST(DateAlertsTest, ExpiredDatesEndWithAWaiver) {
  EngineHarness h("2026-11-10T03:00:00Z");
  JobSpec spec = EngineHarness::DailyJob("recon", "2026-11-09");
  spec.catch_up.source_retention_days = 5;
  const int64_t job = h.Apply(spec);
  SucceedAlways(h);
  h.StartTerm();
  h.Start("e1");
  h.KillScheduler();
  h.SetClock("2026-11-20T03:00:00Z");
  h.StartTerm();
  h.Connect(h.executors.at("e1"));
  h.Advance(absl::Hours(1));
  ExpectTold(h, "gap_expired", 1,
             {"recon:", "2026-11-10", "EXPIRED", "tidemark backfill create recon --from",
              "tidemark watermark waive recon --from 2026-11-10"});
  ASSERT_TRUE(h.HasAlert("gap_expired"));
  std::string last;
  for (const auto& [key, mark] : h.store.watermarks) {
    if (mark.status == "EXPIRED") last = FormatDate(key.second);
  }
  h.Command(job, "waive", {{"from", "2026-11-10"}, {"to", last}, {"reason", "no data"}});
  EXPECT_EQ(Ended(h, "gap_expired"), 1);
}

TEST(DateAlertsTest, WhatLiesBeforeTheFirstLaunchIsToldAndHasNoEnd) {
  EngineHarness h("2026-11-29T03:00:00Z");
  h.Apply(EngineHarness::DailyJob("recon", "2026-09-01"));
  SucceedAlways(h);
  h.StartTerm();
  h.Start("e1");
  h.Advance(absl::Hours(1));
  ExpectTold(h, "gap_expired", 1, {"recon:", "first launch", "tidemark backfill create recon"});
  EXPECT_FALSE(h.HasAlert("gap_expired"));
}

// Down from before the fire of the 27th until the 29th, 03:00Z.
struct TwoNightsMissed : public EngineHarness {
  TwoNightsMissed() : EngineHarness("2026-11-26T16:59:00Z") {
    job = Apply(DailyJob("recon", "2026-11-26"));
    SucceedAlways(*this);
    StartTerm();
    Start("e1");
    Advance(absl::Minutes(2));
    EXPECT_EQ(StatusOf(job, "2026-11-26"), "DONE");
    KillScheduler();
    SetClock("2026-11-29T03:00:00Z");
    StartTerm();
  }
  int64_t job = 0;
};

TEST(DateAlertsTest, ACaughtUpGapIsToldOnceAnEpisode) {
  TwoNightsMissed h;
  EXPECT_EQ(h.Told("catch_up_done"), 0);
  h.Connect(h.executors.at("e1"));
  ExpectTold(h, "catch_up_done", 1,
             {"recon: the gap from 2026-11-27 to 2026-11-28 is closed: 2 DONE",
              "2026-11-27 DONE, 2026-11-28 DONE", "Nothing has to be done",
              "tidemark watermark list recon --from 2026-11-27 --to 2026-11-28"});
  EXPECT_TRUE(LastOf(h, "catch_up_done").event);
  EXPECT_EQ(LastOf(h, "catch_up_done").severity, "info");
  h.Advance(absl::Hours(2));
  EXPECT_EQ(h.Told("catch_up_done"), 1);
  h.AdvanceTo("2026-11-29T17:10:00Z");
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-29"), "DONE");
  EXPECT_EQ(h.Told("catch_up_done"), 1) << "a night in time is no gap";
  for (const int day : {27, 28}) h.store.DeleteWatermark(h.job, absl::CivilDay(2026, 11, day));
  h.Advance(absl::Hours(2));
  EXPECT_EQ(h.Told("catch_up_done"), 2) << "the same dates, missed again";
}

TEST(DateAlertsTest, TheSummarySaysWhatWasGivenUp) {
  TwoNightsMissed h;
  FailAlways(h);
  h.Connect(h.executors.at("e1"));
  EXPECT_EQ(h.Told("catch_up_done"), 0) << "the gap is open";
  SucceedAlways(h);
  h.Command(h.job, "waive", {{"date", "2026-11-27"}, {"reason", "closed"}});
  ExpectTold(h, "catch_up_done", 1,
             {"from 2026-11-27 to 2026-11-28 is closed: 1 DONE, 1 WAIVED", "2026-11-27 WAIVED"});
}

TEST(DateAlertsTest, ADrillTellsForItself) {
  EngineHarness h("2026-11-29T03:00:00Z");
  const int64_t job = h.Apply(EngineHarness::DailyJob("recon", "2026-11-28"));
  SucceedAlways(h);
  h.StartTerm();
  h.Start("e1");
  const int told = h.Told("catch_up_done");
  h.Command(job, "drill", {{"drill_id", "d1"}, {"days", "1"}, {"now", "true"}});
  h.Advance(absl::Minutes(10));
  EXPECT_EQ(h.StatusOf(job, "2026-11-28"), "DONE");
  EXPECT_EQ(h.Told("catch_up_done"), told);
}

}  // namespace
}  // namespace tidemark
