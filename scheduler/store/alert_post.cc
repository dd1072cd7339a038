#include "scheduler/store/alert_post.h"

#include <algorithm>
#include <vector>

#include "common/status.h"
#include "scheduler/store/alert_raise.h"
#include "scheduler/store/alert_rows.h"
#include "scheduler/store/array.h"
#include "scheduler/store/batch.h"
#include "scheduler/store/statements.h"

namespace tidemark {
namespace {

constexpr std::string_view kMakeChannel =
    "INSERT INTO alert_channel (channel) VALUES ($1) ON CONFLICT DO NOTHING";

constexpr std::string_view kLockChannel =
    "SELECT failures, failing_since, next_try_at, tidemark_now() FROM alert_channel "
    "WHERE channel = $1 FOR UPDATE";

// What a reminder would repeat is over, or somebody takes care of it.
constexpr std::string_view kDropReminders =
    "UPDATE alert_delivery d SET state = 'dropped', ended_at = tidemark_now() FROM alert a "
    "WHERE d.channel = $1 AND d.state = 'pending' AND d.phase = 'reminder' "
    "AND a.alert_id = d.alert_id "
    "AND (a.resolved_at IS NOT NULL OR a.acked_at IS NOT NULL OR a.episode <> d.episode)";

// Messages sent in the window, and when the first of them leaves it.
constexpr std::string_view kSentLately =
    "SELECT count(DISTINCT message_id), "
    "min(ended_at) + make_interval(secs => $2::double precision) FROM alert_delivery "
    "WHERE channel = $1 AND state = 'delivered' "
    "AND ended_at > tidemark_now() - make_interval(secs => $2::double precision)";

// An end is told only once the raising was.
const std::string kReady =
    "(d.phase = 'raised' OR EXISTS (SELECT 1 FROM alert_delivery r "
    "  WHERE r.alert_id = d.alert_id AND r.episode = d.episode AND r.channel = d.channel "
    "  AND r.phase = 'raised' AND r.state = 'delivered')) ";

const std::string kDue =
    "SELECT " + kAlertFactColumns +
    ", d.phase, d.number, d.tries, d.episode "
    "FROM alert_delivery d JOIN alert a ON a.alert_id = d.alert_id "
    "WHERE d.channel = $1 AND d.state = 'pending' AND d.next_try_at <= tidemark_now() "
    "AND (d.claimed_until IS NULL OR d.claimed_until <= tidemark_now()) AND " +
    kReady + "ORDER BY d.tries, d.created_at, d.alert_id, d.phase LIMIT $2::bigint";

const std::string kNextDue =
    "SELECT min(greatest(d.next_try_at, coalesce(d.claimed_until, d.next_try_at))) "
    "FROM alert_delivery d WHERE d.channel = $1 AND d.state = 'pending' AND " +
    kReady;

constexpr std::string_view kTake = R"sql(
UPDATE alert_delivery d SET message_id = $2, claimed_by = $3, tries = tries + 1,
  claimed_until = tidemark_now() + make_interval(secs => $4::double precision)
FROM unnest($5::uuid[], $6::integer[], $7::text[], $8::integer[])
  AS i (alert_id, episode, phase, number)
WHERE d.alert_id = i.alert_id AND d.episode = i.episode AND d.channel = $1
  AND d.phase = i.phase AND d.number = i.number AND d.state = 'pending')sql";

// Whoever sent it: it was sent.
constexpr std::string_view kDelivered = R"sql(
UPDATE alert_delivery d SET state = 'delivered', ended_at = tidemark_now(), last_error = '',
  claimed_until = NULL, message_id = $2
FROM unnest($3::uuid[], $4::integer[], $5::text[], $6::integer[])
  AS i (alert_id, episode, phase, number)
WHERE d.alert_id = i.alert_id AND d.episode = i.episode AND d.channel = $1
  AND d.phase = i.phase AND d.number = i.number AND d.state <> 'delivered')sql";

constexpr std::string_view kTold =
    "UPDATE alert SET delivered_at = tidemark_now() "
    "WHERE alert_id = $1 AND episode = $2 AND delivered_at IS NULL";

constexpr std::string_view kChannelWorks =
    "UPDATE alert_channel SET failures = 0, failing_since = NULL, next_try_at = NULL, "
    "last_error = '', last_ok_at = tidemark_now() WHERE channel = $1";

// A channel that works again gets what was given up meanwhile, if that still is so.
constexpr std::string_view kRevive =
    "UPDATE alert_delivery d SET state = 'pending', ended_at = NULL, created_at = tidemark_now(), "
    "next_try_at = tidemark_now() FROM alert a "
    "WHERE d.channel = $1 AND d.state = 'dead' AND d.phase = 'raised' AND a.alert_id = d.alert_id "
    "AND a.episode = d.episode AND a.resolved_at IS NULL AND a.acked_at IS NULL";

constexpr std::string_view kResolveKey =
    "UPDATE alert SET resolved_at = tidemark_now() WHERE dedup_key = $1 AND resolved_at IS NULL";

// Only those that this try still has.
constexpr std::string_view kFailed = R"sql(
UPDATE alert_delivery SET claimed_until = NULL, last_error = $2,
  next_try_at = tidemark_now() + make_interval(secs => $3::double precision),
  state = CASE WHEN created_at + make_interval(secs => $4::double precision) <= tidemark_now()
          THEN 'dead' ELSE 'pending' END,
  ended_at = CASE WHEN created_at + make_interval(secs => $4::double precision) <= tidemark_now()
             THEN tidemark_now() END
WHERE message_id = $1 AND state = 'pending')sql";

constexpr std::string_view kChannelFails =
    "UPDATE alert_channel SET failures = failures + 1, "
    "failing_since = coalesce(failing_since, tidemark_now()), last_error = $2, "
    "next_try_at = tidemark_now() + make_interval(secs => $3::double precision) "
    "WHERE channel = $1";

constexpr absl::Duration kLongest = absl::Hours(1);

SqlParam Seconds(absl::Duration duration) { return ToParam(absl::ToDoubleSeconds(duration)); }

struct ItemArrays {
  SqlArray alerts, episodes, phases, numbers;
};

ItemArrays ArraysOf(const std::vector<AlertItem>& items) {
  ItemArrays arrays;
  for (const AlertItem& item : items) {
    arrays.alerts.Add(item.alert.alert_id);
    arrays.episodes.Add(ToParam(item.alert.episode));
    arrays.phases.Add(std::string(PhaseName(item.phase)));
    arrays.numbers.Add(ToParam(item.number));
  }
  return arrays;
}

AlertItem ReadItem(const SqlRows& rows, int i) {
  AlertItem item;
  item.alert = ReadAlertFact(rows, i);
  const std::string_view phase = rows.View(i, kAlertFactWidth);
  item.phase = phase == "raised"     ? AlertPhase::kRaised
               : phase == "reminder" ? AlertPhase::kReminder
                                     : AlertPhase::kResolved;
  item.number = static_cast<int>(rows.Int(i, kAlertFactWidth + 1));
  item.tries = static_cast<int>(rows.Int(i, kAlertFactWidth + 2)) + 1;
  item.alert.episode = static_cast<int>(rows.Int(i, kAlertFactWidth + 3));
  return item;
}

absl::Duration Until(const std::optional<absl::Time>& time, absl::Time now) {
  if (!time.has_value()) return kLongest;
  return std::clamp(*time - now, absl::Milliseconds(10), kLongest);
}

absl::Status Take(SqlTransaction& tx, const ClaimRequest& request, ClaimedMessage* claimed) {
  ItemArrays arrays = ArraysOf(claimed->message.items);
  claimed->message.message_id = request.message_id;
  return tx
      .Run(kTake, {request.channel, request.message_id, request.node, Seconds(request.lease),
                   std::move(arrays.alerts).Take(), std::move(arrays.episodes).Take(),
                   std::move(arrays.phases).Take(), std::move(arrays.numbers).Take()})
      .status();
}

// Fills the message from what is due, as much of it as the window leaves room for.
absl::Status Choose(SqlTransaction& tx, const ClaimRequest& request, ClaimedMessage* claimed) {
  TM_RETURN_IF_ERROR(tx.Run(kDropReminders, {request.channel}).status());
  TM_ASSIGN_OR_RETURN(const SqlRows sent,
                      tx.Run(kSentLately, {request.channel, Seconds(request.window)}));
  const int64_t room = request.most_messages - sent.Int(0, 0);
  if (room <= 0) {
    claimed->wait = Until(sent.OptTime(0, 1), claimed->now);
    return absl::OkStatus();
  }
  TM_ASSIGN_OR_RETURN(const SqlRows due,
                      tx.Run(kDue, {request.channel, ToParam(request.most_items)}));
  if (due.empty()) {
    TM_ASSIGN_OR_RETURN(const SqlRows next, tx.Run(kNextDue, {request.channel}));
    claimed->wait = Until(next.OptTime(0, 0), claimed->now);
    return absl::OkStatus();
  }
  const int count = due.size() > room ? due.size() : 1;
  for (int i = 0; i < count; ++i) claimed->message.items.push_back(ReadItem(due, i));
  return Take(tx, request, claimed);
}

absl::Status RaiseOne(SqlTransaction& tx, const AlertRaise& a) {
  Batch batch(kAlertRaiseWidth);
  AddAlert(batch, a);
  return tx.Run(sql::kRaiseAlerts, std::move(batch).Take()).status();
}

}  // namespace

absl::StatusOr<ClaimedMessage> AlertPost::Claim(const ClaimRequest& request) {
  TM_ASSIGN_OR_RETURN(Connection * connection, session_.Get());
  ClaimedMessage claimed;
  TM_RETURN_IF_ERROR(connection->Transact([&](SqlTransaction& tx) -> absl::Status {
    TM_RETURN_IF_ERROR(tx.Run(kMakeChannel, {request.channel}).status());
    TM_ASSIGN_OR_RETURN(const SqlRows channel, tx.Run(kLockChannel, {request.channel}));
    claimed.channel.failures = static_cast<int>(channel.Int(0, 0));
    claimed.channel.failing_since = channel.OptTime(0, 1);
    claimed.now = channel.Time(0, 3);
    const std::optional<absl::Time> next_try = channel.OptTime(0, 2);
    if (next_try.has_value() && *next_try > claimed.now) {
      claimed.wait = Until(next_try, claimed.now);
      return absl::OkStatus();
    }
    return Choose(tx, request, &claimed);
  }));
  return claimed;
}

absl::Status AlertPost::ReportDelivered(const std::string& channel, const AlertMessage& message,
                                        const std::string& failing_key) {
  TM_ASSIGN_OR_RETURN(Connection * connection, session_.Get());
  // One row a transaction: locks of several could meet those of a flush crosswise. First, so that
  // a crash in between tells twice rather than leaves the mark out.
  for (const AlertItem& item : message.items) {
    if (item.phase != AlertPhase::kRaised) continue;
    TM_RETURN_IF_ERROR(
        connection->RunOne(kTold, {item.alert.alert_id, ToParam(item.alert.episode)}).status());
  }
  return connection->Transact([&](SqlTransaction& tx) -> absl::Status {
    TM_ASSIGN_OR_RETURN(const SqlRows row, tx.Run(kLockChannel, {channel}));
    ItemArrays arrays = ArraysOf(message.items);
    TM_RETURN_IF_ERROR(
        tx.Run(kDelivered, {channel, message.message_id, std::move(arrays.alerts).Take(),
                            std::move(arrays.episodes).Take(), std::move(arrays.phases).Take(),
                            std::move(arrays.numbers).Take()})
            .status());
    TM_RETURN_IF_ERROR(tx.Run(kChannelWorks, {channel}).status());
    if (row.empty() || row.Int(0, 0) == 0) return absl::OkStatus();
    TM_RETURN_IF_ERROR(tx.Run(kRevive, {channel}).status());
    return tx.Run(kResolveKey, {failing_key}).status();
  });
}

absl::Status AlertPost::ReportFailed(const std::string& channel, const AlertMessage& message,
                                     const DeliveryFailure& failure) {
  TM_ASSIGN_OR_RETURN(Connection * connection, session_.Get());
  const SqlParam error = Message4k(failure.error);
  return connection->Transact([&](SqlTransaction& tx) -> absl::Status {
    TM_RETURN_IF_ERROR(tx.Run(kLockChannel, {channel}).status());
    TM_RETURN_IF_ERROR(tx.Run(kFailed, {message.message_id, error, Seconds(failure.item_delay),
                                        Seconds(failure.give_up_after)})
                           .status());
    TM_RETURN_IF_ERROR(
        tx.Run(kChannelFails, {channel, error, Seconds(failure.channel_delay)}).status());
    return failure.tell.has_value() ? RaiseOne(tx, *failure.tell) : absl::OkStatus();
  });
}

}  // namespace tidemark
