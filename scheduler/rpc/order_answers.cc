#include "scheduler/rpc/order_answers.h"

namespace tidemark {

std::string Field(const CommandState& state, const char* name) {
  const auto found = state.result.find(name);
  return found == state.result.end() ? "" : found->second;
}

void FillOrder(const CommandState* state, v1::OrderResponse* response) {
  response->set_queued(state == nullptr);
  response->set_message(state == nullptr ? kQueued : Field(*state, "message"));
}

}  // namespace tidemark
