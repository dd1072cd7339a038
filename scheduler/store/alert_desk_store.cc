#include "scheduler/store/alert_desk_store.h"

#include <utility>

#include "common/status.h"
#include "common/text.h"
#include "scheduler/store/alert_rows.h"
#include "scheduler/store/audit_row.h"

namespace tidemark {
namespace {

constexpr std::string_view kFindAlert =
    "SELECT alert_id, job_name, summary, acked_by, acked_at IS NOT NULL, resolved_at IS NOT NULL, "
    "namespace FROM alert WHERE starts_with(alert_id::text, $1) AND (resolved_at IS NULL OR "
    "length($1) = 36) "
    "AND ($2 = '' OR namespace = $2) "
    "ORDER BY raised_at DESC LIMIT 2";

constexpr std::string_view kAck =
    "UPDATE alert SET acked_at = tidemark_now(), acked_by = $2, ack_note = $3 "
    "WHERE alert_id = $1 AND acked_at IS NULL";

// Somebody knows: what is still on its way would tell it again.
constexpr std::string_view kDropAcked =
    "UPDATE alert_delivery d SET state = 'dropped', ended_at = tidemark_now() FROM alert a "
    "WHERE d.alert_id = $1 AND a.alert_id = d.alert_id AND d.episode = a.episode "
    "AND d.phase <> 'resolved' AND d.state IN ('pending', 'dead')";

constexpr std::string_view kInsertSilence =
    "INSERT INTO alert_silence "
    "(silence_id, job_name, kind, namespace, reason, actor, created_at, until) "
    "VALUES ($1, $2, $3, $4, $5, $6, tidemark_now(), "
    "tidemark_now() + make_interval(secs => $7::double precision)) "
    "RETURNING created_at, until";

// What is routed but not sent is judged again, and so kept back. What is being sent is; one that a
// flush has locked is told as if it had been sent before.
constexpr std::string_view kTakeBack = R"sql(
WITH open AS (
  SELECT alert_id, episode FROM alert
  WHERE resolved_at IS NULL AND routed_at IS NOT NULL AND ($1 = '' OR job_name = $1)
    AND ($2 = '' OR kind = $2) AND ($3 = '' OR namespace = $3)
  FOR UPDATE SKIP LOCKED),
taken AS (
  DELETE FROM alert_delivery d USING open o
  WHERE d.alert_id = o.alert_id AND d.episode = o.episode AND d.phase <> 'resolved'
    AND d.state IN ('pending', 'dead')
    AND (d.claimed_until IS NULL OR d.claimed_until <= tidemark_now())
  RETURNING d.alert_id, d.phase),
again AS (
  SELECT alert_id, bool_or(phase = 'raised') AS raised, bool_or(phase = 'reminder') AS reminder
  FROM taken GROUP BY alert_id)
UPDATE alert a SET routed_at = CASE WHEN g.raised THEN NULL ELSE a.routed_at END,
  remind_at = CASE WHEN g.reminder THEN tidemark_now() ELSE a.remind_at END
FROM again g WHERE a.alert_id = g.alert_id)sql";

constexpr std::string_view kSilences =
    "SELECT silence_id, job_name, kind, namespace, reason, actor, created_at, until, "
    "(SELECT count(*) FROM alert a WHERE a.silenced_by = s.silence_id AND a.routed_at IS NULL "
    " AND a.resolved_at IS NULL) FROM alert_silence s "
    "WHERE (until > tidemark_now() OR $1) AND ($2::uuid IS NULL OR silence_id = $2) "
    "AND ($3 = '' OR namespace = $3) "
    "ORDER BY until, silence_id";

constexpr std::string_view kEndSilence =
    "UPDATE alert_silence SET until = tidemark_now() "
    "WHERE silence_id = $1 AND until > tidemark_now()";

constexpr std::string_view kLetGo =
    "UPDATE alert SET silenced_until = NULL, silenced_by = NULL WHERE silenced_by = $1";

constexpr std::string_view kDeliveries =
    "SELECT d.alert_id, d.channel, d.phase, d.state, d.tries, d.last_error, d.created_at, "
    "d.next_try_at, d.ended_at, a.summary, a.severity FROM alert_delivery d "
    "JOIN alert a ON a.alert_id = d.alert_id WHERE (NOT $1 OR d.state = 'dead') "
    "AND ($2::uuid IS NULL OR d.alert_id = $2) AND ($3 = '' OR d.channel = $3) "
    "AND ($1 OR $2::uuid IS NOT NULL OR d.state IN ('pending', 'dead')) "
    "AND ($5 = '' OR a.namespace = $5) "
    "ORDER BY d.created_at, d.alert_id, d.channel, d.phase LIMIT $4::bigint";

constexpr std::string_view kRetry =
    "UPDATE alert_delivery SET state = 'pending', ended_at = NULL, next_try_at = tidemark_now(), "
    "created_at = CASE state WHEN 'dead' THEN tidemark_now() ELSE created_at END "
    "WHERE state IN ('pending', 'dead') AND ($1::uuid IS NULL OR alert_id = $1) "
    "AND ($2 = '' OR channel = $2) AND ($3 = '' OR alert_id IN "
    "(SELECT alert_id FROM alert WHERE namespace = $3))";

constexpr std::string_view kHurryChannels =
    "UPDATE alert_channel SET next_try_at = NULL WHERE ($1 = '' OR channel = $1)";

// The end of what was never told is no message that waits.
constexpr std::string_view kChannels =
    "SELECT coalesce(c.channel, d.channel), coalesce(c.failures, 0), c.failing_since, "
    "c.last_ok_at, c.next_try_at, coalesce(c.last_error, ''), coalesce(d.pending, 0), "
    "coalesce(d.dead, 0) FROM alert_channel c FULL JOIN "
    "(SELECT channel, count(*) FILTER (WHERE state = 'pending' AND phase <> 'resolved') AS pending,"
    " count(*) FILTER (WHERE state = 'dead') AS dead FROM alert_delivery "
    " WHERE state IN ('pending', 'dead') GROUP BY channel) d ON d.channel = c.channel ORDER BY 1";

SilenceRow ReadSilenceRow(const SqlRows& rows, int i) {
  return {ReadSilence(rows, i), static_cast<int>(rows.Int(i, 8))};
}

std::string Subject(const AlertSilence& silence) {
  std::vector<std::string> parts;
  if (!silence.job.empty()) parts.push_back("job " + silence.job);
  if (!silence.kind.empty()) parts.push_back("kind " + silence.kind);
  if (!silence.ns.empty()) parts.push_back("namespace " + silence.ns);
  return Join(parts, ", ");
}

}  // namespace

absl::StatusOr<AlertAck> AlertDeskStore::Ack(const std::string& prefix, const std::string& note,
                                             const std::string& actor) {
  AlertAck ack;
  TM_RETURN_IF_ERROR(pool_->Transact([&](SqlTransaction& tx) -> absl::Status {
    TM_ASSIGN_OR_RETURN(const SqlRows rows, tx.Run(kFindAlert, {prefix, caller_.ns}));
    if (rows.empty()) {
      return absl::NotFoundError(ToAbsl("no open alert's id begins with '" + EscapeControl(prefix) +
                                        "'; tidemark alert list shows them"));
    }
    if (rows.size() > 1) {
      return absl::FailedPreconditionError(
          ToAbsl("several open alerts begin with '" + prefix + "'; give more of the id"));
    }
    ack = {rows.Text(0, 0), rows.Text(0, 2), rows.Text(0, 3), rows.Bool(0, 4)};
    if (ack.existing) return absl::OkStatus();
    if (rows.Bool(0, 5)) {
      return absl::FailedPreconditionError(ToAbsl(
          "alert " + ack.alert_id + " has ended by itself: there is nothing to take care of"));
    }
    ack.acked_by = actor;
    TM_RETURN_IF_ERROR(tx.Run(kAck, {ack.alert_id, actor, note}).status());
    TM_RETURN_IF_ERROR(tx.Run(kDropAcked, {ack.alert_id}).status());
    AuditRow audit{actor, "alert_ack", rows.Text(0, 1), rows.Text(0, 6)};
    audit.subject = ack.alert_id;
    audit.before = "open";
    audit.after = "acknowledged";
    audit.reason = note;
    return WriteAudit(tx, caller_, audit);
  }));
  return ack;
}

absl::StatusOr<SilenceRow> AlertDeskStore::AddSilence(const AlertSilence& wanted,
                                                      absl::Duration duration) {
  AlertSilence silence = wanted;
  if (!caller_.ns.empty()) {
    if (!silence.ns.empty() && !caller_.Sees(silence.ns)) {
      return absl::NotFoundError(ToAbsl("no namespace '" + silence.ns + "'"));
    }
    silence.ns = caller_.ns;  // whatever it names: of its own namespace
  }
  SilenceRow row{silence, 0};
  TM_RETURN_IF_ERROR(pool_->Transact([&](SqlTransaction& tx) -> absl::Status {
    TM_ASSIGN_OR_RETURN(const SqlRows made,
                        tx.Run(kInsertSilence, {silence.silence_id, silence.job, silence.kind,
                                                silence.ns, silence.reason, silence.actor,
                                                ToParam(absl::ToDoubleSeconds(duration))}));
    row.silence.created_at = made.Time(0, 0);
    row.silence.until = made.Time(0, 1);
    TM_RETURN_IF_ERROR(tx.Run(kTakeBack, {silence.job, silence.kind, silence.ns}).status());
    AuditRow audit{silence.actor, "alert_silence", silence.job, silence.ns};
    audit.subject = silence.silence_id;
    audit.after = Subject(silence);
    audit.reason = silence.reason;
    return WriteAudit(tx, caller_, audit);
  }));
  return row;
}

absl::StatusOr<std::vector<SilenceRow>> AlertDeskStore::ListSilences(bool all) {
  std::vector<SilenceRow> silences;
  TM_RETURN_IF_ERROR(pool_->Transact([&](SqlTransaction& tx) -> absl::Status {
    silences.clear();
    TM_ASSIGN_OR_RETURN(const SqlRows rows,
                        tx.Run(kSilences, {ToParam(all), std::nullopt, caller_.ns}));
    for (int i = 0; i < rows.size(); ++i) silences.push_back(ReadSilenceRow(rows, i));
    return absl::OkStatus();
  }));
  return silences;
}

absl::StatusOr<SilenceRow> AlertDeskStore::DeleteSilence(const std::string& silence_id,
                                                         const std::string& actor) {
  SilenceRow silence;
  TM_RETURN_IF_ERROR(pool_->Transact([&](SqlTransaction& tx) -> absl::Status {
    TM_ASSIGN_OR_RETURN(const SqlRows rows,
                        tx.Run(kSilences, {ToParam(false), silence_id, caller_.ns}));
    if (rows.empty()) {
      return absl::NotFoundError(ToAbsl("no silence " + silence_id +
                                        " is in force; tidemark alert silence list shows them"));
    }
    silence = ReadSilenceRow(rows, 0);
    TM_RETURN_IF_ERROR(tx.Run(kEndSilence, {silence_id}).status());
    TM_RETURN_IF_ERROR(tx.Run(kLetGo, {silence_id}).status());
    AuditRow audit{actor, "alert_silence_end", silence.silence.job, silence.silence.ns};
    audit.subject = silence_id;
    audit.before = Subject(silence.silence);
    return WriteAudit(tx, caller_, audit);
  }));
  return silence;
}

absl::StatusOr<std::vector<DeliveryRow>> AlertDeskStore::ListDeliveries(
    const DeliveryFilter& filter) {
  std::vector<DeliveryRow> deliveries;
  TM_RETURN_IF_ERROR(pool_->Transact([&](SqlTransaction& tx) -> absl::Status {
    deliveries.clear();
    TM_ASSIGN_OR_RETURN(const SqlRows rows,
                        tx.Run(kDeliveries, {ToParam(filter.dead), NullIfEmpty(filter.alert_id),
                                             filter.channel, ToParam(filter.limit), caller_.ns}));
    for (int i = 0; i < rows.size(); ++i) {
      deliveries.push_back({rows.Text(i, 0), rows.Text(i, 1), rows.Text(i, 2), rows.Text(i, 3),
                            static_cast<int>(rows.Int(i, 4)), rows.Text(i, 5), rows.Time(i, 6),
                            rows.Time(i, 7), rows.OptTime(i, 8), rows.Text(i, 9),
                            rows.Text(i, 10)});
    }
    return absl::OkStatus();
  }));
  return deliveries;
}

absl::StatusOr<int> AlertDeskStore::Retry(const std::string& alert_id, const std::string& channel,
                                          const std::string& actor) {
  int count = 0;
  TM_RETURN_IF_ERROR(pool_->Transact([&](SqlTransaction& tx) -> absl::Status {
    TM_RETURN_IF_ERROR(tx.Run(kHurryChannels, {channel}).status());
    TM_ASSIGN_OR_RETURN(const SqlRows rows,
                        tx.Run(kRetry, {NullIfEmpty(alert_id), channel, caller_.ns}));
    count = rows.affected();
    AuditRow audit{actor, "alert_retry", "", caller_.ns};
    audit.subject = alert_id.empty() ? "all" : alert_id;
    audit.after = std::to_string(count) + " to be sent again";
    audit.detail = channel.empty() ? "all channels" : channel;
    return WriteAudit(tx, caller_, audit);
  }));
  return count;
}

absl::StatusOr<std::vector<ChannelRow>> AlertDeskStore::Channels() {
  std::vector<ChannelRow> channels;
  TM_RETURN_IF_ERROR(pool_->Transact([&](SqlTransaction& tx) -> absl::Status {
    channels.clear();
    TM_ASSIGN_OR_RETURN(const SqlRows rows, tx.Run(kChannels));
    for (int i = 0; i < rows.size(); ++i) {
      channels.push_back({rows.Text(i, 0), static_cast<int>(rows.Int(i, 1)), rows.OptTime(i, 2),
                          rows.OptTime(i, 3), rows.OptTime(i, 4), rows.Text(i, 5),
                          static_cast<int>(rows.Int(i, 6)), static_cast<int>(rows.Int(i, 7))});
    }
    return absl::OkStatus();
  }));
  return channels;
}

absl::Status AlertDeskStore::AuditTest(const std::string& channel, const std::string& actor) {
  return pool_->Transact([&](SqlTransaction& tx) {
    AuditRow audit{actor, "alert_test"};
    audit.subject = channel;
    return WriteAudit(tx, caller_, audit);
  });
}

}  // namespace tidemark
