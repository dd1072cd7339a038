#include "scheduler/rpc/operator_alerts.h"

#include <algorithm>
#include <map>

#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"
#include "scheduler/rpc/proto_time.h"

namespace tidemark {
namespace {

constexpr size_t kMaxReason = 1024;

absl::Status CheckText(const std::string& name, const std::string& text) {
  if (text.size() <= kMaxReason && IsCleanUtf8(text)) return absl::OkStatus();
  return Invalid(name + ": must be UTF-8 text of at most 1024 bytes");
}

// Empty, or a name.
absl::Status CheckName(const std::string& field, const std::string& name) {
  if (name.empty()) return absl::OkStatus();
  const std::string problem = NameProblem(name);
  return problem.empty() ? absl::OkStatus() : Invalid(field + ": " + problem);
}

absl::Status CheckAlertId(const std::string& id) {
  if (id.empty() || IsUuid(id)) return absl::OkStatus();
  return Invalid("alert_id: '" + EscapeControl(id) +
                 "' is not an alert's id (36 characters, as tidemark alert list shows them)");
}

void Fill(const SilenceRow& row, v1::Silence* out) {
  out->set_silence_id(row.silence.silence_id);
  out->set_job(row.silence.job);
  out->set_kind(row.silence.kind);
  out->set_namespace_(row.silence.ns);
  out->set_reason(row.silence.reason);
  out->set_actor(row.silence.actor);
  *out->mutable_created_at() = ToProto(row.silence.created_at);
  *out->mutable_until() = ToProto(row.silence.until);
  out->set_kept_back(row.kept_back);
}

void Fill(const ChannelRow& row, v1::Channel* out) {
  out->set_name(row.channel);
  out->set_failures(row.failures);
  if (row.failing_since.has_value()) *out->mutable_failing_since() = ToProto(*row.failing_since);
  if (row.last_ok_at.has_value()) *out->mutable_last_ok_at() = ToProto(*row.last_ok_at);
  if (row.next_try_at.has_value()) *out->mutable_next_try_at() = ToProto(*row.next_try_at);
  out->set_last_error(row.last_error);
  out->set_pending(row.pending);
  out->set_dead(row.dead);
}

std::string Seconds(absl::Time time) {
  return FormatInstant(absl::FromUnixSeconds(absl::ToUnixSeconds(time)));
}

}  // namespace

absl::Status OperatorAlerts::Ack(const v1::AckAlertRequest& request,
                                 v1::AckAlertResponse* response) {
  const std::string& id = request.alert_id();
  const bool plain = std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '-';
  });
  if (id.size() < 8 || id.size() > 36 || !plain) {
    return Invalid("alert_id: '" + EscapeControl(id) +
                   "' is not an alert's id, or at least its first 8 characters (tidemark alert "
                   "list shows them)");
  }
  TM_RETURN_IF_ERROR(CheckText("note", request.note()));
  TM_ASSIGN_OR_RETURN(const AlertAck ack, desk_.Ack(id, request.note(), request.actor()));
  response->set_alert_id(ack.alert_id);
  response->set_summary(ack.summary);
  response->set_acked_by(ack.acked_by);
  response->set_existing(ack.existing);
  return absl::OkStatus();
}

absl::Status OperatorAlerts::AddSilence(const v1::SilenceAlertsRequest& request,
                                        v1::Silence* response) {
  TM_RETURN_IF_ERROR(CheckName("job", request.job()));
  TM_RETURN_IF_ERROR(CheckName("kind", request.kind()));
  TM_RETURN_IF_ERROR(CheckName("namespace", request.namespace_()));
  if (request.job().empty() && request.kind().empty() && request.namespace_().empty()) {
    return Invalid("say what to silence: --job, --kind or --namespace");
  }
  if (request.reason().empty()) return Invalid("reason: is required, for those who come later");
  TM_RETURN_IF_ERROR(CheckText("reason", request.reason()));
  const absl::Duration duration =
      absl::Seconds(request.duration().seconds()) + absl::Nanoseconds(request.duration().nanos());
  if (duration < absl::Seconds(1) || duration > absl::Hours(24 * 30)) {
    return Invalid("duration: must be from 1s to 30d; a silence for ever would hide what is wrong");
  }
  AlertSilence silence;
  silence.silence_id = NewUuid(clock_.WallNow(), random_);
  silence.job = request.job();
  silence.kind = request.kind();
  silence.ns = request.namespace_();
  silence.reason = request.reason();
  silence.actor = request.actor();
  TM_ASSIGN_OR_RETURN(const SilenceRow row, desk_.AddSilence(silence, duration));
  Fill(row, response);
  return absl::OkStatus();
}

absl::Status OperatorAlerts::ListSilences(const v1::ListSilencesRequest& request,
                                          v1::ListSilencesResponse* response) {
  TM_ASSIGN_OR_RETURN(const std::vector<SilenceRow> rows, desk_.ListSilences(request.all()));
  for (const SilenceRow& row : rows) Fill(row, response->add_silences());
  return absl::OkStatus();
}

absl::Status OperatorAlerts::DeleteSilence(const v1::DeleteSilenceRequest& request,
                                           v1::Silence* response) {
  if (!IsUuid(request.silence_id())) {
    return Invalid("silence_id: '" + EscapeControl(request.silence_id()) +
                   "' is not a silence's id (tidemark alert silence list shows them)");
  }
  TM_ASSIGN_OR_RETURN(const SilenceRow row,
                      desk_.DeleteSilence(request.silence_id(), request.actor()));
  Fill(row, response);
  return absl::OkStatus();
}

absl::Status OperatorAlerts::ListDeliveries(const v1::ListDeliveriesRequest& request,
                                            v1::ListDeliveriesResponse* response) {
  TM_RETURN_IF_ERROR(CheckAlertId(request.alert_id()));
  TM_RETURN_IF_ERROR(CheckName("channel", request.channel()));
  DeliveryFilter filter;
  filter.dead = request.dead();
  filter.alert_id = request.alert_id();
  filter.channel = request.channel();
  filter.limit = request.limit() == 0 ? 100 : static_cast<int>(std::min(request.limit(), 1001U));
  if (filter.limit > 1000) return Invalid("limit: at most 1000");
  TM_ASSIGN_OR_RETURN(const std::vector<DeliveryRow> rows, desk_.ListDeliveries(filter));
  for (const DeliveryRow& row : rows) {
    v1::Delivery* out = response->add_deliveries();
    out->set_alert_id(row.alert_id);
    out->set_channel(row.channel);
    out->set_phase(row.phase);
    out->set_state(row.state);
    out->set_tries(row.tries);
    out->set_last_error(row.last_error);
    *out->mutable_created_at() = ToProto(row.created_at);
    if (row.state == "pending") *out->mutable_next_try_at() = ToProto(row.next_try_at);
    if (row.ended_at.has_value()) *out->mutable_ended_at() = ToProto(*row.ended_at);
    out->set_summary(row.summary);
    out->set_severity(row.severity);
  }
  return absl::OkStatus();
}

absl::Status OperatorAlerts::Retry(const v1::RetryDeliveriesRequest& request,
                                   v1::RetryDeliveriesResponse* response) {
  TM_RETURN_IF_ERROR(CheckAlertId(request.alert_id()));
  TM_RETURN_IF_ERROR(CheckName("channel", request.channel()));
  TM_ASSIGN_OR_RETURN(const int count,
                      desk_.Retry(request.alert_id(), request.channel(), request.actor()));
  response->set_count(count);
  return absl::OkStatus();
}

absl::Status OperatorAlerts::ListChannels(v1::ListChannelsResponse* response) {
  std::map<std::string, v1::Channel> all;
  TM_ASSIGN_OR_RETURN(const std::vector<ChannelRow> rows, desk_.Channels());
  for (const ChannelRow& row : rows) Fill(row, &all[row.channel]);
  for (const AlertChannels::Channel& channel : channels_.Channels()) {
    all[channel.name].set_name(channel.name);
    all[channel.name].set_type(channel.type);
  }
  for (const auto& [name, channel] : all) {
    // Removed from the file, and nothing waits for it.
    if (channel.type().empty() && channel.pending() == 0 && channel.dead() == 0) continue;
    *response->add_channels() = channel;
  }
  return absl::OkStatus();
}

absl::Status OperatorAlerts::Test(const v1::TestChannelRequest& request,
                                  v1::TestChannelResponse* response) {
  const absl::Duration start = clock_.Monotonic();
  const absl::StatusOr<std::string> answer = channels_.SendTest(request.channel());
  const absl::Duration took = clock_.Monotonic() - start;
  if (absl::IsNotFound(answer.status()) || absl::IsResourceExhausted(answer.status())) {
    return answer.status();
  }
  // Best effort: the test is as good without its line in the audit.
  desk_.AuditTest(request.channel(), request.actor()).IgnoreError();
  if (!answer.ok()) {
    return absl::FailedPreconditionError(ToAbsl(
        "channel " + request.channel() + " did not take the message: " + Message(answer.status())));
  }
  response->set_answer(*answer);
  *response->mutable_took() = ToProto(took);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> AlertWarnings(AlertDesk& desk,
                                                       const AlertChannels& channels) {
  std::vector<std::string> warnings;
  std::map<std::string, bool> configured;
  for (const AlertChannels::Channel& channel : channels.Channels()) {
    configured[channel.name] = true;
  }
  if (configured.empty()) {
    warnings.emplace_back(
        "no alert channel but the log: nobody is told of anything. Configure one below "
        "alerts.channels in the scheduler's --config file (README, Alert channels).");
  }
  TM_ASSIGN_OR_RETURN(const std::vector<ChannelRow> rows, desk.Channels());
  int dead = 0;
  for (const ChannelRow& row : rows) {
    dead += row.dead;
    if (!row.failing_since.has_value() || !configured[row.channel]) continue;
    warnings.push_back("alert channel " + row.channel + " fails since " +
                       Seconds(*row.failing_since) + " (" + row.last_error +
                       "). Try it: tidemark alert test " + row.channel);
  }
  if (dead > 0) {
    warnings.push_back(std::to_string(dead) +
                       " alert messages were given up undelivered: tidemark alert list --dead, "
                       "then tidemark alert retry");
  }
  return warnings;
}

}  // namespace tidemark
