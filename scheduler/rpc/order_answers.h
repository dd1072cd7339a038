// What the operator service's methods share: answers made of an order's state.
#ifndef TIDEMARK_SCHEDULER_RPC_ORDER_ANSWERS_H_
#define TIDEMARK_SCHEDULER_RPC_ORDER_ANSWERS_H_

#include <string>

#include "scheduler/engine/operator_rows.h"
#include "tidemark/v1/operator.pb.h"

namespace tidemark {

inline constexpr const char* kQueued =
    "recorded; the owner of the job has not answered yet and will still carry it out (tidemark "
    "cluster status shows the owners)";

// A field of an order's result; "" when it is not there.
std::string Field(const CommandState& state, const char* name);

// `state`: null when the order is recorded and not carried out yet.
void FillOrder(const CommandState* state, v1::OrderResponse* response);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_ORDER_ANSWERS_H_
