#include "scheduler/store/alert_routes.h"

#include "common/status.h"
#include "scheduler/store/alert_rows.h"
#include "scheduler/store/array.h"

namespace tidemark {
namespace {

const std::string kUnrouted =
    "SELECT " + kAlertFactColumns +
    " FROM alert a WHERE a.routed_at IS NULL AND (a.silenced_until IS NULL "
    "OR a.silenced_until <= tidemark_now() "
    // What ended while it was kept back is told to nobody; an event waits for the silence's end.
    "OR (a.resolved_at IS NOT NULL AND NOT a.event)) "
    "ORDER BY a.raised_at LIMIT $1::bigint FOR UPDATE SKIP LOCKED";

// A reminder repeats what was delivered; what is still on its way needs none.
const std::string kToRemind =
    "SELECT " + kAlertFactColumns +
    " FROM alert a WHERE a.remind_at <= tidemark_now() AND a.resolved_at IS NULL "
    "AND a.acked_at IS NULL ORDER BY a.remind_at LIMIT $1::bigint FOR UPDATE SKIP LOCKED";

constexpr std::string_view kKeepBack =
    "UPDATE alert SET silenced_until = $2, silenced_by = $3 WHERE alert_id = $1";

constexpr std::string_view kDeliver =
    "INSERT INTO alert_delivery (alert_id, episode, channel, phase, created_at, next_try_at) "
    "SELECT $1, $2, c, 'raised', tidemark_now(), tidemark_now() FROM unnest($3::text[]) AS c "
    "ON CONFLICT DO NOTHING";

constexpr std::string_view kRouted =
    "UPDATE alert SET routed_at = tidemark_now(), silenced_until = NULL, silenced_by = NULL, "
    "remind_at = tidemark_now() + make_interval(secs => $2::double precision) WHERE alert_id = $1";

constexpr std::string_view kDeliverReminder =
    "INSERT INTO alert_delivery "
    "(alert_id, episode, channel, phase, number, created_at, next_try_at) "
    "SELECT a.alert_id, a.episode, d.channel, 'reminder', a.reminders + 1, tidemark_now(), "
    "tidemark_now() FROM alert a JOIN alert_delivery d ON d.alert_id = a.alert_id "
    "AND d.episode = a.episode AND d.phase = 'raised' AND d.state = 'delivered' "
    "WHERE a.alert_id = $1 ON CONFLICT DO NOTHING";

constexpr std::string_view kReminded =
    "UPDATE alert SET reminders = reminders + 1, "
    "remind_at = tidemark_now() + make_interval(secs => $2::double precision) WHERE alert_id = $1";

constexpr std::string_view kRemindLater = "UPDATE alert SET remind_at = $2 WHERE alert_id = $1";

constexpr std::string_view kRouteEnds = R"sql(
WITH ended AS (
  SELECT alert_id, episode FROM alert
  WHERE resolved_at IS NOT NULL AND end_routed_at IS NULL AND routed_at IS NOT NULL
  ORDER BY resolved_at LIMIT $1::bigint FOR UPDATE SKIP LOCKED),
told AS (
  INSERT INTO alert_delivery (alert_id, episode, channel, phase, created_at, next_try_at)
  SELECT d.alert_id, d.episode, d.channel, 'resolved', tidemark_now(), tidemark_now()
  FROM ended e JOIN alert_delivery d ON d.alert_id = e.alert_id AND d.episode = e.episode
  WHERE d.phase = 'raised' AND d.state <> 'dropped'
  ON CONFLICT DO NOTHING)
UPDATE alert a SET end_routed_at = tidemark_now() FROM ended e WHERE a.alert_id = e.alert_id
RETURNING a.alert_id)sql";

constexpr std::string_view kBuryUnknown =
    "UPDATE alert_delivery SET state = 'dead', ended_at = tidemark_now(), "
    "last_error = 'no scheduler has a channel of this name' WHERE state = 'pending' "
    "AND channel <> ALL ($1::text[]) "
    "AND created_at <= tidemark_now() - make_interval(secs => $2::double precision)";

constexpr std::string_view kFreeClaims =
    "UPDATE alert_delivery SET claimed_until = NULL "
    "WHERE state = 'pending' AND claimed_by = $1 AND claimed_until IS NOT NULL";

constexpr std::string_view kEndUnknown =
    "UPDATE alert SET resolved_at = tidemark_now() "
    "WHERE kind = 'channel_failing' AND resolved_at IS NULL "
    "AND split_part(dedup_key, '/', 2) <> ALL ($1::text[])";

SqlParam Seconds(const std::optional<absl::Duration>& duration) {
  if (!duration.has_value()) return std::nullopt;
  return ToParam(absl::ToDoubleSeconds(*duration));
}

absl::Status CarryOut(SqlTransaction& tx, const AlertFact& fact, const AlertRoute& route) {
  if (route.silenced_until.has_value()) {
    return tx
        .Run(kKeepBack,
             {fact.alert_id, ToParam(*route.silenced_until), NullIfEmpty(route.silence_id)})
        .status();
  }
  if (!route.channels.empty()) {
    TM_RETURN_IF_ERROR(
        tx.Run(kDeliver, {fact.alert_id, ToParam(fact.episode), ToArray(route.channels)}).status());
  }
  return tx.Run(kRouted, {fact.alert_id, Seconds(route.remind_after)}).status();
}

absl::Status Remind(SqlTransaction& tx, const AlertFact& fact, const AlertRoute& route) {
  if (route.silenced_until.has_value()) {
    return tx.Run(kRemindLater, {fact.alert_id, ToParam(*route.silenced_until)}).status();
  }
  TM_RETURN_IF_ERROR(tx.Run(kDeliverReminder, {fact.alert_id}).status());
  return tx.Run(kReminded, {fact.alert_id, Seconds(route.remind_after)}).status();
}

}  // namespace

absl::StatusOr<int> AlertRoutes::RouteSome(int limit, const AlertRouter& route) {
  TM_ASSIGN_OR_RETURN(Connection * connection, session_.Get());
  int count = 0;
  TM_RETURN_IF_ERROR(connection->Transact([&](SqlTransaction& tx) -> absl::Status {
    TM_ASSIGN_OR_RETURN(const SqlRows time, tx.Run("SELECT tidemark_now()"));
    const absl::Time now = time.Time(0, 0);
    TM_ASSIGN_OR_RETURN(const SqlRows rows, tx.Run(kSilencesInForce, {ToParam(false)}));
    std::vector<AlertSilence> silences;
    for (int i = 0; i < rows.size(); ++i) silences.push_back(ReadSilence(rows, i));

    TM_ASSIGN_OR_RETURN(const SqlRows raised, tx.Run(kUnrouted, {ToParam(limit)}));
    for (int i = 0; i < raised.size(); ++i) {
      const AlertFact fact = ReadAlertFact(raised, i);
      TM_RETURN_IF_ERROR(CarryOut(tx, fact, route(fact, silences, now, false)));
    }
    TM_ASSIGN_OR_RETURN(const SqlRows open, tx.Run(kToRemind, {ToParam(limit)}));
    for (int i = 0; i < open.size(); ++i) {
      const AlertFact fact = ReadAlertFact(open, i);
      TM_RETURN_IF_ERROR(Remind(tx, fact, route(fact, silences, now, true)));
    }
    TM_ASSIGN_OR_RETURN(const SqlRows ended, tx.Run(kRouteEnds, {ToParam(limit)}));
    count = raised.size() + open.size() + ended.size();
    return absl::OkStatus();
  }));
  return count;
}

absl::Status AlertRoutes::BuryUnknown(const std::vector<std::string>& known, absl::Duration limit) {
  TM_ASSIGN_OR_RETURN(Connection * connection, session_.Get());
  return connection->RunOne(kBuryUnknown, {ToArray(known), Seconds(limit)}).status();
}

absl::Status AlertRoutes::Recover(const std::string& node, const std::vector<std::string>& known) {
  TM_ASSIGN_OR_RETURN(Connection * connection, session_.Get());
  TM_RETURN_IF_ERROR(connection->RunOne(kFreeClaims, {node}).status());
  return connection->RunOne(kEndUnknown, {ToArray(known)}).status();
}

}  // namespace tidemark
