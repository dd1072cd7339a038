// The catch-up planner: which dates to open now. Pure: rows and times in, a plan out.
#ifndef TIDEMARK_SCHEDULER_CORE_CATCH_UP_H_
#define TIDEMARK_SCHEDULER_CORE_CATCH_UP_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "scheduler/core/dependency.h"
#include "scheduler/core/job.h"
#include "scheduler/core/run.h"
#include "scheduler/core/time/timeline.h"

namespace tidemark {

// Why the gap is looked at (C4).
enum class TriggerPoint {
  kScan,            // opens only what is later than the tolerance
  kStart,           // scheduler start, take-over
  kExecutor,        // an executor of the app came (back)
  kContinue,        // a run of the job ended
  kOperator,        // apply, resume
  kNewIncarnation,  // of the app: reopens FAILED dates, a few times a day
  kFire,            // the job's next fire: reopens FAILED dates
};

inline constexpr absl::Duration kTolerance = absl::Minutes(5);
inline constexpr int kReopeningsPerDay = 3;

// Reason of a DONE that a person's word made, not a run.
inline constexpr char kForcedDone[] = "forced";

// Whether a watermark settles its date for the gap. What was EXPIRED before the first launch is
// passed; what expired later waits for a person.
bool IsSettled(std::string_view status, std::string_view reason);

// A due date that is not settled.
struct UnsettledDate {
  Occurrence occurrence;
  bool failed = false;  // its watermark says FAILED; else it has no verdict
  std::string reason;   // of FAILED
  bool just_failed =
      false;             // after what asks for it had happened: the next that happens reopens it
  bool live = false;     // a run of it is in active_run
  bool expired = false;  // EXPIRED after it had been noticed: strict order waits behind it
  std::optional<UpstreamDate> waits_for;  // of another job, which must be settled first
  int reopened_today = 0;                 // automatic reopenings counted so far today
  std::string backfill;  // a running backfill that wants it, whatever its verdict; "": none
  std::string run_id;    // of its watermark
  bool drill = false;    // a drill deleted its watermark
};

// How a running backfill of the job goes about its dates.
struct BackfillPace {
  std::string backfill_id;
  bool reverse = false;
  int parallel = 1;
  int live = 0;  // of its own runs
};

struct CatchUpInput {
  std::vector<UnsettledDate> dates;  // oldest first
  std::vector<UnsettledDate> redo;   // settled ones that a backfill wants, oldest first
  std::vector<BackfillPace> backfills;
  int live_runs = 0;  // of the job, all trigger types
  TriggerPoint point = TriggerPoint::kScan;
  CatchUpPolicy policy;
  int longest_gap_days = 30;   // max_backfill_days, but never less than two periods
  int oldest_source_days = 0;  // source_retention_days, likewise; 0: not limited
  absl::Time now;
  absl::CivilDay today;  // in the job's zone
};

struct CatchUpPlan {
  struct Open {
    Occurrence occurrence;
    TriggerType trigger = TriggerType::kCatchUp;
    bool reopening = false;  // counts as an automatic reopening of a FAILED date
    std::string backfill;    // that wanted it; "": none
    std::string rerun_of;    // redo: the run that settled it
    bool drill = false;
  };
  std::vector<Open> open;                // oldest first
  std::vector<Occurrence> expire;        // older than the source retention
  std::optional<Occurrence> blocked_by;  // strict: the failed or expired date in the way
  std::optional<Occurrence> held_from;   // the gap is too long: a person must decide
};

CatchUpPlan PlanCatchUp(const CatchUpInput& input);

// Where a job's ledger begins (C2), decided once, when it is first launched. Dates from `first` up
// to but not including `from` are expired; from `from` on they are caught up.
struct FirstLaunch {
  absl::CivilDay first;
  absl::CivilDay from;
};
// `start_date`: as the job states it; without one, the first date due after `created_at`.
FirstLaunch PlanFirstLaunch(const Timeline& timeline, std::optional<absl::CivilDay> start_date,
                            const CatchUpPolicy& policy, absl::Time created_at, absl::Time now);

// Local days from the last-but-one fire before `now` to today: what "two periods" means. 0 when
// the job has not been due twice.
int TwoPeriodsInDays(const Timeline& timeline, absl::Time now);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CORE_CATCH_UP_H_
