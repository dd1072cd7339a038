// Errors and actors as all services of operators have them.
#ifndef TIDEMARK_SCHEDULER_RPC_RPC_STATUS_H_
#define TIDEMARK_SCHEDULER_RPC_RPC_STATUS_H_

#include "absl/status/status.h"
#include "common/text.h"
#include "grpcpp/grpcpp.h"

namespace tidemark {

// Codes of the store that mean nothing to an operator become the ones that operator.proto lists.
grpc::Status ToGrpc(const absl::Status& status);

inline constexpr size_t kMaxActor = 128;

// Who orders it; an empty or unusable name is said to be unknown.
template <typename Request>
Request WithActor(const Request& request) {
  Request copy = request;
  copy.set_actor(CleanText(request.actor().empty() ? "unknown" : request.actor(), kMaxActor));
  return copy;
}

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_RPC_STATUS_H_
