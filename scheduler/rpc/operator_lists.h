// Listings for operators: runs, ledger, executors, alerts, cluster.
#ifndef TIDEMARK_SCHEDULER_RPC_OPERATOR_LISTS_H_
#define TIDEMARK_SCHEDULER_RPC_OPERATOR_LISTS_H_

#include "absl/status/status.h"
#include "scheduler/engine/alert_delivery.h"
#include "scheduler/engine/alert_desk.h"
#include "scheduler/engine/operator_port.h"
#include "scheduler/rpc/operator_job.h"
#include "tidemark/v1/operator.pb.h"

namespace tidemark {

// Answers requests; blocks for the database. Thread-safe, without state. The store must outlive it.
class OperatorLists {
 public:
  // With `desk` and `channels` the cluster's status has warnings about the channels.
  explicit OperatorLists(OperatorPort& store, AlertDesk* desk = nullptr,
                         AlertChannels* channels = nullptr)
      : store_(store), desk_(desk), channels_(channels) {}

  absl::Status Runs(const v1::ListRunsRequest& request, v1::ListRunsResponse* response);
  absl::Status Run(const v1::GetRunRequest& request, v1::Run* response);
  absl::Status Watermarks(const v1::ListWatermarksRequest& request,
                          v1::ListWatermarksResponse* response);
  absl::Status Executors(const v1::ListExecutorsRequest& request,
                         v1::ListExecutorsResponse* response);
  absl::Status Alerts(const v1::ListAlertsRequest& request, v1::ListAlertsResponse* response);
  absl::Status Cluster(const v1::ClusterStatusRequest& request,
                       v1::ClusterStatusResponse* response);

 private:
  absl::StatusOr<RunFilter> ReadFilter(const v1::ListRunsRequest& request);

  OperatorPort& store_;
  AlertDesk* const desk_;
  AlertChannels* const channels_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_OPERATOR_LISTS_H_
