// Following a run to its end.
#ifndef TIDEMARK_SCHEDULER_CLI_RUN_WATCH_H_
#define TIDEMARK_SCHEDULER_CLI_RUN_WATCH_H_

#include <string>

#include "common/lifecycle.h"
#include "scheduler/cli/cli.h"
#include "tidemark/v1/operator.pb.h"

namespace tidemark {

// Prints the run each time it changes, until it has ended or a signal comes. With -o json only the
// last message is printed. Exit code: 0 when it was COMPLETED, 1 when it ended otherwise or the
// watching was interrupted.
int WatchRun(Cli& cli, const std::string& run_id, StopSignals& signals);

// What a trigger or rerun answered; with `signals` (not null) also waits for the run's end.
int ShowStarted(Cli& cli, const v1::TriggerJobResponse& response, StopSignals* signals);

bool IsTerminal(v1::RunStatus status);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CLI_RUN_WATCH_H_
