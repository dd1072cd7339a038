#include "scheduler/store/watch_store.h"

#include <algorithm>
#include <map>

#include "common/status.h"
#include "scheduler/store/alert_raise.h"
#include "scheduler/store/array.h"
#include "scheduler/store/batch.h"
#include "scheduler/store/snapshot.h"
#include "scheduler/store/statements.h"

namespace tidemark {
namespace {

// One more than asked for tells whether there are more.
constexpr std::string_view kJobs = R"sql(
SELECT j.job_id, j.check_from FROM job j
WHERE j.deleted_at IS NULL AND j.job_id > $2::bigint
  AND j.shard IN (
    SELECT s.shard FROM shard s
    WHERE s.node_id IS DISTINCT FROM $1::text
       OR NOT EXISTS (SELECT FROM scheduler_node n
                      WHERE n.node_id <> $1::text AND n.lease_until > tidemark_now()))
ORDER BY j.job_id LIMIT $3::bigint + 1)sql";

constexpr std::string_view kOpen =
    "SELECT split_part(dedup_key, '/', 2)::bigint, kind, biz_date FROM alert "
    "WHERE resolved_at IS NULL AND kind IN ('check_missing', 'check_disagrees') "
    "ORDER BY biz_date";

constexpr std::string_view kDates = R"sql(
SELECT i.job_id, i.biz_date, w.status, v.verdict, v.state, v.checked_at,
       (SELECT max(u.undone_at) FROM watermark_undone u
        WHERE u.job_id = i.job_id AND u.biz_date = i.biz_date),
       EXISTS (SELECT FROM alert a
               WHERE a.dedup_key = 'date_missed/' || i.job_id || '/' ||
                                   to_char(i.biz_date, 'YYYY-MM-DD'))
FROM unnest($1::bigint[], $2::date[]) WITH ORDINALITY AS i (job_id, biz_date, number)
LEFT JOIN job_watermark w ON w.job_id = i.job_id AND w.biz_date = i.biz_date
LEFT JOIN check_verdict v ON v.job_id = i.job_id AND v.biz_date = i.biz_date
ORDER BY i.number)sql";

constexpr std::string_view kEnd =
    "UPDATE alert SET resolved_at = tidemark_now() WHERE dedup_key = $1 AND resolved_at IS NULL";

constexpr std::string_view kKeysOfGone =
    "SELECT dedup_key FROM alert a WHERE resolved_at IS NULL "
    "AND kind IN ('check_missing', 'check_disagrees') "
    "AND NOT EXISTS (SELECT FROM job j WHERE j.deleted_at IS NULL "
    "                AND j.job_id = split_part(a.dedup_key, '/', 2)::bigint)";

constexpr std::string_view kLooked = R"sql(
INSERT INTO watch_state AS w (node_id, looked_at, look_error, jobs, dates)
VALUES ($1::text, CASE WHEN $2::text = '' THEN tidemark_now() END, $2::text, $3::bigint, $4::bigint)
ON CONFLICT (node_id) DO UPDATE
  SET looked_at = coalesce(EXCLUDED.looked_at, w.looked_at), look_error = EXCLUDED.look_error,
      jobs = CASE WHEN EXCLUDED.look_error = '' THEN EXCLUDED.jobs ELSE w.jobs END,
      dates = CASE WHEN EXCLUDED.look_error = '' THEN EXCLUDED.dates ELSE w.dates END)sql";

// Nodes that left for good.
constexpr std::string_view kForgetNodes =
    "DELETE FROM watch_state w WHERE greatest(w.looked_at, w.pinged_at) < "
    "tidemark_now() - interval '30 days' "
    "AND NOT EXISTS (SELECT FROM scheduler_node n WHERE n.node_id = w.node_id)";

constexpr std::string_view kSystem = R"sql(
SELECT tidemark_now(),
       (SELECT count(*) FROM shard s
        WHERE NOT EXISTS (SELECT FROM scheduler_node n
                          WHERE n.node_id = s.node_id AND n.incarnation = s.incarnation
                            AND n.lease_until > tidemark_now())),
       count(*) FILTER (WHERE kind = 'check_missing'),
       count(*) FILTER (WHERE kind = 'check_disagrees')
FROM alert WHERE resolved_at IS NULL AND kind IN ('check_missing', 'check_disagrees'))sql";

// Not routed, though nobody keeps it back; or with a channel that has not taken it, and no other
// has. Driven by the indexes of what waits: there are few.
constexpr std::string_view kUndelivered = R"sql(
WITH late AS MATERIALIZED (SELECT tidemark_now() - make_interval(secs => $1::double precision) AS by),
waiting AS (
  SELECT a.alert_id, a.raised_at FROM alert a, late
  WHERE a.routed_at IS NULL AND a.resolved_at IS NULL AND a.acked_at IS NULL
    AND coalesce(a.silenced_until, a.raised_at) < late.by
  UNION
  SELECT a.alert_id, a.raised_at
  FROM late, alert_delivery d JOIN alert a ON a.alert_id = d.alert_id AND a.episode = d.episode
  WHERE d.state = 'pending' AND d.phase = 'raised' AND d.created_at < late.by
    AND a.delivered_at IS NULL
  UNION
  SELECT a.alert_id, a.raised_at
  FROM alert_delivery d JOIN alert a ON a.alert_id = d.alert_id AND a.episode = d.episode
  WHERE d.state = 'dead' AND d.phase = 'raised' AND a.delivered_at IS NULL
    AND a.resolved_at IS NULL AND a.acked_at IS NULL)
SELECT count(*), min(raised_at) FROM waiting)sql";

constexpr std::string_view kBlind = R"sql(
WITH late AS MATERIALIZED (SELECT tidemark_now() - make_interval(secs => $1::double precision) AS by)
SELECT n.node_id, w.looked_at
FROM late, scheduler_node n LEFT JOIN watch_state w ON w.node_id = n.node_id
WHERE n.lease_until > tidemark_now() AND n.started_at < late.by
  AND (w.looked_at IS NULL OR w.looked_at < late.by)
ORDER BY n.node_id)sql";

// The last time that the ping was withheld is kept: people ask afterwards.
constexpr std::string_view kPinged = R"sql(
INSERT INTO watch_state AS w (node_id, pings, pinged_at, ping_error, withheld_since, reasons)
SELECT $1::text, $2::boolean, CASE WHEN $3::boolean THEN t.now END, $4::text,
       CASE WHEN $5::text <> '' THEN t.now END, $5::text
FROM (SELECT tidemark_now() AS now) t
ON CONFLICT (node_id) DO UPDATE
  SET pings = EXCLUDED.pings, pinged_at = coalesce(EXCLUDED.pinged_at, w.pinged_at),
      ping_error = EXCLUDED.ping_error,
      withheld_since = CASE WHEN EXCLUDED.reasons = ''
                              OR (w.withheld_since IS NOT NULL AND w.withheld_until IS NULL)
                            THEN w.withheld_since ELSE EXCLUDED.withheld_since END,
      withheld_until = CASE WHEN EXCLUDED.reasons <> '' OR w.withheld_since IS NULL THEN NULL
                            ELSE coalesce(w.withheld_until, tidemark_now()) END,
      reasons = CASE WHEN EXCLUDED.reasons = '' THEN w.reasons ELSE EXCLUDED.reasons END)sql";

SqlParam Seconds(absl::Duration duration) {
  return ToParam(std::min(absl::ToDoubleSeconds(duration), 1e9));
}

std::string Lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
  return text;
}

absl::Status ReadJobs(SqlTransaction& tx, const std::string& node, int64_t after, int limit,
                      WatchPage* page) {
  TM_ASSIGN_OR_RETURN(const SqlRows time, tx.Run("SELECT tidemark_now()"));
  page->now = time.Time(0, 0);
  TM_ASSIGN_OR_RETURN(const SqlRows rows, tx.Run(kJobs, {node, ToParam(after), ToParam(limit)}));
  page->more = rows.size() > limit;
  std::vector<int64_t> ids;
  for (int i = 0; i < std::min(rows.size(), limit); ++i) ids.push_back(rows.Int(i, 0));
  TM_ASSIGN_OR_RETURN(auto jobs, LoadJobs(tx, ids));
  TM_ASSIGN_OR_RETURN(const SqlRows open, tx.Run(kOpen));
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto found = jobs.find(ids[i]);
    if (found == jobs.end()) continue;
    WatchJob job;
    job.row = std::move(found->second);
    job.check_from = rows.Time(static_cast<int>(i), 1);
    for (int k = 0; k < open.size(); ++k) {
      if (open.Int(k, 0) != ids[i] || !open.OptDate(k, 2).has_value()) continue;
      auto& dates = open.View(k, 1) == "check_missing" ? job.open_missing : job.open_disagrees;
      dates.push_back(*open.OptDate(k, 2));
    }
    page->jobs.push_back(std::move(job));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<WatchPage> WatchStore::Jobs(const std::string& node, int64_t after, int limit) {
  TM_ASSIGN_OR_RETURN(Connection * connection, session_.Get());
  WatchPage page;
  TM_RETURN_IF_ERROR(connection->Transact(
      [&](SqlTransaction& tx) { return ReadJobs(tx, node, after, limit, &page); },
      Isolation::kRepeatableReadOnly));
  return page;
}

absl::StatusOr<std::vector<WatchDate>> WatchStore::Dates(
    const std::vector<std::pair<int64_t, absl::CivilDay>>& dates) {
  TM_ASSIGN_OR_RETURN(Connection * connection, session_.Get());
  SqlArray ids;
  SqlArray days;
  for (const auto& [job_id, date] : dates) {
    ids.Add(ToParam(job_id));
    days.Add(ToParam(date));
  }
  TM_ASSIGN_OR_RETURN(const SqlRows rows,
                      connection->RunOne(kDates, {std::move(ids).Take(), std::move(days).Take()}));
  std::vector<WatchDate> kept;
  for (int i = 0; i < rows.size(); ++i) {
    WatchDate date;
    date.job_id = rows.Int(i, 0);
    date.date = rows.OptDate(i, 1).value_or(absl::CivilDay());
    date.status = rows.Text(i, 2);
    date.verdict = rows.Text(i, 3);
    date.state = rows.Text(i, 4);
    date.checked_at = rows.Time(i, 5);
    date.undone_at = rows.OptTime(i, 6);
    date.told = rows.Bool(i, 7);
    kept.push_back(std::move(date));
  }
  return kept;
}

absl::Status WatchStore::Tell(const WatchFindings& findings) {
  TM_ASSIGN_OR_RETURN(Connection * connection, session_.Get());
  // One row a transaction: locks of several could meet those of a flush crosswise.
  for (const AlertRaise& alert : findings.raise) {
    Batch batch(kAlertRaiseWidth);
    AddAlert(batch, alert);
    TM_RETURN_IF_ERROR(connection->RunOne(sql::kRaiseAlerts, std::move(batch).Take()).status());
  }
  for (const std::string& key : findings.resolve) {
    TM_RETURN_IF_ERROR(connection->RunOne(kEnd, {key}).status());
  }
  return absl::OkStatus();
}

absl::Status WatchStore::Looked(const std::string& node, const WatchLook& look) {
  TM_ASSIGN_OR_RETURN(Connection * connection, session_.Get());
  if (look.error.empty()) {
    TM_ASSIGN_OR_RETURN(const SqlRows gone, connection->RunOne(kKeysOfGone));
    for (int i = 0; i < gone.size(); ++i) {
      TM_RETURN_IF_ERROR(connection->RunOne(kEnd, {gone.Text(i, 0)}).status());
    }
    TM_RETURN_IF_ERROR(connection->RunOne(kForgetNodes).status());
  }
  return connection
      ->RunOne(kLooked, {node, Message4k(look.error), ToParam(look.jobs), ToParam(look.dates)})
      .status();
}

absl::StatusOr<WatchHealth> WatchStore::Health(absl::Duration late, absl::Duration blind_after) {
  TM_ASSIGN_OR_RETURN(Connection * connection, session_.Get());
  WatchHealth health;
  TM_RETURN_IF_ERROR(connection->Transact([&](SqlTransaction& tx) -> absl::Status {
    health = WatchHealth();
    TM_ASSIGN_OR_RETURN(const SqlRows system, tx.Run(kSystem));
    health.now = system.Time(0, 0);
    health.unowned_shards = static_cast<int>(system.Int(0, 1));
    health.missing = static_cast<int>(system.Int(0, 2));
    health.disagreeing = static_cast<int>(system.Int(0, 3));
    TM_ASSIGN_OR_RETURN(const SqlRows waiting, tx.Run(kUndelivered, {Seconds(late)}));
    health.undelivered = static_cast<int>(waiting.Int(0, 0));
    health.undelivered_since = waiting.OptTime(0, 1);
    TM_ASSIGN_OR_RETURN(const SqlRows blind, tx.Run(kBlind, {Seconds(blind_after)}));
    for (int i = 0; i < blind.size(); ++i) {
      health.blind.emplace_back(blind.Text(i, 0), blind.OptTime(i, 1));
    }
    return absl::OkStatus();
  }));
  return health;
}

absl::Status WatchStore::Pinged(const std::string& node, const PingState& state) {
  TM_ASSIGN_OR_RETURN(Connection * connection, session_.Get());
  return connection
      ->RunOne(kPinged, {node, ToParam(state.pings), ToParam(state.pinged), Message4k(state.error),
                         Body(Lines(state.reasons))})
      .status();
}

}  // namespace tidemark
