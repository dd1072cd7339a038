// A job's definition as the scheduler uses it: validated, defaults filled in.
#ifndef TIDEMARK_SCHEDULER_CORE_JOB_H_
#define TIDEMARK_SCHEDULER_CORE_JOB_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "scheduler/core/time/schedule.h"

namespace tidemark {

inline constexpr int kShards = 128;

// The shard of a job: fixed by its id.
int ShardOf(int64_t job_id);

enum class CatchUpOrder { kStrict, kIndependent };

struct CatchUpPolicy {
  CatchUpOrder order = CatchUpOrder::kStrict;
  int max_backfill_days = 30;
  int source_retention_days = 0;  // 0: not limited
  int parallelism = 3;
};

enum class MisfirePolicy { kSkip, kFireOnce, kFireAll };

struct MisfireRule {
  MisfirePolicy policy = MisfirePolicy::kFireOnce;
  absl::Duration window = absl::Hours(7 * 24);
  int cap = 100;
};

enum class BlockingPolicy { kSerial, kDiscardLater, kCoverEarly, kConcurrent };

struct BlockingRule {
  BlockingPolicy policy = BlockingPolicy::kSerial;
  int queue = 100;
  int concurrent = 1;
};

enum class RoutingStrategy {
  kRoundRobin,
  kRandom,
  kLeastBusy,
  kConsistentHash,
  kLeastRecentlyUsed,
  kFirst,
  kLast,
  kSticky
};

struct RoutingRule {
  RoutingStrategy strategy = RoutingStrategy::kLeastBusy;
  std::map<std::string, std::string> labels;  // an executor must have all
};

struct RetryRule {
  int max_attempts = 4;  // started ones
  std::vector<absl::Duration> backoff = {absl::ZeroDuration(), absl::Minutes(1), absl::Minutes(5)};
  double jitter = 0.1;  // ± share of the back-off
  int max_lost = 10;    // LOST or DRAINED attempts have a cap of their own
};

struct Timeouts {
  absl::Duration start = absl::Seconds(30);
  absl::Duration run = absl::InfiniteDuration();
  absl::Duration lost_after = absl::Minutes(5);
  absl::Duration reap_after = absl::Hours(2);
  absl::Duration long_running = absl::Minutes(30);
  absl::Duration cancel_grace = absl::Seconds(30);
};

// kByHandler: kRetry when the handler can be stopped, else kWait.
enum class OnLost { kByHandler, kRetry, kWait };

struct Dependency {
  std::string job;
  int offset = 0;
};

struct JobSpec {
  std::string name;
  std::string ns = "default";
  std::string app;
  std::string handler;
  std::string owner;
  std::string description;
  ScheduleSpec schedule;
  std::optional<absl::CivilDay> start_date;
  CatchUpPolicy catch_up;
  MisfireRule misfire;
  BlockingRule blocking;
  RoutingRule routing;
  RetryRule retry;
  Timeouts timeouts;
  OnLost on_lost = OnLost::kByHandler;
  std::optional<absl::Duration> expected_by;  // after local midnight
  std::vector<Dependency> after;
  bool enabled = true;
  std::map<std::string, std::string> params;
};

// Cross-field rules that hold whatever the source of the spec (`dated`: what the compiled
// schedule is). The message names the field and the mend.
absl::Status CheckPolicies(const JobSpec& spec, bool dated);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CORE_JOB_H_
