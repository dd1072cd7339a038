// Statements of a flush. Each takes its list as arrays, one a column, and touches a key once.
// Data-modifying CTEs tie a consequence to the row that was really inserted or deleted.
#include "scheduler/store/statements.h"

namespace tidemark::sql {

const std::string_view kHoldFence =
    "SELECT tidemark_now() FROM node_fence"
    " WHERE node_id = $1 AND incarnation = $2::uuid AND NOT fenced FOR SHARE";

const std::string_view kSettleFlush =
    "SELECT seq FROM flush WHERE node_id = $1 AND incarnation = $2::uuid FOR UPDATE";

// Registration 0: made here, nobody has it yet. Afterwards the row can be locked.
const std::string_view kMakeExecutors = R"sql(
INSERT INTO executor (executor_id, app, namespace, registration, incarnation, host, version,
                      capacity, handlers, state, registered_at, last_seen)
SELECT i.executor_id, i.app, i.namespace, 0, i.incarnation, '', '', 0, '{}', 'UP',
       tidemark_now(), tidemark_now()
FROM unnest($1::text[], $2::text[], $3::text[], $4::uuid[])
     AS i (executor_id, app, namespace, incarnation)
ORDER BY i.executor_id
ON CONFLICT (executor_id) DO NOTHING)sql";

const std::string_view kLockExecutors = R"sql(
SELECT executor_id, app, registration, incarnation, drained
FROM executor WHERE executor_id = ANY ($1::text[])
ORDER BY executor_id FOR UPDATE)sql";

const std::string_view kKnownIncarnations = R"sql(
SELECT executor_id, incarnation, registration
FROM executor_incarnation WHERE executor_id = ANY ($1::text[]))sql";

// "drained" stays: an operator's drain survives a restart of the executor.
const std::string_view kWriteExecutor = R"sql(
UPDATE executor
SET app = $2, namespace = $3, registration = $4::bigint, incarnation = $5::uuid, host = $6,
    version = $7, capacity = $8::integer, handlers = $9::text[], labels = $10, state = $11,
    registered_at = CASE WHEN registration = $4::bigint THEN registered_at ELSE tidemark_now() END,
    last_seen = tidemark_now()
WHERE executor_id = $1)sql";

const std::string_view kAddIncarnation = R"sql(
INSERT INTO executor_incarnation (executor_id, incarnation, registration, registered_at)
VALUES ($1, $2::uuid, $3::bigint, tidemark_now())
ON CONFLICT (executor_id, incarnation) DO UPDATE SET registration = EXCLUDED.registration)sql";

const std::string_view kSkipRuns = R"sql(
INSERT INTO run_history (recorded_at, run_id, job_id, kind, occurrence, namespace, job_name, app,
                         handler, job_version, biz_date, nominal_time, fire_time, trigger_type,
                         tag, request_id, requested_by, reason, rerun_of, params, status,
                         status_reason, attempt, failed_attempts, lost_attempts, executor_id,
                         registration, executor_host, epoch_timeline, epoch, progress_percent,
                         checkpoint, message, result, result_rows, result_digest, created_at,
                         started_at, ended_at)
SELECT (SELECT tidemark_now()), i.run_id, i.job_id, i.kind, i.occurrence, i.namespace, i.job_name,
       i.app, i.handler, i.job_version, i.biz_date, i.nominal_time, i.fire_time, i.trigger_type,
       i.tag, i.request_id, i.requested_by, i.reason, i.rerun_of, i.params, 'SKIPPED',
       i.status_reason, 0, 0, 0, '', 0, '', 0, 0, -1, '', i.message, '', NULL, '', i.created_at,
       NULL, i.ended_at
FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
            $8::text[], $9::integer[], $10::date[], $11::timestamp[], $12::timestamptz[],
            $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::uuid[],
            $19::text[], $20::text[], $21::text[], $22::timestamptz[], $23::timestamptz[])
  AS i (run_id, job_id, kind, occurrence, namespace, job_name, app, handler, job_version,
        biz_date, nominal_time, fire_time, trigger_type, tag, request_id, requested_by, reason,
        rerun_of, params, status_reason, message, created_at, ended_at))sql";

const std::string_view kWriteWatermarks = R"sql(
INSERT INTO job_watermark AS w (job_name, biz_date, status, finished_at, job_id, reason, note, actor,
                                updated_at)
SELECT i.job_name, i.biz_date, i.status, CASE WHEN i.status <> 'RUNNING' THEN n.at END, i.job_id,
       i.reason, i.note, i.actor, n.at
FROM unnest($1::bigint[], $2::text[], $3::date[], $4::text[], $5::text[], $6::text[], $7::text[],
            $8::boolean[])
  AS i (job_id, job_name, biz_date, status, reason, note, actor, only_if_unsettled)
JOIN job j ON j.job_id = i.job_id AND j.deleted_at IS NULL
CROSS JOIN (SELECT tidemark_now() AS at OFFSET 0) n
WHERE NOT i.only_if_unsettled
   OR NOT EXISTS (SELECT 1 FROM job_watermark s
                  WHERE s.job_name = i.job_name AND s.biz_date = i.biz_date
                    AND s.status IN ('DONE', 'WAIVED', 'EXPIRED'))
ORDER BY i.job_name, i.biz_date
ON CONFLICT (job_name, biz_date) DO UPDATE
  SET status = EXCLUDED.status, finished_at = EXCLUDED.finished_at, job_id = EXCLUDED.job_id,
      reason = EXCLUDED.reason, note = EXCLUDED.note, actor = EXCLUDED.actor,
      updated_at = EXCLUDED.updated_at)sql";

const std::string_view kDeleteWatermarks = R"sql(
DELETE FROM job_watermark w
USING unnest($1::bigint[], $2::date[], $3::boolean[]) AS i (job_id, biz_date, only_if_unsettled)
WHERE w.job_id = i.job_id AND w.biz_date = i.biz_date
  AND (NOT i.only_if_unsettled OR w.status NOT IN ('DONE', 'WAIVED', 'EXPIRED')))sql";

const std::string_view kForgetDue =
    "DELETE FROM due_date WHERE job_id = $1::bigint AND biz_date <> ALL ($2::date[])";

const std::string_view kNoteDue = R"sql(
INSERT INTO due_date AS d (job_id, biz_date, fire_time, settled)
SELECT i.job_id, i.biz_date, i.fire_time,
       EXISTS (SELECT 1 FROM job_watermark w
               WHERE w.job_id = i.job_id AND w.biz_date = i.biz_date
                 AND tidemark_settles(w.status, w.reason))
FROM unnest($1::bigint[], $2::date[], $3::timestamptz[]) AS i (job_id, biz_date, fire_time)
ORDER BY i.job_id, i.biz_date
ON CONFLICT (job_id, biz_date) DO UPDATE
  SET fire_time = EXCLUDED.fire_time, settled = EXCLUDED.settled
  WHERE d.fire_time <> EXCLUDED.fire_time OR d.settled <> EXCLUDED.settled)sql";

const std::string_view kDueUntil = R"sql(
UPDATE job j SET due_until = i.due_until
FROM unnest($1::bigint[], $2::date[]) AS i (job_id, due_until)
WHERE j.job_id = i.job_id AND j.due_until IS DISTINCT FROM i.due_until)sql";

const std::string_view kResetCursor =
    "UPDATE job_cursor SET last_fire = $2::timestamptz WHERE job_id = $1::bigint";

const std::string_view kAddSkippedRanges = R"sql(
INSERT INTO skipped_range AS s (job_id, from_fire, to_fire, fires, reason, recorded_at)
SELECT i.job_id, i.from_fire, i.to_fire, i.fires, i.reason, tidemark_now()
FROM unnest($1::bigint[], $2::timestamptz[], $3::timestamptz[], $4::bigint[], $5::text[])
  AS i (job_id, from_fire, to_fire, fires, reason)
ORDER BY i.job_id, i.from_fire
ON CONFLICT (job_id, from_fire) DO UPDATE
  SET to_fire = EXCLUDED.to_fire, fires = EXCLUDED.fires, reason = EXCLUDED.reason,
      recorded_at = EXCLUDED.recorded_at
  WHERE s.to_fire < EXCLUDED.to_fire)sql";

const std::string_view kUpdateJobs = R"sql(
UPDATE job j
SET paused = COALESCE(i.paused, j.paused),
    pause_reason = CASE WHEN i.paused IS NULL THEN j.pause_reason
                        WHEN i.paused THEN i.pause_reason ELSE '' END,
    paused_by = CASE WHEN i.paused IS NULL THEN j.paused_by
                     WHEN i.paused THEN i.paused_by ELSE '' END,
    paused_at = CASE WHEN i.paused IS NULL THEN j.paused_at
                     WHEN i.paused THEN COALESCE(j.paused_at, tidemark_now()) END,
    ledger_from = COALESCE(i.ledger_from, j.ledger_from),
    error = COALESCE(i.error, j.error),
    finished = COALESCE(i.finished, j.finished),
    checked_until = GREATEST(i.checked_until, j.checked_until),
    deleted_at = CASE WHEN i.deleted THEN COALESCE(j.deleted_at, tidemark_now())
                      ELSE j.deleted_at END,
    updated_at = tidemark_now()
FROM unnest($1::bigint[], $2::boolean[], $3::text[], $4::text[], $5::date[], $6::text[],
            $7::boolean[], $8::boolean[], $9::timestamptz[])
  AS i (job_id, paused, pause_reason, paused_by, ledger_from, error, finished, deleted,
        checked_until)
WHERE j.job_id = i.job_id)sql";

const std::string_view kArchiveWatermarks = R"sql(
WITH gone AS (
  DELETE FROM job_watermark WHERE job_id = ANY ($1::bigint[]) RETURNING *
)
INSERT INTO job_watermark_archive (job_name, biz_date, status, finished_at, job_id, run_id,
                                   result_rows, result_digest, reason, note, actor, reopened_on,
                                   reopened, updated_at, archived_at)
SELECT job_name, biz_date, status, finished_at, job_id, run_id, result_rows, result_digest, reason,
       note, actor, reopened_on, reopened, updated_at, tidemark_now()
FROM gone)sql";

// State only moves forward: what has ended stays as it is.
const std::string_view kWriteBackfills = R"sql(
INSERT INTO backfill AS b (backfill_id, job_id, from_date, to_date, reprocess, reverse, parallel,
                           state, state_reason, reason, actor, dates, created_at, resumed_at,
                           ended_at, updated_at)
SELECT i.backfill_id, i.job_id, i.from_date, i.to_date, i.reprocess, i.reverse, i.parallel, i.state,
       i.state_reason, i.reason, i.actor, i.dates::date[], i.created_at, i.resumed_at, i.ended_at,
       tidemark_now()
FROM unnest($1::uuid[], $2::bigint[], $3::date[], $4::date[], $5::text[], $6::boolean[],
            $7::integer[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[],
            $13::timestamptz[], $14::timestamptz[], $15::timestamptz[])
  AS i (backfill_id, job_id, from_date, to_date, reprocess, reverse, parallel, state, state_reason,
        reason, actor, dates, created_at, resumed_at, ended_at)
ORDER BY i.backfill_id
ON CONFLICT (backfill_id) DO UPDATE
  SET state = EXCLUDED.state, state_reason = EXCLUDED.state_reason,
      resumed_at = EXCLUDED.resumed_at, ended_at = EXCLUDED.ended_at,
      updated_at = EXCLUDED.updated_at
  WHERE b.state IN ('RUNNING', 'PAUSED'))sql";

const std::string_view kStartDrill = R"sql(
WITH gone AS (
  DELETE FROM job_watermark
  WHERE job_id = $2::bigint AND biz_date = ANY ($3::date[]) AND status = 'DONE'
  RETURNING *
)
INSERT INTO drill (drill_id, job_id, biz_date, first_run_id, first_rows, first_digest,
                   first_finished_at, actor, started_at)
SELECT $1::uuid, job_id, biz_date, run_id, result_rows, result_digest, finished_at, $4::text,
       $5::timestamptz
FROM gone)sql";

const std::string_view kUpdateExecutors = R"sql(
WITH changed AS (
  UPDATE executor e
  SET state = coalesce(nullif(i.state, ''), e.state), drained = coalesce(i.drained, e.drained),
      last_seen = CASE WHEN i.state = '' THEN e.last_seen ELSE tidemark_now() END
  FROM unnest($1::text[], $2::bigint[], $3::text[], $4::boolean[])
    AS i (executor_id, registration, state, drained)
  WHERE e.executor_id = i.executor_id
    AND (e.registration = i.registration OR i.drained IS NOT NULL)
  RETURNING i.drained)
-- An operator's order: the other nodes have streams of that executor, too.
SELECT pg_notify('tidemark_cluster', '') FROM changed WHERE drained IS NOT NULL LIMIT 1)sql";

// The key includes the run or episode, so a second raising of an open alert is the same one. What
// was resolved and comes again is told again. An event is over as it is raised: it has no end to be
// told, and is told once, ever.
const std::string_view kRaiseAlerts = R"sql(
WITH t AS MATERIALIZED (SELECT tidemark_now() AS now)
INSERT INTO alert AS a (alert_id, dedup_key, kind, severity, namespace, job_name, biz_date, run_id,
                        summary, detail, raised_at, event, resolved_at, end_routed_at)
SELECT i.alert_id, i.dedup_key, i.kind, i.severity, i.namespace, i.job_name, i.biz_date, i.run_id,
       i.summary, i.detail, t.now, i.event, CASE WHEN i.event THEN t.now END,
       CASE WHEN i.event THEN t.now END
FROM t, unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::date[],
               $8::uuid[], $9::text[], $10::text[], $11::boolean[])
  AS i (alert_id, dedup_key, kind, severity, namespace, job_name, biz_date, run_id, summary, detail,
        event)
ORDER BY i.dedup_key
ON CONFLICT (dedup_key) DO UPDATE
  SET severity = EXCLUDED.severity, event = false, run_id = EXCLUDED.run_id, summary = EXCLUDED.summary,
      detail = EXCLUDED.detail, raised_at = EXCLUDED.raised_at, resolved_at = NULL,
      logged_at = NULL, delivered_at = NULL, episode = a.episode + 1, routed_at = NULL,
      end_routed_at = NULL, silenced_until = NULL, silenced_by = NULL, remind_at = NULL,
      reminders = 0, acked_at = NULL, acked_by = '', ack_note = ''
  WHERE a.resolved_at IS NOT NULL AND NOT EXCLUDED.event)sql";

const std::string_view kResolveAlerts = R"sql(
UPDATE alert a SET resolved_at = tidemark_now()
WHERE a.resolved_at IS NULL
  AND EXISTS (SELECT 1 FROM unnest($1::text[]) AS i (prefix)
              WHERE starts_with(a.dedup_key, i.prefix)))sql";

const std::string_view kAddAudits = R"sql(
INSERT INTO audit (audit_id, at, actor, action, job_name, namespace, subject, detail)
SELECT i.audit_id, tidemark_now(), i.actor, i.action, i.job_name,
  tidemark_namespace_of(i.job_name), i.subject, i.detail
FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
  AS i (audit_id, actor, action, job_name, subject, detail)
ON CONFLICT (audit_id) DO NOTHING)sql";

// An order to each job that waits for one of these. The dates' text does not depend on DateStyle.
const std::string_view kAddCascades = R"sql(
WITH made AS (
  INSERT INTO command (command_id, shard, job_id, kind, args, actor, created_at)
  SELECT gen_random_uuid(), j.shard, j.job_id, 'rerun',
         json_build_object('from', to_char(i.from_date - a.date_offset, 'YYYY-MM-DD'),
                           'to', to_char(i.to_date - a.date_offset, 'YYYY-MM-DD'),
                           'force', 'true', 'cascade', 'true', 'reason', i.reason)::text,
         i.actor, tidemark_now()
  FROM unnest($1::text[], $2::date[], $3::date[], $4::text[], $5::text[])
    AS i (job_name, from_date, to_date, reason, actor)
  JOIN job_after a ON a.upstream = i.job_name
  JOIN job j ON j.job_id = a.job_id AND j.deleted_at IS NULL
  RETURNING command_id
)
SELECT pg_notify('tidemark_command', '') FROM made LIMIT 1)sql";

// Only if a job that another node may own waits for it: whoever notifies takes a lock of the whole
// server for its commit. A shard that is free now is looked at by whoever takes it; but it may be
// about to be taken, by a node that read before this commit.
const std::string_view kTellUpstreams = R"sql(
SELECT pg_notify('tidemark_upstream', u.upstream)
FROM (SELECT DISTINCT a.upstream
      FROM unnest($1::text[]) AS i (name)
      JOIN job_after a ON a.upstream = i.name
      JOIN job j ON j.job_id = a.job_id AND j.deleted_at IS NULL
      JOIN shard s ON s.shard = j.shard
      WHERE (s.node_id, s.incarnation) IS DISTINCT FROM ($2::text, $3::uuid)) u)sql";

// $4: jobs whose part was left out of the flush; their orders stay open.
const std::string_view kFinishCommands = R"sql(
UPDATE command c SET done_at = tidemark_now(), code = i.code, result = i.result
FROM unnest($1::uuid[], $2::integer[], $3::text[]) AS i (command_id, code, result)
WHERE c.command_id = i.command_id AND c.done_at IS NULL AND c.job_id <> ALL ($4::bigint[]))sql";

const std::string_view kNamesOfJobs = "SELECT name FROM job WHERE job_id = ANY ($1::bigint[])";

const std::string_view kUnloggedAlerts = R"sql(
SELECT alert_id, kind, severity, job_name, biz_date, run_id, summary, detail, raised_at
FROM alert WHERE logged_at IS NULL
ORDER BY raised_at
LIMIT $1::bigint
FOR UPDATE SKIP LOCKED)sql";

const std::string_view kMarkLogged =
    "UPDATE alert SET logged_at = tidemark_now() WHERE alert_id = ANY ($1::uuid[])";

// The run's shard, which the node that took the report in may not know, decides who reads it.
const std::string_view kAddInbox = R"sql(
WITH made AS (
  INSERT INTO inbox (run_id, attempt, shard, received_at, registration, refused, outcome, message,
                     result, result_rows, result_digest, checkpoint)
  SELECT i.run_id, i.attempt, a.shard, n.at, i.registration, i.refused, i.outcome, i.message,
         i.result, i.result_rows, i.result_digest, i.checkpoint
  FROM unnest($1::uuid[], $2::integer[], $3::bigint[], $4::text[], $5::text[], $6::text[],
              $7::text[], $8::bigint[], $9::text[], $10::text[], $11::text[], $12::text[])
    AS i (run_id, attempt, registration, refused, outcome, message, result, result_rows,
          result_digest, checkpoint, app, namespace)
  JOIN active_run a ON a.run_id = i.run_id AND a.attempt = i.attempt
                   AND i.registration IN (0, a.registration)
                   AND a.app = i.app AND a.namespace = i.namespace
  CROSS JOIN (SELECT tidemark_now() AS at OFFSET 0) n
  ON CONFLICT (run_id, attempt) DO NOTHING
  RETURNING 1
)
SELECT pg_notify('tidemark_command', '') FROM (SELECT 1 FROM made LIMIT 1) m)sql";

const std::string_view kTakeInbox = R"sql(
DELETE FROM inbox b
USING unnest($1::uuid[], $2::integer[]) AS i (run_id, attempt)
WHERE b.run_id = i.run_id AND b.attempt = i.attempt
  AND NOT EXISTS (SELECT 1 FROM active_run a
                  WHERE a.run_id = b.run_id AND a.job_id = ANY ($3::bigint[])))sql";

}  // namespace tidemark::sql
