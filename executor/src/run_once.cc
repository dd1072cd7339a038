// RunOnce: a handler's unit test without a scheduler.
#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "common/clock.h"
#include "executor/src/run_state.h"
#include "tidemark/executor.h"

namespace tidemark {
namespace {

RunState::Info InfoOf(const RunRequest& request) {
  RunState::Info info;
  info.job = request.job;
  info.handler = request.job;
  info.biz_date = request.biz_date;
  info.fire_time = request.fire_time;
  info.nominal_time = request.nominal_time;
  info.zone = request.zone;
  info.run_id = request.run_id;
  info.attempt = request.attempt;
  info.batch_id =
      request.batch_id.empty()
          ? request.job + "/" + (request.biz_date.empty() ? request.nominal_time : request.biz_date)
          : request.batch_id;
  info.trigger = request.trigger;
  info.params = request.params;
  info.checkpoint = request.checkpoint;
  info.token = {1, 1, request.run_id, request.attempt};
  return info;
}

// Collects what the run reports as soon as it reports it, from whatever thread of the handler.
struct Collector {
  std::shared_ptr<RunState> state;
  const RunRequest* request = nullptr;
  std::mutex mutex;
  RunResult* result = nullptr;  // guarded by mutex

  void TakeProgress() {
    const auto update = state->TakeProgress();
    if (!update) return;
    bool cancel = false;
    {
      const std::lock_guard lock(mutex);
      if (update->percent >= 0) result->percent = std::min(update->percent, 100.0);
      if (!update->checkpoint.empty()) result->checkpoint = update->checkpoint;
      if (!update->message.empty()) result->message = update->message;
      cancel = request->cancel_at_percent >= 0 && result->percent >= request->cancel_at_percent;
    }
    if (cancel) state->Cancel("cancelled by the test", false);
  }

  void TakeLog() {
    const std::lock_guard lock(mutex);
    result->log += state->TakeLog();
  }
};

}  // namespace

RunResult RunOnce(const HandlerFunction& handler, const RunRequest& request) {
  RunResult result;
  result.checkpoint = request.checkpoint;
  auto collector = std::make_shared<Collector>();
  const auto state = std::make_shared<RunState>(
      InfoOf(request), SystemClock(), [collector] { collector->TakeProgress(); },
      [collector] { collector->TakeLog(); });
  collector->state = state;
  collector->request = &request;
  collector->result = &result;
  if (request.cancelled) state->Cancel("cancelled by the test", false);
  state->Enter();
  Context context(state);
  result.outcome = CallGuarded(handler, context);
  exec::HandlerResult end = state->Finish(result.outcome);
  result.outcome.message = std::move(end.message);
  result.result = std::move(end.result);
  if (end.rows) result.fingerprint = Fingerprint{*end.rows, std::move(end.digest)};
  collector->state.reset();  // it would keep itself alive
  return result;
}

}  // namespace tidemark
