// Listings for operators: runs, ledger, executors, alerts.
#ifndef TIDEMARK_SCHEDULER_RPC_OPERATOR_LISTS_H_
#define TIDEMARK_SCHEDULER_RPC_OPERATOR_LISTS_H_

#include "absl/status/status.h"
#include "scheduler/engine/operator_port.h"
#include "scheduler/rpc/operator_job.h"
#include "tidemark/v1/operator.pb.h"

namespace tidemark {

// Answers requests; blocks for the database. Thread-safe, without state. The store must outlive it.
class OperatorLists {
 public:
  explicit OperatorLists(OperatorPort& store) : store_(store) {}

  absl::Status Runs(const v1::ListRunsRequest& request, v1::ListRunsResponse* response);
  absl::Status Run(const v1::GetRunRequest& request, v1::Run* response);
  absl::Status Watermarks(const v1::ListWatermarksRequest& request,
                          v1::ListWatermarksResponse* response);
  absl::Status Executors(const v1::ListExecutorsRequest& request,
                         v1::ListExecutorsResponse* response);
  absl::Status Alerts(const v1::ListAlertsRequest& request, v1::ListAlertsResponse* response);

 private:
  absl::StatusOr<RunFilter> ReadFilter(const v1::ListRunsRequest& request);

  OperatorPort& store_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_OPERATOR_LISTS_H_
