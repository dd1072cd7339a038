// Operators' orders: what they do, and what is refused with what words.
#include <gtest/gtest.h>

#include "common/time_text.h"
#include "tests/engine/harness.h"

namespace tidemark {
namespace {

using Executor = EngineHarness::Executor;

struct Ready : public EngineHarness {
  Ready() : EngineHarness("2026-11-29T03:00:00Z"), job(Apply(DailyJob("recon", "2026-11-27"))) {
    on_trigger = [this](Executor& e, const TriggerOrder& t) {
      Begin(e, t);
      if (finish) Finish(e, t, outcome);
    };
    StartTerm();
  }
  bool finish = true;
  Outcome outcome = Outcome::kSucceeded;
  int64_t job;
};

TEST(OrderTest, TriggerOfADoneDateNeedsARerunWithForce) {
  Ready h;
  h.Start("e1");
  const CommandDone& refused = h.Answer(h.Command(h.job, "trigger"));
  EXPECT_EQ(refused.code, absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(refused.message.find("--force"), std::string::npos) << refused.message;
  const CommandDone& rerun =
      h.Answer(h.Command(h.job, "rerun", {{"biz_date", "2026-11-28"}, {"run_id", "r"}}));
  EXPECT_EQ(rerun.code, absl::StatusCode::kFailedPrecondition);
  const CommandDone& forced = h.Answer(
      h.Command(h.job, "rerun", {{"biz_date", "2026-11-28"}, {"run_id", "r"}, {"force", "true"}}));
  EXPECT_EQ(forced.code, absl::StatusCode::kOk) << forced.message;
  EXPECT_EQ(h.store.history.size(), 3U);
}

TEST(OrderTest, AFailedRerunKeepsDone) {
  Ready h;
  h.Start("e1");
  h.outcome = Outcome::kFailedPermanent;
  h.Command(h.job, "rerun", {{"biz_date", "2026-11-28"}, {"run_id", "r"}, {"force", "true"}});
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "DONE");
  EXPECT_EQ(h.Told("run_failed"), 1);
}

TEST(OrderTest, ASecondTriggerOfALiveDateIsRefusedAndNamesTheRun) {
  Ready h;
  h.finish = false;
  Executor& e1 = h.Start("e1");
  const CommandDone& refused = h.Answer(h.Command(h.job, "trigger", {{"biz_date", "2026-11-27"}}));
  EXPECT_EQ(refused.code, absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(refused.message.find(e1.triggers[0].attempt.run_id), std::string::npos);
}

TEST(OrderTest, DatesThatAreNotDueAreRefused) {
  Ready h;
  h.Start("e1");
  for (const char* date : {"2026-11-29", "2026-11-20", "2027-01-01", "nonsense", "2026-02-30"}) {
    const CommandDone& refused = h.Answer(h.Command(h.job, "trigger", {{"biz_date", date}}));
    EXPECT_EQ(refused.code, absl::StatusCode::kInvalidArgument) << date;
    EXPECT_NE(refused.message.find(date), std::string::npos) << refused.message;
  }
}

TEST(OrderTest, AheadOfTheGapIsRefusedInStrictOrder) {
  Ready h;
  const CommandDone& refused = h.Answer(h.Command(h.job, "trigger", {{"biz_date", "2026-11-28"}}));
  EXPECT_EQ(refused.code, absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(refused.message.find("2026-11-27"), std::string::npos) << refused.message;
}

TEST(OrderTest, AnOperatorReopensAFailedDateAndTheRestFollows) {
  Ready h;
  h.outcome = Outcome::kFailedPermanent;
  h.Start("e1");
  ASSERT_EQ(h.StatusOf(h.job, "2026-11-27"), "FAILED");
  h.outcome = Outcome::kSucceeded;
  const CommandDone& done = h.Answer(h.Command(h.job, "trigger", {{"biz_date", "2026-11-27"}}));
  EXPECT_EQ(done.code, absl::StatusCode::kOk) << done.message;
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-27"), "DONE");
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "DONE");
}

TEST(OrderTest, DeleteIsRefusedWhileSomethingIsLive) {
  Ready h;
  h.finish = false;
  Executor& e1 = h.Start("e1");
  EXPECT_EQ(h.Answer(h.Command(h.job, "delete")).code, absl::StatusCode::kFailedPrecondition);
  h.finish = true;
  h.Finish(e1, e1.triggers[0], Outcome::kSucceeded);
  EXPECT_EQ(h.Answer(h.Command(h.job, "delete")).code, absl::StatusCode::kOk);
  EXPECT_TRUE(h.store.jobs.empty());
  EXPECT_EQ(h.Answer(h.Command(h.job, "trigger")).code, absl::StatusCode::kNotFound);
}

TEST(OrderTest, UnknownOrdersAreRefusedNotLost) {
  Ready h;
  EXPECT_EQ(h.Answer(h.Command(h.job, "dance")).code, absl::StatusCode::kUnimplemented);
}

TEST(OrderTest, ManualTriggersOfAnIntervalJobQueueInOrder) {
  EngineHarness h("2026-11-29T03:00:00Z");
  JobSpec spec = EngineHarness::DailyJob("sync", "");
  spec.schedule.kind = ScheduleSpec::Kind::kManual;
  const int64_t job = h.Apply(spec);
  h.StartTerm();
  Executor& e1 = h.Start("e1");
  std::vector<std::string> asked;
  for (int i = 0; i < 60; ++i) {
    const CommandDone& done =
        h.Answer(h.Command(job, "trigger", {{"request_id", "r" + std::to_string(i)}}));
    ASSERT_EQ(done.code, absl::StatusCode::kOk) << done.message;
    asked.push_back(done.result.at("run_id"));
  }
  EXPECT_EQ(e1.triggers.size(), 1U) << "serial";
  h.Command(job, "cancel", {{"run_id", asked[30]}});
  std::vector<std::string> ran;
  for (size_t i = 0; i < e1.triggers.size(); ++i) {
    const TriggerOrder trigger = e1.triggers[i];
    ran.push_back(trigger.attempt.run_id);
    h.Begin(e1, trigger);
    h.Finish(e1, trigger, Outcome::kSucceeded);
  }
  asked.erase(asked.begin() + 30);
  EXPECT_EQ(ran, asked);
  EXPECT_EQ(h.store.history.size(), 60U);
}

// The row that comes with an order may have been read before the owner's last flush.
TEST(OrderTest, AJobsRowThatWasReadBeforeItsLastFiresFiresNothingAgainAndUnpausesNothing) {
  EngineHarness h("2026-11-29T03:00:00Z");
  JobSpec spec = EngineHarness::DailyJob("minutely", "");
  spec.schedule.cron = "0 * * * * ?";
  const int64_t job = h.Apply(spec);
  h.on_trigger = [&](Executor& e, const TriggerOrder& t) {
    h.Begin(e, t);
    h.Finish(e, t, Outcome::kSucceeded);
  };
  h.StartTerm();
  h.Start("e1");
  const JobRow earlier = h.store.jobs[job];
  h.Advance(absl::Minutes(3));
  ASSERT_EQ(h.store.history.size(), 3U);
  h.Command(job, "pause", {{"reason", "month end"}});
  const JobRow now = h.store.jobs[job];
  h.store.jobs[job] = earlier;
  h.Changed(job);
  h.store.jobs[job].cursor = now.cursor;
  h.Advance(absl::Minutes(2));
  EXPECT_EQ(h.store.history.size(), 3U);
}

TEST(OrderTest, IntervalJobsFireAndSumUpWhatTheyMissed) {
  EngineHarness h("2026-11-29T03:00:00Z");
  JobSpec spec = EngineHarness::DailyJob("minutely", "");
  spec.schedule.cron = "0 * * * * ?";
  const int64_t job = h.Apply(spec);
  h.on_trigger = [&](Executor& e, const TriggerOrder& t) {
    h.Begin(e, t);
    h.Finish(e, t, Outcome::kSucceeded);
  };
  h.StartTerm();
  h.Start("e1");
  h.Advance(absl::Minutes(3));
  EXPECT_EQ(h.store.history.size(), 3U);
  h.KillScheduler();
  h.Advance(absl::Minutes(120));
  h.StartTerm();
  h.Connect(h.executors.at("e1"));
  // 120 were missed: 5 lie within the tolerance, one of the others is made up for.
  int64_t skipped = 0;
  for (const SkippedRange& range : h.store.skipped) skipped += range.fires;
  const auto ran = static_cast<int64_t>(h.store.history.size()) - 3;
  EXPECT_EQ(skipped + ran, 120);
  EXPECT_LE(ran, 7);
  EXPECT_GE(ran, 1);
  EXPECT_EQ(h.store.jobs[job].cursor, h.now().lo);
}

}  // namespace
}  // namespace tidemark
