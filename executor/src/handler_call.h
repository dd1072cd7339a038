// One call of a handler in a worker thread.
#ifndef TIDEMARK_EXECUTOR_SRC_HANDLER_CALL_H_
#define TIDEMARK_EXECUTOR_SRC_HANDLER_CALL_H_

#include <functional>
#include <memory>
#include <string>

#include "executor/src/run_state.h"

namespace tidemark::exec {

RunState::Info InfoOf(const v1::Trigger& trigger);

// What the loop is told; called from the worker's thread.
struct HandlerCall {
  std::function<void()> on_entered;
  std::function<void(bool locked_out, std::string message)> on_not_entered;
  std::function<void(HandlerResult)> on_finished;
};

// Takes the guard (may be empty), calls the handler and tells the loop. Does not throw.
void CallHandler(const GuardFunction& guard, const HandlerFunction& handler,
                 const std::shared_ptr<RunState>& state, const HandlerCall& call);

}  // namespace tidemark::exec

#endif  // TIDEMARK_EXECUTOR_SRC_HANDLER_CALL_H_
