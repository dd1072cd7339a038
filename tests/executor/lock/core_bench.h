// The lock core beside a Redis that is a map, both in virtual time.
#ifndef TIDEMARK_TESTS_EXECUTOR_LOCK_CORE_BENCH_H_
#define TIDEMARK_TESTS_EXECUTOR_LOCK_CORE_BENCH_H_

#include <map>
#include <string>
#include <vector>

#include "executor/lock/lock_core.h"

namespace tidemark::lock {

// What Redis does with the three commands.
class VirtualRedis {
 public:
  struct Value {
    std::string token;
    absl::Duration ends;
  };

  bool Run(const LockCommand& command, absl::Duration now, absl::Duration ttl) {
    Expire(now);
    const auto it = keys.find(command.key);
    if (command.kind == LockCommand::Kind::kAcquire) {
      return keys.try_emplace(command.key, Value{command.token, now + ttl}).second;
    }
    if (it == keys.end() || it->second.token != command.token) return false;
    if (command.kind == LockCommand::Kind::kRenew) {
      it->second.ends = now + ttl;
    } else {
      keys.erase(it);
    }
    return true;
  }
  // "" when the key is not there.
  std::string TokenAt(const std::string& key, absl::Duration now) {
    Expire(now);
    const auto it = keys.find(key);
    return it == keys.end() ? "" : it->second.token;
  }
  void Expire(absl::Duration now) {
    std::erase_if(keys, [now](const auto& entry) { return entry.second.ends <= now; });
  }

  std::map<std::string, Value> keys;
};

// One holder whose commands reach Redis at once, unless the link is not up.
class CoreBench {
 public:
  enum class Link {
    kUp,
    kDown,      // nothing is sent
    kNoAnswer,  // carried out, but the answer is lost
  };
  struct Seen {
    LockNotice notice;
    absl::Duration at;
  };

  explicit CoreBench(VirtualRedis* redis, std::string name = "a")
      : core([name, n = 0]() mutable { return name + std::to_string(++n); }, absl::Seconds(2)),
        redis_(redis) {}

  // Everything that is to be done now.
  void Step(absl::Duration now) {
    core.Tick(now);
    for (bool again = true; again;) {
      again = false;
      for (const LockCommand& command : core.TakeCommands()) {
        again = true;
        sent.push_back({command, now});
        core.OnReply(now, command, Answer(command, now));
      }
    }
    for (LockNotice& notice : core.TakeNotices()) seen.push_back({std::move(notice), now});
  }
  // Lets the watchdog do its work at its own times until `*now` is `end`.
  void RunUntil(absl::Duration* now, absl::Duration end) {
    Step(*now);
    while (core.NextWake() <= end) {
      *now = std::max(*now, core.NextWake());
      Step(*now);
    }
    *now = end;
  }
  LockNotice::Kind Last() const { return seen.back().notice.kind; }
  int Count(LockNotice::Kind kind) const {
    int count = 0;
    for (const Seen& s : seen) count += s.notice.kind == kind ? 1 : 0;
    return count;
  }
  int CountSent(LockCommand::Kind kind) const {
    int count = 0;
    for (const auto& [command, at] : sent) count += command.kind == kind ? 1 : 0;
    return count;
  }

  Link link = Link::kUp;
  LockCore core;
  std::vector<Seen> seen;
  std::vector<std::pair<LockCommand, absl::Duration>> sent;

 private:
  LockReply Answer(const LockCommand& command, absl::Duration now) {
    if (link == Link::kDown) return {LockReply::Kind::kNotSent, now, "cannot connect"};
    const bool done = redis_->Run(command, now, command.ttl);
    if (link == Link::kNoAnswer) return {LockReply::Kind::kInDoubt, now, "no answer in time"};
    return {done ? LockReply::Kind::kDone : LockReply::Kind::kNot, now, ""};
  }

  VirtualRedis* const redis_;
};

}  // namespace tidemark::lock

#endif  // TIDEMARK_TESTS_EXECUTOR_LOCK_CORE_BENCH_H_
