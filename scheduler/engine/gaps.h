// Catch-up: asks the ledger what is unsettled, lets the planner decide, opens what it says.
#ifndef TIDEMARK_SCHEDULER_ENGINE_GAPS_H_
#define TIDEMARK_SCHEDULER_ENGINE_GAPS_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/engine/state.h"

namespace tidemark {

// Part of the engine; works on State and nothing else. Not thread-safe.
//
// The gap is re-derived from rows each time: what came due since the last look, and what was noted
// as due before and is not settled, so that its cost does not grow with what is DONE. An answer
// counts only if no watermark of the job was written between the question and the answer: else it
// is asked again.
class Gaps {
 public:
  explicit Gaps(State& state) : s_(state) {}

  // Looks at the job's gap because of `point`. Does nothing for jobs that have none.
  void Evaluate(JobState& job, TriggerPoint point);
  // The same at the start of a term. `settled`: so far nothing that was noted is unsettled, and
  // nothing was told of the job; unless something came due since, the ledger need not be asked.
  void EvaluateAtStart(JobState& job, bool settled);
  // All dated jobs of the app.
  void EvaluateApp(const std::string& app, TriggerPoint point);
  // Once a minute: jobs known to be late.
  void Scan();
  // Once a second: the next 3,600th of all jobs, at least one a minute.
  void ScanShare();
  void OnLedger(const LedgerResult& result);

  // Asks the ledger what the job's next date, which is not due yet, will find. Calls `then` soon
  // if its fire is sure to open it, and it alone, as long as nothing changes.
  void WouldOpen(JobState& job, const Occurrence& next, std::function<void(JobState&)> then);

  // Asks for the state of dates (settled ones, too, with `all`), once no write is under way; with
  // `noted` also for what was noted before and is not settled.
  void Ask(JobState& job, std::vector<absl::CivilDay> dates, bool all,
           std::function<void(const LedgerResult&)> then, bool noted = false, bool check = false);
  // Asks for the state of dates, settled ones, too, as soon as no question and no write of the job
  // is under way; again, if a write came between. `then` gets null when the job is gone by then.
  // With `check` also for what was noted before and is not settled, and for verdicts.
  void AskWhenQuiet(JobState& job, std::vector<absl::CivilDay> dates,
                    const std::function<void(JobState*, const LedgerResult&)>& then,
                    bool check = false);
  // To be called with each watermark change of the job that is put into the flush. A `verdict`
  // (anything but RUNNING) is a trigger point for the jobs that wait for this one.
  void WriteUnderWay(JobState& job, bool verdict = true);
  // Looks at the gaps of the jobs that wait for this one.
  void EvaluateDependents(const std::string& job_name);
  // To be called with each change that jobs which wait for this one may have waited for: other
  // nodes hear of it once the flush is committed.
  void TellOthers(const JobState& job);
  // Looks at the gaps of all jobs known to be late that wait for jobs of other nodes.
  void EvaluateWaiting();
  // The upstream date that holds a date of the job back, if one does, as the ledger answered.
  std::optional<UpstreamDate> WaitsFor(absl::CivilDay date, const LedgerResult& ledger);

  // Where the gap begins, if it is too long to be filled without a person's word.
  std::optional<absl::CivilDay> HeldFrom(const JobState& job, const LedgerResult& ledger);
  // Days that a gap may be long before it is held.
  int LongestGap(const JobState& job) const;
  // The ledger's first date, decided and recorded at the first launch.
  absl::CivilDay Launch(JobState& job);
  // The same, without recording it if it is not recorded yet.
  absl::CivilDay FirstDate(const JobState& job) const;

 private:
  bool ForeignHoldsBack(const UpstreamEntry& entry, const LedgerResult& ledger);
  void Look(JobState& job, TriggerPoint point, bool whole, bool settled = false);
  void LookAround(JobState& job);
  void SetLate(JobState& job, bool late);
  // Notes what came due since the last look, or all of it with `whole`; returns those dates.
  std::vector<absl::CivilDay> NoteDue(JobState& job, absl::CivilDay first, bool whole);
  // Goes on with what waited for the job's questions and writes to end.
  void GoOn(int64_t job_id);
  void Apply(JobState& job, TriggerPoint point, const LedgerResult& result);
  // Tells whether the gap is held or blocked.
  void TellGap(JobState& job, const CatchUpInput& input, const CatchUpPlan& plan);
  // Tells what is settled by now, and what catch-up did once it has closed the gap.
  void Settle(JobState& job, const CatchUpInput& input);
  CatchUpInput InputOf(const JobState& job, TriggerPoint point, const LedgerResult& result,
                       absl::Time now);
  void Expire(JobState& job, const std::vector<Occurrence>& dates, bool first_launch);

  State& s_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_GAPS_H_
