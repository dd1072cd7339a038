// The scheduler process: wiring and the order of start and stop, nothing else.
#ifndef TIDEMARK_SCHEDULER_APP_H_
#define TIDEMARK_SCHEDULER_APP_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/lifecycle.h"
#include "scheduler/config.h"

namespace tidemark {

// Makes a token with the role admin, for all namespaces, in the database of `config` (whose tables
// are made when they are missing). Returns its text, which is kept nowhere.
absl::StatusOr<std::string> MakeAdminToken(const SchedulerConfig& config);

// Reads the configuration again; empty when it cannot be used, which it has told on stderr.
using RereadConfig = std::function<std::optional<SchedulerConfig>()>;

// Runs until a stop signal. With a configuration file SIGHUP is none: the log level is taken from
// the file again. An error says why it could not start, and the mend.
absl::Status RunScheduler(const SchedulerConfig& config, StopSignals& signals,
                          const RereadConfig& reread);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_APP_H_
