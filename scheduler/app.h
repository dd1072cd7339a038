// The scheduler process: wiring and the order of start and stop, nothing else.
#ifndef TIDEMARK_SCHEDULER_APP_H_
#define TIDEMARK_SCHEDULER_APP_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/lifecycle.h"
#include "scheduler/config.h"

namespace tidemark {

// Makes a token with the role admin, for all namespaces, in the database of `config` (whose tables
// are made when they are missing). Returns its text, which is kept nowhere.
absl::StatusOr<std::string> MakeAdminToken(const SchedulerConfig& config);

// Runs until a stop signal. An error says why it could not start, and the mend.
absl::Status RunScheduler(const SchedulerConfig& config, StopSignals& signals);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_APP_H_
