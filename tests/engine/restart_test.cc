// What a change of owner may not do: fire again, start what must not overlap, or stop firing.
#include <gtest/gtest.h>

#include <map>

#include "common/time_text.h"
#include "tests/engine/harness.h"

namespace tidemark {
namespace {

using Executor = EngineHarness::Executor;

// The scheduler dies and another takes over after `away`; its executor dials again.
void TakeOver(EngineHarness& h, absl::Duration away) {
  h.KillScheduler();
  h.Advance(away);
  h.StartTerm();
  h.Connect(h.executors.at("e1"));
}

JobSpec Minutely() {
  JobSpec spec = EngineHarness::DailyJob("minutely", "");
  spec.schedule.cron = "0 * * * * ?";
  return spec;
}

std::map<std::string, int> RunsByOccurrence(const EngineHarness& h) {
  std::map<std::string, int> runs;
  for (const MemoryStore::Ended& ended : h.store.history) ++runs[ended.run.occurrence.key];
  return runs;
}

TEST(RestartTest, O03FiftyDeathsRightAfterTheDispatchFireNothingTwice) {
  EngineHarness h("2026-11-29T03:00:30Z");
  h.Apply(Minutely());
  h.StartTerm();
  Executor& e1 = h.Start("e1");
  for (int death = 0; death < 50; ++death) {
    const size_t before = e1.triggers.size();
    h.Advance(absl::Milliseconds(59100));  // a minute a round
    ASSERT_EQ(e1.triggers.size(), before + 1);
    const TriggerOrder trigger = e1.triggers.back();
    h.Begin(e1, trigger);
    h.Advance(absl::Milliseconds(200));
    TakeOver(h, absl::Milliseconds(700));
    EXPECT_EQ(e1.triggers.size(), before + 1) << "it runs there: nothing may start beside it";
    h.Finish(e1, trigger, Outcome::kSucceeded);
  }
  EXPECT_EQ(h.store.history.size(), 50U);
  for (const auto& [occurrence, runs] : RunsByOccurrence(h)) EXPECT_EQ(runs, 1) << occurrence;
}

TEST(RestartTest, O03DatesAreComparedInTheZoneOfTheJob) {
  // Half past midnight in Shanghai is the evening before in UTC: a successor that compared UTC
  // dates would run the date again after its midnight.
  EngineHarness h("2026-11-29T16:00:00Z");
  JobSpec spec = EngineHarness::DailyJob("recon", "");
  spec.schedule.cron = "0 30 0 * * ?";
  const int64_t job = h.Apply(spec);
  h.on_trigger = [&](Executor& e, const TriggerOrder& t) {
    h.Begin(e, t);
    h.Finish(e, t, Outcome::kSucceeded);
  };
  h.StartTerm();
  h.Start("e1");
  h.AdvanceTo("2026-11-29T16:30:01Z");
  ASSERT_EQ(h.DatesRun(job), std::vector<std::string>{"2026-11-29"});
  for (int hour = 0; hour < 20; ++hour) {
    TakeOver(h, absl::Seconds(1));
    h.Advance(absl::Hours(1));
  }
  EXPECT_EQ(h.DatesRun(job), std::vector<std::string>{"2026-11-29"});
  h.Advance(absl::Hours(5));
  EXPECT_EQ(h.DatesRun(job), (std::vector<std::string>{"2026-11-29", "2026-11-30"}));
}

TEST(RestartTest, O04TheNextTickIsOnTimeAndNothingInBetweenIsLost) {
  EngineHarness h("2026-11-29T03:00:30Z");
  h.Apply(Minutely());
  h.on_trigger = [&](Executor& e, const TriggerOrder& t) {
    h.Begin(e, t);
    h.Finish(e, t, Outcome::kSucceeded);
  };
  h.StartTerm();
  h.Start("e1");
  h.Advance(absl::Seconds(60));
  // Dead for longer than a lease, over two ticks.
  TakeOver(h, absl::Seconds(130));
  EXPECT_EQ(h.store.history.size(), 3U) << "late by less than the tolerance: run, not skipped";
  h.Advance(absl::Seconds(60));
  ASSERT_EQ(h.store.history.size(), 4U);
  EXPECT_LE(h.store.history.back().run.created_at - h.store.history.back().run.fire_time,
            absl::Seconds(1));
  for (const auto& [occurrence, runs] : RunsByOccurrence(h)) EXPECT_EQ(runs, 1) << occurrence;
  EXPECT_TRUE(h.store.skipped.empty());
}

TEST(RestartTest, AStartAsksTheLedgerOfNoJobOfWhichNothingIsLeft) {
  EngineHarness h("2026-11-29T16:00:00Z");
  JobSpec spec = EngineHarness::DailyJob("recon", "");
  spec.schedule.cron = "0 30 0 * * ?";
  const int64_t job = h.Apply(spec);
  h.on_trigger = [&](Executor& e, const TriggerOrder& t) {
    h.Begin(e, t);
    h.Finish(e, t, Outcome::kSucceeded);
  };
  h.StartTerm();
  h.Start("e1");
  h.AdvanceTo("2026-11-29T16:31:00Z");
  ASSERT_EQ(h.DatesRun(job), std::vector<std::string>{"2026-11-29"});
  h.KillScheduler();
  h.questions = 0;
  h.StartTerm();
  EXPECT_EQ(h.questions, 0);
  // Its verdict is taken away, as a rehearsal does: the next start sees that.
  h.KillScheduler();
  h.store.DeleteWatermark(job, absl::CivilDay(2026, 11, 29));
  h.Advance(absl::Minutes(10));
  h.StartTerm();
  EXPECT_GT(h.questions, 0);
  h.Connect(h.executors.at("e1"));
  EXPECT_EQ(h.DatesRun(job), (std::vector<std::string>{"2026-11-29", "2026-11-29"}));
}

TEST(RestartTest, O01WithoutATermNothingIsDispatched) {
  // Without its lock an owner owns nothing, instead of everything.
  EngineHarness h("2026-11-29T03:00:30Z");
  h.Apply(Minutely());
  h.Start("e1");
  h.Advance(absl::Minutes(5));
  EXPECT_TRUE(h.executors.at("e1").triggers.empty()) << "no term, no dispatch";
  EXPECT_TRUE(h.store.active.empty());
}

TEST(RestartTest, AlertsOfAnEarlierTermAreResolvedByThisOne) {
  EngineHarness h("2026-11-29T03:00:00Z");
  h.Apply(EngineHarness::DailyJob("recon", "2026-11-28"));
  h.StartTerm();
  h.Advance(absl::Minutes(6));
  ASSERT_TRUE(h.HasAlert("no_executor"));
  h.KillScheduler();
  h.StartTerm();
  h.Start("e1");
  EXPECT_FALSE(h.HasAlert("no_executor"));
}

// One turn of the loop may hold both: a stream that comes while nobody owns anything, and the term.
TEST(RestartTest, AStreamThatWasTurnedAwayJustBeforeATermIsClosed) {
  SeededRandom random(1);
  Engine engine(Decoders(), random, CatchUpBudget());
  const absl::Time time = *ParseInstant("2026-11-29T03:00:00Z");
  const Moment now{absl::Seconds(1), time, time};
  ExecutorMessage hello;
  hello.hello.emplace();
  engine.Received(now, 7, hello, now.mono);
  engine.TermStarted(now, Snapshot());
  EXPECT_EQ(engine.TakeEffects().close, std::vector<StreamId>{7});
  engine.TermEnded(now, "test");
  engine.TakeEffects();
  engine.Received(now, 8, hello, now.mono);
  engine.TermEnded(now, "again");
  EXPECT_EQ(engine.TakeEffects().close, std::vector<StreamId>{8});
}

}  // namespace
}  // namespace tidemark
