#include "executor/src/run_state.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "executor/src/reports.h"

namespace tidemark {
namespace {

// Bytes of log that may wait for the loop; what is more is dropped with a mark.
constexpr size_t kLogLimit = size_t{1024} * 1024;

}  // namespace

RunState::RunState(Info info, const Clock& clock, Notify on_progress, Notify on_log)
    : info_(std::move(info)),
      clock_(clock),
      on_progress_(std::move(on_progress)),
      on_log_(std::move(on_log)) {}

void RunState::Enter() {
  const std::lock_guard lock(mutex_);
  deadline_ = clock_.Monotonic() + info_.run_timeout;
}

bool RunState::cancelled() const {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

std::string RunState::cancel_reason() const {
  const std::lock_guard lock(mutex_);
  return cancel_reason_;
}

bool RunState::WaitCancelled(std::chrono::milliseconds timeout) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, timeout, [this] { return cancelled_; });
}

void RunState::OnCancel(std::function<void()> callback) {
  {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    if (!cancelled_) {
      callbacks_.push_back(std::move(callback));
      return;
    }
  }
  callback();
}

std::optional<std::chrono::milliseconds> RunState::TimeLeft() const {
  const std::lock_guard lock(mutex_);
  if (deadline_ == absl::InfiniteDuration()) return std::nullopt;
  const absl::Duration left = std::max(deadline_ - clock_.Monotonic(), absl::ZeroDuration());
  return std::chrono::milliseconds(absl::ToInt64Milliseconds(left));
}

void RunState::Progress(double percent, std::string_view checkpoint, std::string_view message) {
  const bool fits = exec::CheckpointFits(checkpoint);
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    first = !progress_.has_value();
    if (first) progress_.emplace();
    if (percent >= 0) progress_->percent = percent;
    if (fits && !checkpoint.empty()) progress_->checkpoint = checkpoint;
    if (!message.empty()) progress_->message = message.substr(0, exec::kMaxFinishMessage);
  }
  if (first && on_progress_) on_progress_();
  if (!fits) {
    Log("[checkpoint ignored: " + std::to_string(checkpoint.size()) +
        " bytes; it must be UTF-8 text of at most " + std::to_string(exec::kMaxCheckpoint) +
        " bytes; the last one stays]\n");
  }
}

void RunState::AppendLog(std::string_view bytes) {
  const size_t room = kLogLimit - std::min(kLogLimit, log_.size());
  const size_t taken = std::min(room, bytes.size());
  log_.append(bytes.substr(0, taken));
  log_dropped_ += bytes.size() - taken;
}

void RunState::Log(std::string_view bytes) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    if (finished_ || bytes.empty()) return;
    first = log_.empty();
    AppendLog(bytes);
  }
  if (first && on_log_) on_log_();
}

void RunState::SetResult(std::string_view text) {
  const std::lock_guard lock(mutex_);
  // One byte over the limit is enough for the cut to be marked where the report is made.
  result_.result = text.substr(0, exec::kMaxResult + 1);
}

void RunState::SetFingerprint(int64_t rows, std::string_view digest) {
  const std::lock_guard lock(mutex_);
  result_.rows = rows;
  result_.digest = digest.substr(0, exec::kMaxDigest + 1);
}

exec::HandlerResult RunState::Finish(Outcome outcome) {
  std::unique_lock lock(mutex_);
  callbacks_.clear();
  finished_ = true;
  changed_.wait(lock, [this] { return callbacks_running_ == 0; });
  using Kind = exec::HandlerResult::Kind;
  switch (outcome.kind) {
    case Outcome::Kind::kSucceeded:
      result_.kind = Kind::kSucceeded;
      break;
    case Outcome::Kind::kRetry:
      result_.kind = Kind::kRetry;
      break;
    case Outcome::Kind::kFailed:
      result_.kind = Kind::kFailed;
      break;
    case Outcome::Kind::kStopped:
      result_.kind = Kind::kStopped;
      break;
  }
  result_.message = std::move(outcome.message);
  result_.cancelled_itself = from_within_;
  if (from_within_ && result_.kind != Kind::kSucceeded) {
    result_.message =
        result_.message.empty() ? cancel_reason_ : cancel_reason_ + ": " + result_.message;
  }
  return result_;
}

void RunState::Cancel(std::string reason, bool from_within) {
  std::vector<std::function<void()>> callbacks;
  {
    const std::lock_guard lock(mutex_);
    if (cancelled_ || finished_) return;
    cancelled_ = true;
    from_within_ = from_within;
    cancel_reason_ = std::move(reason);
    callbacks.swap(callbacks_);
    ++callbacks_running_;
  }
  changed_.notify_all();
  for (const auto& callback : callbacks) callback();
  {
    const std::lock_guard lock(mutex_);
    --callbacks_running_;
  }
  changed_.notify_all();
}

std::optional<exec::ProgressUpdate> RunState::TakeProgress() {
  const std::lock_guard lock(mutex_);
  return std::exchange(progress_, std::nullopt);
}

std::string RunState::TakeLog() {
  const std::lock_guard lock(mutex_);
  if (log_dropped_ > 0) {
    log_ += "\n[" + std::to_string(log_dropped_) + " bytes of log dropped: too many at once]\n";
    log_dropped_ = 0;
  }
  return std::exchange(log_, {});
}

Outcome CallGuarded(const HandlerFunction& handler, Context& context) {
  try {
    return handler(context);
  } catch (const std::exception& e) {
    return Outcome::Retry(std::string("exception: ") + e.what());
  } catch (...) {
    return Outcome::Retry("exception that is no std::exception");
  }
}

}  // namespace tidemark
