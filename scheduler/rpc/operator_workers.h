// Threads for requests that wait for the database, so that gRPC's own never do.
#ifndef TIDEMARK_SCHEDULER_RPC_OPERATOR_WORKERS_H_
#define TIDEMARK_SCHEDULER_RPC_OPERATOR_WORKERS_H_

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

namespace tidemark {

// A fixed number of threads and a bounded queue. Thread-safe; owns its threads.
class OperatorWorkers {
 public:
  OperatorWorkers(int threads, size_t queue);
  ~OperatorWorkers();  // stops
  OperatorWorkers(const OperatorWorkers&) = delete;
  OperatorWorkers& operator=(const OperatorWorkers&) = delete;

  // When it is not OK `work` will not run. RESOURCE_EXHAUSTED: the queue is full; UNAVAILABLE: Stop
  // was called.
  absl::Status Run(std::function<void()> work);
  // Finishes what is queued, then ends the threads. Not from a worker.
  void Stop();

 private:
  void Loop();

  const size_t queue_limit_;
  absl::Mutex mutex_;
  std::deque<std::function<void()>> queue_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_OPERATOR_WORKERS_H_
