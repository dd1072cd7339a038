// tidemark run logs
#ifndef TIDEMARK_SCHEDULER_CLI_RUN_LOGS_H_
#define TIDEMARK_SCHEDULER_CLI_RUN_LOGS_H_

#include "scheduler/cli/cli.h"

namespace tidemark {

// Adds the verb below `noun`.
void AddRunLogs(CLI::App* noun, Cli& cli);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CLI_RUN_LOGS_H_
