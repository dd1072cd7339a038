#include "executor/lock/lock_core.h"

#include <algorithm>
#include <utility>

#include "common/time_text.h"

namespace tidemark::lock {
namespace {

constexpr int kAcquireAttempts = 2;
constexpr absl::Duration kLeftoverInterval = absl::Seconds(1);

absl::Duration RetryInterval(absl::Duration ttl) {
  return std::clamp(ttl / 15, absl::Milliseconds(10), absl::Seconds(1));
}

}  // namespace

LockCore::LockCore(TokenSource new_token, absl::Duration timeout)
    : new_token_(std::move(new_token)), timeout_(timeout) {}

void LockCore::Notify(LockNotice::Kind kind, LockId id, std::string detail) {
  notices_.push_back({kind, id, std::move(detail)});
}

void LockCore::Send(LockCommand::Kind kind, LockId id, const Lock& lock) {
  commands_.push_back({kind, id, lock.key, lock.token, lock.ttl});
}

LockId LockCore::Acquire(absl::Duration now, std::string key, absl::Duration ttl) {
  const LockId id = ++last_id_;
  Lock& lock = locks_[id];
  lock.key = std::move(key);
  lock.token = new_token_();
  lock.ttl = ttl;
  lock.answer_by = now + timeout_;
  Send(LockCommand::Kind::kAcquire, id, lock);
  return id;
}

void LockCore::Abandon(absl::Duration now, LockId id) {
  const auto it = locks_.find(id);
  if (it == locks_.end()) return;
  if (it->second.state == State::kAcquiring) {
    it->second.state = State::kAbandoned;
  } else if (it->second.state == State::kHeld || it->second.state == State::kLost) {
    // Told, but nobody took it.
    if (!it->second.foreign) LeaveBehind(now, id, it->second, 1, false);
    locks_.erase(it);
  }
}

void LockCore::Release(absl::Duration now, LockId id) {
  const auto it = locks_.find(id);
  if (it == locks_.end()) return;
  Lock& lock = it->second;
  if (lock.foreign) {
    Notify(LockNotice::Kind::kNotOwner, id, "");
    locks_.erase(it);
    return;
  }
  lock.state = State::kReleasing;
  lock.answer_by = now + timeout_;
  Send(LockCommand::Kind::kRelease, id, lock);
}

void LockCore::LeaveBehind(absl::Duration now, LockId id, const Lock& lock, int looks,
                           bool is_asked) {
  Leftover& leftover = leftovers_[lock.token];
  leftover.lock = id;
  leftover.key = lock.key;
  leftover.looks = looks;
  leftover.asking = true;
  leftover.give_up = now + std::max(2 * lock.ttl, absl::Seconds(30));
  if (!is_asked) Send(LockCommand::Kind::kRelease, id, lock);
}

void LockCore::OnReply(absl::Duration now, const LockCommand& command, const LockReply& reply) {
  Expire(now);
  const auto it = locks_.find(command.lock);
  const bool current = it != locks_.end() && it->second.token == command.token;
  switch (command.kind) {
    case LockCommand::Kind::kAcquire:
      if (current) OnAcquireReply(now, command.lock, reply);
      break;
    case LockCommand::Kind::kRenew:
      if (current && it->second.state == State::kHeld) OnRenewReply(now, command.lock, reply);
      break;
    case LockCommand::Kind::kRelease:
      if (current && it->second.state == State::kReleasing) {
        OnReleaseReply(now, command.lock, reply);
      } else {
        OnLeftoverReply(now, command.token, reply);
      }
      break;
  }
}

void LockCore::OnAcquireReply(absl::Duration now, LockId id, const LockReply& reply) {
  Lock& lock = locks_.at(id);
  if (reply.kind == LockReply::Kind::kNotSent || reply.kind == LockReply::Kind::kInDoubt) {
    OnAcquireFailed(now, id, reply);
    return;
  }
  const bool waited_for = lock.state == State::kAcquiring;
  if (reply.kind == LockReply::Kind::kNot) {
    if (waited_for) Notify(LockNotice::Kind::kTaken, id, reply.detail);
    locks_.erase(id);
    return;
  }
  lock.lost_at = reply.sent_at + lock.ttl - Margin(lock.ttl);
  if (!waited_for || now >= lock.lost_at) {
    if (waited_for) {
      Notify(LockNotice::Kind::kUnavailable, id, "the answer took longer than the lock's ttl");
    }
    LeaveBehind(now, id, lock, 1, false);
    locks_.erase(id);
    return;
  }
  lock.state = State::kHeld;
  lock.next_renewal = reply.sent_at + lock.ttl / 3;
  Notify(LockNotice::Kind::kHeld, id, "");
}

void LockCore::OnAcquireFailed(absl::Duration now, LockId id, const LockReply& reply) {
  Lock& lock = locks_.at(id);
  if (reply.kind == LockReply::Kind::kInDoubt) LeaveBehind(now, id, lock, 2, false);
  const bool waited_for = lock.state == State::kAcquiring;
  if (waited_for && lock.attempts < kAcquireAttempts && now < lock.answer_by) {
    // Once more: the connection may have been an old one that Redis has closed meanwhile. With
    // another token, for NX would refuse the first one if that SET was carried out.
    ++lock.attempts;
    lock.token = new_token_();
    Send(LockCommand::Kind::kAcquire, id, lock);
    return;
  }
  if (waited_for) Notify(LockNotice::Kind::kUnavailable, id, reply.detail);
  locks_.erase(id);
}

void LockCore::OnRenewReply(absl::Duration now, LockId id, const LockReply& reply) {
  Lock& lock = locks_.at(id);
  lock.renewing = false;
  switch (reply.kind) {
    case LockReply::Kind::kDone:
      lock.lost_at = std::max(lock.lost_at, reply.sent_at + lock.ttl - Margin(lock.ttl));
      lock.next_renewal = reply.sent_at + lock.ttl / 3;
      if (std::exchange(lock.failing, false)) Notify(LockNotice::Kind::kRenewalsResume, id, "");
      break;
    case LockReply::Kind::kNot:
      Lose(id, &lock, true, "its key is gone from Redis or has another's value");
      break;
    case LockReply::Kind::kNotSent:
    case LockReply::Kind::kInDoubt:
      lock.next_renewal = now + RetryInterval(lock.ttl);
      if (!std::exchange(lock.failing, true)) {
        Notify(LockNotice::Kind::kRenewalsFail, id, reply.detail);
      }
      break;
  }
}

void LockCore::OnReleaseReply(absl::Duration now, LockId id, const LockReply& reply) {
  switch (reply.kind) {
    case LockReply::Kind::kDone:
      Notify(LockNotice::Kind::kReleased, id, "");
      break;
    case LockReply::Kind::kNot:
      Notify(LockNotice::Kind::kNotOwner, id, "");
      break;
    case LockReply::Kind::kNotSent:
    case LockReply::Kind::kInDoubt:
      Notify(LockNotice::Kind::kReleaseUnknown, id, reply.detail);
      LeaveBehind(now, id, locks_.at(id), 1, false);
      break;
  }
  locks_.erase(id);
}

void LockCore::OnLeftoverReply(absl::Duration now, const std::string& token,
                               const LockReply& reply) {
  const auto it = leftovers_.find(token);
  if (it == leftovers_.end()) return;
  Leftover& leftover = it->second;
  const bool answered = reply.kind == LockReply::Kind::kDone || reply.kind == LockReply::Kind::kNot;
  if (reply.kind == LockReply::Kind::kDone) leftover.looks = 0;
  if (reply.kind == LockReply::Kind::kNot) --leftover.looks;
  if ((answered && leftover.looks <= 0) || now >= leftover.give_up) {
    leftovers_.erase(it);
    return;
  }
  leftover.asking = false;
  leftover.next_try = now + kLeftoverInterval;
}

void LockCore::Lose(LockId id, Lock* lock, bool foreign, const std::string& why) {
  lock->state = State::kLost;
  lock->foreign = foreign;
  Notify(LockNotice::Kind::kLost, id, why);
}

void LockCore::Expire(absl::Duration now) {
  for (auto& [id, lock] : locks_) {
    if (lock.state != State::kHeld || now < lock.lost_at) continue;
    Lose(id, &lock, false,
         "no renewal succeeded for " + DurationText(lock.ttl - Margin(lock.ttl)) +
             ", and its ttl of " + DurationText(lock.ttl) + " is about to end");
  }
}

void LockCore::Renew(absl::Duration now) {
  for (auto& [id, lock] : locks_) {
    if (lock.state != State::kHeld || lock.renewing || now < lock.next_renewal) continue;
    lock.renewing = true;
    Send(LockCommand::Kind::kRenew, id, lock);
  }
}

void LockCore::TickWaiting(absl::Duration now) {
  for (auto it = locks_.begin(); it != locks_.end();) {
    auto& [id, lock] = *it;
    if (lock.state == State::kAcquiring && now >= lock.answer_by) {
      lock.state = State::kAbandoned;
      Notify(LockNotice::Kind::kUnavailable, id, "no answer within " + DurationText(timeout_));
    } else if (lock.state == State::kReleasing && now >= lock.answer_by) {
      Notify(LockNotice::Kind::kReleaseUnknown, id, "no answer within " + DurationText(timeout_));
      LeaveBehind(now, id, lock, 1, true);
      it = locks_.erase(it);
      continue;
    }
    ++it;
  }
}

void LockCore::TickLeftovers(absl::Duration now) {
  for (auto it = leftovers_.begin(); it != leftovers_.end();) {
    auto& [token, leftover] = *it;
    if (leftover.asking || now < leftover.next_try) {
      ++it;
    } else if (now >= leftover.give_up) {
      it = leftovers_.erase(it);
    } else {
      leftover.asking = true;
      commands_.push_back({LockCommand::Kind::kRelease, leftover.lock, leftover.key, token, {}});
      ++it;
    }
  }
}

void LockCore::Tick(absl::Duration now) {
  Expire(now);
  Renew(now);
  TickWaiting(now);
  TickLeftovers(now);
}

absl::Duration LockCore::NextWake() const {
  absl::Duration wake = absl::InfiniteDuration();
  for (const auto& [id, lock] : locks_) {
    if (lock.state == State::kAcquiring || lock.state == State::kReleasing) {
      wake = std::min(wake, lock.answer_by);
    } else if (lock.state == State::kHeld) {
      wake = std::min(wake, lock.lost_at);
      if (!lock.renewing) wake = std::min(wake, lock.next_renewal);
    }
  }
  for (const auto& [token, leftover] : leftovers_) {
    if (!leftover.asking) wake = std::min(wake, leftover.next_try);
  }
  return wake;
}

std::vector<LockCommand> LockCore::TakeCommands() { return std::exchange(commands_, {}); }
std::vector<LockNotice> LockCore::TakeNotices() { return std::exchange(notices_, {}); }

std::string LockCore::TokenOf(LockId id) const {
  const auto it = locks_.find(id);
  return it == locks_.end() ? "" : it->second.token;
}

}  // namespace tidemark::lock
