// The cluster as operators see it: its nodes, what is to be looked at, and draining a node.
#ifndef TIDEMARK_SCHEDULER_RPC_OPERATOR_CLUSTER_H_
#define TIDEMARK_SCHEDULER_RPC_OPERATOR_CLUSTER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/engine/alert_delivery.h"
#include "scheduler/engine/alert_desk.h"
#include "scheduler/engine/operator_port.h"
#include "tidemark/v1/operator.pb.h"

namespace tidemark {

// Answers requests; blocks for the database. Thread-safe, without state. What it is given must
// outlive it.
class OperatorCluster {
 public:
  // With `desk` and `channels` the status has warnings about the channels.
  explicit OperatorCluster(OperatorPort& store, AlertDesk* desk = nullptr,
                           AlertChannels* channels = nullptr)
      : store_(store), desk_(desk), channels_(channels) {}

  absl::Status Status(const v1::ClusterStatusRequest& request, v1::ClusterStatusResponse* response);
  absl::Status Drain(const v1::DrainNodeRequest& request, v1::OrderResponse* response);

 private:
  OperatorPort& store_;
  AlertDesk* const desk_;
  AlertChannels* const channels_;
};

// UP, DRAINING (by an operator's order), GONE (its lease is over) or FENCED (another incarnation or
// node took over from it), at `now`.
std::string StateOf(const OperatorNode& node, absl::Time now);

// What of the nodes and shards needs a look, for people.
std::vector<std::string> ClusterWarnings(const ClusterRows& cluster);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_OPERATOR_CLUSTER_H_
