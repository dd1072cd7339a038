// Many runs at once, through a real scheduler, executor and database.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "common/clock.h"
#include "tests/e2e/operator_client.h"
#include "tests/e2e/world.h"

namespace tidemark {
namespace {

// A job of every second whose scheduler was away for 10,000 seconds, and which runs all it missed.
TEST(ManyRunsTest, TenThousandRunsOfAHandlerThatReturnsAtOnce) {
  World world;
  // All that is missed is catch-up; here nothing else is to be kept on time.
  world.settings.scheduler_env["TIDEMARK_CATCH_UP_PER_APP"] = "99";
  world.settings.scheduler_env["TIDEMARK_CATCH_UP_PER_NODE"] = "99";
  world.StartScheduler();
  world.Apply(
      "jobs:\n"
      "  - name: tick\n    app: ops\n    handler: noop\n"
      "    schedule: {every: 1s, zone: UTC}\n"
      "    misfire: {policy: fire_all, cap: 10000}\n"
      "    blocking: {policy: concurrent, concurrent: 100, queue: 10000}\n");
  world.Terminate("scheduler");
  world.Sql("UPDATE job_version SET valid_from = valid_from - interval '3 hours' RETURNING 1");
  world.Sql("UPDATE job SET created_at = created_at - interval '3 hours' RETURNING 1");
  const std::string from = world.Sql(
      "INSERT INTO job_cursor SELECT job_id, date_trunc('second', now()) - interval '10000 s' "
      "FROM job ON CONFLICT (job_id) DO UPDATE SET last_fire = EXCLUDED.last_fire "
      "RETURNING extract(epoch FROM last_fire)::bigint");
  world.StartScheduler();
  world.StartProbe("e1", 100);
  const std::string missed = " FROM run_history WHERE fire_time > to_timestamp(" + from +
                             ") AND fire_time <= to_timestamp(" + from + " + 10000)";
  ASSERT_TRUE(WaitFor([&] { return world.Sql("SELECT count(*) FROM run_history") != "0"; }));
  const absl::Duration since = SystemClock().Monotonic();
  EXPECT_TRUE(WaitFor([&] { return world.Sql("SELECT count(*)" + missed) == "10000"; },
                      absl::Seconds(120)));
  const double seconds = absl::ToDoubleSeconds(SystemClock().Monotonic() - since);
  std::printf("10,000 runs in %.1f s: %.0f runs/s\n", seconds, 10000 / seconds);
  EXPECT_EQ(world.Sql("SELECT count(DISTINCT fire_time) || ' ' || min(status) || max(status) || ' '"
                      " || max(attempt)" +
                      missed),
            "10000 COMPLETEDCOMPLETED 1");
  EXPECT_EQ(world.Sql("SELECT count(*) FROM skipped_range"), "0");
  EXPECT_EQ(world.Sql("SELECT count(*) FROM attempt WHERE outcome <> 'SUCCEEDED'"), "0");
}

TEST(ManyRunsTest, SixtyTriggersAtOnceRunInOrderAndTheOneThatIsCancelledDoesNot) {
  World world;
  world.StartScheduler();
  world.StartProbe("e1", 8);
  world.StartProbe("e2", 8);
  world.Apply(
      "jobs:\n  - name: serial\n    app: ops\n    handler: work\n"
      "    schedule: {manual: true, zone: UTC}\n    blocking: {policy: serial}\n");
  world.Touch("hold-work-1");
  std::vector<std::string> runs = TriggerAtOnce(world.address(), "serial", 60);
  std::sort(runs.begin(), runs.end());  // ids are ordered by time
  ASSERT_EQ(std::set<std::string>(runs.begin(), runs.end()).size(), 60U);
  // The first is running; one that waits is cancelled, and it itself too ("kill one").
  ASSERT_TRUE(WaitFor([&] { return world.Journal().size() == 1; }));
  EXPECT_EQ(world.Sql("SELECT count(*) FROM active_run WHERE status = 'RUNNING'"), "1");
  const World::Answer killed = world.Cli({"run", "cancel", runs[0], "--reason", "kill one"});
  EXPECT_EQ(killed.code, 0) << killed.output;
  world.Remove("hold-work-1");
  ASSERT_TRUE(WaitFor([&] { return world.Sql("SELECT count(*) FROM active_run") == "0"; }));
  EXPECT_EQ(world.Sql("SELECT string_agg(n::text, ',' ORDER BY status) FROM (SELECT status || ' ' "
                      "|| count(*) AS n, status FROM run_history GROUP BY status) c"),
            "CANCELLED 1,COMPLETED 59");
  EXPECT_EQ(world.Sql("SELECT status FROM run_history WHERE run_id = '" + runs[0] + "'"),
            "CANCELLED");
  // By the journal: in the order of the triggers, each ended before the next was entered.
  const std::vector<std::string> journal = world.Journal();
  ASSERT_EQ(journal.size(), 120U);
  for (size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(journal[2 * i].substr(0, 42), "enter " + runs[i]);
    EXPECT_EQ(journal[2 * i + 1].substr(0, 41), (i == 0 ? "stop " : "exit ") + runs[i]);
  }
}

}  // namespace
}  // namespace tidemark
