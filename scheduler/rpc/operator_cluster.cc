#include "scheduler/rpc/operator_cluster.h"

#include <map>
#include <sstream>
#include <utility>

#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"
#include "scheduler/rpc/operator_alerts.h"
#include "scheduler/rpc/operator_orders.h"
#include "scheduler/rpc/proto_time.h"

namespace tidemark {
namespace {

void WatchToProto(const OperatorWatch& watch, v1::NodeWatch* out) {
  if (watch.looked_at.has_value()) *out->mutable_looked_at() = ToProto(*watch.looked_at);
  out->set_look_error(watch.look_error);
  out->set_jobs(static_cast<uint64_t>(watch.jobs));
  out->set_dates(static_cast<uint64_t>(watch.dates));
  out->set_pings(watch.pings);
  if (watch.pinged_at.has_value()) *out->mutable_pinged_at() = ToProto(*watch.pinged_at);
  out->set_ping_error(watch.ping_error);
  if (watch.withheld_since.has_value()) {
    *out->mutable_withheld_since() = ToProto(*watch.withheld_since);
  }
  if (watch.withheld_until.has_value()) {
    *out->mutable_withheld_until() = ToProto(*watch.withheld_until);
  }
  std::istringstream lines(watch.reasons);
  for (std::string line; std::getline(lines, line);) out->add_reasons(line);
}

void NodeToProto(const OperatorNode& node, absl::Time now, v1::Node* out) {
  out->set_node_id(node.node_id);
  out->set_address(node.address);
  out->set_incarnation(node.incarnation);
  out->set_version(node.version);
  *out->mutable_lease_until() = ToProto(node.lease_until);
  out->set_fenced(node.fenced);
  out->set_shards(node.shards);
  *out->mutable_started_at() = ToProto(node.started_at);
  out->set_draining(node.draining);
  out->set_state(StateOf(node, now));
  if (node.clock_offset.has_value()) *out->mutable_clock_offset() = ToProto(*node.clock_offset);
  if (node.clock_uncertainty.has_value()) {
    *out->mutable_clock_uncertainty() = ToProto(*node.clock_uncertainty);
  }
  if (node.lag.has_value()) *out->mutable_lag() = ToProto(*node.lag);
  if (node.watch.has_value()) WatchToProto(*node.watch, out->mutable_watch());
}

std::string Rounded(absl::Duration d) {
  return DurationText(absl::Floor(absl::AbsDuration(d), absl::Milliseconds(100)));
}

// What is to be said of one node.
void WarnOfNode(const OperatorNode& node, absl::Time now, std::vector<std::string>* warnings) {
  const std::string name = "node " + node.node_id;
  if (StateOf(node, now) == "GONE") {
    warnings->push_back(name + " is gone: its lease ended " +
                        Rounded(absl::Floor(now - node.lease_until, absl::Seconds(1))) +
                        " ago. The others take its shards; start it again when they can bear it");
    return;
  }
  if (node.draining) {
    warnings->push_back(name + " is draining" +
                        (node.shards > 0
                             ? ", and still has " + std::to_string(node.shards) + " shards"
                             : ", and has given its shards away: it can be stopped") +
                        "; to use it again: tidemark cluster drain " + node.node_id + " --undo");
  }
  if (node.clock_offset.has_value() && absl::AbsDuration(*node.clock_offset) > absl::Seconds(1)) {
    warnings->push_back("the clock of " + name + " is " + Rounded(*node.clock_offset) +
                        (*node.clock_offset > absl::ZeroDuration() ? " behind" : " ahead of") +
                        " the database's: nothing fires by it, but the times in its log are "
                        "wrong; look at its NTP (timedatectl)");
  }
  if (node.lag.has_value() && *node.lag > absl::Seconds(1)) {
    warnings->push_back("the loop of " + name + " comes " + Rounded(*node.lag) +
                        " late to its events: it has more to do than it can");
  }
}

void WarnOfVersions(const std::vector<const OperatorNode*>& alive,
                    std::vector<std::string>* warnings) {
  std::map<std::string, std::vector<std::string>> nodes_by_version;
  for (const OperatorNode* node : alive) nodes_by_version[node->version].push_back(node->node_id);
  if (nodes_by_version.size() < 2) return;
  std::vector<std::string> parts;
  parts.reserve(nodes_by_version.size());
  for (const auto& [version, nodes] : nodes_by_version) {
    parts.push_back(version + " on " + Join(nodes, ", "));
  }
  warnings->push_back("the nodes run different versions (" + Join(parts, "; ") +
                      "): finish the upgrade");
}

}  // namespace

std::string StateOf(const OperatorNode& node, absl::Time now) {
  if (node.fenced) return "FENCED";
  if (node.lease_until <= now) return "GONE";
  return node.draining ? "DRAINING" : "UP";
}

std::vector<std::string> ClusterWarnings(const ClusterRows& cluster) {
  std::vector<std::string> warnings;
  if (cluster.unowned_shards > 0) {
    warnings.push_back(std::to_string(cluster.unowned_shards) +
                       " shards have no owner now: their jobs do not fire.");
  }
  std::vector<const OperatorNode*> alive;
  int takers = 0;
  for (const OperatorNode& node : cluster.nodes) {
    const std::string state = StateOf(node, cluster.now);
    if (state == "UP" || state == "DRAINING") alive.push_back(&node);
    if (state == "UP") ++takers;
    WarnOfNode(node, cluster.now, &warnings);
  }
  // One that was never more than one is as its operators want it.
  if (takers == 1 && cluster.nodes.size() > 1) {
    warnings.emplace_back("only one node takes shards: when it dies nothing is scheduled");
  }
  WarnOfVersions(alive, &warnings);
  return warnings;
}

absl::Status OperatorCluster::Status(const v1::ClusterStatusRequest&,
                                     v1::ClusterStatusResponse* response) {
  TM_ASSIGN_OR_RETURN(const ClusterRows cluster, store_.Cluster());
  for (const OperatorNode& node : cluster.nodes) {
    NodeToProto(node, cluster.now, response->add_nodes());
  }
  response->set_shards(cluster.shards);
  response->set_unowned_shards(cluster.unowned_shards);
  *response->mutable_database_time() = ToProto(cluster.now);
  response->set_schema_version(cluster.schema_version);
  response->set_jobs(cluster.jobs);
  response->set_jobs_in_error(cluster.jobs_in_error);
  response->set_live_runs(cluster.live_runs);
  response->set_open_alerts(cluster.open_alerts);
  for (std::string& warning : ClusterWarnings(cluster)) response->add_warnings(std::move(warning));
  if (desk_ != nullptr && channels_ != nullptr) {
    TM_ASSIGN_OR_RETURN(const std::vector<std::string> warnings, AlertWarnings(*desk_, *channels_));
    for (const std::string& warning : warnings) response->add_warnings(warning);
  }
  return absl::OkStatus();
}

absl::Status OperatorCluster::Drain(const v1::DrainNodeRequest& request,
                                    v1::OrderResponse* response) {
  TM_RETURN_IF_ERROR(CheckReason(request.reason()));
  const std::string& id = request.node_id();
  if (const std::string problem = NameProblem(id); !problem.empty()) {
    return absl::InvalidArgumentError(ToAbsl("node_id " + problem));
  }
  TM_ASSIGN_OR_RETURN(const bool changed,
                      store_.DrainNode({id, request.undo(), request.actor(), request.reason()}));
  const std::string node = "node '" + id + "' ";
  if (!changed) {
    response->set_message(node + (request.undo() ? "is not drained" : "is drained already"));
  } else if (request.undo()) {
    response->set_message(node + "takes shards again");
  } else {
    response->set_message(node +
                          "gives its shards to the others and takes none until it is "
                          "started anew, or --undo");
  }
  return absl::OkStatus();
}

}  // namespace tidemark
