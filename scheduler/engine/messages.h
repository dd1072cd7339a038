// The executor session as plain values: what rpc makes of the wire and the other way round. Field
// meanings are those of proto/tidemark/v1/executor.proto.
#ifndef TIDEMARK_SCHEDULER_ENGINE_MESSAGES_H_
#define TIDEMARK_SCHEDULER_ENGINE_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "scheduler/core/run.h"

namespace tidemark {

// One accepted stream of one executor process; never reused.
using StreamId = uint64_t;

struct HandlerInfo {
  std::string name;
  bool interruptible = false;
  int concurrency = 0;  // 0: only the capacity limits
};

struct TriggerOrder;

struct HeldRun {
  AttemptRef attempt;
  int shard = 0;
  Epoch epoch;
  bool started = false;
  std::shared_ptr<const TriggerOrder> trigger;  // in a Hello; null: not said
};

struct AcceptedReport {};
struct RefusedReport {
  std::string reason;  // name of the proto's enumerator
  std::string message;
};
struct StartedReport {};
struct ProgressReport {
  double percent = -1;
  std::string checkpoint;
  std::string message;
};
struct FinishedReport {
  AttemptResult result;
};
struct RunReport {
  AttemptRef attempt;
  int64_t registration = 0;
  std::variant<AcceptedReport, RefusedReport, StartedReport, ProgressReport, FinishedReport> event;
};

struct Hello {
  std::string executor_id;
  std::string app;
  std::string ns;
  std::string incarnation;
  int64_t registration = 0;
  std::vector<HandlerInfo> handlers;
  int capacity = 1;
  std::map<std::string, std::string> labels;
  std::string version;
  std::string host;
  std::vector<HeldRun> held;
  std::vector<RunReport> results;
  bool draining = false;
};

struct Heartbeat {
  uint64_t sequence = 0;
  std::vector<HeldRun> held;
  bool draining = false;
};

struct ExecutorMessage {
  std::optional<Hello> hello;
  std::vector<RunReport> reports;
  std::optional<Heartbeat> heartbeat;
  bool goodbye = false;
  size_t bytes = 0;  // on the wire
};

// ---------------------------------------------------------------- to executors

struct WelcomeMessage {
  int64_t registration = 0;
  absl::Duration beat;
  absl::Duration lease;
  uint32_t timeline = 1;  // of PostgreSQL
};
struct WaitMessage {
  std::string text;
};
// To the process that acts: for its log.
struct NoticeMessage {
  std::string text;
};
struct RejectedMessage {
  enum class Reason { kSuperseded, kInvalid, kAppMismatch } reason = Reason::kInvalid;
  std::string text;
};
struct TriggerOrder {
  AttemptRef attempt;
  int64_t registration = 0;
  int shard = 0;
  Epoch epoch;
  std::string job;
  std::string handler;
  std::string biz_date;  // "" for interval jobs
  absl::Time fire_time;
  std::string nominal_time;
  std::string zone;
  TriggerType trigger = TriggerType::kSchedule;
  std::map<std::string, std::string> params;
  std::string checkpoint;
  std::string batch_id;
  OnLost on_lost = OnLost::kWait;
  absl::Duration run_timeout;  // zero: none
  absl::Duration lost_after;
  absl::Duration cancel_grace;
};
struct CancelOrder {
  AttemptRef attempt;
  int shard = 0;
  Epoch epoch;
  std::string reason;
};
struct AcknowledgedOrder {
  AttemptRef attempt;
};
struct HeartbeatAckMessage {
  uint64_t sequence = 0;
  std::vector<AttemptRef> renewed;
};

struct Outbound {
  StreamId stream = 0;
  std::variant<WelcomeMessage, WaitMessage, NoticeMessage, RejectedMessage, TriggerOrder,
               CancelOrder, AcknowledgedOrder, HeartbeatAckMessage>
      body;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_MESSAGES_H_
