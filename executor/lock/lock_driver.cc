#include "executor/lock/lock_driver.h"

#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "executor/lock/redis_connection.h"

namespace tidemark::lock {
namespace {

// A condition variable's clock stands still while the machine is suspended; the locks' does not.
constexpr absl::Duration kLongestNap = absl::Seconds(1);

bool EndsWait(LockNotice::Kind kind) {
  switch (kind) {
    case LockNotice::Kind::kLost:
    case LockNotice::Kind::kRenewalsFail:
    case LockNotice::Kind::kRenewalsResume:
      return false;
    default:
      return true;
  }
}

}  // namespace

LockDriver::LockDriver(RedisAddress address, const std::string& holder, exec::ExecLog log,
                       const Clock& clock, Random& random)
    : address_(std::move(address)),
      log_(std::move(log)),
      clock_(clock),
      core_([head = holder + "/" + RandomHex(8, random) + "/",
             &random] { return head + RandomHex(16, random); },
            address_.connect_timeout + address_.timeout) {}

LockDriver::~LockDriver() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  commands_changed_.notify_all();
  watch_changed_.notify_all();
  if (watchdog_.joinable()) watchdog_.join();
  if (talker_.joinable()) talker_.join();
}

void LockDriver::Start() {
  if (started_) return;
  started_ = true;
  // Signals are the program's; and hiredis's writes must not raise SIGPIPE.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  watchdog_ = std::thread([this] { Watch(); });
  talker_ = std::thread([this] { Talk(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void LockDriver::Take(LockNotice notice) {
  const auto it = told_.find(notice.lock);
  if (it == told_.end()) return;
  if (EndsWait(notice.kind)) {
    it->second.answer = std::move(notice);
    it->second.answered = true;
    answered_.notify_all();
    return;
  }
  if (notice.kind == LockNotice::Kind::kLost) it->second.lost = true;
  to_tell_.push_back(std::move(notice));
}

void LockDriver::Pump() {
  for (LockNotice& notice : core_.TakeNotices()) Take(std::move(notice));
  std::vector<LockCommand> commands = core_.TakeCommands();
  if (!commands.empty()) commands_changed_.notify_one();
  std::move(commands.begin(), commands.end(), std::back_inserter(commands_));
  watch_changed_.notify_one();
}

LockDriver::Acquired LockDriver::Acquire(const std::string& key, absl::Duration ttl, OnLost on_lost,
                                         std::stop_token stop) {
  Acquired out;
  std::unique_lock lock(mutex_);
  Start();
  out.lock = core_.Acquire(clock_.Monotonic(), key, ttl);
  Told& told = told_[out.lock];
  told.key = key;
  told.on_lost = std::move(on_lost);
  Pump();
  lock.unlock();
  {
    const std::stop_callback wake(stop, [this] {
      const std::lock_guard hold(mutex_);
      answered_.notify_all();
    });
    lock.lock();
    answered_.wait(lock, [&] { return told.answered || stop.stop_requested(); });
    out.stopped = !told.answered || stop.stop_requested();
    lock.unlock();
  }
  lock.lock();
  out.kind = told.answered ? told.answer.kind : LockNotice::Kind::kUnavailable;
  out.detail = told.answer.detail;
  out.token = core_.TokenOf(out.lock);
  told.answered = false;
  if (out.stopped || out.kind != LockNotice::Kind::kHeld) {
    if (out.stopped) core_.Abandon(clock_.Monotonic(), out.lock);
    told_.erase(out.lock);
    Pump();
  }
  return out;
}

LockNotice::Kind LockDriver::Release(LockId id) {
  std::unique_lock lock(mutex_);
  Told& told = told_.at(id);
  if (!std::exchange(told.releasing, true)) {
    core_.Release(clock_.Monotonic(), id);
    Pump();
  }
  answered_.wait(lock, [&] { return told.answered; });
  // The callback may use what its owner destroys next. From within it, there is nothing to wait
  // for.
  if (std::this_thread::get_id() != watchdog_.get_id()) {
    answered_.wait(lock, [&] { return telling_ != id; });
  }
  return told.answer.kind;
}

bool LockDriver::Lost(LockId id) const {
  const std::lock_guard lock(mutex_);
  return told_.at(id).lost;
}

void LockDriver::Forget(LockId id) {
  const std::lock_guard lock(mutex_);
  told_.erase(id);
}

bool LockDriver::Idle() const {
  const std::lock_guard lock(mutex_);
  return core_.Idle();
}

void LockDriver::Watch() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    core_.Tick(clock_.Monotonic());
    Pump();
    if (to_tell_.empty()) {
      const absl::Duration wake = core_.NextWake();
      if (wake == absl::InfiniteDuration()) {
        watch_changed_.wait(lock);
      } else {
        const absl::Duration nap = std::min(wake - clock_.Monotonic(), kLongestNap);
        watch_changed_.wait_for(lock, absl::ToChronoMicroseconds(nap + absl::Microseconds(1)));
      }
      continue;
    }
    const LockNotice notice = std::move(to_tell_.front());
    to_tell_.pop_front();
    const auto it = told_.find(notice.lock);
    if (it == told_.end() || it->second.releasing) continue;
    const std::string key = it->second.key;
    const OnLost on_lost = it->second.on_lost;
    telling_ = notice.lock;
    lock.unlock();
    Tell(notice, key, on_lost);
    lock.lock();
    telling_ = 0;
    answered_.notify_all();
  }
}

void LockDriver::Tell(const LockNotice& notice, const std::string& key, const OnLost& on_lost) {
  switch (notice.kind) {
    case LockNotice::Kind::kRenewalsFail:
      log_.Warn("a Redis lock cannot be renewed; its run will be stopped before the lock ends",
                {{"key", key}, {"redis", AddressText()}, {"problem", notice.detail}});
      break;
    case LockNotice::Kind::kRenewalsResume:
      log_.Info("a Redis lock is renewed again", {{"key", key}, {"redis", AddressText()}});
      break;
    case LockNotice::Kind::kLost:
      log_.Warn("a Redis lock is lost",
                {{"key", key}, {"redis", AddressText()}, {"reason", notice.detail}});
      if (on_lost) on_lost(notice.detail);
      break;
    default:
      break;
  }
}

void LockDriver::Talk() {
  RedisConnection connection(address_, clock_);
  std::unique_lock lock(mutex_);
  while (true) {
    commands_changed_.wait(lock, [this] { return stopping_ || !commands_.empty(); });
    if (commands_.empty()) return;
    const LockCommand command = std::move(commands_.front());
    commands_.pop_front();
    if (stopping_ && command.kind != LockCommand::Kind::kRelease) continue;
    lock.unlock();
    const LockReply reply = connection.Run(command);
    lock.lock();
    core_.OnReply(clock_.Monotonic(), command, reply);
    // No more tries in the background: what could not be released now ends with its ttl.
    if (!stopping_ || reply.kind == LockReply::Kind::kDone) Pump();
  }
}

}  // namespace tidemark::lock
