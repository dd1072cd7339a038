// What an edit of a job's schedule does to its dates, judged at one instant.
#ifndef TIDEMARK_SCHEDULER_RPC_SCHEDULE_EDIT_H_
#define TIDEMARK_SCHEDULER_RPC_SCHEDULE_EDIT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "scheduler/core/job.h"
#include "scheduler/rpc/operator_job.h"

namespace tidemark {

// What to do with dates that an edit would lose: nothing is a refusal.
enum class GapChoice { kRefuse, kWaive, kFill };

struct ScheduleEdit {
  std::vector<absl::CivilDay> waived;  // to be written as WAIVED with the edit
  std::vector<absl::CivilDay> filled;  // run at their old time: the timeline keeps them
  std::vector<absl::CivilDay> kept;    // would be due twice: they are run once, as recorded
};

// kFailedPrecondition names the dates and the ways out. `current` may be in error: what cannot be
// read cannot be judged.
absl::StatusOr<ScheduleEdit> JudgeScheduleEdit(const LoadedJob& current, const Schedule& after,
                                               absl::Time now, GapChoice choice);

// Refuses a schedule that is not due from `now` on, unless its start_date makes past dates due.
// kInvalidArgument with the reason.
absl::Status CheckDueSomewhere(const JobSpec& spec, const Schedule& schedule, absl::Time now);

// "2026-11-01, 2026-11-02 and 7 more".
std::string DateList(const std::vector<absl::CivilDay>& dates);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_SCHEDULE_EDIT_H_
