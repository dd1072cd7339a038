// The alerts of the daily check.
#ifndef TIDEMARK_SCHEDULER_ENGINE_CHECK_ALERTS_H_
#define TIDEMARK_SCHEDULER_ENGINE_CHECK_ALERTS_H_

#include <optional>
#include <string>
#include <vector>

#include "scheduler/core/expected.h"
#include "scheduler/core/ledger.h"
#include "scheduler/engine/state.h"

namespace tidemark::alerts {

// A paused job is told of so long after it was paused; the channels repeat it as often (C8).
inline constexpr absl::Duration kPauseReminder = absl::Hours(7 * 24);

// What stands before a date that nobody opened.
struct MissedGap {
  std::optional<absl::CivilDay> held_from;  // the gap is too long to be filled without a person
  std::optional<absl::CivilDay> turn;       // order strict: the date whose turn it is
};

// The alert that a date is not done by the time it was expected, to be written with its verdict.
// `run_id`: of the live run, or of the last; "": none.
AlertRaise DateMissed(State& state, const JobState& job, const ExpectedDate& date,
                      const LedgerLine& line, const std::string& run_id, const MissedGap& gap);
// The dates of which that is told and not over.
std::vector<absl::CivilDay> MissedDates(const State& state, int64_t job_id);
// Settled, or not due any more.
void MissedNoMore(State& state, int64_t job_id, absl::CivilDay date);

// The job has been paused for kPauseReminder. Raises nothing if that was said.
void StillPaused(State& state, const JobState& job);
bool ToldPaused(const State& state, int64_t job_id);
void NotPaused(State& state, int64_t job_id);

}  // namespace tidemark::alerts

#endif  // TIDEMARK_SCHEDULER_ENGINE_CHECK_ALERTS_H_
