// tidemark job list, get, next.
#ifndef TIDEMARK_SCHEDULER_CLI_JOB_LISTINGS_H_
#define TIDEMARK_SCHEDULER_CLI_JOB_LISTINGS_H_

#include "scheduler/cli/cli.h"

namespace tidemark {

// Adds the verbs to the noun.
void AddJobListings(CLI::App* noun, Cli& cli);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CLI_JOB_LISTINGS_H_
