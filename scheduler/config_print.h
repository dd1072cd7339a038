// Shows the settings in use.
#ifndef TIDEMARK_SCHEDULER_CONFIG_PRINT_H_
#define TIDEMARK_SCHEDULER_CONFIG_PRINT_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "scheduler/config.h"

namespace tidemark {

// Every option that the file, the environment or a flag can set, in the order of --help.
std::vector<std::string> ConfigKeys(const CLI::App& app);

// The parsed options as lines of YAML, and a remark about each channel. Of secrets it says that
// they are set.
std::string PrintConfig(const CLI::App& app, const SchedulerConfig& config);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CONFIG_PRINT_H_
