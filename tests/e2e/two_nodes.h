// Two schedulers that share the jobs, for tests of a cluster of real processes.
#ifndef TIDEMARK_TESTS_E2E_TWO_NODES_H_
#define TIDEMARK_TESTS_E2E_TWO_NODES_H_

#include <string>
#include <vector>

#include "tests/e2e/world.h"

namespace tidemark {

// Schedulers "scheduler" (node-1) and "second" (node-2). Used by one thread.
class TwoNodes {
 public:
  explicit TwoNodes(const std::string& database_url = "") : world_(database_url) {}

  World& world() { return world_; }
  // Starts the first, then the second, and waits until each has half of the shards.
  void Start();
  // Waits until the node owns so many shards.
  bool AwaitShards(const std::string& node, int shards, absl::Duration timeout = absl::Seconds(60));

  // Makes jobs NAME-0, NAME-1, … with the lines `body`, at least four owned by either node.
  void ApplyJobs(const std::string& name, const std::string& body);
  std::vector<std::string> JobsOf(const std::string& node, const std::string& name);
  // The scheduler that owns the job's shard, and the other one, by name.
  std::string OwnerOf(const std::string& job);
  std::string OtherThan(const std::string& scheduler) const {
    return scheduler == "scheduler" ? "second" : "scheduler";
  }

 private:
  World world_;
};

// The database's time, as text for statements.
std::string DatabaseNow(World& world);

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_E2E_TWO_NODES_H_
