#include "tidemark/redis_lock.h"

#include <memory>
#include <utility>

#include "absl/time/time.h"
#include "common/clock.h"
#include "common/id.h"
#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"
#include "executor/lock/lock_driver.h"
#include "executor/lock/redis_address.h"
#include "executor/src/exec_log.h"

namespace tidemark {
namespace {

using lock::LockDriver;
using lock::LockNotice;

constexpr std::chrono::milliseconds kLeastTtl(100);
constexpr std::chrono::hours kMostTtl(24);
constexpr size_t kMaxHolder = 64;
constexpr char kBadTtl[] = "the lock's ttl must be from 100ms to 24h";

bool IsTtl(std::chrono::milliseconds ttl) { return ttl >= kLeastTtl && ttl <= kMostTtl; }

// Around one run of a handler.
class LockGuard : public RunGuard {
 public:
  explicit LockGuard(std::unique_ptr<RedisLock::Held> held) : held_(std::move(held)) {}

 private:
  const std::unique_ptr<RedisLock::Held> held_;  // null: runs without the lock
};

std::unique_ptr<RunGuard> RunWithout(Context& run, const exec::ExecLog& log, const std::string& key,
                                     const std::string& problem) {
  log.Warn("a run goes on WITHOUT its Redis lock (on_unavailable: fail_open)",
           {{"key", key}, {"run_id", run.run_id()}, {"problem", problem}});
  run.Log("WARNING: this run goes on without its Redis lock " + EscapeControl(key) + ": " +
          problem + ". Nothing keeps a program outside the scheduler from working on it too.");
  return std::make_unique<LockGuard>(nullptr);
}

// `stop` is requested when the run is cancelled.
std::stop_source StopOf(Context& run) {
  std::stop_source source;
  run.OnCancel([source]() mutable { source.request_stop(); });
  return source;
}

}  // namespace

RedisLock::Held::Held(std::shared_ptr<LockDriver> driver, uint64_t id, std::string key,
                      std::string token)
    : driver_(std::move(driver)), id_(id), key_(std::move(key)), token_(std::move(token)) {}

RedisLock::Held::~Held() {
  Release();
  driver_->Forget(id_);
}

bool RedisLock::Held::lost() const { return driver_->Lost(id_); }

RedisLock::Released RedisLock::Held::Release() {
  switch (driver_->Release(id_)) {
    case LockNotice::Kind::kReleased:
      return Released::kReleased;
    case LockNotice::Kind::kNotOwner:
      return Released::kNotOwner;
    default:
      return Released::kUnknown;
  }
}

std::string RedisLock::Problem(const RedisLockOptions& options) {
  const auto address = lock::ParseRedisAddress(options.redis);
  if (!address.ok()) return Message(address.status());
  if (options.holder.size() > kMaxHolder) return "the lock's holder is longer than 64 bytes";
  return "";
}

std::string RedisLock::Problem(const GuardOptions& options) {
  return IsTtl(options.ttl) ? "" : kBadTtl;
}

RedisLock::RedisLock(RedisLockOptions options) : problem_(Problem(options)) {
  if (!problem_.empty()) return;
  driver_ = std::make_shared<LockDriver>(*lock::ParseRedisAddress(options.redis), options.holder,
                                         exec::ExecLog(std::move(options.log)), SystemClock(),
                                         SystemRandom());
}

RedisLock::~RedisLock() = default;
RedisLock::RedisLock(const RedisLock&) = default;
RedisLock& RedisLock::operator=(const RedisLock&) = default;

RedisLock::Attempt RedisLock::Acquire(const std::string& key, std::chrono::milliseconds ttl,
                                      std::function<void(const std::string& reason)> on_lost,
                                      std::stop_token stop) {
  if (driver_ == nullptr) return {Verdict::kUnavailable, problem_, nullptr};
  if (!IsTtl(ttl)) return {Verdict::kUnavailable, kBadTtl, nullptr};
  const auto got =
      driver_->Acquire(key, absl::FromChrono(ttl), std::move(on_lost), std::move(stop));
  if (got.stopped) return {Verdict::kStopped, "cancelled while it asked for its lock", nullptr};
  switch (got.kind) {
    case LockNotice::Kind::kHeld:
      return {Verdict::kHeld, "", std::make_unique<Held>(driver_, got.lock, key, got.token)};
    case LockNotice::Kind::kTaken:
      return {Verdict::kTaken,
              "Redis lock " + EscapeControl(key) + " is held by " +
                  (got.detail.empty() ? "another" : got.detail),
              nullptr};
    default:
      return {Verdict::kUnavailable, "Redis " + driver_->AddressText() + ": " + got.detail,
              nullptr};
  }
}

std::string RedisLock::KeyOf(const Context& run) {
  return "job:" + run.job() + ":" +
         (run.biz_date().empty() ? FormatInstant(absl::FromChrono(run.fire_time()))
                                 : run.biz_date());
}

GuardFunction RedisLock::Guard(GuardOptions options) {
  return [lock = *this, options](Context& run,
                                 std::string* refused) mutable -> std::unique_ptr<RunGuard> {
    const std::string key = KeyOf(run);
    const std::stop_source stop = StopOf(run);
    Attempt attempt = lock.Acquire(
        key, options.ttl,
        [&run, key](const std::string& reason) {
          const std::string text = "Redis lock " + EscapeControl(key) + " lost: " + reason;
          run.Log(text);
          run.Cancel(text);
        },
        stop.get_token());
    switch (attempt.verdict) {
      case Verdict::kHeld:
        return std::make_unique<LockGuard>(std::move(attempt.held));
      case Verdict::kStopped:  // the caller sees that the run is cancelled
        return std::make_unique<LockGuard>(nullptr);
      case Verdict::kUnavailable:
        if (lock.driver_ != nullptr && IsTtl(options.ttl) &&
            options.on_unavailable == GuardOptions::OnUnavailable::kFailOpen) {
          return RunWithout(run, lock.driver_->log(), key, attempt.message);
        }
        break;
      case Verdict::kTaken:
        break;
    }
    *refused = attempt.message;
    return nullptr;
  };
}

}  // namespace tidemark
