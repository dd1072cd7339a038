#include "executor/src/handler_call.h"

#include <exception>
#include <utility>

#include "executor/src/proto_time.h"

namespace tidemark::exec {
namespace {

TriggerKind KindOf(v1::TriggerType type) {
  switch (type) {
    case v1::CATCH_UP:
      return TriggerKind::kCatchUp;
    case v1::BACKFILL:
      return TriggerKind::kBackfill;
    case v1::MANUAL:
      return TriggerKind::kManual;
    default:
      return TriggerKind::kSchedule;
  }
}

// Null with the reason when the run is not to start.
std::unique_ptr<RunGuard> Take(const GuardFunction& guard, Context& context, std::string* refused) {
  try {
    return guard(context, refused);
  } catch (const std::exception& e) {
    *refused = std::string("exception: ") + e.what();
  } catch (...) {
    *refused = "exception that is no std::exception";
  }
  return nullptr;
}

}  // namespace

RunState::Info InfoOf(const v1::Trigger& trigger) {
  RunState::Info info;
  info.job = trigger.job();
  info.handler = trigger.handler();
  info.biz_date = trigger.biz_date();
  info.fire_time = absl::ToChronoTime(FromProto(trigger.fire_time()));
  info.nominal_time = trigger.nominal_time();
  info.zone = trigger.zone();
  info.run_id = trigger.attempt().run_id();
  info.attempt = trigger.attempt().attempt();
  info.batch_id = trigger.batch_id();
  info.trigger = KindOf(trigger.trigger_type());
  info.params = {trigger.params().begin(), trigger.params().end()};
  info.checkpoint = trigger.checkpoint();
  info.token = {trigger.epoch().timeline(), trigger.epoch().number(), info.run_id, info.attempt};
  const absl::Duration limit = FromProto(trigger.run_timeout());
  if (limit > absl::ZeroDuration()) info.run_timeout = limit;
  return info;
}

void CallHandler(const GuardFunction& guard, const HandlerFunction& handler,
                 const std::shared_ptr<RunState>& state, const HandlerCall& call) {
  Context context(state);
  std::unique_ptr<RunGuard> held;
  if (guard) {
    std::string refused;
    held = Take(guard, context, &refused);
    if (held == nullptr) {
      call.on_not_entered(true, refused.empty() ? "the guard refused" : std::move(refused));
      return;
    }
  }
  if (state->cancelled()) {
    held.reset();
    call.on_not_entered(false, state->cancel_reason());
    return;
  }
  call.on_entered();
  state->Enter();
  Outcome outcome = CallGuarded(handler, context);
  held.reset();  // before the end is told: another attempt may start at once
  call.on_finished(state->Finish(std::move(outcome)));
}

}  // namespace tidemark::exec
