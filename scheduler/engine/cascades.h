// Cascades: what was computed from a date that is run again is run again, too, oldest first (C5).
//
// The runs of one job are opened together, so that they are in active_run, and take their turns one
// after the other. Their tag says where the cascade begins. When the last has succeeded, or one has
// failed, an order to each job that waits for this one is committed with that end.
#ifndef TIDEMARK_SCHEDULER_ENGINE_CASCADES_H_
#define TIDEMARK_SCHEDULER_ENGINE_CASCADES_H_

#include <string>
#include <vector>

#include "scheduler/engine/state.h"

namespace tidemark {

std::string CascadeTag(absl::CivilDay first);
bool IsCascade(const ActiveRun& run);
// Where the cascade that the run is part of begins.
absl::CivilDay CascadeFirst(const ActiveRun& run);

// Dates after `date` that are DONE and whose results may build on its own: none, when the job's
// dates are independent.
std::vector<absl::CivilDay> ComputedFrom(const JobState& job, absl::CivilDay date,
                                         const LedgerResult& ledger);
// DONE dates up to `to`, and in strict order what was computed from them.
std::vector<absl::CivilDay> DoneDates(const JobState& job, absl::CivilDay to,
                                      const LedgerResult& ledger);

// Opens a run for each date, in that order, but for those that are live.
void OpenCascade(State& state, JobState& job, const Command& command, const std::string& tag,
                 const std::vector<absl::CivilDay>& dates);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_CASCADES_H_
