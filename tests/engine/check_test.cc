// The daily check in virtual time: one verdict a date, one alert for each that is late.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/status.h"
#include "common/time_text.h"
#include "tests/engine/harness.h"

namespace tidemark {
namespace {

using Executor = EngineHarness::Executor;
using Fate = EngineHarness::Fate;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Saturday, 08:00 in Shanghai. The job fires at 01:00 there (17:00Z) for the day before, and is
// expected by 09:00 (01:00Z).
class CheckTest : public testing::Test {
 protected:
  CheckTest() : h_("2026-11-28T00:00:00Z") {}

  static JobSpec Recon() {
    JobSpec spec = EngineHarness::DailyJob("recon", "2026-11-28");
    spec.retry.max_attempts = 1;
    return spec;
  }
  void Succeed() {
    h_.on_trigger = [this](Executor& e, const TriggerOrder& t) {
      h_.Begin(e, t);
      h_.Finish(e, t, Outcome::kSucceeded);
    };
  }
  void Fail() {
    h_.on_trigger = [this](Executor& e, const TriggerOrder& t) {
      h_.Begin(e, t);
      h_.Finish(e, t, Outcome::kFailedRetryable, "the bank's file is empty");
    };
  }
  // A scheduler and an executor, at work.
  int64_t Begin(const JobSpec& spec) {
    const int64_t job = h_.Apply(spec);
    h_.StartTerm();
    h_.Start("e1");
    return job;
  }
  // "2026-11-28 LATE RUNNING", by job and date.
  std::vector<std::string> Verdicts() const {
    std::vector<std::string> lines;
    for (const auto& [key, verdict] : h_.store.verdicts) {
      lines.push_back(FormatDate(key.second) + " " + verdict.row.verdict + " " + verdict.row.state);
    }
    return lines;
  }
  const MemoryStore::Verdict& VerdictOf(int64_t job, const char* date) const {
    return h_.store.verdicts.at({job, *ParseDate(date)});
  }
  int64_t Told(const std::string& kind, const std::string& date = "") const {
    return std::count_if(
        h_.store.all_alerts.begin(), h_.store.all_alerts.end(), [&](const AlertRaise& alert) {
          return alert.kind == kind && (date.empty() || alert.biz_date == *ParseDate(date));
        });
  }
  const AlertRaise& Alert(const std::string& kind) const {
    static const AlertRaise* none = new AlertRaise();
    for (const AlertRaise& alert : h_.store.all_alerts) {
      if (alert.kind == kind) return alert;
    }
    return *none;
  }
  static absl::Time At(const char* text) { return *ParseInstant(text); }

  EngineHarness h_;
};

TEST_F(CheckTest, ADateThatIsDoneIsOnTime) {
  Succeed();
  const int64_t job = Begin(Recon());
  h_.AdvanceTo("2026-11-29T00:59:59Z");
  EXPECT_THAT(Verdicts(), IsEmpty()) << "not before it is expected";
  h_.AdvanceTo("2026-11-29T01:00:00Z");
  EXPECT_THAT(Verdicts(), ElementsAre("2026-11-28 ON_TIME DONE"));
  EXPECT_EQ(VerdictOf(job, "2026-11-28").row.expected_at, At("2026-11-29T01:00:00Z"));
  EXPECT_FALSE(VerdictOf(job, "2026-11-28").row.run_id.empty());
  h_.AdvanceTo("2026-11-30T01:00:00Z");
  EXPECT_THAT(Verdicts(), ElementsAre("2026-11-28 ON_TIME DONE", "2026-11-29 ON_TIME DONE"));
  EXPECT_EQ(Told("date_missed"), 0);
}

TEST_F(CheckTest, ADateThatStillRunsIsToldOnceAndOverWhenItIsDone) {
  h_.on_trigger = [this](Executor& e, const TriggerOrder& t) { h_.Begin(e, t); };
  const int64_t job = Begin(Recon());
  h_.AdvanceTo("2026-11-29T01:00:00Z");
  EXPECT_THAT(Verdicts(), ElementsAre("2026-11-28 LATE RUNNING"));
  h_.AdvanceTo("2026-11-29T03:00:00Z");  // a hundred and twenty scans
  EXPECT_EQ(Told("date_missed"), 1);
  const AlertRaise& alert = Alert("date_missed");
  EXPECT_EQ(alert.severity, "critical");
  EXPECT_EQ(alert.biz_date, *ParseDate("2026-11-28"));
  EXPECT_EQ(alert.summary,
            "recon 2026-11-28 is not done: RUNNING; it was expected by 2026-11-29 09:00 "
            "Asia/Shanghai");
  EXPECT_THAT(alert.detail, HasSubstr("Due since 2026-11-29 01:00 Asia/Shanghai"));
  EXPECT_THAT(alert.detail, HasSubstr("tidemark run get " + alert.run_id));
  EXPECT_TRUE(h_.HasAlert("date_missed"));

  Executor& e1 = h_.executors.at("e1");
  h_.Finish(e1, e1.triggers.back(), Outcome::kSucceeded);
  EXPECT_FALSE(h_.HasAlert("date_missed"));
  EXPECT_EQ(VerdictOf(job, "2026-11-28").settled_at, h_.now().lo);
  EXPECT_THAT(Verdicts(), ElementsAre("2026-11-28 LATE RUNNING")) << "what was so stays so";
}

TEST_F(CheckTest, WithoutAnExecutorItSaysWhatItWaitsFor) {
  h_.Apply(Recon());
  h_.StartTerm();
  h_.AdvanceTo("2026-11-29T01:00:00Z");
  EXPECT_THAT(Verdicts(), ElementsAre("2026-11-28 LATE RUNNING"));
  EXPECT_THAT(Alert("date_missed").detail, HasSubstr("waits for an executor"));
}

TEST_F(CheckTest, ADateThatFailsTwiceIsToldAsMissedOnce) {
  Fail();
  const int64_t job = Begin(Recon());
  h_.AdvanceTo("2026-11-29T01:00:00Z");
  EXPECT_THAT(Verdicts(), ElementsAre("2026-11-28 LATE FAILED"));
  EXPECT_THAT(Alert("date_missed").detail, HasSubstr("tidemark run rerun "));
  // The job's next fire opens it again; the date after waits behind it.
  h_.AdvanceTo("2026-11-30T01:00:00Z");
  EXPECT_EQ(Told("run_failed"), 2);
  EXPECT_EQ(Told("date_missed", "2026-11-28"), 1);
  EXPECT_THAT(Verdicts(), ElementsAre("2026-11-28 LATE FAILED", "2026-11-29 LATE BLOCKED"));
  EXPECT_EQ(Told("date_missed", "2026-11-29"), 1);
  EXPECT_THAT(h_.store.all_alerts.back().detail, HasSubstr("waits behind 2026-11-28"));

  Succeed();
  h_.Command(job, "trigger", {{"biz_date", "2026-11-28"}});
  EXPECT_FALSE(h_.HasAlert("date_missed")) << "both are done now";
  EXPECT_TRUE(VerdictOf(job, "2026-11-29").settled_at.has_value());
}

TEST_F(CheckTest, AnotherJobsDateThatIsWaitedForIsNamed) {
  JobSpec settlement = Recon();
  settlement.name = "settlement";
  settlement.after = {{"recon", 0}};
  Fail();
  h_.Apply(Recon());
  h_.Apply(settlement);
  h_.StartTerm();
  h_.Start("e1");
  h_.AdvanceTo("2026-11-29T01:00:00Z");
  EXPECT_THAT(Verdicts(), ElementsAre("2026-11-28 LATE FAILED", "2026-11-28 LATE BLOCKED"));
  EXPECT_THAT(h_.store.all_alerts.back().detail, HasSubstr("It waits for recon@2026-11-28"));
}

TEST_F(CheckTest, WhatAPersonSettledIsNotLate) {
  Fail();
  const int64_t job = Begin(Recon());
  h_.AdvanceTo("2026-11-28T17:10:00Z");
  h_.Command(job, "waive", {{"date", "2026-11-28"}, {"reason", "the bank was closed"}});
  h_.AdvanceTo("2026-11-29T17:10:00Z");
  h_.Command(job, "force_done", {{"date", "2026-11-29"}, {"reason", "by hand"}});
  h_.AdvanceTo("2026-11-30T01:00:00Z");
  EXPECT_THAT(Verdicts(), ElementsAre("2026-11-28 ON_TIME WAIVED", "2026-11-29 ON_TIME DONE"));
  // Late, then given up.
  h_.AdvanceTo("2026-12-01T01:00:00Z");
  EXPECT_TRUE(h_.HasAlert("date_missed"));
  h_.Command(job, "waive", {{"date", "2026-11-30"}, {"reason", "no file will come"}});
  EXPECT_FALSE(h_.HasAlert("date_missed"));
  EXPECT_TRUE(VerdictOf(job, "2026-11-30").settled_at.has_value());
}

// Killed at 00:55 and started at 09:30: catch-up runs, and the check tells what was late.
TEST_F(CheckTest, M11AfterAnOutageOfTheSchedulerWhatWasExpectedMeanwhileIsToldAtOnce) {
  Succeed();
  const int64_t job = Begin(Recon());
  h_.AdvanceTo("2026-11-28T16:55:00Z");
  h_.KillScheduler();
  h_.AdvanceTo("2026-12-01T01:30:00Z");
  h_.StartTerm();
  EXPECT_THAT(Verdicts(), ElementsAre("2026-11-28 LATE MISSING", "2026-11-29 LATE MISSING",
                                      "2026-11-30 LATE MISSING"));
  EXPECT_EQ(Told("date_missed"), 3);
  EXPECT_EQ(VerdictOf(job, "2026-11-28").row.expected_at, At("2026-11-29T01:00:00Z"));
  EXPECT_EQ(VerdictOf(job, "2026-11-28").checked_at, At("2026-12-01T01:30:00Z"));
  EXPECT_THAT(Alert("date_missed").detail,
              HasSubstr("Catch-up opens it by itself within minutes, the oldest date first"));
  // What to type for the last one is the first: no other would be taken.
  EXPECT_THAT(h_.store.all_alerts[2].detail,
              HasSubstr("once those from 2026-11-28 on are done. Look: tidemark watermark list "
                        "recon; at once: tidemark job trigger recon --biz-date 2026-11-28"));
  h_.Connect(h_.executors.at("e1"));
  EXPECT_EQ(h_.StatusOf(job, "2026-11-30"), "DONE");
  EXPECT_FALSE(h_.HasAlert("date_missed"));
  EXPECT_EQ(Told("date_missed"), 3);
  h_.EndTerm();
  h_.StartTerm();
  h_.Advance(absl::Hours(2));
  EXPECT_EQ(Told("date_missed"), 3) << "a new owner finds the verdicts";
}

TEST_F(CheckTest, DuringTheOutageItWasDoneAllTheSame) {
  h_.on_trigger = [this](Executor& e, const TriggerOrder& t) { h_.Begin(e, t); };
  Begin(Recon());
  h_.AdvanceTo("2026-11-28T17:10:00Z");
  h_.KillScheduler();
  Executor& e1 = h_.executors.at("e1");
  h_.Finish(e1, e1.triggers.back(), Outcome::kSucceeded);
  h_.AdvanceTo("2026-11-29T01:30:00Z");
  h_.StartTerm();
  // Nobody knows yet: the executor keeps the result until a scheduler takes it.
  EXPECT_THAT(Verdicts(), ElementsAre("2026-11-28 LATE RUNNING"));
  h_.Connect(e1);
  EXPECT_FALSE(h_.HasAlert("date_missed"));
}

TEST_F(CheckTest, APausedJobIsShownAndNotTold) {
  const int64_t job = Begin(Recon());
  h_.Command(job, "pause", {{"reason", "the bank moves house"}});
  h_.AdvanceTo("2026-11-30T01:00:00Z");
  EXPECT_THAT(Verdicts(), ElementsAre("2026-11-28 PAUSED PAUSED", "2026-11-29 PAUSED PAUSED"));
  EXPECT_EQ(Told("date_missed"), 0);
  EXPECT_EQ(Told("job_paused"), 0);
  h_.Command(job, "waive", {{"date", "2026-11-28"}, {"reason", "not needed"}});

  h_.AdvanceTo("2026-12-04T23:59:59Z");
  EXPECT_EQ(Told("job_paused"), 0);
  h_.EndTerm();  // the successor remembers since when
  h_.StartTerm();
  h_.AdvanceTo("2026-12-05T00:00:00Z");
  EXPECT_EQ(Told("job_paused"), 1);
  EXPECT_THAT(Alert("job_paused").summary, HasSubstr("recon is paused since 2026-11-28T00:00:00Z"));
  EXPECT_THAT(Alert("job_paused").detail, HasSubstr("Paused by tester: the bank moves house"));
  h_.AdvanceTo("2026-12-20T00:00:00Z");
  EXPECT_EQ(Told("job_paused"), 1) << "the channels repeat it";
  Succeed();
  h_.Connect(h_.executors.at("e1"));
  h_.Command(job, "resume");
  EXPECT_FALSE(h_.HasAlert("job_paused"));
  h_.Advance(absl::Hours(24));
  EXPECT_EQ(h_.store.verdicts.rbegin()->second.row.verdict, "ON_TIME");
  EXPECT_EQ(Told("date_missed"), 0);
}

TEST_F(CheckTest, AnIntervalJobThatIsPausedForAWeekIsToldToo) {
  JobSpec spec = Recon();
  spec.schedule.cron = "0 0/30 * * * ?";
  spec.start_date.reset();
  Succeed();
  const int64_t job = Begin(spec);
  h_.Command(job, "pause", {{"reason", "too loud"}});
  h_.AdvanceTo("2026-12-05T00:00:01Z");
  EXPECT_EQ(Told("job_paused"), 1);
  EXPECT_THAT(Verdicts(), IsEmpty()) << "it has no dates";
}

TEST_F(CheckTest, ADisabledJobIsShownAndNotTold) {
  JobSpec spec = Recon();
  spec.enabled = false;
  Begin(spec);
  h_.AdvanceTo("2026-11-29T01:00:00Z");
  EXPECT_THAT(Verdicts(), ElementsAre("2026-11-28 PAUSED PAUSED"));
  EXPECT_EQ(Told("date_missed"), 0);
}

TEST_F(CheckTest, ADateOfAPausedJobThatWasLateIsOverWhenItIsWaived) {
  Fail();
  const int64_t job = Begin(Recon());
  h_.AdvanceTo("2026-11-29T01:00:00Z");
  h_.Command(job, "pause", {{"reason", "wait"}});
  EXPECT_TRUE(h_.HasAlert("date_missed"));
  h_.Command(job, "waive", {{"date", "2026-11-28"}, {"reason", "given up"}});
  EXPECT_FALSE(h_.HasAlert("date_missed"));
}

TEST_F(CheckTest, WhatAPersonSettlesBySqlIsNoticed) {
  Fail();
  const int64_t job = Begin(Recon());
  h_.AdvanceTo("2026-11-29T01:00:00Z");
  h_.store.watermarks[{job, *ParseDate("2026-11-28")}].status = "DONE";
  h_.Advance(absl::Minutes(2));
  EXPECT_FALSE(h_.HasAlert("date_missed"));
  EXPECT_TRUE(VerdictOf(job, "2026-11-28").settled_at.has_value());
}

TEST_F(CheckTest, DatesFromBeforeTheJobAreNotJudged) {
  Fail();
  JobSpec spec = Recon();
  spec.start_date = *ParseDate("2026-11-20");
  spec.catch_up.order = CatchUpOrder::kIndependent;
  Begin(spec);
  h_.AdvanceTo("2026-11-28T03:00:00Z");
  // The job was made at 08:00: of its dates 27 is expected after that.
  EXPECT_THAT(Verdicts(), ElementsAre("2026-11-27 LATE FAILED"));
  EXPECT_EQ(Told("date_missed"), 1);
}

TEST_F(CheckTest, DatesFromBeforeTheCheckAreNotJudged) {
  Fail();
  const int64_t job = h_.Apply(Recon());
  h_.store.jobs[job].check_from = At("2026-11-30T12:00:00Z");  // the upgrade
  h_.SetClock("2026-11-30T12:00:00Z");
  h_.StartTerm();
  h_.Start("e1");
  h_.AdvanceTo("2026-12-01T02:00:00Z");
  EXPECT_THAT(Verdicts(), ElementsAre("2026-11-30 LATE BLOCKED"));
}

TEST_F(CheckTest, TheJobsOwnTimeAndItsEdit) {
  Fail();
  JobSpec spec = Recon();
  spec.expected_by = absl::Hours(11);
  const int64_t job = Begin(spec);
  h_.AdvanceTo("2026-11-29T02:00:00Z");
  EXPECT_THAT(Verdicts(), IsEmpty());
  spec.expected_by = absl::Hours(9);  // an hour ago
  h_.Apply(spec);
  EXPECT_THAT(Verdicts(), ElementsAre("2026-11-28 LATE FAILED"));
  EXPECT_EQ(VerdictOf(job, "2026-11-28").row.expected_at, At("2026-11-29T01:00:00Z"));
  spec.expected_by = absl::Hours(11);
  h_.Apply(spec);
  h_.AdvanceTo("2026-11-29T04:00:00Z");
  EXPECT_EQ(Told("date_missed"), 1) << "judged once, whatever is expected later";
  h_.AdvanceTo("2026-11-30T02:59:59Z");
  EXPECT_EQ(h_.store.verdicts.size(), 1);
  h_.AdvanceTo("2026-11-30T03:00:00Z");
  EXPECT_EQ(h_.store.verdicts.size(), 2);
}

TEST_F(CheckTest, EveryZoneHasItsOwnMorning) {
  Succeed();
  JobSpec spec = Recon();
  spec.schedule.zone = "America/New_York";
  spec.start_date = *ParseDate("2026-11-27");
  Begin(spec);
  h_.AdvanceTo("2026-11-28T13:59:59Z");
  EXPECT_THAT(Verdicts(), IsEmpty());
  h_.AdvanceTo("2026-11-28T14:00:00Z");
  EXPECT_THAT(Verdicts(), ElementsAre("2026-11-27 ON_TIME DONE"));
}

TEST_F(CheckTest, AHolidayIsNotExpectedUntilAnEditMakesItDue) {
  const auto import = [this](int64_t job, bool retroactive, std::vector<absl::CivilDay> closed) {
    Calendar::Spec calendar;
    calendar.name = "cn";
    JobRow& row = h_.store.jobs[job];
    CalendarSet set = row.calendars == nullptr ? CalendarSet() : *row.calendars;
    calendar.version = static_cast<int>(set["cn"].size()) + 1;
    calendar.dates = std::move(closed);
    set["cn"].push_back(
        {h_.now().lo, retroactive, std::make_shared<const Calendar>(*Calendar::Make(calendar))});
    row.calendars = std::make_shared<const CalendarSet>(std::move(set));
    h_.Changed(job);
  };
  Succeed();
  JobSpec spec = Recon();
  spec.schedule.calendar = "cn";
  const int64_t job = h_.Apply(spec);
  import(job, false, {*ParseDate("2026-11-28")});
  h_.StartTerm();
  h_.Start("e1");
  h_.AdvanceTo("2026-11-30T01:00:00Z");
  EXPECT_THAT(Verdicts(), ElementsAre("2026-11-29 ON_TIME DONE"));
  import(job, true, {});
  h_.Advance(absl::Hours(2) + absl::Minutes(1));
  EXPECT_THAT(Verdicts(), ElementsAre("2026-11-28 ON_TIME DONE", "2026-11-29 ON_TIME DONE"))
      << "the date that came to be due was given time to run, and has a verdict";

  // And the other way round: what was told of a date that is not due any more is over.
  Fail();
  h_.AdvanceTo("2026-12-01T01:00:00Z");
  EXPECT_TRUE(h_.HasAlert("date_missed"));
  import(job, true, {*ParseDate("2026-11-30")});
  EXPECT_FALSE(h_.HasAlert("date_missed"));
}

TEST_F(CheckTest, AJobThatIsDeletedIsOver) {
  Fail();
  const int64_t job = Begin(Recon());
  h_.AdvanceTo("2026-11-29T01:00:00Z");
  EXPECT_TRUE(h_.HasAlert("date_missed"));
  h_.Command(job, "delete");
  EXPECT_FALSE(h_.HasAlert("date_missed"));
  h_.AdvanceTo("2026-11-30T02:00:00Z");
  EXPECT_EQ(h_.store.verdicts.size(), 1);
}

TEST_F(CheckTest, AJobInErrorIsJudgedWhenItIsMended) {
  Succeed();
  const int64_t job = h_.Apply(Recon());
  h_.Corrupt(job);
  h_.StartTerm();
  h_.Start("e1");
  h_.AdvanceTo("2026-11-29T02:00:00Z");
  EXPECT_THAT(Verdicts(), IsEmpty());
  EXPECT_TRUE(h_.HasAlert("job_error"));
  h_.Apply(Recon());
  EXPECT_EQ(Told("date_missed"), 1);
  EXPECT_FALSE(h_.HasAlert("date_missed")) << "and done at once";
}

TEST_F(CheckTest, NothingIsJudgedWhileTheClockIsNotTrusted) {
  h_.Apply(Recon());
  h_.StartTerm();
  h_.AdvanceTo("2026-11-29T00:59:00Z");
  h_.LeapClock(absl::Hours(24));
  h_.Advance(absl::Seconds(1));
  EXPECT_THAT(Verdicts(), ElementsAre("2026-11-28 LATE RUNNING"));
  h_.LeapClock(-absl::Hours(24));
  h_.Advance(absl::Minutes(10));
  EXPECT_EQ(Told("date_missed"), 1) << "the same date comes again";
}

// Whatever becomes of a flush, each date has one verdict and one alert.
TEST_F(CheckTest, AVerdictAndItsAlertAreWrittenTogetherOrNotAtAll) {
  for (const Fate fate : {Fate::kLost, Fate::kInDoubt}) {
    EngineHarness h("2026-11-28T00:00:00Z");
    h.Apply(Recon());
    h.StartTerm();
    h.AdvanceTo("2026-11-29T00:59:59Z");
    int struck = 0;
    h.fate = [&](const Flush& flush) {
      if (flush.verdicts.empty() || struck++ > 1) return Fate::kCommitted;
      return fate;
    };
    h.AdvanceTo("2026-11-29T01:10:00Z");
    EXPECT_GT(struck, 0);
    EXPECT_EQ(h.store.verdicts.size(), 1);
    EXPECT_EQ(std::count_if(h.store.all_alerts.begin(), h.store.all_alerts.end(),
                            [](const AlertRaise& a) { return a.kind == "date_missed"; }),
              1);
  }
}

TEST_F(CheckTest, AnEditBetweenQuestionAndAnswerCounts) {
  Fail();
  JobSpec spec = Recon();
  Begin(spec);
  h_.AdvanceTo("2026-11-29T00:59:59Z");
  h_.ledger_stalled = true;
  h_.Advance(absl::Seconds(1));
  spec.expected_by = absl::Hours(12);
  h_.Apply(spec);
  h_.AnswerLedger();
  h_.Pump();
  EXPECT_THAT(Verdicts(), IsEmpty()) << "it is expected at noon now";
  h_.AdvanceTo("2026-11-29T04:00:00Z");
  EXPECT_THAT(Verdicts(), ElementsAre("2026-11-28 LATE FAILED"));
}

TEST_F(CheckTest, WhileNothingIsExpectedNothingIsWritten) {
  Succeed();
  Begin(Recon());
  h_.AdvanceTo("2026-11-29T01:00:01Z");
  int written = 0;
  h_.fate = [&](const Flush& flush) {
    if (!flush.verdicts.empty() || !flush.jobs.empty() || !flush.alerts.empty()) ++written;
    return Fate::kCommitted;
  };
  h_.AdvanceTo("2026-11-29T16:59:59Z");
  EXPECT_EQ(written, 0) << "sixteen hours, and the look at all of its dates in them";
}

TEST_F(CheckTest, AHeldGapSaysThatNothingRunsByItself) {
  JobSpec spec = Recon();
  spec.catch_up.max_backfill_days = 2;
  Succeed();
  Begin(spec);
  h_.KillScheduler();
  h_.SetClock("2026-12-10T00:00:00Z");
  h_.StartTerm();
  h_.Connect(h_.executors.at("e1"));
  EXPECT_TRUE(h_.HasAlert("gap_held"));
  h_.AdvanceTo("2026-12-10T01:00:00Z");
  EXPECT_EQ(Told("date_missed"), 12);
  for (const AlertRaise& alert : h_.store.all_alerts) {
    if (alert.kind != "date_missed") continue;
    EXPECT_THAT(alert.detail, HasSubstr("tidemark backfill create recon --from 2026-11-28"));
  }
  EXPECT_THAT(Verdicts().back(), Not(HasSubstr("ON_TIME")));
}

}  // namespace
}  // namespace tidemark
