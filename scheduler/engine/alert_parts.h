// What the functions of alerts.h are made of. For them alone.
#ifndef TIDEMARK_SCHEDULER_ENGINE_ALERT_PARTS_H_
#define TIDEMARK_SCHEDULER_ENGINE_ALERT_PARTS_H_

#include <string>
#include <vector>

#include "scheduler/engine/state.h"

namespace tidemark::alerts {

AlertRaise About(State& state, std::string kind, std::string severity, std::string key);
// Key: kind/run_id.
AlertRaise AboutRun(State& state, const std::string& kind, std::string severity,
                    const ActiveRun& run);
// Key: kind/job_id/episode.
AlertRaise AboutJob(State& state, const std::string& kind, std::string severity,
                    const JobState& job, const std::string& episode);

// Something that is so until it is resolved.
void Raise(State& state, AlertRaise alert);
// Something that happened: told once, with no end to be told, and no reminder.
void Tell(State& state, AlertRaise alert);
// Writes nothing when none is open, so it may be called wherever the cause is known to be gone.
void Resolve(State& state, std::string prefix);
// Keys of open alerts that begin so.
std::vector<std::string> OpenOnes(const State& state, const std::string& prefix);

// "kind/12/"
std::string JobPrefix(const std::string& kind, int64_t job_id);
// "recon 2026-11-27", or "recon at 2026-11-28T01:00:00Z" for an interval job.
std::string Subject(const ActiveRun& run);
// "recon --from 2026-11-01 --to 2026-11-05"
std::string RangeOf(const JobState& job, absl::CivilDay from, absl::CivilDay to);

}  // namespace tidemark::alerts

#endif  // TIDEMARK_SCHEDULER_ENGINE_ALERT_PARTS_H_
