// Waiting for orders to be carried out, without a thread for each.
#ifndef TIDEMARK_SCHEDULER_RPC_OPERATOR_WAITER_H_
#define TIDEMARK_SCHEDULER_RPC_OPERATOR_WAITER_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "scheduler/engine/operator_port.h"

namespace tidemark {

// Looks for the ends of all orders that are waited for in one query, some times a second while
// there are any. Thread-safe; owns its thread. Store and clock must outlive it.
class OperatorWaiter {
 public:
  // With the state when the order is done; empty when it is still queued after the time, or this
  // is stopped. Called on the waiter's thread (or in Stop): must be quick.
  using Done = std::function<void(std::optional<CommandState>)>;

  OperatorWaiter(OperatorPort& store, Clock& clock);
  ~OperatorWaiter();  // stops
  OperatorWaiter(const OperatorWaiter&) = delete;
  OperatorWaiter& operator=(const OperatorWaiter&) = delete;

  void Wait(const std::string& command_id, absl::Duration timeout, Done done);
  // Orders may have been carried out by this process: looks at once.
  void Nudge();
  void Stop();

 private:
  struct Waiting {
    absl::Duration deadline;  // monotonic
    Done done;
  };

  void Loop();
  void Look();

  OperatorPort& store_;
  Clock& clock_;
  absl::Mutex mutex_;
  std::multimap<std::string, Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  bool nudged_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_OPERATOR_WAITER_H_
