// The locks of a process as a sans-I/O state machine: what is to be asked of Redis and when, and
// what its answers and silence mean. Runs in virtual time in tests.
#ifndef TIDEMARK_EXECUTOR_LOCK_LOCK_CORE_H_
#define TIDEMARK_EXECUTOR_LOCK_LOCK_CORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace tidemark::lock {

using LockId = uint64_t;

// For Redis; each is answered by one OnReply.
struct LockCommand {
  enum class Kind {
    kAcquire,  // SET key token NX PX ttl
    kRenew,    // PEXPIRE if the value is `token`
    kRelease,  // DEL if the value is `token`
  };
  Kind kind = Kind::kAcquire;
  LockId lock = 0;
  std::string key;
  std::string token;
  absl::Duration ttl;
};

struct LockReply {
  enum class Kind {
    kDone,
    kNot,      // the key has another value, or (renewal, release) is gone
    kNotSent,  // failed, and Redis has not carried it out and will not
    kInDoubt,  // failed, and Redis may have carried it out or may yet
  };
  Kind kind = Kind::kDone;
  // Monotonic time before the command left: the key's ttl cannot have begun earlier.
  absl::Duration sent_at;
  std::string detail;  // who holds, or what failed
};

struct LockNotice {
  enum class Kind {
    kHeld,
    kTaken,
    kUnavailable,
    kRenewalsFail,    // once; still held
    kRenewalsResume,  // after kRenewalsFail
    kLost,            // once; still to be released
    kReleased,
    kNotOwner,
    kReleaseUnknown,
  };
  Kind kind = Kind::kHeld;
  LockId lock = 0;
  std::string detail;
};

// Times are a monotonic clock's that never goes back. Commands must be carried out in order. After
// each event take commands and notices; call Tick at NextWake(). Not thread-safe.
class LockCore {
 public:
  // Makes tokens that no one else makes. Called once for each acquisition that is sent.
  using TokenSource = std::function<std::string()>;
  // An acquisition or release that has no answer after `timeout` is told to be unavailable.
  LockCore(TokenSource new_token, absl::Duration timeout);

  // Ends in kHeld, kTaken or kUnavailable, unless abandoned.
  LockId Acquire(absl::Duration now, std::string key, absl::Duration ttl);
  // Nobody waits for this acquisition any more: if it succeeds or may have, it is undone.
  void Abandon(absl::Duration now, LockId id);
  // Of a lock that was told as held, lost or not. Ends in kReleased, kNotOwner or kReleaseUnknown.
  void Release(absl::Duration now, LockId id);
  void OnReply(absl::Duration now, const LockCommand& command, const LockReply& reply);
  void Tick(absl::Duration now);

  // When Tick has something to do; InfiniteDuration: not before the next event.
  absl::Duration NextWake() const;
  std::vector<LockCommand> TakeCommands();
  std::vector<LockNotice> TakeNotices();
  // Of a lock that is being acquired or held; "" of others.
  std::string TokenOf(LockId id) const;
  // Nothing is held and nothing is left to be undone.
  bool Idle() const { return locks_.empty() && leftovers_.empty(); }

  // How long before the end of its ttl a lock counts as lost: the holder's time to stop, and room
  // for clocks that tick at different rates.
  static absl::Duration Margin(absl::Duration ttl) { return ttl / 5; }

 private:
  enum class State { kAcquiring, kAbandoned, kHeld, kLost, kReleasing };
  struct Lock {
    State state = State::kAcquiring;
    std::string key;
    std::string token;
    absl::Duration ttl;
    int attempts = 1;
    absl::Duration answer_by;     // kAcquiring, kReleasing
    absl::Duration lost_at;       // kHeld: by our own clock
    absl::Duration next_renewal;  // kHeld
    bool renewing = false;        // kHeld: a renewal waits for its answer
    bool failing = false;         // kHeld: kRenewalsFail was told
    bool foreign = false;         // kLost: Redis said that the key is not ours
  };
  // A key that may be in Redis with a token of ours that nobody holds.
  struct Leftover {
    LockId lock = 0;
    std::string key;
    // A SET in doubt may be carried out after the first release found nothing: look twice.
    int looks = 1;
    bool asking = false;
    absl::Duration next_try;
    absl::Duration give_up;
  };
  using Locks = std::map<LockId, Lock>;

  void Send(LockCommand::Kind kind, LockId id, const Lock& lock);
  void Expire(absl::Duration now);
  void Renew(absl::Duration now);
  void TickWaiting(absl::Duration now);
  void TickLeftovers(absl::Duration now);
  void OnAcquireReply(absl::Duration now, LockId id, const LockReply& reply);
  void OnAcquireFailed(absl::Duration now, LockId id, const LockReply& reply);
  void OnRenewReply(absl::Duration now, LockId id, const LockReply& reply);
  void OnReleaseReply(absl::Duration now, LockId id, const LockReply& reply);
  void OnLeftoverReply(absl::Duration now, const std::string& token, const LockReply& reply);
  void Lose(LockId id, Lock* lock, bool foreign, const std::string& why);
  // Its release is sent at once, unless it `is_asked` already.
  void LeaveBehind(absl::Duration now, LockId id, const Lock& lock, int looks, bool is_asked);
  void Notify(LockNotice::Kind kind, LockId id, std::string detail);

  const TokenSource new_token_;
  const absl::Duration timeout_;
  LockId last_id_ = 0;
  Locks locks_;
  std::map<std::string, Leftover> leftovers_;  // by token
  std::vector<LockCommand> commands_;
  std::vector<LockNotice> notices_;
};

}  // namespace tidemark::lock

#endif  // TIDEMARK_EXECUTOR_LOCK_LOCK_CORE_H_
