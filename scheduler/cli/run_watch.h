// Following a run to its end.
#ifndef TIDEMARK_SCHEDULER_CLI_RUN_WATCH_H_
#define TIDEMARK_SCHEDULER_CLI_RUN_WATCH_H_

#include <optional>
#include <string>

#include "common/lifecycle.h"
#include "scheduler/cli/cli.h"
#include "scheduler/cli/run_rate.h"
#include "tidemark/v1/operator.pb.h"

namespace tidemark {

// Shows the run until it has ended or a signal comes: on a terminal as one line that is redrawn,
// else as a line each time it changes. With -o json only the last message is printed. Exit code: 0
// when it was COMPLETED or COMPENSATED, 1 when it ended otherwise or the watching was interrupted.
int WatchRun(Cli& cli, const std::string& run_id, StopSignals& signals);

// What a trigger or rerun answered; with `signals` (not null) also waits for the run's end.
int ShowStarted(Cli& cli, const v1::TriggerJobResponse& response, StopSignals* signals);

bool IsTerminal(v1::RunStatus status);

// The run in one line, safe to show.
std::string WatchLine(const v1::Run& run, const std::optional<ProgressRate>& rate);
// The same with a bar, at most `width` columns wide.
std::string WatchBar(const v1::Run& run, const std::optional<ProgressRate>& rate, size_t width);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CLI_RUN_WATCH_H_
