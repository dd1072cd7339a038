// Statements of migrations, terms and reads.
#include "scheduler/store/statements.h"

namespace tidemark::sql {

const std::string_view kHasMigrationTable = "SELECT to_regclass('schema_migration') IS NOT NULL";

const std::string_view kAppliedMigrations =
    // The column is missing in a schema that nothing migrated since there is one.
    "SELECT version, checksum, coalesce((to_jsonb(m) ->> 'needs')::integer, version)"
    " FROM schema_migration m ORDER BY version";

const std::string_view kMigrationSettings =
    "SELECT set_config('tidemark.schema', $1, true), set_config('statement_timeout', '10min', "
    "true)";

const std::string_view kLockMigrations =
    "SELECT pg_advisory_xact_lock(hashtextextended('tidemark schema ' || $1, 0))";

const std::string_view kCreateSchema = R"sql(
DO $$ BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = current_setting('tidemark.schema')) THEN
    EXECUTE format('CREATE SCHEMA %I', current_setting('tidemark.schema'));
  END IF;
END $$)sql";

const std::string_view kCreateMigrationTable = R"sql(
CREATE TABLE IF NOT EXISTS schema_migration (
  version     integer PRIMARY KEY,
  name        text NOT NULL,
  checksum    text NOT NULL,
  applied_at  timestamptz NOT NULL
);
-- The last version that a program must know to work with the schema after this one.
ALTER TABLE schema_migration ADD COLUMN IF NOT EXISTS needs integer)sql";

const std::string_view kLiveNodes =
    "SELECT string_agg(node_id, ', ' ORDER BY node_id) FROM scheduler_node"
    " WHERE lease_until > tidemark_now()";

// The wall clock on purpose: the first migration makes tidemark_now() itself.
const std::string_view kRecordMigration = R"sql(
INSERT INTO schema_migration (version, name, checksum, applied_at, needs)
VALUES ($1, $2, $3, tidemark_now(), $4))sql";

const std::string_view kRegisterNode = R"sql(
INSERT INTO scheduler_node AS n (node_id, incarnation, address, version, lease_until, started_at)
VALUES ($1, $2::uuid, $3, $4, tidemark_now() + $5::bigint * interval '1 microsecond',
        tidemark_now())
ON CONFLICT (node_id) DO UPDATE
  SET incarnation = EXCLUDED.incarnation, address = EXCLUDED.address, version = EXCLUDED.version,
      lease_until = tidemark_now() + $5::bigint * interval '1 microsecond',
      started_at = EXCLUDED.started_at, draining = n.draining AND NOT $6::boolean
  WHERE $6::boolean OR n.incarnation = $7::uuid OR n.lease_until <= tidemark_now()
RETURNING tidemark_now())sql";

const std::string_view kAddFence =
    "INSERT INTO node_fence (node_id, incarnation, fenced, created_at)"
    " VALUES ($1, $2::uuid, false, tidemark_now())";

const std::string_view kAddFlush =
    "INSERT INTO flush (node_id, incarnation, seq) VALUES ($1, $2::uuid, 0)";

const std::string_view kPredecessors = R"sql(
SELECT s.node_id, s.incarnation::text
FROM shard s
WHERE s.node_id IS NOT NULL AND (s.node_id, s.incarnation) <> ($1::text, $2::uuid)
  AND NOT EXISTS (SELECT 1 FROM scheduler_node n
                  WHERE n.node_id = s.node_id AND n.incarnation = s.incarnation
                    AND n.lease_until > tidemark_now())
UNION
SELECT f.node_id, f.incarnation::text
FROM node_fence f
WHERE f.node_id = $1::text AND f.incarnation <> $2::uuid AND NOT f.fenced
  AND EXISTS (SELECT 1 FROM scheduler_node n WHERE n.node_id = $1::text AND n.incarnation = $2::uuid)
ORDER BY 1, 2)sql";

// Waits for every open transaction that holds the row FOR SHARE. A row that is missing is made, so
// that it is known as fenced for good.
const std::string_view kFence = R"sql(
INSERT INTO node_fence AS f (node_id, incarnation, fenced, created_at)
VALUES ($1, $2::uuid, true, tidemark_now())
ON CONFLICT (node_id, incarnation) DO UPDATE SET fenced = true WHERE NOT f.fenced
RETURNING xmax = 0)sql";

const std::string_view kCountShards = "SELECT count(*) FROM shard";

const std::string_view kClaimShards = R"sql(
WITH pick AS (
  SELECT s.shard, s.timeline AS was
  FROM shard s
  WHERE s.node_id IS NULL
     OR EXISTS (SELECT 1 FROM node_fence f
                WHERE f.node_id = s.node_id AND f.incarnation = s.incarnation AND f.fenced)
  ORDER BY s.shard
  LIMIT (SELECT greatest(0, tidemark_share($1::text, $2::uuid) - count(*))
         FROM shard o WHERE o.node_id = $1::text AND o.incarnation = $2::uuid)
  FOR UPDATE
)
UPDATE shard s
SET node_id = $1::text, incarnation = $2::uuid, epoch = s.epoch + 1, timeline = $3::bigint,
    timeline_since = CASE WHEN pick.was IN (0, $3::bigint) THEN s.timeline_since
                          ELSE tidemark_now() END
FROM pick WHERE s.shard = pick.shard
RETURNING s.shard, s.epoch,
          COALESCE(s.timeline_since > tidemark_now() - $4::bigint * interval '1 microsecond', false)
)sql";

const std::string_view kTellCluster = "SELECT pg_notify('tidemark_cluster', '')";

const std::string_view kLookAtCluster = R"sql(
WITH t AS MATERIALIZED (SELECT tidemark_now() AS at),
alive AS MATERIALIZED (SELECT n.* FROM scheduler_node n, t WHERE n.lease_until > t.at)
SELECT tidemark_share($1::text, $2::uuid),
       count(*) FILTER (WHERE s.node_id = $1::text AND s.incarnation = $2::uuid),
       count(*) FILTER (WHERE a.node_id IS NULL),
       count(*),
       (SELECT (extract(epoch FROM min(o.lease_until) - (SELECT at FROM t)) * 1000000)::bigint
        FROM alive o WHERE o.node_id <> $1::text AND isfinite(o.lease_until)),
       (SELECT string_agg(o.address, E'\n' ORDER BY o.address, o.node_id) FROM alive o),
       (SELECT string_agg(x.executor_id, E'\n') FROM executor x WHERE x.drained),
       (SELECT string_agg(o.node_id, E'\n' ORDER BY o.node_id) FROM alive o
        WHERE o.lease_until > (SELECT at FROM t) + interval '1 day')
FROM shard s
LEFT JOIN alive a ON a.node_id = s.node_id AND a.incarnation = s.incarnation)sql";

const std::string_view kRenewLease = R"sql(
UPDATE scheduler_node n
SET lease_until = tidemark_now() + $3::bigint * interval '1 microsecond',
    clock_offset = $4::bigint, clock_uncertainty = $5::bigint, lag = $6::bigint
WHERE n.node_id = $1 AND n.incarnation = $2::uuid AND n.lease_until > tidemark_now()
  AND EXISTS (SELECT 1 FROM node_fence f
              WHERE f.node_id = $1 AND f.incarnation = $2::uuid AND NOT f.fenced)
RETURNING tidemark_now())sql";

const std::string_view kLeaseRows = R"sql(
SELECT n.incarnation = $2::uuid, n.lease_until > tidemark_now(),
       (SELECT f.fenced FROM node_fence f WHERE f.node_id = $1 AND f.incarnation = $2::uuid),
       (SELECT count(*) FROM shard s WHERE s.node_id = $1 AND s.incarnation = $2::uuid)
FROM (SELECT) AS always LEFT JOIN scheduler_node n ON n.node_id = $1)sql";

const std::string_view kFreeShards =
    "UPDATE shard SET node_id = NULL, incarnation = NULL"
    " WHERE node_id = $1 AND incarnation = $2::uuid";

const std::string_view kEndLease =
    "DELETE FROM scheduler_node WHERE node_id = $1 AND incarnation = $2::uuid";

const std::string_view kForgetFences = R"sql(
DELETE FROM node_fence f
WHERE f.created_at < tidemark_now() - interval '7 days'
  AND (f.fenced
       OR NOT EXISTS (SELECT 1 FROM scheduler_node n
                      WHERE n.node_id = f.node_id AND n.incarnation = f.incarnation))
  AND NOT EXISTS (SELECT 1 FROM shard s
                  WHERE s.node_id = f.node_id AND s.incarnation = f.incarnation))sql";

const std::string_view kForgetNodes = R"sql(
DELETE FROM scheduler_node n
WHERE n.lease_until < tidemark_now() - interval '7 days'
  AND NOT EXISTS (SELECT 1 FROM shard s
                  WHERE s.node_id = n.node_id AND s.incarnation = n.incarnation))sql";

const std::string_view kForgetFlushes = R"sql(
DELETE FROM flush l
WHERE NOT EXISTS (SELECT 1 FROM node_fence f
                  WHERE f.node_id = l.node_id AND f.incarnation = l.incarnation))sql";

// Right after a promotion, too; pg_control_checkpoint() would lag until the next checkpoint.
const std::string_view kTimeline =
    "SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint";

const std::string_view kEnsurePartitions = "SELECT tidemark_ensure_partitions()";

const std::string_view kDropPartition = "SELECT tidemark_drop_partition($1::integer, $2::integer)";

// One pass over the jobs in order, however many there are.
const std::string_view kDeclareJobs = R"sql(
DECLARE job_rows NO SCROLL CURSOR FOR
SELECT j.job_id, j.name, j.namespace, j.app, j.shard, j.version, j.paused, j.finished,
       j.deleted_at IS NOT NULL, j.error, j.ledger_from, j.created_at, c.last_fire, j.due_until,
       j.check_from, j.checked_until, j.paused_at, j.pause_reason, j.paused_by,
       v.version, v.valid_from, v.spec, v.calendar
FROM job j
LEFT JOIN job_version v ON v.job_id = j.job_id
LEFT JOIN job_cursor c ON c.job_id = j.job_id
WHERE j.shard = ANY ($1::smallint[]) AND j.deleted_at IS NULL
ORDER BY j.job_id, v.version)sql";

const std::string_view kFetchJobs = "FETCH 20000 FROM job_rows";  // bounds what libpq holds at once

const std::string_view kLoadJobsById = R"sql(
SELECT j.job_id, j.name, j.namespace, j.app, j.shard, j.version, j.paused, j.finished,
       j.deleted_at IS NOT NULL, j.error, j.ledger_from, j.created_at, c.last_fire, j.due_until,
       j.check_from, j.checked_until, j.paused_at, j.pause_reason, j.paused_by,
       v.version, v.valid_from, v.spec, v.calendar
FROM job j
LEFT JOIN job_version v ON v.job_id = j.job_id
LEFT JOIN job_cursor c ON c.job_id = j.job_id
WHERE j.job_id = ANY ($1::bigint[])
ORDER BY j.job_id, v.version)sql";

const std::string_view kLoadCalendars = R"sql(
SELECT c.name, c.version, c.mode = 'include', c.weekend, c.valid_from, c.retroactive,
       array_to_string(c.dates, ' ')
FROM calendar_version c
WHERE c.name = ANY ($1::text[])
ORDER BY c.name, c.version)sql";

// By the index of what is not settled, which is short.
const std::string_view kUnsettledJobs = R"sql(
SELECT DISTINCT d.job_id
FROM due_date d
JOIN job j ON j.job_id = d.job_id
WHERE NOT d.settled AND j.shard = ANY ($1::smallint[])
ORDER BY d.job_id)sql";

const std::string_view kExecutorsUp = R"sql(
SELECT executor_id, app, namespace, registration
FROM executor WHERE state IN ('UP', 'DRAINING') AND registration > 0
ORDER BY executor_id)sql";

const std::string_view kOpenAlerts = "SELECT dedup_key FROM alert WHERE resolved_at IS NULL";

const std::string_view kLoadRuns = R"sql(
SELECT job_id, kind, occurrence, run_id, shard, namespace, job_name, app, handler, job_version,
       biz_date, nominal_time, fire_time, trigger_type, tag, request_id, requested_by, reason,
       rerun_of, wanted_executor, params, status, attempt, failed_attempts, lost_attempts,
       executor_id, registration, executor_host, on_lost, epoch_timeline, epoch, retry_at, held,
       cancel_by, cancel_reason, progress_percent, checkpoint, message, created_at, sent_at,
       started_at, attempt_started_at, backfill_id, armed
FROM active_run
WHERE shard = ANY ($1::smallint[])
ORDER BY job_id, kind, occurrence)sql";

const std::string_view kLoadBackfills = R"sql(
SELECT b.backfill_id, b.job_id, b.from_date, b.to_date, b.reprocess, b.reverse, b.parallel, b.state,
       b.state_reason, b.reason, b.actor, array_to_string(b.dates, ' '), b.created_at, b.resumed_at,
       b.ended_at
FROM backfill b JOIN job j ON j.job_id = b.job_id
WHERE b.state IN ('RUNNING', 'PAUSED') AND j.deleted_at IS NULL
  AND j.shard = ANY ($1::smallint[])
ORDER BY b.job_id, b.created_at, b.backfill_id)sql";

const std::string_view kLoadTried = R"sql(
SELECT backfill_id, biz_date, status, ended_at
FROM run_history WHERE backfill_id = ANY ($1::uuid[]) AND biz_date IS NOT NULL
ORDER BY backfill_id, run_id)sql";

const std::string_view kLedger = R"sql(
SELECT i.job_id, i.biz_date, w.status, w.reason, w.run_id, w.reopened_on, w.reopened,
       w.result_rows IS NOT NULL OR w.result_digest <> '',
       (w.status IS NULL OR w.status <> 'DONE')
       AND EXISTS (SELECT 1 FROM drill d
                   WHERE d.job_id = i.job_id AND d.biz_date = i.biz_date
                     AND NOT EXISTS (SELECT 1 FROM run_history h
                                     WHERE h.job_id = d.job_id AND h.biz_date = d.biz_date
                                       AND h.status = 'COMPLETED' AND h.created_at >= d.started_at))
FROM (SELECT q.job_id, q.biz_date
      FROM unnest($1::bigint[], $2::date[]) AS q (job_id, biz_date)
      UNION
      SELECT d.job_id, d.biz_date
      FROM due_date d
      WHERE NOT d.settled AND d.job_id = ANY ($3::bigint[])) i
LEFT JOIN job_watermark w ON w.job_id = i.job_id AND w.biz_date = i.biz_date
ORDER BY i.job_id, i.biz_date)sql";

const std::string_view kUpstream = R"sql(
SELECT i.job_id, i.biz_date, a.upstream, i.biz_date + a.date_offset, u.status, u.reason
FROM (SELECT DISTINCT q.job_id, q.biz_date
      FROM unnest($1::bigint[], $2::date[]) AS q (job_id, biz_date)) i
JOIN (SELECT DISTINCT q.job_id, q.upstream, q.date_offset
      FROM unnest($3::bigint[], $4::text[], $5::integer[]) AS q (job_id, upstream, date_offset)) a
  ON a.job_id = i.job_id
LEFT JOIN job_watermark w ON w.job_id = i.job_id AND w.biz_date = i.biz_date
LEFT JOIN job_watermark u ON u.job_name = a.upstream AND u.biz_date = i.biz_date + a.date_offset
WHERE w.status IS DISTINCT FROM 'DONE'
ORDER BY i.job_id, i.biz_date, a.upstream, a.date_offset)sql";

const std::string_view kJobsNamed =
    "SELECT job_id FROM job WHERE name = ANY ($1::text[]) AND deleted_at IS NULL";

const std::string_view kOpenCommands = R"sql(
SELECT c.command_id, c.job_id, c.shard, c.kind, c.args, c.actor, tidemark_now(),
       EXISTS (SELECT 1 FROM inbox i WHERE i.shard = ANY ($1::smallint[]))
FROM (SELECT) AS always
LEFT JOIN (
  SELECT command_id, job_id, shard, kind, args, actor, created_at
  FROM command
  WHERE done_at IS NULL AND shard = ANY ($1::smallint[]) AND command_id <> ALL ($2::uuid[])
  ORDER BY created_at, command_id
  LIMIT $3::bigint) AS c ON true
ORDER BY c.created_at, c.command_id)sql";

const std::string_view kStillOpen =
    "SELECT command_id FROM command WHERE command_id = ANY ($1::uuid[]) AND done_at IS NULL";

const std::string_view kOpenInbox = R"sql(
WITH known AS MATERIALIZED (
  SELECT i.run_id, i.attempt, i.received_at
  FROM unnest($2::uuid[], $3::integer[], $4::timestamptz[]) AS k (run_id, attempt, received_at)
  JOIN inbox i ON i.run_id = k.run_id AND i.attempt = k.attempt AND i.received_at = k.received_at
)
(SELECT run_id, attempt, received_at, 0::bigint, '', '', '', '', NULL::bigint, '', '', true
 FROM known)
UNION ALL
(SELECT i.run_id, i.attempt, i.received_at, i.registration, i.refused, i.outcome, i.message,
        i.result, i.result_rows, i.result_digest, i.checkpoint, false
 FROM inbox i
 WHERE i.shard = ANY ($1::smallint[])
   AND NOT EXISTS (SELECT 1 FROM known k WHERE k.run_id = i.run_id AND k.attempt = i.attempt)
 ORDER BY i.received_at, i.run_id, i.attempt
 LIMIT $5::bigint))sql";

}  // namespace tidemark::sql
