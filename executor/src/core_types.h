// Values that go into and come out of the executor's session core.
#ifndef TIDEMARK_EXECUTOR_SRC_CORE_TYPES_H_
#define TIDEMARK_EXECUTOR_SRC_CORE_TYPES_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/v1/executor.pb.h"

namespace tidemark::exec {

// One stream to one scheduler node. A new stream has a new id, also to the same node.
using LinkId = uint64_t;

// A moment as the core is told it: monotonic time decides, wall time is for display.
struct Moment {
  absl::Duration mono;
  absl::Time wall;
};

struct AttemptKey {
  std::string run_id;
  uint32_t attempt = 0;
  friend auto operator<=>(const AttemptKey&, const AttemptKey&) = default;
  friend bool operator==(const AttemptKey&, const AttemptKey&) = default;
};

inline AttemptKey KeyOf(const v1::AttemptRef& ref) { return {ref.run_id(), ref.attempt()}; }
inline void SetRef(const AttemptKey& key, v1::AttemptRef* ref) {
  ref->set_run_id(key.run_id);
  ref->set_attempt(key.attempt);
}

struct HandlerSpec {
  std::string name;
  bool interruptible = false;
  uint32_t concurrency = 0;  // 0: only the capacity limits
};

struct CoreOptions {
  std::string executor_id;
  std::string app;
  std::string incarnation;
  std::string name_space = "default";
  std::string version;
  std::string host;
  uint32_t capacity = 1;
  std::map<std::string, std::string> labels;
  std::vector<HandlerSpec> handlers;
  size_t spool_limit_bytes = 8u << 20;
  absl::Duration drain_timeout = absl::Seconds(60);
  absl::Duration stop_grace = absl::Seconds(30);
  absl::Duration resend_every = absl::Seconds(10);  // unacknowledged reports
  absl::Duration keep_acknowledged = absl::Minutes(10);
  absl::Duration min_tombstone = absl::Minutes(10);
  absl::Duration ack_wait = absl::Seconds(10);  // after the last handler's end, while leaving
};

// What a handler's call came to, as the driver saw it.
struct HandlerResult {
  enum class Kind { kSucceeded, kRetry, kFailed, kStopped };
  Kind kind = Kind::kSucceeded;
  std::string message;
  std::string result;
  std::optional<int64_t> rows;
  std::string digest;
  bool cancelled_itself = false;  // from within; `message` says why
};

struct ProgressUpdate {
  double percent = -1;     // negative: not said
  std::string checkpoint;  // empty: not said
  std::string message;
};

// ---- effects

// Messages of one link keep their order.
struct SendEffect {
  LinkId link = 0;
  v1::ExecutorMessage message;
  size_t bytes = 0;  // to be given back to OnWritten once the transport took the message
};
// Close the stream. `parked`: another link reaches the same node; do not dial this address again
// while that link is open.
struct CloseEffect {
  LinkId link = 0;
  std::optional<LinkId> parked_by;
};
// Addresses of all live nodes, as the last Welcome said.
struct NodesEffect {
  std::vector<std::string> addresses;
};
// Call the handler: then OnEntered (or OnNotEntered), later OnFinished.
struct StartEffect {
  AttemptKey key;
  std::shared_ptr<const v1::Trigger> trigger;
};
struct CancelEffect {
  AttemptKey key;
  std::string reason;
};
// End the process at once, without running anything: a run that must not go on cannot be stopped.
struct AbortEffect {
  std::string reason;
};
struct SpoolWriteEffect {
  AttemptKey key;
  v1::RunReport report;
};
// The result is committed by a scheduler; it is kept for a while, marked as such.
struct SpoolAckEffect {
  AttemptKey key;
};
struct SpoolDeleteEffect {
  AttemptKey key;
};
// Everything is said: close all links after what was sent before, and return `code` from Run.
struct LeaveEffect {
  int code = 0;
};
// For people and metrics; nothing depends on it.
struct NoteEffect {
  enum class Kind {
    kWelcomed,
    kWaiting,
    kNotice,
    kRejected,
    kAccepted,
    kRefused,
    kStarted,
    kCancelled,
    kFinished,
    kOutOfContact,
    kStaleEpoch,
    kDraining,
    kLeft,
  };
  Kind kind = Kind::kWelcomed;
  LinkId link = 0;  // 0: of no link
  AttemptKey key;
  std::string handler;
  std::string detail;
};

using Effect =
    std::variant<SendEffect, CloseEffect, NodesEffect, StartEffect, CancelEffect, AbortEffect,
                 SpoolWriteEffect, SpoolAckEffect, SpoolDeleteEffect, LeaveEffect, NoteEffect>;

// A result found in the spool at start.
struct SpooledResult {
  v1::RunReport report;
  bool acknowledged = false;
};

// Exit codes of LeaveEffect.
inline constexpr int kExitDrained = 0;
inline constexpr int kExitRejected = 1;
inline constexpr int kExitHandlersStuck = 3;

}  // namespace tidemark::exec

#endif  // TIDEMARK_EXECUTOR_SRC_CORE_TYPES_H_
