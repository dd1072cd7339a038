// A lock in Redis around a handler, against triggers from outside the scheduler: the same program
// started by hand or by another cron. The scheduler itself never needs it; it gives a date to one
// run at a time with or without Redis.
//
//   #include <tidemark/redis_lock.h>
//
//   tidemark::RedisLock lock({.redis = "127.0.0.1:6379", .holder = "recon-1"});
//   executor.Handle("recon", {.interruptible = true, .guard = lock.Guard({})}, Reconcile);
//
// What it protects against: two programs that both take the lock, while Redis is up and neither is
// paused. What it cannot: a process that is suspended for longer than the ttl goes on for a moment
// when it wakes up, before it sees that its lock is gone; a Redis that fails over to a replica, or
// restarts without its data, forgets locks that were given. Work must be idempotent, or write under
// the fencing token (Context::fencing_token): that is the ground, the lock is comfort above it.
#ifndef TIDEMARK_REDIS_LOCK_H_
#define TIDEMARK_REDIS_LOCK_H_

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "tidemark/executor.h"

namespace tidemark {

namespace lock {
class LockDriver;  // internal
}

struct RedisLockOptions {
  // "host:port", "[::1]:6379",
  // "redis://[[user]:password@]host[:port][/db][?connect_timeout=1s&timeout=1s]" or
  // "unix:[//[user]:password@]/path/of/socket[?db=0&timeout=1s]", with %-escapes in user and
  // password. Both timeouts are 1 s by default; together they bound how long Acquire waits. User
  // and password never appear in a log or an error.
  std::string redis = "127.0.0.1:6379";
  // Who holds, for people who look at the key: the executor_id. It is the beginning of the key's
  // value; the rest is random. At most 64 bytes.
  std::string holder = {};
  // As ExecutorOptions::log: called from the lock's threads and from those that acquire.
  std::function<void(LogSeverity, std::string_view line)> log = {};
};

// A connection to one Redis with a watchdog for all locks that are taken through it. Two threads,
// started by the first Acquire. Thread-safe. Copies share both. The handlers of one process should
// share one object.
class RedisLock {
 public:
  enum class Verdict {
    kHeld,
    kTaken,        // the key is there with another's value
    kUnavailable,  // Redis could not be reached, did not answer in time, or said an error
    kStopped,      // `stop` was requested first
  };
  enum class Released {
    kReleased,
    kNotOwner,  // the key was gone or another's; it was left as it is
    kUnknown,   // no answer in time; tried again in the background until the ttl is over
  };

  // A lock that was taken; released when destroyed. While held it is renewed every ttl/3. It counts
  // as lost as soon as a renewal finds another value or none, and otherwise 4/5 of a ttl after the
  // last renewal that succeeded was sent, by this process's own monotonic clock: that is before the
  // key can be anyone else's. Lost is final. Thread-safe.
  class Held {
   public:
    Held(std::shared_ptr<lock::LockDriver> driver, uint64_t id, std::string key, std::string token);
    ~Held();
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    const std::string& key() const { return key_; }
    // The key's value: "<holder>/<16 hex digits of this process>/<32 hex digits>".
    const std::string& token() const { return token_; }
    bool lost() const;
    // Deletes the key if it is still ours; waits for the answer (within the timeouts). After it,
    // on_lost neither runs nor will. Further calls return the first one's answer.
    Released Release();

   private:
    const std::shared_ptr<lock::LockDriver> driver_;
    const uint64_t id_;
    const std::string key_;
    const std::string token_;
  };

  struct Attempt {
    Verdict verdict = Verdict::kUnavailable;
    std::string message;         // why not, for people; empty when held
    std::unique_ptr<Held> held;  // null unless held
  };

  struct GuardOptions {
    // 100 ms … 24 h. A handler that is cancelled has ttl/5 left to end before another may hold.
    std::chrono::milliseconds ttl = std::chrono::seconds(30);
    // What a run does whose lock cannot be asked for because Redis is unreachable. kFailOpen: it
    // runs without the lock; a warning goes to the log and to the run's log. kFailClosed: it goes
    // back to the scheduler without having consumed an attempt.
    enum class OnUnavailable { kFailOpen, kFailClosed };
    OnUnavailable on_unavailable = OnUnavailable::kFailOpen;
  };

  // What is wrong with the options, "" when nothing is. Does not connect.
  static std::string Problem(const RedisLockOptions& options);
  static std::string Problem(const GuardOptions& options);
  // Bad options make every Acquire kUnavailable: ask Problem() first. Does not connect yet.
  explicit RedisLock(RedisLockOptions options);
  ~RedisLock();
  RedisLock(const RedisLock&);
  RedisLock& operator=(const RedisLock&);

  // Tries once, without waiting for a lock that is taken. `on_lost` is called at most once, from
  // the watchdog's thread, and must return soon.
  Attempt Acquire(const std::string& key, std::chrono::milliseconds ttl,
                  std::function<void(const std::string& reason)> on_lost = {},
                  std::stop_token stop = {});

  // For HandlerOptions::guard: holds KeyOf(run) around the handler. A lost lock cancels the run's
  // context; the run ends as failed, to be retried. A taken one sends the run back to the scheduler
  // without having consumed an attempt.
  GuardFunction Guard(GuardOptions options);

  // "job:<job>:<biz_date>"; of interval jobs "job:<job>:<fire time, RFC 3339, UTC>".
  static std::string KeyOf(const Context& run);

 private:
  std::string problem_;
  std::shared_ptr<lock::LockDriver> driver_;  // null when the options are bad
};

}  // namespace tidemark

#endif  // TIDEMARK_REDIS_LOCK_H_
