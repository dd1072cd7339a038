// Backfill: a range of business dates that an operator asked for (C9). The rules, pure: which
// dates it takes, which of them it still wants, and when it is over.
#ifndef TIDEMARK_SCHEDULER_CORE_BACKFILL_H_
#define TIDEMARK_SCHEDULER_CORE_BACKFILL_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "scheduler/core/job.h"

namespace tidemark {

// What it takes: dates without a verdict or EXPIRED; those and FAILED ones; those and DONE ones,
// which stay DONE until a success replaces them. WAIVED ones never.
enum class Reprocess { kMissing, kFailed, kAll };
enum class BackfillState { kRunning, kPaused, kDone, kFailed, kCancelled };

std::string_view Name(Reprocess reprocess);  // "missing", …: as stored
std::string_view Name(BackfillState state);  // "RUNNING", …: as stored
std::optional<Reprocess> ParseReprocess(std::string_view name);
std::optional<BackfillState> ParseBackfillState(std::string_view name);

// A row of table backfill.
struct Backfill {
  std::string backfill_id;  // UUID
  int64_t job_id = 0;
  absl::CivilDay from;
  absl::CivilDay to;
  Reprocess reprocess = Reprocess::kMissing;
  bool reverse = false;  // newest first
  int parallel = 1;      // dates at once
  BackfillState state = BackfillState::kRunning;
  std::string state_reason;  // of PAUSED and FAILED
  std::string reason;        // the words of who asked
  std::string actor;
  std::vector<absl::CivilDay> dates;  // taken when it was made, ascending
  absl::Time created_at;
  std::optional<absl::Time> resumed_at;  // what failed before is tried again
  std::optional<absl::Time> ended_at;
};

// One that is RUNNING or PAUSED, with what its own runs came to.
struct OpenBackfill {
  enum class Tried {
    kDone,
    kFailed,
    kAgain  // failed, but before the last resume
  };
  Backfill row;
  std::map<absl::CivilDay, Tried> tried;
};

// A due date as it stands.
struct DateStanding {
  absl::CivilDay date;
  std::string status;  // of the watermark; "": no row
  std::string reason;
  std::string live_run;  // "": none
};

struct BackfillPlan {
  std::vector<absl::CivilDay> dates;                         // ascending
  std::vector<std::pair<absl::CivilDay, std::string>> left;  // and why it is left alone
};

// Which of the dates in the range it takes. `standings`: due dates, ascending.
BackfillPlan PlanBackfill(const Backfill& backfill, const std::vector<DateStanding>& standings);

// The date that keeps a job with strict order from what was planned: an earlier one that is not
// part of it and that nothing opens by itself. Dates without a verdict before `held_before` are
// not caught up, the gap is too long. `standings`: all due dates up to the range's end.
std::optional<DateStanding> InTheWay(const BackfillPlan& plan,
                                     const std::vector<DateStanding>& standings,
                                     absl::CivilDay held_before);

// Why the job's policy does not allow it, with the mend; "" when it does.
std::string BackfillProblem(const Backfill& backfill, const CatchUpPolicy& policy);

// Whether a date, which is not live, is still to be run by it.
bool StillWanted(const OpenBackfill& backfill, absl::CivilDay date, std::string_view status);

// How it ends once nothing is left to be run.
BackfillState Ended(const OpenBackfill& backfill);

// `dates` in the order in which it runs them.
std::vector<absl::CivilDay> InOrder(const Backfill& backfill, std::vector<absl::CivilDay> dates);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CORE_BACKFILL_H_
