#include "executor/src/worker_pool.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace tidemark::exec {

// Outlives the pool when a thread was abandoned.
struct WorkerPool::Shared {
  size_t size = 0;
  std::mutex mutex;
  std::condition_variable changed;
  // Guarded by mutex.
  std::deque<std::function<void()>> tasks;
  std::vector<std::thread> threads;
  size_t idle = 0;
  bool growing = false;  // a thread was made, and has not begun yet
  bool stopping = false;
  bool abandoned = false;
};

WorkerPool::WorkerPool(size_t size) : shared_(std::make_shared<Shared>()) { shared_->size = size; }

WorkerPool::~WorkerPool() {
  for (;;) {
    std::vector<std::thread> threads;
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->stopping = true;
      threads.swap(shared_->threads);
      shared_->size -= threads.size();
    }
    shared_->changed.notify_all();
    if (threads.empty()) return;
    for (std::thread& thread : threads) thread.join();
  }
}

void WorkerPool::Submit(std::function<void()> task) {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->tasks.push_back(std::move(task));
    Grow(shared_);
  }
  shared_->changed.notify_one();
}

void WorkerPool::Abandon() {
  const std::lock_guard lock(shared_->mutex);
  shared_->abandoned = true;
  for (std::thread& thread : shared_->threads) thread.detach();
  shared_->threads.clear();
}

// With the lock held. One thread at a time: by the time that it has begun, those that are there may
// have done with what waits.
void WorkerPool::Grow(const std::shared_ptr<Shared>& shared) {
  if (shared->tasks.empty() || shared->idle > 0 || shared->growing || shared->abandoned ||
      shared->threads.size() >= shared->size) {
    return;
  }
  shared->growing = true;
  shared->threads.emplace_back([shared] { Work(shared); });
}

void WorkerPool::Work(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  shared->growing = false;
  while (true) {
    ++shared->idle;
    shared->changed.wait(lock, [&] { return shared->stopping || !shared->tasks.empty(); });
    --shared->idle;
    if (shared->tasks.empty()) return;
    const std::function<void()> task = std::move(shared->tasks.front());
    shared->tasks.pop_front();
    Grow(shared);
    lock.unlock();
    task();
    lock.lock();
  }
}

}  // namespace tidemark::exec
