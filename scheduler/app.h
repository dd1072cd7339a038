// The scheduler process: wiring and the order of start and stop, nothing else.
#ifndef TIDEMARK_SCHEDULER_APP_H_
#define TIDEMARK_SCHEDULER_APP_H_

#include "absl/status/status.h"
#include "common/lifecycle.h"
#include "scheduler/config.h"

namespace tidemark {

// Runs until a stop signal. An error says why it could not start, and the mend.
absl::Status RunScheduler(const SchedulerConfig& config, StopSignals& signals);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_APP_H_
