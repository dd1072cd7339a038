// The options that bound what others may cost.
#ifndef TIDEMARK_SCHEDULER_CONFIG_LIMITS_H_
#define TIDEMARK_SCHEDULER_CONFIG_LIMITS_H_

#include <CLI/CLI.hpp>

#include "scheduler/config.h"

namespace tidemark {

// `config` must outlive `app`.
void AddLimitOptions(CLI::App& app, SchedulerConfig& config);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CONFIG_LIMITS_H_
