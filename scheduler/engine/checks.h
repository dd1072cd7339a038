// The daily check (A1): at the time by which a date is expected to be done its state is written
// down as a verdict, and what is not settled then is told.
#ifndef TIDEMARK_SCHEDULER_ENGINE_CHECKS_H_
#define TIDEMARK_SCHEDULER_ENGINE_CHECKS_H_

#include <map>
#include <string>
#include <vector>

#include "scheduler/core/expected.h"
#include "scheduler/core/ledger.h"
#include "scheduler/engine/state.h"

namespace tidemark {

// Part of the engine; works on State and nothing else. Not thread-safe.
//
// Each job waits in a queue for its next expected date, so that nothing is done while none is due.
// checked_until remembers up to where all have their verdict; it and the verdicts are written in
// one flush, with the alerts. A date has one verdict and is told once, whatever happens to it
// later; the alert ends when the date is settled.
class Checks {
 public:
  explicit Checks(State& state) : s_(state) {}

  // The job was taken, edited, paused or resumed: what is it to wait for?
  void Plan(JobState& job);
  // Judges what was expected by now, unless the clock is not trusted.
  void RunDue();
  // Judges all dates without a verdict, whatever checked_until says, if the job was read since it
  // was last done: an edit with effect on the past makes some.
  void CheckAll(JobState& job);
  // A watermark of the job changed. Asks, if something is told of the job, whether it is over.
  void Review(JobState& job);
  // The same from an answer that has all of the job's dates that are not settled.
  void Compare(JobState& job, const LedgerResult& unsettled);
  // Nothing is told any more of a job that is gone.
  void Forget(const JobState& job);

 private:
  void Look(JobState& job);
  // Judges the dates expected in (`after`, `until`] that have no verdict.
  void Ask(JobState& job, absl::Time after, absl::Time until);
  void Answered(JobState& job, const std::vector<absl::CivilDay>& asked, absl::Time after,
                absl::Time until, const LedgerResult& result);
  void Judge(JobState& job, const std::vector<ExpectedDate>& dates, const LedgerResult& result);
  Ledger LedgerOf(const JobState& job, const LedgerResult& result);
  std::map<absl::CivilDay, std::string> LiveRuns(const JobState& job) const;
  void Pass(JobState& job, absl::Time until);
  void Settle(JobState& job, absl::CivilDay date);

  State& s_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_CHECKS_H_
