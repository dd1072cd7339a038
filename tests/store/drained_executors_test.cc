// What each node is told of executors that operators drained.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/store/flush_fixture.h"
#include "tests/store/store_node.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(DrainedExecutorsTest, EveryNodeIsToldWhicheverCarriedTheOrderOut) {
  MigratedDatabase database;
  for (const char* id : {"e1", "e2"}) {
    database.Sql(
        "INSERT INTO executor (executor_id, app, registration, incarnation, host, version, state, "
        "capacity, handlers, labels, registered_at, last_seen) VALUES ($1, 'ops', 1, "
        "gen_random_uuid(), 'h', '1', "
        "'UP', 1, '{}', '{}', tidemark_now(), tidemark_now())",
        {id});
  }
  StoreNode a(database, "a");
  ASSERT_TRUE(a.heard.WaitForShards(128));
  StoreNode b(database, "b");
  ASSERT_TRUE(b.heard.WaitForShards(64));
  ASSERT_TRUE(a.heard.WaitForShards(64));
  EXPECT_THAT(b.heard.Get().drained, IsEmpty()) << "nothing is drained";

  Flush flush;
  flush.seq = 1;
  ExecutorState order;
  order.executor_id = "e1";
  order.drained = true;
  flush.executors.push_back(order);
  const absl::Time begin = SystemClock().WallNow();
  a.store->Submit(a.heard.Get().terms.size(), flush);
  ASSERT_TRUE(b.heard.Wait([](const auto& s) { return s.drained.size() == 1; }));
  EXPECT_LT(SystemClock().WallNow() - begin, absl::Seconds(5));
  EXPECT_THAT(b.heard.Get().drained.back(), ElementsAre("e1"));
  database.Sql("UPDATE executor SET drained = true WHERE executor_id = 'e2'");
  ASSERT_TRUE(b.heard.Wait([](const auto& s) { return s.drained.size() == 2; }));
  EXPECT_THAT(b.heard.Get().drained.back(), UnorderedElementsAre("e1", "e2"));
  database.Sql("UPDATE executor SET drained = false WHERE executor_id = 'e2'");
  ASSERT_TRUE(b.heard.Wait([](const auto& s) { return s.drained.size() == 3; }));
  EXPECT_THAT(b.heard.Get().drained.back(), ElementsAre("e1"));
  // One that joins later is told at its start.
  StoreNode c(database, "c");
  ASSERT_TRUE(c.heard.Wait([](const auto& s) { return !s.drained.empty(); }));
  EXPECT_THAT(c.heard.Get().drained.front(), ElementsAre("e1"));
}

}  // namespace
}  // namespace tidemark
