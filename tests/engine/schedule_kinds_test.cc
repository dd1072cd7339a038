// Every kind of schedule through the engine: calendars, one-shots, fixed rates, windows; and that
// what the timeline says is what fires.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/status.h"
#include "common/time_text.h"
#include "tests/engine/harness.h"

namespace tidemark {
namespace {

using Dates = std::vector<std::string>;
using Executor = EngineHarness::Executor;

class ScheduleKindsTest : public testing::Test {
 protected:
  // Sunday, 20:00 in Shanghai.
  ScheduleKindsTest() : h_("2026-11-29T12:00:00Z") {
    h_.on_trigger = [this](Executor& e, const TriggerOrder& t) {
      h_.Begin(e, t);
      h_.Finish(e, t, Outcome::kSucceeded);
    };
  }

  static absl::Time At(const char* text) { return *ParseInstant(text); }

  static CalendarVersion Version(int number, absl::Time from, bool retroactive, Calendar::Mode mode,
                                 const Dates& dates) {
    Calendar::Spec spec;
    spec.name = "cn";
    spec.version = number;
    spec.mode = mode;
    for (const std::string& date : dates) spec.dates.push_back(*ParseDate(date));
    absl::StatusOr<Calendar> made = Calendar::Make(std::move(spec));
    EXPECT_TRUE(made.ok()) << Message(made.status());
    return {from, retroactive, std::make_shared<const Calendar>(*std::move(made))};
  }

  // Gives the job another version of its calendar, and tells the engine.
  void Import(int64_t job, bool retroactive, Calendar::Mode mode, const Dates& dates) {
    JobRow& row = h_.store.jobs[job];
    CalendarSet set;
    if (row.calendars != nullptr) set = *row.calendars;
    CalendarHistory& history = set["cn"];
    history.push_back(
        Version(static_cast<int>(history.size()) + 1, h_.now().lo, retroactive, mode, dates));
    row.calendars = std::make_shared<const CalendarSet>(std::move(set));
    h_.Changed(job);
  }

  std::vector<std::string> FiresRun() const {
    std::vector<std::string> fires;
    for (const auto& ended : h_.store.history) fires.push_back(FormatInstant(ended.run.fire_time));
    return fires;
  }
  const JobRow& Row(int64_t job) const { return h_.store.jobs.at(job); }

  EngineHarness h_;
};

TEST_F(ScheduleKindsTest, AHolidayIsNotDueAndNotMissed) {
  JobSpec spec = EngineHarness::DailyJob("recon", "2026-11-26");
  spec.schedule.calendar = "cn";
  const int64_t job = h_.Apply(spec);
  Import(job, false, Calendar::Mode::kExclude, {"2026-11-27", "2026-11-30"});
  h_.StartTerm();
  h_.Start("e1");
  h_.AdvanceTo("2026-12-01T18:00:00Z");
  EXPECT_EQ(h_.DatesRun(job), (Dates{"2026-11-26", "2026-11-28", "2026-11-29", "2026-12-01"}));
}

TEST_F(ScheduleKindsTest, ACalendarEditReachesTheEngineAndLeavesPastDatesAlone) {
  JobSpec spec = EngineHarness::DailyJob("recon", "2026-11-26");
  spec.schedule.calendar = "cn";
  const int64_t job = h_.Apply(spec);
  Import(job, false, Calendar::Mode::kExclude, {"2026-11-27"});
  h_.StartTerm();
  h_.Start("e1");
  ASSERT_EQ(h_.DatesRun(job), (Dates{"2026-11-26", "2026-11-28"}));
  h_.Advance(absl::Hours(1));
  // 27 is open now, 29 (due tonight) closed: the past stays, tonight does not run.
  Import(job, false, Calendar::Mode::kExclude, {"2026-11-29"});
  h_.AdvanceTo("2026-11-30T18:00:00Z");
  EXPECT_EQ(h_.DatesRun(job), (Dates{"2026-11-26", "2026-11-28", "2026-11-30"}));
  // The same, retroactive: 27 has been missing since.
  Import(job, true, Calendar::Mode::kExclude, {"2026-11-29"});
  EXPECT_EQ(h_.DatesRun(job), (Dates{"2026-11-26", "2026-11-28", "2026-11-30", "2026-11-27"}));
}

TEST_F(ScheduleKindsTest, ACalendarThatRunsOutIsToldAndGoesOnWithMoreDates) {
  JobSpec spec = EngineHarness::DailyJob("recon", "2026-11-28");
  spec.schedule.calendar = "cn";
  const int64_t job = h_.Apply(spec);
  Import(job, false, Calendar::Mode::kInclude, {"2026-11-28", "2026-11-29"});
  h_.StartTerm();
  h_.Start("e1");
  EXPECT_FALSE(Row(job).finished);
  h_.AdvanceTo("2026-11-29T17:00:02Z");
  EXPECT_TRUE(Row(job).finished);
  EXPECT_TRUE(h_.HasAlert("calendar_ended"));
  Import(job, false, Calendar::Mode::kInclude, {"2026-12-01"});
  EXPECT_FALSE(Row(job).finished);
  EXPECT_FALSE(h_.HasAlert("calendar_ended"));
  h_.AdvanceTo("2026-12-01T17:00:02Z");
  EXPECT_EQ(h_.DatesRun(job), (Dates{"2026-11-28", "2026-11-29", "2026-12-01"}));
}

TEST_F(ScheduleKindsTest, AJobWithoutItsCalendarIsAloneInError) {
  JobSpec spec = EngineHarness::DailyJob("recon", "2026-11-28");
  spec.schedule.calendar = "cn";
  const int64_t job = h_.Apply(spec);
  const int64_t other = h_.Apply(EngineHarness::DailyJob("other", "2026-11-28"));
  h_.StartTerm();
  h_.Start("e1");
  EXPECT_NE(Row(job).error, "");
  EXPECT_EQ(h_.DatesRun(other), Dates{"2026-11-28"});
  Import(job, false, Calendar::Mode::kExclude, {"2026-11-01"});
  EXPECT_EQ(Row(job).error, "");
  EXPECT_EQ(h_.DatesRun(job), Dates{"2026-11-28"});
}

TEST_F(ScheduleKindsTest, AOneShotFiresOnceAndIsFinished) {
  JobSpec spec = EngineHarness::DailyJob("once", "");
  spec.schedule = ScheduleSpec();
  spec.schedule.kind = ScheduleSpec::Kind::kAt;
  spec.schedule.zone = "Asia/Shanghai";
  spec.schedule.at = At("2026-11-30T03:00:00+08:00");
  const int64_t job = h_.Apply(spec);
  h_.StartTerm();
  h_.Start("e1");
  EXPECT_FALSE(Row(job).finished);
  h_.AdvanceTo("2026-11-29T18:59:59Z");
  EXPECT_TRUE(h_.DatesRun(job).empty());
  h_.AdvanceTo("2026-11-29T19:00:01Z");
  EXPECT_EQ(h_.DatesRun(job), Dates{"2026-11-29"});
  EXPECT_TRUE(Row(job).finished);
  h_.AdvanceTo("2026-12-01T20:00:00Z");
  EXPECT_EQ(h_.DatesRun(job), Dates{"2026-11-29"}) << "once";
}

TEST_F(ScheduleKindsTest, AOneShotThatWasSleptThroughIsCaughtUp) {
  JobSpec spec = EngineHarness::DailyJob("once", "");
  spec.schedule = ScheduleSpec();
  spec.schedule.kind = ScheduleSpec::Kind::kAt;
  spec.schedule.zone = "Asia/Shanghai";
  spec.schedule.at = At("2026-11-30T03:00:00+08:00");
  const int64_t job = h_.Apply(spec);
  h_.AdvanceTo("2026-11-29T22:00:00Z");  // no scheduler
  h_.StartTerm();
  h_.Start("e1");
  EXPECT_EQ(h_.DatesRun(job), Dates{"2026-11-29"});
  EXPECT_TRUE(Row(job).finished);
}

TEST_F(ScheduleKindsTest, AFixedRateCountsElapsedTimeFromItsAnchorWithinItsWindow) {
  JobSpec spec = EngineHarness::DailyJob("beat", "");
  spec.schedule = ScheduleSpec();
  spec.schedule.kind = ScheduleSpec::Kind::kEvery;
  spec.schedule.zone = "America/New_York";
  spec.schedule.every = absl::Minutes(25);
  spec.schedule.anchor = At("2026-11-29T12:10:00Z");
  spec.schedule.start_at = At("2026-11-29T12:30:00Z");
  spec.schedule.end_at = At("2026-11-29T13:30:00Z");
  const int64_t job = h_.Apply(spec);
  h_.StartTerm();
  h_.Start("e1");
  h_.AdvanceTo("2026-11-29T13:20:00Z");
  EXPECT_FALSE(Row(job).finished);
  h_.AdvanceTo("2026-11-29T15:00:00Z");
  EXPECT_EQ(FiresRun(),
            (Dates{"2026-11-29T12:35:00Z", "2026-11-29T13:00:00Z", "2026-11-29T13:25:00Z"}));
  EXPECT_TRUE(Row(job).finished) << "end_at has passed";
}

TEST_F(ScheduleKindsTest, AManualJobNeverFiresAndIsNeverFinished) {
  JobSpec spec = EngineHarness::DailyJob("by-hand", "");
  spec.schedule = ScheduleSpec();
  spec.schedule.kind = ScheduleSpec::Kind::kManual;
  spec.schedule.zone = "UTC";
  const int64_t job = h_.Apply(spec);
  h_.StartTerm();
  h_.Start("e1");
  h_.Advance(absl::Hours(30));
  EXPECT_TRUE(h_.store.history.empty());
  EXPECT_FALSE(Row(job).finished);
  h_.Command(job, "trigger");
  EXPECT_EQ(h_.store.history.size(), 1U);
  EXPECT_FALSE(Row(job).finished);
}

// What job next says is one question to the same timeline; here is that the engine keeps to it.
TEST_F(ScheduleKindsTest, WhatTheTimelineSaysIsWhatFires) {
  std::vector<JobSpec> specs;
  const auto cron = [&](const std::string& expression, const std::string& zone) {
    JobSpec spec = EngineHarness::DailyJob("j" + std::to_string(specs.size()), "");
    spec.schedule.cron = expression;
    spec.schedule.zone = zone;
    specs.push_back(spec);
  };
  cron("0 0 1 * * ?", "Asia/Shanghai");
  cron("0 30 23 ? * MON-FRI", "America/New_York");
  cron("15 */6 * * *", "Asia/Kathmandu");
  cron("0 45 2/23 * * ?", "Europe/London");
  JobSpec every = specs[0];
  every.name = "every";
  every.schedule = ScheduleSpec();
  every.schedule.kind = ScheduleSpec::Kind::kEvery;
  every.schedule.zone = "UTC";
  every.schedule.every = absl::Minutes(433);
  specs.push_back(every);

  std::map<int64_t, std::vector<std::string>> expected;
  const absl::Time end = h_.now().lo + absl::Hours(60);
  for (const JobSpec& spec : specs) {
    const int64_t job = h_.Apply(spec);
    const auto timeline = BuildTimeline({{h_.now().lo, spec.schedule}}, nullptr);
    ASSERT_TRUE(timeline.ok());
    absl::Time after = h_.now().lo;
    while (const auto next = timeline->Next(after)) {
      if (next->fire_time > end) break;
      expected[job].push_back(FormatInstant(next->fire_time));
      after = next->fire_time;
    }
  }
  h_.StartTerm();
  h_.Start("e1");
  h_.Advance(absl::Hours(60) + absl::Seconds(1));
  std::map<int64_t, std::vector<std::string>> ran;
  for (const auto& ended : h_.store.history) {
    EXPECT_EQ(ended.run.trigger, TriggerType::kSchedule);
    ran[ended.run.occurrence.job_id].push_back(FormatInstant(ended.run.fire_time));
  }
  EXPECT_EQ(ran, expected);
}

}  // namespace
}  // namespace tidemark
