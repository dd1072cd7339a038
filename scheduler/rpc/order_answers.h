// What the operator service's methods share: who orders, and answers made of an order's state.
#ifndef TIDEMARK_SCHEDULER_RPC_ORDER_ANSWERS_H_
#define TIDEMARK_SCHEDULER_RPC_ORDER_ANSWERS_H_

#include <string>

#include "common/text.h"
#include "scheduler/engine/operator_rows.h"
#include "tidemark/v1/operator.pb.h"

namespace tidemark {

inline constexpr size_t kMaxActor = 128;

inline constexpr const char* kQueued =
    "recorded; the owner of the job has not answered yet and will still carry it out (tidemark "
    "cluster status shows the owners)";

// Who orders it; an empty or unusable name is said to be unknown.
template <typename Request>
Request WithActor(const Request& request) {
  Request copy = request;
  copy.set_actor(CleanText(request.actor().empty() ? "unknown" : request.actor(), kMaxActor));
  return copy;
}

// A field of an order's result; "" when it is not there.
std::string Field(const CommandState& state, const char* name);

// `state`: null when the order is recorded and not carried out yet.
void FillOrder(const CommandState* state, v1::OrderResponse* response);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_ORDER_ANSWERS_H_
