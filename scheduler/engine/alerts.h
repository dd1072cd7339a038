// The alerts that the engine raises: one function a kind, with what a person needs to know and to
// type. Keys hold the run or episode, so that a fact seen a hundred times is told once. What is
// said to be over may be said whenever that is known: nothing is written when nothing is open.
#ifndef TIDEMARK_SCHEDULER_ENGINE_ALERTS_H_
#define TIDEMARK_SCHEDULER_ENGINE_ALERTS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "scheduler/core/misfire.h"
#include "scheduler/engine/state.h"

namespace tidemark::alerts {

// ---------------------------------------------------------------- runs (alerts_runs.cc)

// `keeps_done`: it was a rerun of a date that stays DONE.
void RunFailed(State& state, const ActiveRun& run, const std::string& why, bool keeps_done);
// No sign of life for `silent`: judged FAILED, and still live.
void RunReaped(State& state, const ActiveRun& run, absl::Duration silent);
// Told to stop `since` ago because of `cause`, and it has not ended.
void RunHeld(State& state, const ActiveRun& run, const std::string& cause, absl::Duration since);
void RunLong(State& state, const ActiveRun& run, absl::Duration running);
void NoExecutor(State& state, const ActiveRun& run, const std::string& why);
void ExecutorsBack(State& state, const ActiveRun& run);
// `since`: for how long every executor that tried found the lock taken, or Redis out of reach.
void LockRefused(State& state, const ActiveRun& run, absl::Duration since);
void LockTaken(State& state, const ActiveRun& run);
void ReapedNoMore(State& state, const ActiveRun& run);
// Resolves what was told of this attempt.
void AttemptOver(State& state, const ActiveRun& run);
// Its end resolves whatever was told of its course; a success also that earlier ones had failed.
void RunOver(State& state, const ActiveRun& run, RunStatus status);
// Its executor has it, and the database had lost it. `what`: the run, or an attempt of it.
void CommitsLost(State& state, const ActiveRun& run, const std::string& what);
void LateSuccess(State& state, const RunReport& report, const ActiveRun& run);

// ---------------------------------------------------------------- dates (alerts_dates.cc)

void GapBlocked(State& state, JobState& job, const Occurrence& by, size_t waiting);
// `to`: the last date of the gap.
void GapHeld(State& state, JobState& job, const Occurrence& from, absl::CivilDay to, size_t dates);
void GapNotHeld(State& state, JobState& job);
void GapNotBlocked(State& state, JobState& job);
void DatesExpired(State& state, const JobState& job, absl::CivilDay from, absl::CivilDay to,
                  size_t dates, bool first_launch);
// Catch-up closed a gap: what became of its dates.
void CaughtUp(State& state, const JobState& job,
              const std::map<absl::CivilDay, std::string>& status_of);
// A person's word settled the date.
void DateSettled(State& state, const JobState& job, absl::CivilDay date);
// Resolves what was told of dates that are settled by now, whoever did it: all but `unsettled`.
void DatesSettled(State& state, const JobState& job, const std::set<absl::CivilDay>& unsettled);

// ---------------------------------------------------------------- jobs (alerts_jobs.cc)
// Those with an open alert of their own.
std::set<int64_t> JobsTold(const State& state);

// One for all that a gap of an interval job left out.
void FiresSkipped(State& state, const JobState& job, const FirePlan& plan);
void CursorAhead(State& state, const JobState& job);
void CursorFine(State& state, const JobState& job);
void CalendarEnded(State& state, const JobState& job, const Calendar& calendar);
void CalendarGoesOn(State& state, const JobState& job);
void BackfillFinished(State& state, const JobState& job, const OpenBackfill& backfill);
void BackfillStopped(State& state, const JobState& job, const Backfill& backfill,
                     absl::CivilDay date);
void BackfillGoesOn(State& state, const std::string& backfill_id);
void JobInError(State& state, const JobState& job);
void JobMended(State& state, const JobState& job);
// It was deleted: nothing of it can be mended any more.
void JobGone(State& state, const JobState& job);

// ---------------------------------------------------------------- the system (alerts_system.cc)

// `step`: how far the database's clock leapt.
void ClockLeap(State& state, absl::Duration step);
void ClockTrusted(State& state);
// The executor of `run` is silent for `silent`; told once, with all the runs that it has.
void ExecutorLost(State& state, const ActiveRun& run, absl::Duration silent);
// It is heard of, or a new process of that id is.
void ExecutorFound(State& state, const std::string& executor_id, const std::string& app);
// The attempt of `run` is over; what was told of its executor with the last of them.
void ExecutorFreed(State& state, const ActiveRun& run);
// `jobs` of the app open runs, and no executor of it is up for `down` by now.
void AppDown(State& state, const std::string& app, const std::vector<const JobState*>& jobs,
             absl::Duration down);
// No job wants executors of other apps any more: that they are down matters to nobody.
void OnlyAppsDown(State& state, const std::set<std::string>& wanted);
void ExecutorIdShared(State& state, const ExecutorSession& acting, const ExecutorSession& waiting);
void ExecutorIdUnique(State& state, const std::string& executor_id);
// All that earlier terms told of shared ids, but for these "id/incarnation".
void OnlyIdsShared(State& state, const std::set<std::string>& shared);

}  // namespace tidemark::alerts

#endif  // TIDEMARK_SCHEDULER_ENGINE_ALERTS_H_
