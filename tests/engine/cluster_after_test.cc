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

TEST(ClusterAfterTest, ADateWaitsForAnotherNodesDateAndGoesOnOnceThatIsDone) {
  TwoNodes c;
  c.a.EndTerm();
  c.b.EndTerm();
  const int64_t last = MakeWaiting(c, "of-a");
  c.a.StartTerm();
  c.b.StartTerm();
  c.Start("e1");
  c.Advance(absl::Minutes(2));
  EXPECT_EQ(c.b.StatusOf(last, "2026-11-28"), "");
  c.Finish(c.a, "e1");
  ASSERT_EQ(c.a.StatusOf(c.of_a, "2026-11-28"), "DONE");
  c.Advance(absl::Minutes(10));
  EXPECT_EQ(c.b.StatusOf(last, "2026-11-28"), "RUNNING");
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
