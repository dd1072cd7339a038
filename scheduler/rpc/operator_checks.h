// The daily check for operators: looked at now, and the verdicts that were given.
#ifndef TIDEMARK_SCHEDULER_RPC_OPERATOR_CHECKS_H_
#define TIDEMARK_SCHEDULER_RPC_OPERATOR_CHECKS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/core/expected.h"
#include "scheduler/engine/check_desk.h"
#include "scheduler/rpc/operator_job.h"
#include "tidemark/v1/check.pb.h"

namespace tidemark {

// Checks requests and answers them; blocks for the database. Thread-safe, without state. What it is
// given must outlive it.
class OperatorChecks {
 public:
  // `ns`: the verdicts of other namespaces do not exist; "": all do. `store` shows the same.
  OperatorChecks(OperatorPort& store, CheckDesk& desk, std::string ns)
      : store_(store), desk_(desk), ns_(std::move(ns)) {}

  absl::Status Run(const v1::RunCheckRequest& request, v1::RunCheckResponse* response);
  absl::Status List(const v1::ListVerdictsRequest& request, v1::ListVerdictsResponse* response);

 private:
  absl::StatusOr<std::vector<LoadedJob>> Page(const v1::RunCheckRequest& request, bool* more);
  // `day`: as in the request.
  absl::Status Judge(const LoadedJob& job, std::optional<absl::CivilDay> day,
                     v1::RunCheckResponse* response);

  OperatorPort& store_;
  CheckDesk& desk_;
  const std::string ns_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_OPERATOR_CHECKS_H_
