#include "scheduler/rpc/executor_codec.h"

#include <memory>
#include <string>
#include <utility>

#include "common/text.h"
#include "scheduler/rpc/proto_time.h"

namespace tidemark {
namespace {

constexpr size_t kNameLimit = 128;
constexpr size_t kMessageLimit = 4096;
constexpr size_t kParamLimit = size_t{64} * 1024;
constexpr size_t kResultLimit = size_t{16} * 1024;

AttemptRef RefOf(const v1::AttemptRef& ref) {
  return {CleanText(ref.run_id(), kNameLimit), static_cast<int>(ref.attempt())};
}

Epoch EpochOf(const v1::Epoch& epoch) { return {epoch.timeline(), epoch.number()}; }

TriggerType TriggerTypeOf(v1::TriggerType type) {
  switch (type) {
    case v1::CATCH_UP:
      return TriggerType::kCatchUp;
    case v1::BACKFILL:
      return TriggerType::kBackfill;
    case v1::MANUAL:
      return TriggerType::kManual;
    default:
      return TriggerType::kSchedule;
  }
}

// A trigger as its executor says it back.
TriggerOrder OrderOf(const v1::Trigger& trigger) {
  TriggerOrder order;
  order.attempt = RefOf(trigger.attempt());
  order.registration = trigger.registration();
  order.shard = static_cast<int>(trigger.shard());
  order.epoch = EpochOf(trigger.epoch());
  order.job = CleanText(trigger.job(), kNameLimit);
  order.handler = CleanText(trigger.handler(), kNameLimit);
  order.biz_date = CleanText(trigger.biz_date(), kNameLimit);
  order.fire_time = FromProto(trigger.fire_time());
  order.nominal_time = CleanText(trigger.nominal_time(), kNameLimit);
  order.zone = CleanText(trigger.zone(), kNameLimit);
  order.trigger = TriggerTypeOf(trigger.trigger_type());
  for (const auto& [key, value] : trigger.params()) {
    order.params[CleanText(key, kNameLimit)] = CleanText(value, kParamLimit);
  }
  order.checkpoint = CleanText(trigger.checkpoint(), kMessageLimit);
  order.batch_id = CleanText(trigger.batch_id(), kMessageLimit);
  order.on_lost = trigger.on_lost() == v1::RETRY ? OnLost::kRetry : OnLost::kWait;
  order.run_timeout = FromProto(trigger.run_timeout());
  order.lost_after = FromProto(trigger.lost_after());
  order.cancel_grace = FromProto(trigger.cancel_grace());
  return order;
}

HeldRun HeldOf(const v1::HeldRun& held) {
  return {
      RefOf(held.attempt()), static_cast<int>(held.shard()), EpochOf(held.epoch()), held.started(),
      held.has_trigger() ? std::make_shared<const TriggerOrder>(OrderOf(held.trigger())) : nullptr};
}

Outcome OutcomeOf(v1::Finished::Outcome outcome) {
  switch (outcome) {
    case v1::Finished::SUCCEEDED:
      return Outcome::kSucceeded;
    case v1::Finished::FAILED_PERMANENT:
      return Outcome::kFailedPermanent;
    case v1::Finished::STOPPED:
      return Outcome::kStopped;
    case v1::Finished::DRAINED:
      return Outcome::kDrained;
    default:
      return Outcome::kFailedRetryable;
  }
}

FinishedReport FinishedOf(const v1::Finished& finished) {
  FinishedReport report;
  report.result.outcome = OutcomeOf(finished.outcome());
  report.result.message = CleanText(finished.message(), kMessageLimit);
  report.result.result = CleanText(finished.result(), kResultLimit);
  if (finished.has_result_rows()) report.result.result_rows = finished.result_rows();
  report.result.result_digest = CleanText(finished.result_digest(), kNameLimit);
  report.result.checkpoint = CleanText(finished.checkpoint(), kMessageLimit);
  return report;
}

// Logs are not the engine's: a report that is only a log chunk gives nothing (see TakeLogs).
bool ReportOf(const v1::RunReport& message, RunReport* report) {
  report->attempt = RefOf(message.attempt());
  report->registration = message.registration();
  switch (message.event_case()) {
    case v1::RunReport::kAccepted:
      report->event = AcceptedReport{};
      return true;
    case v1::RunReport::kRefused:
      report->event = RefusedReport{v1::Refused::Reason_Name(message.refused().reason()),
                                    CleanText(message.refused().message(), kMessageLimit)};
      return true;
    case v1::RunReport::kStarted:
      report->event = StartedReport{};
      return true;
    case v1::RunReport::kProgress:
      report->event = ProgressReport{message.progress().percent(),
                                     CleanText(message.progress().checkpoint(), kMessageLimit),
                                     CleanText(message.progress().message(), kMessageLimit)};
      return true;
    case v1::RunReport::kFinished:
      report->event = FinishedOf(message.finished());
      return true;
    default:
      return false;
  }
}

Hello HelloOf(const v1::Hello& message) {
  Hello hello;
  hello.executor_id = message.executor_id();
  hello.app = message.app();
  hello.ns = message.namespace_().empty() ? "default" : message.namespace_();
  hello.incarnation = message.incarnation();
  hello.registration = message.registration();
  for (const v1::Handler& handler : message.handlers()) {
    hello.handlers.push_back(
        {handler.name(), handler.interruptible(), static_cast<int>(handler.concurrency())});
  }
  hello.capacity = static_cast<int>(message.capacity());
  for (const auto& [key, value] : message.labels()) {
    hello.labels[CleanText(key, kNameLimit)] = CleanText(value, kNameLimit);
  }
  hello.version = CleanText(message.version(), 64);
  hello.host = CleanText(message.host(), kNameLimit);
  for (const v1::HeldRun& held : message.held()) hello.held.push_back(HeldOf(held));
  for (const v1::RunReport& result : message.results()) {
    RunReport report;
    if (ReportOf(result, &report)) hello.results.push_back(std::move(report));
  }
  hello.draining = message.draining();
  return hello;
}

void SetRef(const AttemptRef& ref, v1::AttemptRef* out) {
  out->set_run_id(ref.run_id);
  out->set_attempt(static_cast<uint32_t>(ref.attempt));
}

void SetEpoch(const Epoch& epoch, v1::Epoch* out) {
  out->set_timeline(epoch.timeline);
  out->set_number(epoch.number);
}

v1::TriggerType WireTrigger(TriggerType type) {
  switch (type) {
    case TriggerType::kSchedule:
      return v1::SCHEDULE;
    case TriggerType::kCatchUp:
      return v1::CATCH_UP;
    case TriggerType::kBackfill:
      return v1::BACKFILL;
    case TriggerType::kManual:
      return v1::MANUAL;
  }
  return v1::TRIGGER_TYPE_UNSPECIFIED;
}

// One overload a kind of message; each adds itself to the wire message.
struct Adder {
  v1::SchedulerMessage& out;

  void operator()(const WelcomeMessage& m) const {
    v1::Welcome* welcome = out.mutable_welcome();
    welcome->set_registration(m.registration);
    *welcome->mutable_beat() = ToProto(m.beat);
    *welcome->mutable_lease() = ToProto(m.lease);
    welcome->set_timeline(m.timeline);
  }
  void operator()(const WaitMessage& m) const { out.mutable_wait()->set_message(m.text); }
  void operator()(const NoticeMessage& m) const { *out.add_notices() = m.text; }
  void operator()(const RejectedMessage& m) const {
    v1::Rejected* rejected = out.mutable_rejected();
    switch (m.reason) {
      case RejectedMessage::Reason::kSuperseded:
        rejected->set_reason(v1::Rejected::SUPERSEDED);
        break;
      case RejectedMessage::Reason::kInvalid:
        rejected->set_reason(v1::Rejected::INVALID);
        break;
      case RejectedMessage::Reason::kAppMismatch:
        rejected->set_reason(v1::Rejected::APP_MISMATCH);
        break;
    }
    rejected->set_message(m.text);
  }
  void operator()(const TriggerOrder& m) const {
    v1::Trigger* trigger = out.add_orders()->mutable_trigger();
    SetRef(m.attempt, trigger->mutable_attempt());
    trigger->set_registration(m.registration);
    trigger->set_shard(static_cast<uint32_t>(m.shard));
    SetEpoch(m.epoch, trigger->mutable_epoch());
    trigger->set_job(m.job);
    trigger->set_handler(m.handler);
    trigger->set_biz_date(m.biz_date);
    *trigger->mutable_fire_time() = ToProto(m.fire_time);
    trigger->set_nominal_time(m.nominal_time);
    trigger->set_zone(m.zone);
    trigger->set_trigger_type(WireTrigger(m.trigger));
    for (const auto& [key, value] : m.params) (*trigger->mutable_params())[key] = value;
    trigger->set_checkpoint(m.checkpoint);
    trigger->set_batch_id(m.batch_id);
    trigger->set_on_lost(m.on_lost == OnLost::kRetry ? v1::RETRY : v1::WAIT);
    *trigger->mutable_run_timeout() = ToProto(m.run_timeout);
    *trigger->mutable_lost_after() = ToProto(m.lost_after);
    *trigger->mutable_cancel_grace() = ToProto(m.cancel_grace);
  }
  void operator()(const CancelOrder& m) const {
    v1::Cancel* cancel = out.add_orders()->mutable_cancel();
    SetRef(m.attempt, cancel->mutable_attempt());
    cancel->set_shard(static_cast<uint32_t>(m.shard));
    SetEpoch(m.epoch, cancel->mutable_epoch());
    cancel->set_reason(m.reason);
  }
  void operator()(const AcknowledgedOrder& m) const {
    SetRef(m.attempt, out.add_orders()->mutable_acknowledged()->mutable_attempt());
  }
  void operator()(const HeartbeatAckMessage& m) const {
    v1::HeartbeatAck* ack = out.mutable_heartbeat_ack();
    ack->Clear();  // a later one says all that an earlier one said
    ack->set_sequence(m.sequence);
    for (const AttemptRef& ref : m.renewed) SetRef(ref, ack->add_renewed());
  }
};

}  // namespace

ExecutorMessage FromProto(const v1::ExecutorMessage& message) {
  ExecutorMessage out;
  if (message.has_hello()) out.hello = HelloOf(message.hello());
  for (const v1::RunReport& wire : message.reports()) {
    RunReport report;
    if (ReportOf(wire, &report)) out.reports.push_back(std::move(report));
  }
  if (message.has_heartbeat()) {
    Heartbeat beat;
    beat.sequence = message.heartbeat().sequence();
    beat.draining = message.heartbeat().draining();
    for (const v1::HeldRun& held : message.heartbeat().held()) beat.held.push_back(HeldOf(held));
    out.heartbeat = std::move(beat);
  }
  out.goodbye = message.has_goodbye();
  return out;
}

std::vector<RunLogChunk> TakeLogs(v1::ExecutorMessage& message) {
  std::vector<RunLogChunk> chunks;
  for (v1::RunReport& report : *message.mutable_reports()) {
    if (!report.has_log()) continue;
    RunLogChunk chunk;
    chunk.key.attempt = RefOf(report.attempt());
    chunk.key.registration = report.registration();
    chunk.offset = report.log().offset();
    chunk.data = std::move(*report.mutable_log()->mutable_data());
    chunk.end = report.log().end();
    chunks.push_back(std::move(chunk));
  }
  return chunks;
}

void AddTo(const Outbound& outbound, v1::SchedulerMessage& out) {
  std::visit(Adder{out}, outbound.body);
}

}  // namespace tidemark
