// `after` across nodes: the job that is waited for is another node's.
#include <gtest/gtest.h>

#include "tests/engine/cluster.h"

namespace tidemark {
namespace {

// Makes a job of node b that waits for `upstream`.
int64_t MakeWaiting(TwoNodes& c, const std::string& upstream) {
  JobSpec spec = EngineHarness::DailyJob("", "2026-11-28");
  spec.after = {{upstream, 0}};
  return c.Make(spec, "last", 2);
}

// Both nodes start over, b with a job that waits for one of a's.
int64_t StartWaiting(TwoNodes& c) {
  c.a.EndTerm();
  c.b.EndTerm();
  const int64_t last = MakeWaiting(c, "of-a");
  c.a.StartTerm();
  c.b.StartTerm();
  return last;
}

TEST(ClusterAfterTest, ADateWaitsForAnotherNodesDateAndGoesOnOnceThatIsDone) {
  TwoNodes c;
  const int64_t last = StartWaiting(c);
  c.Start("e1");
  c.Advance(absl::Minutes(2));
  EXPECT_EQ(c.b.StatusOf(last, "2026-11-28"), "");
  c.Finish(c.a, "e1");
  ASSERT_EQ(c.a.StatusOf(c.of_a, "2026-11-28"), "DONE");
  c.Advance(absl::Minutes(10));
  EXPECT_EQ(c.b.StatusOf(last, "2026-11-28"), "RUNNING");
}

TEST(ClusterAfterTest, ItGoesOnAtOnce) {
  TwoNodes c;
  const int64_t last = StartWaiting(c);
  c.Start("e1");
  c.Advance(absl::Seconds(5));
  ASSERT_EQ(c.b.StatusOf(last, "2026-11-28"), "");
  c.Finish(c.a, "e1");
  c.Advance(absl::Seconds(1));
  EXPECT_EQ(c.b.StatusOf(last, "2026-11-28"), "RUNNING");
}

TEST(ClusterAfterTest, WhatWasWaivedIsWaitedForNoLonger) {
  TwoNodes c;
  const int64_t last = StartWaiting(c);
  c.b.Start("e1");  // nobody runs what is a's
  c.Advance(absl::Seconds(5));
  ASSERT_EQ(c.b.StatusOf(last, "2026-11-28"), "");
  c.a.Command(c.of_a, "cancel", {{"run_id", c.a.store.active.begin()->second.run_id}});
  c.a.Command(c.of_a, "waive",
              {{"from", "2026-11-28"}, {"to", "2026-11-28"}, {"reason", "no trade"}});
  ASSERT_EQ(c.a.StatusOf(c.of_a, "2026-11-28"), "WAIVED");
  c.Advance(absl::Seconds(1));
  EXPECT_EQ(c.b.StatusOf(last, "2026-11-28"), "RUNNING");
}

TEST(ClusterAfterTest, WhatAnEditMakesUndueIsWaitedForNoLonger) {
  TwoNodes c;
  const int64_t last = StartWaiting(c);
  c.b.Start("e1");
  c.Advance(absl::Seconds(5));
  ASSERT_EQ(c.b.StatusOf(last, "2026-11-28"), "");
  c.a.store.jobs[c.of_a].ledger_from = absl::CivilDay(2026, 11, 29);
  c.a.Changed(c.of_a);
  c.Advance(absl::Seconds(1));
  EXPECT_EQ(c.b.StatusOf(last, "2026-11-28"), "RUNNING");
}

TEST(ClusterAfterTest, WhatNobodyHeardIsFoundByTheScan) {
  TwoNodes c;
  const int64_t last = StartWaiting(c);
  c.Start("e1");
  c.Advance(absl::Seconds(5));
  c.b.deaf = true;
  c.Finish(c.a, "e1");
  c.Advance(absl::Seconds(1));
  EXPECT_EQ(c.b.StatusOf(last, "2026-11-28"), "") << "it was not told";
  c.Advance(absl::Seconds(60));
  EXPECT_EQ(c.b.StatusOf(last, "2026-11-28"), "RUNNING");
}

TEST(ClusterAfterTest, WhatNobodyHeardIsFoundOnceTheNodeListensAgain) {
  TwoNodes c;
  const int64_t last = StartWaiting(c);
  c.Start("e1");
  c.Advance(absl::Seconds(5));
  c.b.deaf = true;
  c.Finish(c.a, "e1");
  c.Advance(absl::Seconds(1));
  const int questions = c.b.questions;
  c.b.HearAgain();
  EXPECT_EQ(c.b.questions, questions + 1) << "of the one job that waits for another node's";
  EXPECT_EQ(c.b.StatusOf(last, "2026-11-28"), "RUNNING");
}

// The answer that was read before the DONE says that the date waits: it is asked again.
TEST(ClusterAfterTest, AnAnswerFromBeforeTheDoneDecidesNothing) {
  TwoNodes c;
  c.a.EndTerm();
  c.b.EndTerm();
  const int64_t last = MakeWaiting(c, "of-a");
  c.a.StartTerm();
  c.Start("e1");
  c.Advance(absl::Seconds(5));
  c.b.ledger_stalled = true;
  c.b.StartTerm();
  c.Dial(c.b, "e1");
  c.Finish(c.a, "e1");
  ASSERT_EQ(c.a.StatusOf(c.of_a, "2026-11-28"), "DONE");
  c.b.Pump();  // it hears of that while its question is on its way
  c.b.AnswerLedger();
  c.b.Pump();
  EXPECT_EQ(c.b.StatusOf(last, "2026-11-28"), "RUNNING");
}

TEST(ClusterAfterTest, ANodeThatHasAllTellsNobody) {
  EngineHarness h("2026-11-29T03:00:00Z");
  h.Apply(EngineHarness::DailyJob("first", "2026-11-28"));
  JobSpec spec = EngineHarness::DailyJob("last", "2026-11-28");
  spec.after = {{"first", 0}};
  h.Apply(spec);
  h.StartTerm();
  EngineHarness::Executor& e1 = h.Start("e1");
  h.Advance(absl::Seconds(5));
  h.Begin(e1, e1.triggers.back());
  h.Finish(e1, e1.triggers.back(), Outcome::kSucceeded);
  h.Advance(absl::Seconds(5));
  ASSERT_EQ(e1.triggers.back().job, "last");
  EXPECT_TRUE(h.store.news.empty());
}

TEST(ClusterAfterTest, ADateThatIsNotDueThereIsNotWaitedFor) {
  TwoNodes c;
  c.a.EndTerm();
  c.b.EndTerm();
  JobSpec weekdays = EngineHarness::DailyJob("", "2026-11-23");
  weekdays.schedule.cron = "0 0 1 ? * MON-FRI";  // of Sunday to Thursday; the 28th is a Saturday
  c.Make(weekdays, "weekdays", 1);
  const int64_t last = MakeWaiting(c, "weekdays");
  c.b.StartTerm();
  c.Start("e1");
  EXPECT_EQ(c.b.StatusOf(last, "2026-11-28"), "RUNNING");
}

TEST(ClusterAfterTest, AJobThatIsNowhereIsWaitedFor) {
  TwoNodes c;
  c.b.EndTerm();
  const int64_t last = MakeWaiting(c, "nobody");
  c.b.StartTerm();
  c.Start("e1");
  c.Advance(absl::Minutes(10));
  EXPECT_EQ(c.b.StatusOf(last, "2026-11-28"), "");
}

}  // namespace
}  // namespace tidemark
