// The drill (A4) and the cursor of interval jobs (T3).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/time_text.h"
#include "tests/engine/harness.h"

namespace tidemark {
namespace {

using Executor = EngineHarness::Executor;
using testing::ElementsAre;
using testing::HasSubstr;

struct World : public EngineHarness {
  World() : EngineHarness("2026-11-29T03:00:00Z"), job(Apply(DailyJob("recon", "2026-11-24"))) {
    on_trigger = [this](Executor& e, const TriggerOrder& t) {
      Begin(e, t);
      if (finish) Finish(e, t, Outcome::kSucceeded);
    };
    StartTerm();
    Start("e1");
    Advance(absl::Seconds(1));  // what the first runs did lies before any drill
  }
  const CommandDone& Drill(int days, std::map<std::string, std::string> args = {}) {
    args["days"] = std::to_string(days);
    args["drill_id"] = "d1";
    return Answer(Command(job, "drill", std::move(args)));
  }
  bool finish = true;
  int64_t job;
};

TEST(DrillTest, TheLastDoneDatesAreForgottenAndFilledAtTheNextTriggerPoint) {
  World h;
  const CommandDone& done = h.Drill(2);
  ASSERT_EQ(done.code, absl::StatusCode::kOk) << done.message;
  EXPECT_EQ(done.result.at("dates"), "2026-11-27,2026-11-28");
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-27"), "");
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-26"), "DONE");
  ASSERT_EQ(h.store.audits.size(), 1U);
  EXPECT_THAT(h.store.audits[0].detail, HasSubstr("2026-11-27, 2026-11-28"));
  h.Advance(absl::Minutes(1));
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "DONE");
  EXPECT_EQ(h.DatesRun(h.job).size(), 7U);
  EXPECT_EQ(h.store.history[5].run.tag, "drill");
  EXPECT_EQ(h.store.history[4].run.tag, "");
}

TEST(DrillTest, NowIsATriggerPointItselfAndTheTagSurvivesARestart) {
  World h;
  h.finish = false;
  h.Drill(3, {{"now", "true"}});
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-26"), "RUNNING");
  h.KillScheduler();
  h.StartTerm();
  h.Connect(h.executors.at("e1"));
  h.finish = true;
  const TriggerOrder last = h.executors.at("e1").triggers.back();
  h.Finish(h.executors.at("e1"), last, Outcome::kSucceeded);
  h.Advance(absl::Seconds(10));
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "DONE");
  for (size_t i = 5; i < 8; ++i) EXPECT_EQ(h.store.history.at(i).run.tag, "drill") << i;
  // What is deleted by hand later is no drill.
  h.store.watermarks.erase({h.job, absl::CivilDay(2026, 11, 28)});
  h.Advance(absl::Minutes(2));
  EXPECT_EQ(h.store.history.back().run.tag, "");
}

TEST(DrillTest, RefusedWhileADateIsLive) {
  World h;
  h.finish = false;
  h.Command(h.job, "rerun", {{"biz_date", "2026-11-28"}, {"run_id", "r"}, {"force", "true"}});
  const CommandDone& refused = h.Drill(1);
  EXPECT_EQ(refused.code, absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(refused.message, HasSubstr("2026-11-28 is live"));
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "DONE");
}

TEST(DrillTest, RefusedWithoutFingerprintUnlessToldOtherwise) {
  World h;
  h.store.watermarks[{h.job, absl::CivilDay(2026, 11, 27)}].digest.clear();
  const CommandDone& refused = h.Drill(2);
  EXPECT_EQ(refused.code, absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(refused.message, HasSubstr("--allow-no-fingerprint"));
  EXPECT_EQ(h.Drill(1).code, absl::StatusCode::kOk) << "the other has one";
  EXPECT_EQ(h.Drill(2, {{"allow_no_fingerprint", "true"}}).code, absl::StatusCode::kOk);
}

TEST(DrillTest, RefusedWhenNothingWouldFillTheDates) {
  World h;
  EXPECT_THAT(h.Drill(6).message, HasSubstr("has 5 DONE dates"));
  h.Command(h.job, "pause", {{"reason", "look"}});
  EXPECT_THAT(h.Drill(1).message, HasSubstr("is paused"));
  h.Command(h.job, "resume");
  JobSpec spec = EngineHarness::DailyJob("recon", "2026-11-24");
  spec.catch_up.max_backfill_days = 2;
  h.Apply(spec);
  EXPECT_THAT(h.Drill(4).message, HasSubstr("drill fewer days"));
}

JobSpec Minutely() {
  JobSpec spec = EngineHarness::DailyJob("sync", "");
  spec.schedule.cron.clear();
  spec.schedule.kind = ScheduleSpec::Kind::kEvery;
  spec.schedule.every = absl::Minutes(1);
  return spec;
}

TEST(CursorTest, ACursorFarAheadIsToldAndResetByAPerson) {
  EngineHarness h("2026-11-29T03:00:00Z");
  h.on_trigger = [&h](Executor& e, const TriggerOrder& t) {
    h.Begin(e, t);
    h.Finish(e, t, Outcome::kSucceeded);
  };
  const int64_t job = h.Apply(Minutely());
  h.StartTerm();
  h.Start("e1");
  EXPECT_EQ(h.Answer(h.Command(job, "reset_cursor", {{"reason", "x"}})).code,
            absl::StatusCode::kFailedPrecondition);
  h.LeapClock(absl::Hours(24));
  h.Advance(absl::Minutes(2));
  const size_t before = h.store.history.size();
  h.LeapClock(-absl::Hours(24));
  h.Advance(absl::Minutes(5));
  EXPECT_EQ(h.store.history.size(), before) << "a clock set back fires nothing twice";
  EXPECT_TRUE(h.HasAlert("cursor_ahead"));
  const CommandDone& reset = h.Answer(h.Command(job, "reset_cursor", {{"reason", "clock mended"}}));
  ASSERT_EQ(reset.code, absl::StatusCode::kOk) << reset.message;
  EXPECT_FALSE(h.HasAlert("cursor_ahead"));
  EXPECT_EQ(h.store.audits.back().action, "cursor_reset");
  h.Advance(absl::Minutes(5));
  EXPECT_EQ(h.store.history.size(), before + 5);
}

// M01: more than 100 missed is nothing special; exact counts for each policy.
TEST(MisfireEngineTest, ExactCountsOneRangeAndOneAlertAGap) {
  struct Case {
    MisfirePolicy policy;
    int cap;
    size_t late;
    int64_t skipped;
  };
  for (const Case& c : {Case{MisfirePolicy::kSkip, 100, 0, 235},
                        {MisfirePolicy::kFireOnce, 100, 1, 234},
                        {MisfirePolicy::kFireAll, 100, 100, 135},
                        {MisfirePolicy::kFireAll, 1000, 235, 0}}) {
    EngineHarness h("2026-11-29T03:00:30Z");
    JobSpec spec = Minutely();
    spec.misfire.policy = c.policy;
    spec.misfire.cap = c.cap;
    spec.blocking.queue = 1000;
    const int64_t job = h.Apply(spec);
    h.on_trigger = [&h](Executor& e, const TriggerOrder& t) {
      h.Begin(e, t);
      h.Finish(e, t, Outcome::kSucceeded);
    };
    h.StartTerm();
    h.Start("e1");
    h.KillScheduler();
    h.Suspend(absl::Hours(4));  // 240 fires: five within the tolerance
    h.StartTerm();
    h.Connect(h.executors.at("e1"));
    size_t late = 0;
    for (const auto& ended : h.store.history) {
      if (ended.run.trigger == TriggerType::kCatchUp) ++late;
    }
    EXPECT_EQ(late, c.late);
    int64_t skipped = 0;
    for (const SkippedRange& range : h.store.skipped) skipped += range.fires;
    EXPECT_EQ(skipped, c.skipped);
    EXPECT_EQ(h.store.skipped.size(), c.skipped > 0 ? 1U : 0U);
    size_t told = 0;
    for (const AlertRaise& alert : h.store.all_alerts) {
      if (alert.kind == "fires_skipped") ++told;
    }
    EXPECT_EQ(told, c.skipped > 0 ? 1U : 0U);
    h.Advance(absl::Minutes(1));
    EXPECT_EQ(h.store.history.size(), c.late + 5 + 1) << "the next fire is on time";
    EXPECT_TRUE(h.store.jobs.at(job).cursor.has_value());
  }
}

}  // namespace
}  // namespace tidemark
