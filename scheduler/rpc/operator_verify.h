// job verify: the oracle asked about stored jobs.
#ifndef TIDEMARK_SCHEDULER_RPC_OPERATOR_VERIFY_H_
#define TIDEMARK_SCHEDULER_RPC_OPERATOR_VERIFY_H_

#include <vector>

#include "absl/status/status.h"
#include "scheduler/engine/operator_port.h"
#include "scheduler/rpc/operator_job.h"
#include "scheduler/verify/verify.h"
#include "tidemark/v1/operator.pb.h"

namespace tidemark {

// Answers requests; blocks for the database. Thread-safe, without state. The store must outlive it.
class OperatorVerify {
 public:
  explicit OperatorVerify(OperatorPort& store) : store_(store) {}

  absl::Status Jobs(const v1::VerifyJobsRequest& request, v1::VerifyJobsResponse* response);

 private:
  absl::StatusOr<std::vector<LoadedJob>> Page(const v1::VerifyJobsRequest& request, bool* more);
  absl::Status Job(const LoadedJob& job, const verify::Range& asked, absl::Time now,
                   v1::VerifyJobsResponse* response);

  OperatorPort& store_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_OPERATOR_VERIFY_H_
