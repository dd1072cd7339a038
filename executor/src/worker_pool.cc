#include "executor/src/worker_pool.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

namespace tidemark::exec {

// Outlives the pool when a thread was abandoned.
struct WorkerPool::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> tasks;  // guarded by mutex
  size_t idle = 0;                          // guarded by mutex
  bool stopping = false;                    // guarded by mutex
};

WorkerPool::WorkerPool(size_t size) : size_(size), shared_(std::make_shared<Shared>()) {}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stopping = true;
  }
  shared_->changed.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::Submit(std::function<void()> task) {
  bool grow = false;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->tasks.push_back(std::move(task));
    grow = shared_->tasks.size() > shared_->idle && threads_.size() < size_;
  }
  if (grow) threads_.emplace_back([shared = shared_] { Work(shared); });
  shared_->changed.notify_one();
}

void WorkerPool::Abandon() {
  for (std::thread& thread : threads_) thread.detach();
  threads_.clear();
}

void WorkerPool::Work(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  while (true) {
    ++shared->idle;
    shared->changed.wait(lock, [&] { return shared->stopping || !shared->tasks.empty(); });
    --shared->idle;
    if (shared->tasks.empty()) return;
    const std::function<void()> task = std::move(shared->tasks.front());
    shared->tasks.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

}  // namespace tidemark::exec
