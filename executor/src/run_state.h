// What is shared between a handler's call and the executor's loop.
#ifndef TIDEMARK_EXECUTOR_SRC_RUN_STATE_H_
#define TIDEMARK_EXECUTOR_SRC_RUN_STATE_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "executor/src/core_types.h"
#include "tidemark/executor.h"

namespace tidemark {

// One run as its handler sees it (behind Context) and as the loop drives it. Owned by both sides
// through shared_ptr: a handler that outlives the executor finds it intact. Thread-safe.
class RunState {
 public:
  // What never changes during the run.
  struct Info {
    std::string job, handler, biz_date, nominal_time, zone, run_id, batch_id, checkpoint;
    std::chrono::system_clock::time_point fire_time;
    uint32_t attempt = 1;
    TriggerKind trigger = TriggerKind::kSchedule;
    std::map<std::string, std::string> params;
    FencingToken token;
    absl::Duration run_timeout = absl::InfiniteDuration();
  };
  // Called, without locks held, when there is something new to take. Must not block.
  using Notify = std::function<void()>;

  RunState(Info info, const Clock& clock, Notify on_progress, Notify on_log);

  const Info& info() const { return info_; }

  // ---- the handler's side
  void Enter();  // the run limit counts from here
  bool cancelled() const;
  std::string cancel_reason() const;
  bool WaitCancelled(std::chrono::milliseconds timeout) const;
  void OnCancel(std::function<void()> callback);
  std::optional<std::chrono::milliseconds> TimeLeft() const;
  void Progress(double percent, std::string_view checkpoint, std::string_view message);
  void Log(std::string_view bytes);
  void SetResult(std::string_view text);
  void SetFingerprint(int64_t rows, std::string_view digest);
  // Waits for callbacks that are under way and drops the others; then what the call came to.
  exec::HandlerResult Finish(Outcome outcome);

  // ---- the loop's side
  // The first cancel counts. Calls the callbacks in this thread.
  void Cancel(std::string reason, bool from_within);
  // The values reported since the last call; nothing when there are none.
  std::optional<exec::ProgressUpdate> TakeProgress();
  std::string TakeLog();

 private:
  void AppendLog(std::string_view bytes);

  const Info info_;
  const Clock& clock_;
  const Notify on_progress_;
  const Notify on_log_;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  // Guarded by mutex_.
  bool cancelled_ = false;
  bool from_within_ = false;
  std::string cancel_reason_;
  std::vector<std::function<void()>> callbacks_;
  int callbacks_running_ = 0;
  bool finished_ = false;
  absl::Duration deadline_ = absl::InfiniteDuration();
  std::optional<exec::ProgressUpdate> progress_;
  std::string log_;
  size_t log_dropped_ = 0;
  exec::HandlerResult result_;
};

// Calls `handler` with its exceptions turned into outcomes.
Outcome CallGuarded(const HandlerFunction& handler, Context& context);

}  // namespace tidemark

#endif  // TIDEMARK_EXECUTOR_SRC_RUN_STATE_H_
