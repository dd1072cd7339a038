// Results that nobody can record yet, or whose acknowledgement dies with the scheduler.
#include <gtest/gtest.h>

#include "common/clock.h"
#include "tests/e2e/operator_client.h"
#include "tests/e2e/own_postgres.h"
#include "tests/e2e/world.h"
#include "tests/support/link_proxy.h"

namespace tidemark {
namespace {

// A hundred runs end while the database is away; then the scheduler dies as its first
// acknowledgement has left it.
TEST(OutageTest, E05AHundredResultsOfAnOutageAreRecordedOnceEach) {
  OwnPostgres postgres;
  World world(postgres.url());
  LinkProxy link(world.Reserve());
  world.UseLink(link.address());
  world.StartScheduler();
  world.StartProbe("e1", 100);
  world.Apply(
      "jobs:\n  - name: hundred\n    app: ops\n    handler: work\n"
      "    schedule: {manual: true, zone: UTC}\n"
      "    blocking: {policy: concurrent, concurrent: 100}\n");
  world.Touch("hold-work-1");
  TriggerAtOnce(world.address(), "hundred", 100);
  ASSERT_TRUE(WaitFor([&] { return world.Journal().size() == 100; }));

  postgres.Stop();
  const absl::Duration stopped = SystemClock().Monotonic();
  world.Remove("hold-work-1");
  ASSERT_TRUE(WaitFor([&] { return world.Journal().size() == 200; }));
  ASSERT_TRUE(WaitFor([&] { return SystemClock().Monotonic() - stopped > absl::Seconds(12); }));
  link.HoldNext(IsAcknowledged());
  postgres.Start();
  ASSERT_TRUE(WaitFor([&] { return link.Holding(); }));
  world.Kill("scheduler");
  world.StartScheduler();
  link.Release();

  EXPECT_TRUE(WaitFor([&] { return world.Sql("SELECT count(*) FROM active_run") == "0"; }));
  EXPECT_EQ(world.Sql("SELECT count(*) || ' ' || count(DISTINCT run_id) || ' ' || min(status) || "
                      "max(status) || ' ' || max(attempt) FROM run_history"),
            "100 100 COMPLETEDCOMPLETED 1");
  world.Terminate("e1");  // drains: every result was acknowledged in the end
  EXPECT_EQ(world.program("e1").Wait(absl::ZeroDuration()), 0);
  EXPECT_NE(ReadFile(world.Path("e1.log")).find("nothing left to report"), std::string::npos);
  EXPECT_EQ(world.Journal().size(), 200U) << "each was entered and left once";
}

}  // namespace
}  // namespace tidemark
