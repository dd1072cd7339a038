// Two scheduler nodes on one database.
#include <gtest/gtest.h>

#include <set>

#include "tests/e2e/world.h"

namespace tidemark {
namespace {

// The owner is stopped for longer than its lease and wakes up when another node owns its shards.
TEST(TwoSchedulersTest, L01AStoppedOwnerThatWakesUpWritesNothingAndNoTickIsFiredTwice) {
  World world;
  world.StartScheduler();
  ASSERT_TRUE(WaitFor(
      [&] { return world.Sql("SELECT count(*) FROM shard WHERE node_id = 'node-1'") == "128"; }));
  world.StartScheduler("second", "node-2");
  world.UseLink(world.address() + "," + world.address("second"));
  world.StartProbe("e1", 20);
  world.Apply(
      "jobs:\n  - name: tick\n    app: ops\n    handler: work\n"
      "    schedule: {every: 1s, zone: UTC}\n    misfire: {policy: fire_all}\n"
      "    blocking: {policy: concurrent, concurrent: 100}\n");
  const auto runs = [&] {
    return std::atoi(world.Sql("SELECT count(*) FROM run_history").c_str());
  };
  ASSERT_TRUE(WaitFor([&] { return runs() >= 2; }));
  const std::string job_shard = " FROM shard s JOIN job j ON j.shard = s.shard";
  ASSERT_TRUE(WaitFor([&] {
    return world.Sql(
               "SELECT string_agg(n::text, ' ') FROM (SELECT count(*) AS n FROM shard GROUP "
               "BY node_id) s") == "64 64";
  })) << "shared";
  const std::string owner = world.Sql("SELECT s.node_id" + job_shard);
  const std::string process = owner == "node-1" ? "scheduler" : "second";
  const std::string epoch = world.Sql("SELECT s.epoch" + job_shard);
  const auto terms_ended = [&] {
    const std::string log = ReadFile(world.Path(process + ".log"));
    int count = 0;
    for (size_t at = log.find("term ended"); at != std::string::npos;
         at = log.find("term ended", at + 1)) {
      ++count;
    }
    return count;
  };
  const int ended = terms_ended();

  world.Pause(process);
  ASSERT_TRUE(WaitFor([&] { return world.Sql("SELECT s.node_id" + job_shard) != owner; }));
  const int before = runs();
  ASSERT_TRUE(WaitFor([&] { return runs() >= before + 3; })) << "the new owner fires";
  world.Continue(process);
  // It finds its term over, by its own clock or by the fence. The next one may take the shard back.
  ASSERT_TRUE(WaitFor([&] { return terms_ended() > ended; }));
  const int after = runs();
  ASSERT_TRUE(WaitFor([&] { return runs() >= after + 3; }));
  EXPECT_EQ(world.Sql("SELECT s.epoch > " + epoch + job_shard), "t");
  EXPECT_EQ(world.Sql("SELECT count(*) = count(DISTINCT fire_time) AND count(*) = extract(epoch "
                      "FROM max(fire_time) - min(fire_time)) + 1 FROM run_history"),
            "t");
  const auto journal = world.Journal();
  EXPECT_EQ(std::set<std::string>(journal.begin(), journal.end()).size(), journal.size());
}

}  // namespace
}  // namespace tidemark
