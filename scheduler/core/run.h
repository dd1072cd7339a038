// What a run is, and the rules of its life: pure values and decisions.
#ifndef TIDEMARK_SCHEDULER_CORE_RUN_H_
#define TIDEMARK_SCHEDULER_CORE_RUN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "scheduler/core/job.h"

namespace tidemark {

enum class TriggerType { kSchedule, kCatchUp, kBackfill, kManual };
enum class RunStatus { kPending, kRunning, kCompleted, kFailed, kCancelled, kSkipped };

std::string_view Name(TriggerType type);  // "SCHEDULE", …: as stored
std::string_view Name(RunStatus status);
std::optional<TriggerType> ParseTriggerType(std::string_view name);
std::optional<RunStatus> ParseRunStatus(std::string_view name);

// What a run is a run of. `kind` 'D': key is the biz_date; 'F': the fire time in UTC; 'M': the
// request id of a manual trigger of an interval job.
struct OccurrenceKey {
  int64_t job_id = 0;
  char kind = 'D';
  std::string key;

  friend bool operator==(const OccurrenceKey&, const OccurrenceKey&) = default;
  friend auto operator<=>(const OccurrenceKey&, const OccurrenceKey&) = default;
};
OccurrenceKey DateKey(int64_t job_id, absl::CivilDay biz_date);
OccurrenceKey FireKey(int64_t job_id, absl::Time fire_time);
OccurrenceKey ManualKey(int64_t job_id, std::string request_id);

struct Epoch {
  uint32_t timeline = 0;
  uint64_t number = 0;
  friend bool operator==(const Epoch&, const Epoch&) = default;
  friend auto operator<=>(const Epoch&, const Epoch&) = default;
};

struct AttemptRef {
  std::string run_id;
  int attempt = 0;
  friend bool operator==(const AttemptRef&, const AttemptRef&) = default;
  friend auto operator<=>(const AttemptRef&, const AttemptRef&) = default;
};

// A live run as its row in active_run has it.
struct ActiveRun {
  OccurrenceKey occurrence;
  std::string run_id;
  int shard = 0;
  std::string ns;
  std::string job_name;
  std::string app;
  std::string handler;
  int job_version = 0;
  std::optional<absl::CivilDay> biz_date;
  absl::CivilSecond nominal;
  absl::Time fire_time;
  TriggerType trigger = TriggerType::kSchedule;
  std::string tag;
  std::string request_id;
  std::string requested_by;
  std::string reason;
  std::string rerun_of;         // "" or a run_id
  std::string wanted_executor;  // "" any
  std::string params;           // overrides, JSON object or ""
  std::string backfill_id;      // that wanted it; "": none
  RunStatus status = RunStatus::kPending;
  int attempt = 0;  // the last one recorded; every one that may have been sent has its own number
  int failed_attempts = 0;
  int lost_attempts = 0;
  std::string executor_id;  // chosen for `attempt`; "": none, nothing was sent
  int64_t registration = 0;
  std::string executor_host;
  bool armed = false;              // recorded before it was due, and not rewritten since its launch
  OnLost on_lost = OnLost::kWait;  // decided when the executor was chosen
  Epoch epoch;
  std::optional<absl::Time> retry_at;
  bool held = false;
  std::string cancel_by;
  std::string cancel_reason;
  double progress_percent = -1;
  std::string checkpoint;
  std::string message;
  absl::Time created_at;
  std::optional<absl::Time> sent_at;
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> attempt_started_at;
};

// How an attempt ended, as the executor or the scheduler's judgement says.
enum class Outcome {
  kSucceeded,
  kFailedRetryable,
  kFailedPermanent,
  kStopped,
  kDrained,
  kRefused,  // never entered
  kLost
};
std::string_view Name(Outcome outcome);

struct AttemptResult {
  Outcome outcome = Outcome::kSucceeded;
  std::string message;
  std::string result;
  std::optional<int64_t> result_rows;
  std::string result_digest;
  std::string checkpoint;  // "" keeps the run's
};

// What is known about the last attempt of an occurrence.
struct AttemptFacts {
  bool sent = false;             // its trigger may have left the node
  bool refused = false;          // its executor said that it was not and will not be started
  bool ended = false;            // its executor reported the end
  bool process_gone = false;     // a higher registration exists, and its spooled results are in
  bool lost_after_over = false;  // out of contact for lost_after, judged with good eyes (X8)
  OnLost on_lost = OnLost::kWait;
  bool forced = false;  // an operator said --force-release
};

// X2: whether the occurrence is free for another attempt or executor. Everything that opens one
// asks this and nothing else.
bool Released(const AttemptFacts& facts);

// What follows once an attempt is over and released.
struct Verdict {
  enum class Kind { kClose, kRetry, kReassign };
  Kind kind = Kind::kClose;
  RunStatus status = RunStatus::kCompleted;  // kClose
  std::string reason;                        // kClose: "retries", "permanent", "cancelled", "lost"
  absl::Duration delay;                      // kRetry: back-off
  int failed_attempts = 0;                   // counts after this attempt
  int lost_attempts = 0;
};
// `unit` in [0, 1) draws the jitter. A run with cancel_by set ends CANCELLED unless it succeeded.
// `timed_out`: the scheduler cancelled it for its run timeout, so kStopped means a failure.
Verdict Judge(const ActiveRun& run, Outcome outcome, bool timed_out, const RetryRule& retry,
              double unit);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CORE_RUN_H_
