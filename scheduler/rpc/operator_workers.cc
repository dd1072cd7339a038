#include "scheduler/rpc/operator_workers.h"

#include <string>
#include <utility>

#include "common/text.h"

namespace tidemark {

OperatorWorkers::OperatorWorkers(int threads, size_t queue) : queue_limit_(queue) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Loop(); });
}

OperatorWorkers::~OperatorWorkers() { Stop(); }

absl::Status OperatorWorkers::Run(std::function<void()> work) {
  absl::MutexLock lock(&mutex_);
  if (stopping_) {
    return absl::UnavailableError("the scheduler is stopping; nothing was recorded, try again");
  }
  if (queue_.size() >= queue_limit_) {
    return absl::ResourceExhaustedError(
        ToAbsl(std::to_string(queue_limit_) +
               " requests wait for the database already, which is the limit "
               "(max-waiting-requests); nothing was recorded, try again"));
  }
  queue_.push_back(std::move(work));
  return absl::OkStatus();
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
