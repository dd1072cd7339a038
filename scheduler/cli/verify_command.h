// tidemark job verify
#ifndef TIDEMARK_SCHEDULER_CLI_VERIFY_COMMAND_H_
#define TIDEMARK_SCHEDULER_CLI_VERIFY_COMMAND_H_

#include "scheduler/cli/cli.h"

namespace tidemark {

// Adds the verb below `noun`.
void AddVerify(CLI::App* noun, Cli& cli);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CLI_VERIFY_COMMAND_H_
