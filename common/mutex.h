// A mutex that clang's -Wthread-safety checks and ThreadSanitizer understands (Debian's absl::Mutex
// is built without the latter), and waiting by the monotonic clock, so that a step of the wall
// clock neither wakes nor delays anyone (absl's timed waits follow the wall clock).
#ifndef TIDEMARK_COMMON_MUTEX_H_
#define TIDEMARK_COMMON_MUTEX_H_

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"

namespace tidemark {

class ABSL_LOCKABLE Mutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex* mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_->Lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mutex_;
};

// Wakes one waiting thread. A call of Notify before Wait is not lost; several count as one.
// Thread-safe.
class Signal {
 public:
  void Notify() {
    const std::lock_guard<std::mutex> lock(mutex_);
    set_ = true;
    condition_.notify_one();
  }

  // True when notified, false when `timeout` was over first.
  bool Wait(absl::Duration timeout) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (timeout == absl::InfiniteDuration()) {
      condition_.wait(lock, [this] { return set_; });
    } else {
      condition_.wait_for(lock, absl::ToChronoMicroseconds(timeout), [this] { return set_; });
    }
    const bool was_set = set_;
    set_ = false;
    return was_set;
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool set_ = false;
};

}  // namespace tidemark

#endif  // TIDEMARK_COMMON_MUTEX_H_
