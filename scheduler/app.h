// The scheduler process: from its configuration to its end.
#ifndef TIDEMARK_SCHEDULER_APP_H_
#define TIDEMARK_SCHEDULER_APP_H_

#include <functional>
#include <optional>

#include "absl/status/status.h"
#include "common/lifecycle.h"
#include "scheduler/config.h"

namespace tidemark {

// Reads the configuration again; empty when it cannot be used, which it has told on stderr.
using RereadConfig = std::function<std::optional<SchedulerConfig>()>;

// Runs until a stop signal. With a configuration file SIGHUP is none: the log level is taken from
// the file again. An error says why it could not start, and the mend.
absl::Status RunScheduler(const SchedulerConfig& config, StopSignals& signals,
                          const RereadConfig& reread);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_APP_H_
