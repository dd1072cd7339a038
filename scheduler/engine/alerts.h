// The alerts that the engine raises: one function a kind, with what a person needs to know and to
// type. Keys hold the run or episode, so that a fact seen a hundred times is told once.
#ifndef TIDEMARK_SCHEDULER_ENGINE_ALERTS_H_
#define TIDEMARK_SCHEDULER_ENGINE_ALERTS_H_

#include <string>

#include "scheduler/core/misfire.h"
#include "scheduler/engine/state.h"

namespace tidemark::alerts {

// `keeps_done`: it was a rerun of a date that stays DONE.
void RunFailed(State& state, const ActiveRun& run, const std::string& why, bool keeps_done);
void RunHeld(State& state, const ActiveRun& run, absl::Duration silent);
void RunLong(State& state, const ActiveRun& run, absl::Duration running);
void NoExecutor(State& state, const ActiveRun& run, const std::string& why);
void ExecutorsBack(State& state, const ActiveRun& run);
// `since`: for how long every executor that tried found the lock taken, or Redis out of reach.
void LockRefused(State& state, const ActiveRun& run, absl::Duration since);
void LockTaken(State& state, const ActiveRun& run);
void HeldNoMore(State& state, const ActiveRun& run);
// Its end resolves whatever was told of its course.
void RunOver(State& state, const ActiveRun& run);
void GapBlocked(State& state, JobState& job, const Occurrence& by, size_t waiting);
// `to`: the last date of the gap.
void GapHeld(State& state, JobState& job, const Occurrence& from, absl::CivilDay to, size_t dates);
void GapClosed(State& state, JobState& job);
void DatesExpired(State& state, const JobState& job, absl::CivilDay from, absl::CivilDay to,
                  size_t dates, bool first_launch);
// One for all that a gap of an interval job left out.
void FiresSkipped(State& state, const JobState& job, const FirePlan& plan);
void CursorAhead(State& state, const JobState& job);
void BackfillFinished(State& state, const JobState& job, const OpenBackfill& backfill);
void BackfillStopped(State& state, const JobState& job, const Backfill& backfill,
                     absl::CivilDay date);
void JobInError(State& state, const JobState& job);
void JobMended(State& state, const JobState& job);
// `step`: how far the database's clock leapt.
void ClockLeap(State& state, absl::Duration step);
void ClockTrusted(State& state);
void ExecutorIdShared(State& state, const ExecutorSession& acting, const ExecutorSession& waiting);
void ExecutorIdUnique(State& state, const std::string& executor_id);
void LateSuccess(State& state, const RunReport& report, const ActiveRun& run);

}  // namespace tidemark::alerts

#endif  // TIDEMARK_SCHEDULER_ENGINE_ALERTS_H_
