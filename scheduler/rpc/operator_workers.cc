#include "scheduler/rpc/operator_workers.h"

#include <utility>

namespace tidemark {

OperatorWorkers::OperatorWorkers(int threads, size_t queue) : queue_limit_(queue) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Loop(); });
}

OperatorWorkers::~OperatorWorkers() { Stop(); }

bool OperatorWorkers::Run(std::function<void()> work) {
  absl::MutexLock lock(&mutex_);
  if (stopping_ || queue_.size() >= queue_limit_) return false;
  queue_.push_back(std::move(work));
  return true;
}

void OperatorWorkers::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void OperatorWorkers::Loop() {
  const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stopping_ || !queue_.empty();
  };
  for (;;) {
    std::function<void()> work;
    {
      absl::MutexLock lock(&mutex_, absl::Condition(&ready));
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    work();
  }
}

}  // namespace tidemark
