// Backfills in the engine: orders, order of dates, failure, restart (C9).
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

// recon has ten due dates, 2026-11-19 to 28, all DONE; those in `fails` do not succeed from then.
struct World : public EngineHarness {
  explicit World(CatchUpOrder order = CatchUpOrder::kStrict)
      : EngineHarness("2026-11-29T03:00:00Z") {
    JobSpec spec = DailyJob("recon", "2026-11-19");
    spec.catch_up.order = order;
    spec.retry.max_attempts = 1;
    job = Apply(spec);
    on_trigger = [this](Executor& e, const TriggerOrder& t) {
      Begin(e, t);
      if (!finish) return;
      const bool fail = fails.contains(t.biz_date);
      Finish(e, t, fail ? Outcome::kFailedPermanent : Outcome::kSucceeded, "boom");
    };
    StartTerm();
    Start("e1");
    EXPECT_EQ(StatusOf(job, "2026-11-28"), "DONE");
    first = store.history.size();
  }
  Executor& e1() { return executors.at("e1"); }
  const CommandDone& Create(const std::string& from, const std::string& to,
                            const std::string& reprocess,
                            std::map<std::string, std::string> more = {}) {
    more["backfill_id"] = "b" + std::to_string(++made);
    more["from"] = from;
    more["to"] = to;
    more["reprocess"] = reprocess;
    more.try_emplace("parallel", "1");
    return Answer(Command(job, "backfill_create", std::move(more)));
  }
  const Backfill& Row(const std::string& id = "b1") const { return store.backfills.at(id); }
  std::string State(const std::string& id = "b1") const { return std::string(Name(Row(id).state)); }
  // Dates of the runs that ended since all were DONE.
  Dates Again() const {
    Dates dates;
    for (size_t i = first; i < store.history.size(); ++i) {
      dates.push_back(FormatDate(*store.history[i].run.biz_date));
    }
    return dates;
  }
  void Forget(const std::string& date, const std::string& status = "") {
    const auto key = std::pair(job, *ParseDate(date));
    store.watermarks.erase(key);
    if (!status.empty()) store.watermarks[key] = {status, "retention"};
  }
  void FinishLast(Outcome outcome = Outcome::kSucceeded) {
    const TriggerOrder trigger = e1().triggers.back();
    Finish(e1(), trigger, outcome, "");
  }

  std::set<std::string> fails;
  bool finish = true;
  int64_t job = 0;
  int made = 0;
  size_t first = 0;
};

TEST(BackfillEngineTest, RunsDoneDatesAgainOldestFirstAndEnds) {
  World h;
  const CommandDone& done = h.Create("2026-11-20", "2026-11-23", "all", {{"reason", "new rates"}});
  ASSERT_EQ(done.code, absl::StatusCode::kOk) << done.message;
  EXPECT_EQ(done.result.at("dates"), "4");
  EXPECT_THAT(h.Again(), ElementsAre("2026-11-20", "2026-11-21", "2026-11-22", "2026-11-23"));
  EXPECT_EQ(h.State(), "DONE");
  EXPECT_TRUE(h.Told("backfill_finished") > 0);
  const auto& run = h.store.history.back().run;
  EXPECT_EQ(run.trigger, TriggerType::kBackfill);
  EXPECT_EQ(run.backfill_id, "b1");
  EXPECT_EQ(run.requested_by, "tester");
  EXPECT_EQ(run.reason, "new rates");
}

TEST(BackfillEngineTest, MissingLeavesWhatIsSettled) {
  World h;
  const CommandDone& refused = h.Create("2026-11-20", "2026-11-23", "missing");
  EXPECT_EQ(refused.code, absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(refused.message, HasSubstr("--reprocess all"));
  h.Forget("2026-11-21", "EXPIRED");
  h.Forget("2026-11-22", "WAIVED");
  ASSERT_EQ(h.Create("2026-11-20", "2026-11-23", "missing").code, absl::StatusCode::kOk);
  EXPECT_THAT(h.Again(), ElementsAre("2026-11-21"));
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-22"), "WAIVED");
}

TEST(BackfillEngineTest, TodaysDateGoesFirstBetweenTwoOfItsDates) {
  World h;
  h.finish = false;
  h.Create("2026-11-20", "2026-11-22", "all");
  ASSERT_EQ(h.e1().triggers.back().biz_date, "2026-11-20");
  h.AdvanceTo("2026-11-29T17:00:01Z");  // the run of 2026-11-29 is due
  ASSERT_EQ(h.e1().triggers.back().biz_date, "2026-11-20") << "one at a time";
  h.finish = true;
  h.FinishLast();
  EXPECT_THAT(h.Again(), ElementsAre("2026-11-20", "2026-11-29", "2026-11-21", "2026-11-22"));
}

TEST(BackfillEngineTest, StrictStopsAtADateThatFailsAndResumeTriesItAgain) {
  World h;
  h.fails = {"2026-11-21"};
  h.Create("2026-11-20", "2026-11-23", "all");
  EXPECT_EQ(h.State(), "PAUSED");
  EXPECT_THAT(h.Row().state_reason, HasSubstr("2026-11-21"));
  EXPECT_TRUE(h.HasAlert("backfill_stopped"));
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-21"), "DONE") << "a rerun that fails leaves it DONE";
  EXPECT_THAT(h.Again(), ElementsAre("2026-11-20", "2026-11-21"));
  h.fails.clear();
  h.Command(h.job, "backfill_resume", {{"backfill_id", "b1"}});
  EXPECT_THAT(h.Again(),
              ElementsAre("2026-11-20", "2026-11-21", "2026-11-21", "2026-11-22", "2026-11-23"));
  EXPECT_EQ(h.State(), "DONE");
  EXPECT_FALSE(h.HasAlert("backfill_stopped"));
}

TEST(BackfillEngineTest, IndependentGoesOnAndEndsFailed) {
  World h(CatchUpOrder::kIndependent);
  h.fails = {"2026-11-21"};
  h.Create("2026-11-20", "2026-11-23", "all", {{"reverse", "true"}});
  EXPECT_THAT(h.Again(), ElementsAre("2026-11-23", "2026-11-22", "2026-11-21", "2026-11-20"));
  EXPECT_EQ(h.State(), "FAILED");
  EXPECT_THAT(h.Row().state_reason, HasSubstr("2026-11-21"));
}

TEST(BackfillEngineTest, ParallelIsKept) {
  World h(CatchUpOrder::kIndependent);
  h.finish = false;
  const size_t before = h.e1().triggers.size();
  h.Create("2026-11-20", "2026-11-24", "all", {{"parallel", "2"}});
  EXPECT_EQ(h.e1().triggers.size(), before + 2);
  h.FinishLast();
  EXPECT_EQ(h.e1().triggers.size(), before + 3);
}

TEST(BackfillEngineTest, ReverseAndParallelAreRefusedForStrictJobs) {
  World h;
  for (const auto& [key, value] :
       std::map<std::string, std::string>{{"reverse", "true"}, {"parallel", "2"}}) {
    const CommandDone& refused = h.Create("2026-11-20", "2026-11-23", "all", {{key, value}});
    EXPECT_EQ(refused.code, absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(refused.message, HasSubstr("independent"));
  }
}

TEST(BackfillEngineTest, ASecondOverlappingOneIsRefusedNamingTheFirst) {
  World h;
  h.finish = false;
  // Both orders are read before either is decided.
  h.ledger_stalled = true;
  const CommandDone* second = nullptr;
  h.Create("2026-11-20", "2026-11-23", "all");
  second = &h.Create("2026-11-23", "2026-11-25", "all");
  h.AnswerLedger();
  h.Pump();
  h.AnswerLedger();
  h.Pump();
  EXPECT_EQ(h.store.backfills.size(), 1U);
  second = &h.Create("2026-11-23", "2026-11-25", "all");
  EXPECT_EQ(second->code, absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(second->message, HasSubstr("backfill b1"));
  EXPECT_EQ(h.Create("2026-11-24", "2026-11-25", "all").code, absl::StatusCode::kOk)
      << "beside it is free";
}

TEST(BackfillEngineTest, PausedItOpensNothingAndCancelledItEnds) {
  World h;
  h.finish = false;
  h.Create("2026-11-20", "2026-11-23", "all");
  h.Command(h.job, "backfill_pause", {{"backfill_id", "b1"}, {"reason", "month end"}});
  h.finish = true;
  h.FinishLast();
  EXPECT_THAT(h.Again(), ElementsAre("2026-11-20"));
  EXPECT_THAT(h.Row().state_reason, HasSubstr("month end"));
  h.finish = false;
  h.Command(h.job, "backfill_resume", {{"backfill_id", "b1"}});
  h.Command(h.job, "backfill_cancel", {{"backfill_id", "b1"}});
  h.finish = true;
  h.FinishLast();
  EXPECT_THAT(h.Again(), ElementsAre("2026-11-20", "2026-11-21"));
  EXPECT_EQ(h.State(), "CANCELLED");
  EXPECT_EQ(h.Answer(h.Command(h.job, "backfill_resume", {{"backfill_id", "b1"}})).code,
            absl::StatusCode::kFailedPrecondition);
}

TEST(BackfillEngineTest, ItHonoursThePauseOfItsJob) {
  World h;
  h.Command(h.job, "pause", {{"reason", "look"}});
  ASSERT_EQ(h.Create("2026-11-20", "2026-11-21", "all").code, absl::StatusCode::kOk);
  h.Advance(absl::Minutes(3));
  EXPECT_THAT(h.Again(), ElementsAre());
  h.Command(h.job, "resume");
  EXPECT_THAT(h.Again(), ElementsAre("2026-11-20", "2026-11-21"));
}

TEST(BackfillEngineTest, WhatIsLeftIsDerivedFromRowsAfterARestart) {
  World h;
  h.finish = false;
  h.Create("2026-11-20", "2026-11-23", "all");
  h.FinishLast();
  ASSERT_EQ(h.e1().triggers.back().biz_date, "2026-11-21");
  h.KillScheduler();
  h.StartTerm();
  h.Connect(h.e1());
  h.finish = true;
  h.FinishLast();
  h.Advance(absl::Seconds(10));
  EXPECT_THAT(h.Again(), ElementsAre("2026-11-20", "2026-11-21", "2026-11-22", "2026-11-23"));
  EXPECT_EQ(h.State(), "DONE");
}

TEST(BackfillEngineTest, PausedBeforeARestartItIsPausedAfterIt) {
  World h;
  h.fails = {"2026-11-21"};
  h.Create("2026-11-20", "2026-11-22", "all");
  h.KillScheduler();
  h.fails.clear();
  h.StartTerm();
  h.Connect(h.e1());
  h.Advance(absl::Minutes(2));
  EXPECT_EQ(h.State(), "PAUSED");
  EXPECT_EQ(h.Again().size(), 2U);
  h.Command(h.job, "backfill_resume", {{"backfill_id", "b1"}});
  h.KillScheduler();
  h.StartTerm();
  h.Connect(h.e1());
  h.Advance(absl::Seconds(10));
  EXPECT_EQ(h.State(), "DONE");
  EXPECT_EQ(h.Again().back(), "2026-11-22");
}

TEST(BackfillEngineTest, AHeldGapIsOpenedByIt) {
  EngineHarness h("2026-11-29T03:00:00Z");
  h.on_trigger = [&h](Executor& e, const TriggerOrder& t) {
    h.Begin(e, t);
    h.Finish(e, t, Outcome::kSucceeded);
  };
  const int64_t job = h.Apply(EngineHarness::DailyJob("recon", "2026-11-28"));
  h.StartTerm();
  h.Start("e1");
  h.Suspend(absl::Hours(24 * 40));
  h.Advance(absl::Minutes(2));
  ASSERT_TRUE(h.HasAlert("gap_held"));
  const CommandDone& late = h.Answer(h.Command(job, "backfill_create",
                                               {{"backfill_id", "b0"},
                                                {"from", "2026-12-02"},
                                                {"to", "2026-12-10"},
                                                {"reprocess", "missing"}}));
  EXPECT_EQ(late.code, absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(late.message, HasSubstr("2026-11-29 is MISSING and must come first"));
  const CommandDone& done = h.Answer(h.Command(job, "backfill_create",
                                               {{"backfill_id", "b1"},
                                                {"from", "2026-11-29"},
                                                {"to", "2027-01-07"},
                                                {"reprocess", "missing"}}));
  EXPECT_EQ(done.code, absl::StatusCode::kOk) << done.message;
  h.Advance(absl::Minutes(2));
  EXPECT_EQ(h.DatesRun(job).size(), 41U);
  EXPECT_EQ(h.DatesRun(job).back(), "2027-01-07");
  EXPECT_FALSE(h.HasAlert("gap_held"));
}

TEST(BackfillEngineTest, DeletingTheJobEndsIt) {
  World h;
  h.fails = {"2026-11-20"};
  h.Create("2026-11-20", "2026-11-22", "all");
  h.Command(h.job, "delete");
  EXPECT_EQ(h.State(), "CANCELLED");
}

}  // namespace
}  // namespace tidemark
