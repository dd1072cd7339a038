// The job table: definitions in, next fires armed, interval fires launched.
#ifndef TIDEMARK_SCHEDULER_ENGINE_JOBS_H_
#define TIDEMARK_SCHEDULER_ENGINE_JOBS_H_

#include "scheduler/engine/state.h"

namespace tidemark {

// Part of the engine; works on State and nothing else. Not thread-safe.
class Jobs {
 public:
  explicit Jobs(State& state) : s_(state) {}

  // Takes a job as the database has it: a new one, an edit, or the same again. A definition that
  // cannot be used puts this job alone into its error state.
  JobState& Take(JobRow row);
  void Forget(int64_t job_id);
  // Finds the next fire after `after` and waits for it.
  void AwaitFire(JobState& job, absl::Time after);
  // Deals with the fires that are due, or with the first of very many.
  void FireDue();
  // Interval jobs: launches what is due since the cursor.
  void LaunchFires(JobState& job);
  // Marks a job that can do nothing until its definition changes.
  void SetError(JobState& job, const std::string& error);

  // Tells of a cursor so far ahead of now that the job does not fire (T3).
  void WatchCursor(JobState& job);
  // The same for those of which it was told.
  void WatchCursors();

 private:
  // What of the row few jobs have.
  void TakeExtra(JobState& job, const JobRow& row);
  // Of what waits for what.
  void Unindex(const JobState& job);
  // A run that an earlier term armed is the fire that came next after the cursor: it is dealt with.
  void PassAdopted(JobState& job);
  // Records whether anything is left to fire; tells people when a calendar is why not.
  void MarkFinished(JobState& job);
  void SkipRange(const JobState& job, absl::Time from, absl::Time to, int64_t fires,
                 const std::string& reason);

  State& s_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_JOBS_H_
