#include "scheduler/cli/run_logs.h"

#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "common/lifecycle.h"
#include "scheduler/cli/log_text.h"

namespace tidemark {
namespace {

constexpr absl::Duration kLook = absl::Milliseconds(300);
// A scheduler that restarts is no reason to stop following.
constexpr int kMaxMisses = 100;

struct RunLogOptions {
  std::string run_id;
  uint32_t attempt = 0;  // 0: all
  bool follow = false;
  bool raw = false;
};

// Writes the log of one attempt after the other.
class LogOutput {
 public:
  LogOutput(Cli& cli, bool raw) : cli_(cli), raw_(raw) {}

  void BeginAttempt(uint32_t attempt) {
    EndLine();
    cli_.out() << std::flush;
    cli_.err() << "==> attempt " << attempt << " <==" << std::endl;
  }

  void Show(const v1::ReadRunLogResponse& part) {
    if (cli_.json()) {
      cli_.PrintJson(part);
      return;
    }
    const uint64_t lost = part.missing_bytes() - part.cut_bytes();
    if (lost > 0) Mark(std::to_string(lost) + " bytes are missing here: lost on their way");
    if (part.cut_bytes() > 0) {
      Mark(std::to_string(part.cut_bytes()) + " bytes are cut: the first 4 MiB of a log are kept");
    }
    Write(raw_ ? part.data() : text_.Feed(part.data()));
    if (part.complete()) Write(text_.End());
    cli_.out() << std::flush;
  }

  void EndLine() {
    if (!raw_ && !cli_.json() && !at_line_start_) Write("\n");
  }

 private:
  // On a line of its own; with --raw beside the bytes, not among them.
  void Mark(const std::string& words) {
    if (raw_) {
      cli_.err() << "[" << words << "]" << std::endl;
      return;
    }
    Write(text_.End());
    EndLine();
    Write("[" + words + "]\n");
  }

  void Write(const std::string& bytes) {
    if (bytes.empty()) return;
    cli_.out() << bytes;
    at_line_start_ = bytes.back() == '\n';
  }

  Cli& cli_;
  const bool raw_;
  LogText text_;
  bool at_line_start_ = true;
};

// Reads a run's logs to their end, or for as long as the run goes on.
class LogReader {
 public:
  LogReader(Cli& cli, const RunLogOptions& options, StopSignals* signals)
      : cli_(cli),
        options_(options),
        signals_(signals),
        output_(cli, options.raw),
        attempt_(options.attempt == 0 ? 1 : options.attempt) {}

  int Run() {
    for (;;) {
      v1::ReadRunLogResponse part;
      const grpc::Status status = Ask(&part);
      if (!status.ok()) {
        const bool away = status.error_code() == grpc::StatusCode::UNAVAILABLE;
        if (signals_ == nullptr || !away || ++misses_ > kMaxMisses) return cli_.Report(status);
        if (signals_->Wait(kLook) != 0) return kExitDone;
        continue;
      }
      misses_ = 0;
      if (!Take(part)) break;
      if (!cli_.out()) break;  // nobody reads any more
    }
    output_.EndLine();
    return kExitDone;
  }

 private:
  grpc::Status Ask(v1::ReadRunLogResponse* part) {
    v1::ReadRunLogRequest request;
    request.set_run_id(options_.run_id);
    request.set_attempt(attempt_);
    request.set_offset(offset_);
    return cli_.TryCall(&Cli::Stub::ReadRunLog, request, part);
  }

  // False when there is nothing more to read, or nobody wants it.
  bool Take(const v1::ReadRunLogResponse& part) {
    const bool any = part.next_offset() > offset_;
    if (!announced_ && part.last_attempt() > 1 && options_.attempt == 0 && !cli_.json()) {
      output_.BeginAttempt(attempt_);
      announced_ = true;
    }
    if (any || (part.complete() && !shown_complete_)) output_.Show(part);
    shown_complete_ = part.complete();
    offset_ = part.next_offset();
    if (any && !part.complete()) return true;
    const bool follow = signals_ != nullptr;
    const bool done = part.complete() || !follow;
    if (done && options_.attempt == 0 && attempt_ < part.last_attempt()) {
      ++attempt_;
      offset_ = 0;
      announced_ = false;
      shown_complete_ = false;
      return true;
    }
    if (!follow || (part.complete() && (options_.attempt != 0 || part.run_ended()))) return false;
    return signals_->Wait(kLook) == 0;
  }

  Cli& cli_;
  const RunLogOptions options_;
  StopSignals* const signals_;  // null: what there is now
  LogOutput output_;
  uint32_t attempt_;
  uint64_t offset_ = 0;
  bool announced_ = false;
  bool shown_complete_ = false;
  int misses_ = 0;
};

}  // namespace

void AddRunLogs(CLI::App* noun, Cli& cli) {
  auto options = std::make_shared<RunLogOptions>();
  CLI::App* verb =
      AddVerb(noun, "logs", "Show what a run logged or its command printed, attempt by attempt",
              "  tidemark run logs 019a7c3e-5b1d-7000-8000-3c2f5e0d9a41\n"
              "  tidemark run logs 019a7c3e-5b1d-7000-8000-3c2f5e0d9a41 --follow\n"
              "  tidemark run logs 019a7c3e-5b1d-7000-8000-3c2f5e0d9a41 --attempt 2 --raw >log\n"
              "Of each attempt the first 4 MiB are kept; what is cut or was lost is said where it "
              "is missing.");
  verb->add_option("RUN", options->run_id, "Its id, as run list shows it")->required();
  verb->add_flag("-f,--follow", options->follow,
                 "Go on until the run has ended, over its retries; Ctrl-C leaves it running");
  verb->add_option("--attempt", options->attempt, "Only this attempt (default: all)")
      ->check(CLI::Range(1, 1000000));
  verb->add_flag("--raw", options->raw,
                 "The bytes as they are; without it control characters are escaped");
  verb->callback([&cli, options] {
    cli.run = [&cli, options] {
      std::unique_ptr<StopSignals> signals;
      if (options->follow) signals = std::make_unique<StopSignals>();
      return LogReader(cli, *options, signals.get()).Run();
    };
  });
}

}  // namespace tidemark
