// Errors as all services of operators have them.
#ifndef TIDEMARK_SCHEDULER_RPC_RPC_STATUS_H_
#define TIDEMARK_SCHEDULER_RPC_RPC_STATUS_H_

#include "absl/status/status.h"
#include "grpcpp/grpcpp.h"

namespace tidemark {

// Codes of the store that mean nothing to an operator become the ones that operator.proto lists. A
// message of more than 2 KiB is cut; what the database says of values and statements is for the log
// alone.
grpc::Status ToGrpc(const absl::Status& status);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_RPC_STATUS_H_
