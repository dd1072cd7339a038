// A person's word on dates: waive, force-done, taking either back (C5).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/time_text.h"
#include "tests/engine/harness.h"

namespace tidemark {
namespace {

using Dates = std::vector<std::string>;
using Executor = EngineHarness::Executor;
using testing::HasSubstr;

// recon has five due dates, 2026-11-24 to 28; that of `fails` does not succeed.
struct World : public EngineHarness {
  World() : EngineHarness("2026-11-29T03:00:00Z"), job(Apply(DailyJob("recon", "2026-11-24"))) {
    on_trigger = [this](Executor& e, const TriggerOrder& t) {
      Begin(e, t);
      if (!finish) return;
      Finish(e, t, t.biz_date == fails ? Outcome::kFailedPermanent : Outcome::kSucceeded, "boom");
    };
    StartTerm();
  }
  const CommandDone& Order(const std::string& kind, std::map<std::string, std::string> args) {
    if (kind != "unwaive") args.try_emplace("reason", "the bank was closed");
    return Answer(Command(job, kind, std::move(args)));
  }
  std::string fails = "2026-11-26";
  bool finish = true;
  int64_t job;
};

TEST(DateOrderTest, AfterAWaiveTheStrictChainGoesOnAtOnce) {
  World h;
  h.Start("e1");
  ASSERT_EQ(h.StatusOf(h.job, "2026-11-26"), "FAILED");
  ASSERT_TRUE(h.HasAlert("run_failed"));
  const CommandDone& done = h.Order("waive", {{"date", "2026-11-26"}});
  EXPECT_EQ(done.code, absl::StatusCode::kOk) << done.message;
  EXPECT_EQ(done.result.at("dates"), "2026-11-26");
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-26"), "WAIVED");
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "DONE");
  EXPECT_FALSE(h.HasAlert("run_failed"));
  EXPECT_FALSE(h.HasAlert("gap_blocked"));
  const auto& mark = h.store.watermarks.at({h.job, absl::CivilDay(2026, 11, 26)});
  EXPECT_EQ(mark.note, "the bank was closed");
  EXPECT_EQ(mark.actor, "tester");
  ASSERT_EQ(h.store.audits.size(), 1U);
  EXPECT_EQ(h.store.audits[0].subject, "2026-11-26");
  EXPECT_THAT(h.store.audits[0].detail, HasSubstr("FAILED (permanent) of run "));
  EXPECT_THAT(h.store.audits[0].detail, HasSubstr(" → WAIVED: the bank was closed"));
}

TEST(DateOrderTest, ARangeLeavesWhatIsSettledAndSaysSo) {
  World h;
  h.Start("e1");
  const CommandDone& done = h.Order("waive", {{"from", "2026-11-20"}, {"to", "2026-11-27"}});
  ASSERT_EQ(done.code, absl::StatusCode::kOk) << done.message;
  EXPECT_EQ(done.result.at("dates"), "2026-11-26,2026-11-27");
  EXPECT_EQ(done.result.at("skipped"), "2026-11-24 DONE,2026-11-25 DONE");
  EXPECT_EQ(h.DatesRun(h.job).back(), "2026-11-28");
}

TEST(DateOrderTest, ALiveDateIsRefusedWithTheCommandThatFreesIt) {
  World h;
  h.finish = false;
  Executor& e1 = h.Start("e1");
  const std::string run = e1.triggers.at(0).attempt.run_id;
  for (const char* kind : {"waive", "force_done", "unwaive"}) {
    const CommandDone& refused = h.Order(kind, {{"date", "2026-11-24"}});
    EXPECT_EQ(refused.code, absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(refused.message, HasSubstr("tidemark run cancel " + run));
  }
  const CommandDone& range = h.Order("waive", {{"from", "2026-11-24"}, {"to", "2026-11-25"}});
  EXPECT_EQ(range.code, absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-25"), "") << "all or nothing";
  h.finish = true;
  h.Finish(e1, e1.triggers[0], Outcome::kSucceeded);
}

TEST(DateOrderTest, AHeldDateIsRefusedWithTheReleasingCommand) {
  EngineHarness h("2026-11-29T03:00:00Z");
  const int64_t job = h.Apply(EngineHarness::DailyJob("recon", "2026-11-28"));
  h.StartTerm();
  Executor& e1 = h.executors["e1"];
  e1.interruptible = false;
  h.Start("e1");
  h.Begin(e1, e1.triggers.at(0));
  e1.beats = false;
  h.Disconnect(e1);
  h.Advance(absl::Hours(2) + absl::Minutes(1));
  ASSERT_EQ(h.StatusOf(job, "2026-11-28"), "FAILED");
  const CommandDone& refused =
      h.Answer(h.Command(job, "waive", {{"date", "2026-11-28"}, {"reason", "no"}}));
  EXPECT_EQ(refused.code, absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(refused.message, HasSubstr("tidemark run release " + e1.triggers[0].attempt.run_id));
}

TEST(DateOrderTest, DatesThatAreNotDueAndOrdersWithoutAReasonAreRefused) {
  World h;
  h.Start("e1");
  for (const char* date : {"2026-11-23", "2026-11-29", "2027-01-01", "soon"}) {
    const CommandDone& refused = h.Order("waive", {{"date", date}});
    EXPECT_EQ(refused.code, absl::StatusCode::kInvalidArgument) << date;
    EXPECT_THAT(refused.message, HasSubstr(date));
  }
  const CommandDone& ahead = h.Order("waive", {{"from", "2026-11-26"}, {"to", "2026-12-02"}});
  EXPECT_EQ(ahead.code, absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(ahead.message, HasSubstr("2026-11-29 is not due before 2026-11-30T01:00:00+08:00"));
  EXPECT_EQ(h.Order("waive", {{"from", "2026-11-01"}, {"to", "2026-11-10"}}).code,
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(h.Order("waive", {{"date", "2026-11-26"}, {"reason", ""}}).code,
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-26"), "FAILED");
}

TEST(DateOrderTest, ForceDoneCountsAsDoneAndTheChainGoesOn) {
  World h;
  h.Start("e1");
  const CommandDone& done = h.Order("force_done", {{"date", "2026-11-26"}});
  ASSERT_EQ(done.code, absl::StatusCode::kOk) << done.message;
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-26"), "DONE");
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "DONE");
  EXPECT_EQ(h.DatesRun(h.job).size(), 5U) << "once each, the failed one included";
  EXPECT_EQ(h.Order("force_done", {{"date", "2026-11-26"}}).code, absl::StatusCode::kOk)
      << "the same word again changes nothing";
}

TEST(DateOrderTest, WhatIsTakenBackIsDueAgainAndCaughtUp) {
  World h;
  h.Start("e1");
  h.Order("waive", {{"date", "2026-11-26"}});
  ASSERT_EQ(h.StatusOf(h.job, "2026-11-28"), "DONE");
  h.fails.clear();
  const CommandDone& done = h.Order("unwaive", {{"date", "2026-11-26"}});
  ASSERT_EQ(done.code, absl::StatusCode::kOk) << done.message;
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-26"), "DONE") << "a hole in the middle counts";
  EXPECT_EQ(h.DatesRun(h.job).back(), "2026-11-26");
  EXPECT_EQ(h.store.audits.size(), 2U);
}

TEST(DateOrderTest, AForcedDoneCanBeTakenBackButNotOneThatARunMade) {
  World h;
  h.Start("e1");
  h.Order("force_done", {{"date", "2026-11-26"}});
  h.Command(h.job, "pause", {{"reason", "look"}});
  EXPECT_EQ(h.Order("unwaive", {{"date", "2026-11-26"}}).code, absl::StatusCode::kOk);
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-26"), "") << "paused: nothing opens it";
  const CommandDone& refused = h.Order("unwaive", {{"date", "2026-11-25"}});
  EXPECT_EQ(refused.code, absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(refused.message, HasSubstr("tidemark run rerun "));
  h.fails.clear();
  h.Command(h.job, "resume");
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-26"), "DONE");
}

TEST(DateOrderTest, ForceDoneTakesExpiredDatesToo) {
  EngineHarness h("2026-11-29T03:00:00Z");
  JobSpec spec = EngineHarness::DailyJob("recon", "2026-11-01");
  spec.catch_up.max_backfill_days = 3;
  const int64_t job = h.Apply(spec);
  h.StartTerm();
  ASSERT_EQ(h.StatusOf(job, "2026-11-20"), "EXPIRED");
  EXPECT_EQ(
      h.Answer(h.Command(job, "force_done", {{"date", "2026-11-20"}, {"reason", "by hand"}})).code,
      absl::StatusCode::kOk);
  EXPECT_EQ(h.StatusOf(job, "2026-11-20"), "DONE");
}

// A job that ran on 2026-11-01, then nobody was there until the 12th.
struct LongGone : public EngineHarness {
  explicit LongGone(JobSpec spec) : EngineHarness("2026-11-02T03:00:00Z"), job(Apply(spec)) {
    on_trigger = [this](Executor& e, const TriggerOrder& t) {
      Begin(e, t);
      Finish(e, t, Outcome::kSucceeded);
    };
    StartTerm();
    Start("e1");
    KillScheduler();
    Advance(absl::Hours(24 * 10));
    StartTerm();
    Connect(executors.at("e1"));
  }
  int64_t job;
};

TEST(DateOrderTest, WaivingTheOldPartOfAHeldGapLetsTheRestRun) {
  JobSpec spec = EngineHarness::DailyJob("recon", "2026-11-01");
  spec.catch_up.max_backfill_days = 3;
  LongGone h(spec);
  ASSERT_EQ(h.DatesRun(h.job), (Dates{"2026-11-01"}));
  ASSERT_TRUE(h.HasAlert("gap_held"));
  EXPECT_THAT(h.store.all_alerts.back().detail,
              HasSubstr("tidemark watermark waive recon --from 2026-11-02 --to 2026-11-11"));
  h.Command(h.job, "waive", {{"from", "2026-11-02"}, {"to", "2026-11-08"}, {"reason", "no bills"}});
  EXPECT_EQ(h.DatesRun(h.job), (Dates{"2026-11-01", "2026-11-09", "2026-11-10", "2026-11-11"}));
  EXPECT_FALSE(h.HasAlert("gap_held"));
}

TEST(DateOrderTest, ExpiredDatesHoldTheStrictChainUntilTheyAreWaived) {
  JobSpec spec = EngineHarness::DailyJob("recon", "2026-11-01");
  spec.catch_up.source_retention_days = 5;
  LongGone h(spec);
  ASSERT_EQ(h.StatusOf(h.job, "2026-11-05"), "EXPIRED");
  ASSERT_EQ(h.DatesRun(h.job), (Dates{"2026-11-01"}));
  ASSERT_TRUE(h.HasAlert("gap_expired"));
  h.Command(h.job, "waive", {{"from", "2026-11-02"}, {"to", "2026-11-06"}, {"reason", "no bills"}});
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-05"), "WAIVED");
  EXPECT_EQ(h.DatesRun(h.job), (Dates{"2026-11-01", "2026-11-07", "2026-11-08", "2026-11-09",
                                      "2026-11-10", "2026-11-11"}));
}

TEST(DateOrderTest, AnOrderWaitsForWhatIsUnderWay) {
  World h;
  h.Start("e1");
  h.store_stalled = true;
  const std::string first = h.Command(h.job, "waive", {{"date", "2026-11-26"}, {"reason", "a"}});
  const std::string second = h.Command(h.job, "unwaive", {{"date", "2026-11-26"}});
  h.AnswerStalled();
  EXPECT_EQ(h.Answer(first).code, absl::StatusCode::kOk);
  EXPECT_EQ(h.Answer(second).result.at("dates"), "2026-11-26");
  EXPECT_EQ(h.store.audits.size(), 2U);
}

TEST(DateOrderTest, AnOrderIsAnsweredWhenItsJobIsDeletedMeanwhile) {
  World h;
  h.Start("e1");
  h.ledger_stalled = true;
  const std::string waive = h.Command(h.job, "waive", {{"date", "2026-11-26"}, {"reason", "a"}});
  const std::string queued = h.Command(h.job, "unwaive", {{"date", "2026-11-26"}});
  h.Command(h.job, "delete");
  h.AnswerLedger();
  h.Pump();
  EXPECT_EQ(h.Answer(waive).code, absl::StatusCode::kNotFound);
  EXPECT_EQ(h.Answer(queued).code, absl::StatusCode::kNotFound);
}

TEST(DateOrderTest, ResumeSkippingWhatWasMissedWaivesWhatFailedOrExpiredToo) {
  World h;
  h.Start("e1");
  ASSERT_EQ(h.StatusOf(h.job, "2026-11-26"), "FAILED");
  h.Command(h.job, "pause", {{"reason", "migration"}});
  h.store.watermarks[{h.job, absl::CivilDay(2026, 11, 27)}] = {"EXPIRED", "retention"};
  h.Command(h.job, "resume", {{"skip_missed", "true"}});
  for (const char* date : {"2026-11-26", "2026-11-27", "2026-11-28"}) {
    EXPECT_EQ(h.StatusOf(h.job, date), "WAIVED") << date;
  }
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-25"), "DONE");
  h.AdvanceTo("2026-11-29T17:00:01Z");
  EXPECT_EQ(h.DatesRun(h.job).back(), "2026-11-29");
}

}  // namespace
}  // namespace tidemark
