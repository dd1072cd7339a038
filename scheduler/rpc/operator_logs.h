// Logs of runs, for operators.
#ifndef TIDEMARK_SCHEDULER_RPC_OPERATOR_LOGS_H_
#define TIDEMARK_SCHEDULER_RPC_OPERATOR_LOGS_H_

#include "absl/status/status.h"
#include "scheduler/engine/operator_port.h"
#include "tidemark/v1/operator.pb.h"

namespace tidemark {

// Answers requests; blocks for the database. Thread-safe, without state. The store must outlive it.
class OperatorLogs {
 public:
  explicit OperatorLogs(OperatorPort& store) : store_(store) {}

  absl::Status Read(const v1::ReadRunLogRequest& request, v1::ReadRunLogResponse* response);

 private:
  OperatorPort& store_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_OPERATOR_LOGS_H_
