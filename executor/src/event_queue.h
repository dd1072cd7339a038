// Events from other threads to the executor's loop.
#ifndef TIDEMARK_EXECUTOR_SRC_EVENT_QUEUE_H_
#define TIDEMARK_EXECUTOR_SRC_EVENT_QUEUE_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace tidemark::exec {

// Shared by the loop and by whoever posts, so that a late poster finds it alive. Thread-safe.
class EventQueue {
 public:
  using Event = std::function<void()>;

  // Dropped when the loop is over.
  void Post(Event event) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return;
      events_.push_back(std::move(event));
    }
    changed_.notify_one();
  }

  // Waits until there are events or `timeout` is over (none: for ever), and takes them all.
  std::vector<Event> Wait(std::optional<std::chrono::nanoseconds> timeout) {
    std::unique_lock lock(mutex_);
    const auto ready = [this] { return !events_.empty(); };
    if (timeout) {
      changed_.wait_for(lock, *timeout, ready);
    } else {
      changed_.wait(lock, ready);
    }
    return std::exchange(events_, {});
  }

  void Close() {
    std::vector<Event> dropped;
    const std::lock_guard lock(mutex_);
    closed_ = true;
    dropped.swap(events_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Event> events_;  // guarded by mutex_
  bool closed_ = false;        // guarded by mutex_
};

}  // namespace tidemark::exec

#endif  // TIDEMARK_EXECUTOR_SRC_EVENT_QUEUE_H_
