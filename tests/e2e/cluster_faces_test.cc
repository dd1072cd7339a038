// A cluster as its neighbours see it: over HTTP, and over TLS under names of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/e2e/job_bench.h"
#include "tests/e2e/secure_fixture.h"
#include "tests/e2e/two_nodes.h"
#include "tests/support/raw_client.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ClusterHttpTest : public testing::Test {
 protected:
  ClusterHttpTest() {
    auto& env = nodes_.world().settings.scheduler_env;
    env["TIDEMARK_HTTP_LISTEN"] = "127.0.0.1:0";
    env["TIDEMARK_HTTP_ADDRESS_FILE"] = nodes_.world().Path("http.addr");
    nodes_.Start();
    std::ifstream(nodes_.world().Path("http.addr")) >> http_;  // the second's: it came last
  }
  RawResponse Post(const std::string& method, const std::string& json) {
    return HttpPost(http_, "/v1/OperatorService/" + method, json);
  }

  TwoNodes nodes_;
  std::string http_;
};

TEST_F(ClusterHttpTest, ANodeIsDrainedAndTakenBackWithJson) {
  RawResponse response = Post("DrainNode", R"({"actor":"curl"})");
  EXPECT_EQ(response.status, 400) << response.body;
  EXPECT_THAT(response.body, HasSubstr("node_id")) << "it names what is missing";
  response = Post("DrainNode", R"({"node_id":"node-7","actor":"curl","reason":"new kernel"})");
  EXPECT_EQ(response.status, 404) << response.body;
  EXPECT_THAT(response.body, HasSubstr("node-1")) << "it names the nodes that there are";

  response = Post("DrainNode", R"({"node_id":"node-1","actor":"curl","reason":"new kernel"})");
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_THAT(response.body, HasSubstr("gives its shards to the others"));
  ASSERT_TRUE(nodes_.AwaitShards("node-2", 128));
  response = Post("ClusterStatus", "{}");
  EXPECT_THAT(response.body, HasSubstr(R"("state":"DRAINING")")) << response.body;
  EXPECT_THAT(response.body, HasSubstr("node-1 is draining"));
  // Nobody would be left.
  response = Post("DrainNode", R"({"node_id":"node-2","actor":"curl","reason":"new kernel"})");
  EXPECT_EQ(response.status, 400) << response.body;
  EXPECT_THAT(response.body, HasSubstr("FAILED_PRECONDITION"));

  response =
      Post("DrainNode", R"({"node_id":"node-1","undo":true,"actor":"curl","reason":"done"})");
  ASSERT_EQ(response.status, 200) << response.body;
  ASSERT_TRUE(nodes_.AwaitShards("node-1", 64));
  EXPECT_THAT(Post("ClusterStatus", "{}").body, Not(HasSubstr("DRAINING")));
}

class SecureClusterTest : public SecureTest {
 protected:
  // Another node with a certificate of its own, for the name under which it is to be reached.
  void StartSecond(const std::string& host) {
    const World::Answer issued =
        world_.Run({"tidemark", "tls", "issue", "--dir", world_.Path("tls"), "--name", "node2",
                    "--host", host, "--host", "127.0.0.1"});
    ASSERT_EQ(issued.code, 0) << issued.output;
    const std::string listen = world_.Reserve("second");
    auto& env = world_.settings.scheduler_env;
    env["TIDEMARK_TLS_CERT"] = world_.Path("tls/node2.crt");
    env["TIDEMARK_TLS_KEY"] = world_.Path("tls/node2.key");
    env["TIDEMARK_ADVERTISE"] = host + listen.substr(listen.rfind(':'));
    world_.StartScheduler("second", "node-2");
    for (const std::string node : {"node-1", "node-2"}) {
      ASSERT_TRUE(AwaitSql(world_, "SELECT count(*) FROM shard WHERE node_id = '" + node + "'",
                           "64", absl::Seconds(60)));
    }
  }
  std::string OwnerOf(const std::string& job) {
    return world_.Sql(
        "SELECT s.node_id FROM job j JOIN shard s ON s.shard = j.shard WHERE j.name = '" + job +
        "'");
  }
};

// It cannot have guessed the name: no other is known of the second node, and it is in that one's
// certificate alone.
TEST_F(SecureClusterTest, AnExecutorLearnsTheOtherNodesNameAndGetsItsRunsOverTls) {
  StartSecured();
  MakeToken("agents", {"--app", "ops"});
  world_.StartAgent("a1", "true", EnvOf("agents"));
  StartSecond("localhost");
  EXPECT_THAT(world_.Cli({"cluster", "status"}).output, HasSubstr("localhost:"));
  std::string job;
  for (int i = 0; i < 40 && job.empty(); ++i) {
    const std::string name = "once-" + std::to_string(i);
    ApplyManual(world_, name);
    if (OwnerOf(name) == "node-2") job = name;
  }
  ASSERT_FALSE(job.empty()) << "no job came to the second node";
  const World::Answer answer = world_.Cli({"job", "trigger", job, "--wait"});
  EXPECT_EQ(answer.code, 0) << answer.output;
  // The node that it was told of goes: the other one has it still.
  world_.Kill("scheduler");
  ASSERT_TRUE(AwaitSql(world_, "SELECT count(*) FROM shard WHERE node_id = 'node-2'", "128",
                       absl::Seconds(60)));
  const World::Answer again = world_.CliOn("second", {"job", "trigger", "once-0", "--wait"});
  EXPECT_EQ(again.code, 0) << again.output;
}

}  // namespace
}  // namespace tidemark
