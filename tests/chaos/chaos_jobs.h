// The jobs that the cluster runs under chaos.
#ifndef TIDEMARK_TESTS_CHAOS_CHAOS_JOBS_H_
#define TIDEMARK_TESTS_CHAOS_CHAOS_JOBS_H_

#include <string>

#include "absl/time/civil_time.h"

namespace tidemark {

// A job file: "tick-N" each second (half of them one at a time, half side by side), "day-N" daily
// in several zones with `days` dates due before `today`, one that waits for another, one that takes
// its dates in any order; "a-tick-N" and "a-day" with commands of the agents.
std::string ChaosJobs(absl::CivilDay today, int days, int ticks);

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_CHAOS_CHAOS_JOBS_H_
