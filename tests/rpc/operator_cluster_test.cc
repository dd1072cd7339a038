// The cluster through the operator service, on a real database; the nodes are rows.
#include "scheduler/rpc/operator_cluster.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/store/migrate.h"
#include "tests/rpc/operator_bench.h"

namespace tidemark {
namespace {

using grpc::StatusCode;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Stub = v1::OperatorService::Stub;

class OperatorClusterTest : public testing::Test {
 protected:
  // With the lease `left` seconds ahead.
  void AddNode(const std::string& id, const std::string& left = "10") {
    const std::string uuid = "00000000-0000-7000-8000-00000000000" + std::to_string(++nodes_);
    bench_.db().Sql(
        "INSERT INTO scheduler_node (node_id, incarnation, address, version, lease_until, "
        "started_at) VALUES ($1, $2, 'h:1', '1', tidemark_now() + $3::text::interval, "
        "tidemark_now())",
        {id, uuid, left + " s"});
    bench_.db().Sql("INSERT INTO node_fence VALUES ($1, $2, false, tidemark_now())", {id, uuid});
  }
  grpc::Status Drain(const std::string& id, bool undo = false) {
    v1::DrainNodeRequest request;
    request.set_node_id(id);
    request.set_undo(undo);
    request.set_actor("ann");
    request.set_reason("upgrade");
    return bench_.Call(&Stub::DrainNode, request, &answer_);
  }
  v1::ClusterStatusResponse Status() {
    v1::ClusterStatusResponse response;
    EXPECT_TRUE(bench_.Call(&Stub::ClusterStatus, v1::ClusterStatusRequest(), &response).ok());
    return response;
  }

  OperatorBench bench_;
  int nodes_ = 0;
  v1::OrderResponse answer_;
};

TEST_F(OperatorClusterTest, ClusterSaysWhatIsOwned) {
  v1::ClusterStatusResponse response;
  ASSERT_TRUE(bench_.Call(&Stub::ClusterStatus, v1::ClusterStatusRequest(), &response).ok());
  EXPECT_EQ(response.shards(), 128u);
  EXPECT_EQ(response.unowned_shards(), 128u);
  EXPECT_EQ(response.warnings_size(), 1);
  EXPECT_EQ(response.jobs(), 0u);
  EXPECT_EQ(response.schema_version(), std::to_string(EmbeddedMigrations().back().version));
  const char* incarnation = "00000000-0000-7000-8000-000000000001";
  bench_.db().Sql(
      "INSERT INTO scheduler_node VALUES ('n1', $1, 'h:1', '1', tidemark_now() + interval '10 s', "
      "tidemark_now())",
      {incarnation});
  bench_.db().Sql("INSERT INTO node_fence VALUES ('n1', $1, false, tidemark_now())", {incarnation});
  bench_.db().Sql("UPDATE shard SET node_id = 'n1', incarnation = $1", {incarnation});
  v1::ClusterStatusResponse owned;
  ASSERT_TRUE(bench_.Call(&Stub::ClusterStatus, v1::ClusterStatusRequest(), &owned).ok());
  EXPECT_EQ(owned.unowned_shards(), 0u);
  ASSERT_EQ(owned.nodes_size(), 1);
  EXPECT_EQ(owned.nodes(0).shards(), 128u);
  EXPECT_FALSE(owned.nodes(0).fenced());
  EXPECT_FALSE(owned.nodes(0).has_watch()) << "it has neither looked nor pinged";
  bench_.db().Sql(
      "INSERT INTO watch_state (node_id, looked_at, jobs, dates, pings, withheld_since, reasons) "
      "VALUES ('n1', tidemark_now(), 2, 6, true, tidemark_now(), E'first\\nsecond')");
  ASSERT_TRUE(bench_.Call(&Stub::ClusterStatus, v1::ClusterStatusRequest(), &owned).ok());
  const v1::NodeWatch& watch = owned.nodes(0).watch();
  EXPECT_TRUE(watch.has_looked_at());
  EXPECT_EQ(watch.dates(), 6u);
  EXPECT_TRUE(watch.pings());
  EXPECT_FALSE(watch.has_pinged_at());
  EXPECT_TRUE(watch.has_withheld_since());
  EXPECT_FALSE(watch.has_withheld_until());
  EXPECT_THAT(watch.reasons(), ElementsAre("first", "second"));
}

TEST_F(OperatorClusterTest, ADrainIsARowTheStatusAndTheAuditTellOf) {
  AddNode("n1");
  AddNode("n2");
  ASSERT_TRUE(Drain("n1").ok());
  EXPECT_THAT(answer_.message(), HasSubstr("gives its shards to the others"));
  EXPECT_EQ(bench_.db().Sql("SELECT string_agg(node_id, ' ') FROM scheduler_node WHERE draining"),
            "n1");
  EXPECT_EQ(bench_.db().Sql("SELECT actor || ' ' || subject || ' ' || before || ' ' || after || "
                            "' ' || reason FROM audit WHERE action = 'drain_node'"),
            "ann n1 in use draining upgrade");
  const v1::ClusterStatusResponse status = Status();
  EXPECT_EQ(status.nodes(0).state(), "DRAINING");
  EXPECT_EQ(status.nodes(1).state(), "UP");
  EXPECT_THAT(status.warnings(), Contains(HasSubstr("n1 is draining")));
  EXPECT_THAT(status.warnings(), Contains(HasSubstr("only one node takes shards")));

  ASSERT_TRUE(Drain("n1").ok());
  EXPECT_EQ(answer_.message(), "node 'n1' is drained already");
  ASSERT_TRUE(Drain("n1", /*undo=*/true).ok());
  EXPECT_EQ(bench_.db().Sql("SELECT count(*) FROM scheduler_node WHERE draining"), "0");
  EXPECT_EQ(bench_.db().Sql("SELECT count(*) FROM audit WHERE action = 'drain_node'"), "2");
}

TEST_F(OperatorClusterTest, TheLastNodeIsNotDrainedNorAnUnknownOne) {
  AddNode("n1");
  AddNode("n2");
  AddNode("n3", "-5");
  grpc::Status status = Drain("nn");
  EXPECT_EQ(status.error_code(), StatusCode::NOT_FOUND);
  EXPECT_THAT(status.error_message(), AllOf(HasSubstr("no node 'nn'"), HasSubstr("n1, n2")));
  EXPECT_EQ(Drain("n3").error_code(), StatusCode::FAILED_PRECONDITION) << "its lease is over";
  ASSERT_TRUE(Drain("n1").ok());
  status = Drain("n2");
  EXPECT_EQ(status.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), AllOf(HasSubstr("the last"), HasSubstr("--undo")));
  EXPECT_EQ(bench_.db().Sql("SELECT count(*) FROM audit WHERE action = 'drain_node'"), "1");
  EXPECT_EQ(Drain("").error_code(), StatusCode::INVALID_ARGUMENT);
}

TEST_F(OperatorClusterTest, WhatANodeTellsOfItselfIsShown) {
  AddNode("n1");
  EXPECT_FALSE(Status().nodes(0).has_clock_offset());
  EXPECT_FALSE(Status().nodes(0).has_lag());
  bench_.db().Sql(
      "UPDATE scheduler_node SET clock_offset = -1500000, clock_uncertainty = 800, lag = 2000000");
  const v1::ClusterStatusResponse status = Status();
  EXPECT_EQ(status.nodes(0).clock_offset().seconds(), -1);
  EXPECT_EQ(status.nodes(0).clock_uncertainty().nanos(), 800'000);
  EXPECT_EQ(status.nodes(0).lag().seconds(), 2);
  EXPECT_THAT(status.warnings(), Contains(HasSubstr("node n1 is 1s500ms ahead of the database's")));
  EXPECT_THAT(status.warnings(), Contains(HasSubstr("comes 2s late")));
}

OperatorNode UpNode(const std::string& id) {
  OperatorNode node;
  node.node_id = id;
  node.version = "1";
  node.lease_until = absl::FromUnixSeconds(10);
  return node;
}

TEST(ClusterWarningsTest, SayWhatNeedsALook) {
  ClusterRows cluster;
  cluster.now = absl::FromUnixSeconds(5);
  cluster.nodes = {UpNode("a")};
  EXPECT_THAT(ClusterWarnings(cluster), IsEmpty()) << "a single node is as its operators want it";
  cluster.nodes = {UpNode("a"), UpNode("b")};
  EXPECT_THAT(ClusterWarnings(cluster), IsEmpty());
  cluster.nodes[1].version = "2";
  EXPECT_THAT(ClusterWarnings(cluster), ElementsAre(HasSubstr("(1 on a; 2 on b)")));
  cluster.nodes[1].lease_until = absl::FromUnixSeconds(1);
  EXPECT_THAT(ClusterWarnings(cluster),
              ElementsAre(HasSubstr("node b is gone: its lease ended 4s ago"),
                          HasSubstr("only one node takes shards")));
  cluster.unowned_shards = 64;
  EXPECT_THAT(ClusterWarnings(cluster), Contains(HasSubstr("64 shards have no owner")));
}

}  // namespace
}  // namespace tidemark
