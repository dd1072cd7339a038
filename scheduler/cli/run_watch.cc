#include "scheduler/cli/run_watch.h"

#include <cstdio>
#include <iostream>

#include "scheduler/cli/table.h"

namespace tidemark {
namespace {

constexpr absl::Duration kLook = absl::Milliseconds(300);
// A scheduler that restarts is no reason to stop watching.
constexpr int kMaxMisses = 100;

std::string Line(const v1::Run& run) {
  std::string line = v1::RunStatus_Name(run.status());
  if (!run.reason().empty()) line += " (" + run.reason() + ")";
  if (run.attempt() > 0) line += ", attempt " + std::to_string(run.attempt());
  if (!run.executor_id().empty()) line += " on " + run.executor_id();
  if (run.progress_percent() >= 0) {
    char percent[32];
    std::snprintf(percent, sizeof percent, ", %.1f %%", run.progress_percent());
    line += percent;
  }
  if (!run.message().empty()) line += ": " + run.message();
  return line;
}

int ExitCodeOf(const v1::Run& run) {
  return run.status() == v1::COMPLETED || run.status() == v1::COMPENSATED ? kExitDone : kExitFailed;
}

}  // namespace

bool IsTerminal(v1::RunStatus status) {
  return status != v1::RUN_STATUS_UNSPECIFIED && status != v1::PENDING && status != v1::RUNNING;
}

int WatchRun(Cli& cli, const std::string& run_id, StopSignals& signals) {
  v1::GetRunRequest request;
  request.set_run_id(run_id);
  std::string shown;
  int misses = 0;
  for (;;) {
    v1::Run run;
    const grpc::Status status = cli.TryCall(&Cli::Stub::GetRun, request, &run);
    if (status.ok()) {
      misses = 0;
      const std::string line = Line(run);
      if (!cli.json() && line != shown) cli.out() << SafeText(line) << std::endl;
      shown = line;
      if (IsTerminal(run.status())) {
        if (cli.json()) cli.PrintJson(run);
        return ExitCodeOf(run);
      }
    } else if (status.error_code() != grpc::StatusCode::UNAVAILABLE || ++misses > kMaxMisses) {
      return cli.Report(status);
    }
    if (signals.Wait(kLook) != 0) {
      return cli.Fail(kExitFailed, "interrupted; the run goes on",
                      "tidemark run watch " + run_id + " follows it again, tidemark run cancel " +
                          run_id + " stops it");
    }
  }
}

int ShowStarted(Cli& cli, const v1::TriggerJobResponse& response, StopSignals* signals) {
  if (response.queued()) {
    if (cli.json()) cli.PrintJson(response);
    if (signals != nullptr) {
      return cli.Fail(kExitFailed,
                      "the order is recorded, but the owner of the job has not answered yet",
                      "it will still be carried out: tidemark run list shows it then");
    }
    if (!cli.json()) {
      cli.out()
          << "queued: the owner of the job has not answered yet and will still carry it out\n";
    }
    return kExitDone;
  }
  const bool wait = signals != nullptr;
  if (!cli.json()) {
    cli.out() << "run " << SafeText(response.run_id());
    if (!response.biz_date().empty()) cli.out() << " for " << SafeText(response.biz_date());
    cli.out() << (response.existing() ? " (made by an earlier request of that id)" : "")
              << std::endl;
  } else if (!wait) {
    cli.PrintJson(response);
  }
  return wait ? WatchRun(cli, response.run_id(), *signals) : static_cast<int>(kExitDone);
}

}  // namespace tidemark
