#include "tests/e2e/two_nodes.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/e2e/job_bench.h"

namespace tidemark {
namespace {

// Of a job's owner.
const char kOwners[] =
    " FROM job j JOIN shard s ON s.shard = j.shard WHERE j.deleted_at IS NULL AND ";

}  // namespace

void TwoNodes::Start() {
  world_.StartScheduler("scheduler", "node-1");
  ASSERT_TRUE(AwaitShards("node-1", 128));
  world_.StartScheduler("second", "node-2");
  ASSERT_TRUE(AwaitShards("node-2", 64)) << ReadFile(world_.Path("second.log"));
  ASSERT_TRUE(AwaitShards("node-1", 64)) << ReadFile(world_.Path("scheduler.log"));
}

bool TwoNodes::AwaitShards(const std::string& node, int shards, absl::Duration timeout) {
  return AwaitSql(world_, "SELECT count(*) FROM shard WHERE node_id = '" + node + "'",
                  std::to_string(shards), timeout);
}

void TwoNodes::ApplyJobs(const std::string& name, const std::string& body) {
  constexpr size_t kEach = 4;
  // Which shard a job gets is chance.
  for (int made = 0; made < 64;) {
    std::string yaml = "jobs:\n";
    for (const int until = made + 8; made < until; ++made) {
      yaml += "  - name: " + name + "-" + std::to_string(made) + "\n    app: ops\n" + body;
    }
    world_.Apply(yaml);
    if (JobsOf("node-1", name).size() >= kEach && JobsOf("node-2", name).size() >= kEach) return;
  }
  FAIL() << "64 jobs, and one of the nodes owns fewer than four";
}

std::vector<std::string> TwoNodes::JobsOf(const std::string& node, const std::string& name) {
  std::istringstream words(world_.Sql(
      "SELECT coalesce(string_agg(j.name, ' ' ORDER BY j.name), '')" + std::string(kOwners) +
      "j.name LIKE '" + name + "-%' AND s.node_id = '" + node + "'"));
  std::vector<std::string> jobs;
  for (std::string job; words >> job;) jobs.push_back(job);
  return jobs;
}

std::string TwoNodes::OwnerOf(const std::string& job) {
  const std::string node =
      world_.Sql("SELECT s.node_id" + std::string(kOwners) + "j.name = '" + job + "'");
  return node == "node-1" ? "scheduler" : "second";
}

std::string DatabaseNow(World& world) { return world.Sql("SELECT tidemark_now()::text"); }

}  // namespace tidemark
