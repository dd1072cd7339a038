// Runs the lock core against a Redis: one watchdog for all locks of a RedisLock.
#ifndef TIDEMARK_EXECUTOR_LOCK_LOCK_DRIVER_H_
#define TIDEMARK_EXECUTOR_LOCK_LOCK_DRIVER_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "common/clock.h"
#include "common/id.h"
#include "executor/lock/lock_core.h"
#include "executor/lock/redis_address.h"
#include "executor/src/exec_log.h"

namespace tidemark::lock {

// Two threads: the talker carries out commands and may hang in a connect or a name look-up; the
// watchdog does not, so a lock is lost in time whatever the talker waits for. They start with the
// first Acquire, with all signals blocked. Thread-safe.
class LockDriver {
 public:
  using OnLost = std::function<void(const std::string& reason)>;

  // `clock` and `random` must outlive it; both must be thread-safe.
  LockDriver(RedisAddress address, const std::string& holder, exec::ExecLog log, const Clock& clock,
             Random& random);
  // Carries out releases that are waiting, if Redis answers.
  ~LockDriver();
  LockDriver(const LockDriver&) = delete;
  LockDriver& operator=(const LockDriver&) = delete;

  struct Acquired {
    LockNotice::Kind kind = LockNotice::Kind::kUnavailable;  // or kHeld, kTaken
    bool stopped = false;                                    // `stop` came first
    std::string detail;
    LockId lock = 0;
    std::string token;
  };
  Acquired Acquire(const std::string& key, absl::Duration ttl, OnLost on_lost,
                   std::stop_token stop);
  // kReleased, kNotOwner or kReleaseUnknown; the same on every call.
  LockNotice::Kind Release(LockId id);
  bool Lost(LockId id) const;
  // After Release: nobody will ask about this lock any more.
  void Forget(LockId id);
  // Nothing is held and no release is left to be done.
  bool Idle() const;

  const exec::ExecLog& log() const { return log_; }
  std::string AddressText() const { return address_.Text(); }

 private:
  // What the core has said about a lock.
  struct Told {
    std::string key;
    OnLost on_lost;
    bool answered = false;  // the pending acquisition or release
    LockNotice answer;
    bool lost = false;
    bool releasing = false;
  };

  // All with mutex_ held.
  void Start();
  void Pump();
  void Take(LockNotice notice);

  void Watch();
  void Tell(const LockNotice& notice, const std::string& key, const OnLost& on_lost);
  void Talk();

  const RedisAddress address_;
  const exec::ExecLog log_;
  const Clock& clock_;

  mutable std::mutex mutex_;
  std::condition_variable commands_changed_;  // the talker's
  std::condition_variable watch_changed_;     // the watchdog's
  std::condition_variable answered_;          // of callers
  // Guarded by mutex_.
  LockCore core_;
  std::deque<LockCommand> commands_;
  std::deque<LockNotice> to_tell_;
  std::map<LockId, Told> told_;
  LockId telling_ = 0;  // whose on_lost runs now
  bool started_ = false;
  bool stopping_ = false;
  std::thread watchdog_;
  std::thread talker_;
};

}  // namespace tidemark::lock

#endif  // TIDEMARK_EXECUTOR_LOCK_LOCK_DRIVER_H_
