#include "scheduler/cli/run_watch.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <utility>
#include <vector>

#include "scheduler/cli/table.h"

namespace tidemark {
namespace {

constexpr absl::Duration kLook = absl::Milliseconds(300);
// A scheduler that restarts is no reason to stop watching.
constexpr int kMaxMisses = 100;

std::string Percent(double percent, const char* unit) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", percent, unit);
  return text;
}

std::string RateText(const ProgressRate& rate) {
  if (!rate.eta.has_value()) return "stalled";
  return Percent(rate.percent_per_minute, "%/min") + ", ETA " +
         absl::FormatDuration(absl::Ceil(*rate.eta, absl::Seconds(1)));
}

std::string Where(const v1::Run& run) {
  std::string text;
  if (run.attempt() > 0) text += ", attempt " + std::to_string(run.attempt());
  if (!run.executor_id().empty()) text += " on " + run.executor_id();
  return text;
}

std::string StatusText(const v1::Run& run) {
  return v1::RunStatus_Name(run.status()) + (run.reason().empty() ? "" : " (" + run.reason() + ")");
}

std::string Bar(double percent) {
  constexpr int kCells = 24;
  const int full = static_cast<int>(std::clamp(percent, 0.0, 100.0) / 100 * kCells);
  return "[" + std::string(full, '#') + std::string(kCells - full, '.') + "]";
}

size_t TerminalWidth() {
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20;
  return known ? size.ws_col : 80;
}

// What is on the screen of the run.
class WatchView {
 public:
  explicit WatchView(Cli& cli)
      : cli_(cli), redraws_(&cli.out() == &std::cout && isatty(STDOUT_FILENO) == 1) {}

  void Show(const v1::Run& run) {
    if (cli_.json()) return;
    samples_.push_back({cli_.clock().Monotonic(), run.attempt(),
                        run.status() == v1::RUNNING ? run.progress_percent() : -1});
    ForgetOldSamples(&samples_);
    const std::optional<ProgressRate> rate = RateOf(samples_);
    if (redraws_) {
      // One column stays free: a full line would wrap.
      cli_.out() << "\r" << WatchBar(run, rate, TerminalWidth() - 1) << "\x1b[K" << std::flush;
      drawn_ = true;
      return;
    }
    // The rate changes all the time; that alone is no news.
    const std::string news = WatchLine(run, std::nullopt);
    if (news == shown_) return;
    shown_ = news;
    cli_.out() << WatchLine(run, rate) << std::endl;
  }

  void End() {
    if (drawn_) cli_.out() << std::endl;
  }

 private:
  Cli& cli_;
  const bool redraws_;
  bool drawn_ = false;
  std::string shown_;
  std::vector<ProgressSample> samples_;
};

int ExitCodeOf(const v1::Run& run) {
  return run.status() == v1::COMPLETED || run.status() == v1::COMPENSATED ? kExitDone : kExitFailed;
}

}  // namespace

bool IsTerminal(v1::RunStatus status) {
  return status != v1::RUN_STATUS_UNSPECIFIED && status != v1::PENDING && status != v1::RUNNING;
}

std::string WatchLine(const v1::Run& run, const std::optional<ProgressRate>& rate) {
  std::string line = StatusText(run) + Where(run);
  if (run.progress_percent() >= 0) line += ", " + Percent(run.progress_percent(), "%");
  if (rate.has_value()) line += ", " + RateText(*rate);
  if (!run.message().empty()) line += ": " + run.message();
  return SafeText(line);
}

std::string WatchBar(const v1::Run& run, const std::optional<ProgressRate>& rate, size_t width) {
  std::string line = StatusText(run);
  if (run.progress_percent() >= 0) {
    line += " " + Bar(run.progress_percent()) + " " + Percent(run.progress_percent(), "%");
  }
  if (rate.has_value()) line += ", " + RateText(*rate);
  line += Where(run);
  if (!run.message().empty()) line += ": " + run.message();
  return Shorten(SafeText(line), width);
}

int WatchRun(Cli& cli, const std::string& run_id, StopSignals& signals) {
  v1::GetRunRequest request;
  request.set_run_id(run_id);
  WatchView view(cli);
  int misses = 0;
  for (;;) {
    v1::Run run;
    const grpc::Status status = cli.TryCall(&Cli::Stub::GetRun, request, &run);
    if (status.ok()) {
      misses = 0;
      view.Show(run);
      if (IsTerminal(run.status())) {
        view.End();
        if (cli.json()) cli.PrintJson(run);
        return ExitCodeOf(run);
      }
    } else if (status.error_code() != grpc::StatusCode::UNAVAILABLE || ++misses > kMaxMisses) {
      view.End();
      return cli.Report(status);
    }
    if (signals.Wait(kLook) != 0) {
      view.End();
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
