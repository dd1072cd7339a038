// Statements of a flush. Each takes its list as arrays, one a column, and touches a key once.
// Data-modifying CTEs tie a consequence to the row that was really inserted or deleted.
#include "scheduler/store/statements.h"

namespace tidemark::sql {

const std::string_view kHoldFence =
    "SELECT tidemark_now() FROM node_fence"
    " WHERE node_id = $1 AND incarnation = $2::uuid AND NOT fenced FOR SHARE";

const std::string_view kBumpFlush =
    "UPDATE flush SET seq = $3::bigint"
    " WHERE node_id = $1 AND incarnation = $2::uuid AND seq = $3::bigint - 1 RETURNING seq";

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

// What is said only now comes from the input, what was decided at the start from the row. A deleted
// job's run leaves no watermark: a job of the same name made later inherits nothing.
const std::string_view kCloseRuns = R"sql(
WITH input AS (
  SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::integer[], $5::integer[],
                       $6::integer[], $7::text[], $8::bigint[], $9::text[], $10::integer[],
                       $11::bigint[], $12::real[], $13::text[], $14::text[], $15::text[],
                       $16::bigint[], $17::text[], $18::timestamptz[], $19::timestamptz[],
                       $20::text[], $21::text[], $22::text[], $23::text[])
    AS i (run_id, status, status_reason, attempt, failed_attempts, lost_attempts, executor_id,
          registration, executor_host, epoch_timeline, epoch, progress_percent, checkpoint,
          message, result, result_rows, result_digest, started_at, ended_at, watermark,
          mark_reason, mark_note, mark_actor)
), gone AS (
  DELETE FROM active_run a USING input i WHERE a.run_id = i.run_id RETURNING a.*
), kept AS (
  INSERT INTO run_history (recorded_at, run_id, job_id, kind, occurrence, namespace, job_name, app,
                           handler, job_version, biz_date, nominal_time, fire_time, trigger_type,
                           tag, request_id, requested_by, reason, rerun_of, params, status,
                           status_reason, attempt, failed_attempts, lost_attempts, executor_id,
                           registration, executor_host, epoch_timeline, epoch, progress_percent,
                           checkpoint, message, result, result_rows, result_digest, created_at,
                           started_at, ended_at, backfill_id)
  SELECT (SELECT tidemark_now()), g.run_id, g.job_id, g.kind, g.occurrence, g.namespace, g.job_name,
         g.app, g.handler, g.job_version, g.biz_date, g.nominal_time, g.fire_time, g.trigger_type,
         g.tag, g.request_id, g.requested_by, g.reason, g.rerun_of, g.params, i.status,
         i.status_reason, i.attempt, i.failed_attempts, i.lost_attempts, i.executor_id,
         i.registration, i.executor_host, i.epoch_timeline, i.epoch, i.progress_percent,
         i.checkpoint, i.message, i.result, i.result_rows, i.result_digest, g.created_at,
         COALESCE(i.started_at, g.started_at), i.ended_at, g.backfill_id
  FROM gone g JOIN input i ON i.run_id = g.run_id
), mark AS (
  INSERT INTO job_watermark AS w (job_name, biz_date, status, finished_at, job_id, run_id,
                                  result_rows, result_digest, reason, note, actor, updated_at)
  SELECT g.job_name, g.biz_date, i.watermark, i.ended_at, g.job_id, g.run_id, i.result_rows,
         i.result_digest, i.mark_reason, i.mark_note, i.mark_actor, (SELECT tidemark_now())
  FROM gone g
  JOIN input i ON i.run_id = g.run_id AND i.watermark <> ''
  JOIN job j ON j.job_id = g.job_id AND j.deleted_at IS NULL
  WHERE g.biz_date IS NOT NULL
  ON CONFLICT (job_name, biz_date) DO UPDATE
    SET status = EXCLUDED.status, finished_at = EXCLUDED.finished_at, job_id = EXCLUDED.job_id,
        run_id = EXCLUDED.run_id, result_rows = EXCLUDED.result_rows,
        result_digest = EXCLUDED.result_digest, reason = EXCLUDED.reason, note = EXCLUDED.note,
        actor = EXCLUDED.actor, updated_at = EXCLUDED.updated_at
    WHERE w.status <> 'DONE' OR EXCLUDED.status = 'DONE'
)
SELECT run_id FROM gone)sql";

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

const std::string_view kOpenRuns = R"sql(
WITH input AS (
  SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::uuid[], $5::smallint[], $6::text[],
                       $7::text[], $8::text[], $9::text[], $10::integer[], $11::date[],
                       $12::timestamp[], $13::timestamptz[], $14::text[], $15::text[], $16::text[],
                       $17::text[], $18::text[], $19::uuid[], $20::text[], $21::text[], $22::text[],
                       $23::integer[], $24::integer[], $25::integer[], $26::text[], $27::bigint[],
                       $28::text[], $29::text[], $30::integer[], $31::bigint[], $32::timestamptz[],
                       $33::boolean[], $34::text[], $35::text[], $36::real[], $37::text[],
                       $38::text[], $39::timestamptz[], $40::timestamptz[], $41::timestamptz[],
                       $42::timestamptz[], $43::date[], $44::uuid[], $45::boolean[])
    AS i (job_id, kind, occurrence, run_id, shard, namespace, job_name, app, handler, job_version,
          biz_date, nominal_time, fire_time, trigger_type, tag, request_id, requested_by, reason,
          rerun_of, wanted_executor, params, status, attempt, failed_attempts, lost_attempts,
          executor_id, registration, executor_host, on_lost, epoch_timeline, epoch, retry_at, held,
          cancel_by, cancel_reason, progress_percent, checkpoint, message, created_at, sent_at,
          started_at, attempt_started_at, count_on, backfill_id, armed)
), made AS (
  INSERT INTO active_run (job_id, kind, occurrence, run_id, shard, namespace, job_name, app, handler,
                          job_version, biz_date, nominal_time, fire_time, trigger_type, tag,
                          request_id, requested_by, reason, rerun_of, wanted_executor, params,
                          status, attempt, failed_attempts, lost_attempts, executor_id,
                          registration, executor_host, on_lost, epoch_timeline, epoch, retry_at,
                          held, cancel_by, cancel_reason, progress_percent, checkpoint, message,
                          created_at, sent_at, started_at, attempt_started_at, backfill_id, armed)
  SELECT job_id, kind, occurrence, run_id, shard, namespace, job_name, app, handler, job_version,
         biz_date, nominal_time, fire_time, trigger_type, tag, request_id, requested_by, reason,
         rerun_of, wanted_executor, params, status, attempt, failed_attempts, lost_attempts,
         executor_id, registration, executor_host, on_lost, epoch_timeline, epoch, retry_at, held,
         cancel_by, cancel_reason, progress_percent, checkpoint, message, created_at, sent_at,
         started_at, attempt_started_at, backfill_id, armed
  FROM input
  ORDER BY job_id, kind, occurrence
  ON CONFLICT DO NOTHING
  RETURNING run_id, job_id, job_name, biz_date, armed
), mark AS (
  INSERT INTO job_watermark AS w (job_name, biz_date, status, job_id, run_id, reopened_on, reopened,
                                  updated_at)
  SELECT m.job_name, m.biz_date, 'RUNNING', m.job_id, m.run_id, i.count_on,
         CASE WHEN i.count_on IS NULL THEN 0 ELSE 1 END, (SELECT tidemark_now())
  FROM made m
  JOIN input i ON i.run_id = m.run_id
  JOIN job j ON j.job_id = m.job_id AND j.deleted_at IS NULL
  WHERE m.biz_date IS NOT NULL AND NOT m.armed
  ON CONFLICT (job_name, biz_date) DO UPDATE
    SET status = 'RUNNING', finished_at = NULL, job_id = EXCLUDED.job_id, run_id = EXCLUDED.run_id,
        reason = '', note = '', actor = '',
        reopened_on = COALESCE(EXCLUDED.reopened_on, w.reopened_on),
        reopened = CASE WHEN EXCLUDED.reopened_on IS NULL THEN w.reopened
                        WHEN EXCLUDED.reopened_on = w.reopened_on THEN w.reopened + 1
                        ELSE 1 END,
        updated_at = EXCLUDED.updated_at
    WHERE w.status <> 'DONE'
)
SELECT run_id FROM made)sql";

// Only what the engine knows to be unsent is taken back, and only by the owner of the fence.
const std::string_view kDisarmRuns =
    "DELETE FROM active_run a USING unnest($1::uuid[]) AS i (run_id)"
    " WHERE a.run_id = i.run_id AND a.armed";

const std::string_view kLaunchRuns = R"sql(
INSERT INTO job_watermark AS w (job_name, biz_date, status, job_id, run_id, reopened, updated_at)
SELECT a.job_name, a.biz_date, 'RUNNING', a.job_id, a.run_id, 0, (SELECT tidemark_now())
FROM unnest($1::uuid[]) AS i (run_id)
JOIN active_run a ON a.run_id = i.run_id AND a.biz_date IS NOT NULL
JOIN job j ON j.job_id = a.job_id AND j.deleted_at IS NULL
ORDER BY a.job_name, a.biz_date
ON CONFLICT (job_name, biz_date) DO UPDATE
  SET status = 'RUNNING', finished_at = NULL, job_id = EXCLUDED.job_id, run_id = EXCLUDED.run_id,
      reason = '', note = '', actor = '', updated_at = EXCLUDED.updated_at
  WHERE w.status <> 'DONE')sql";

// Attempts never go back: a late copy of an older state changes nothing.
const std::string_view kUpdateRuns = R"sql(
UPDATE active_run a
SET status = i.status, attempt = i.attempt, failed_attempts = i.failed_attempts,
    lost_attempts = i.lost_attempts, executor_id = i.executor_id, registration = i.registration,
    executor_host = i.executor_host, on_lost = i.on_lost, epoch_timeline = i.epoch_timeline,
    epoch = i.epoch, retry_at = i.retry_at, held = i.held, cancel_by = i.cancel_by,
    cancel_reason = i.cancel_reason, progress_percent = i.progress_percent,
    checkpoint = i.checkpoint, message = i.message, sent_at = i.sent_at, started_at = i.started_at,
    attempt_started_at = i.attempt_started_at, armed = false
FROM unnest($1::uuid[], $2::text[], $3::integer[], $4::integer[], $5::integer[], $6::text[],
            $7::bigint[], $8::text[], $9::text[], $10::integer[], $11::bigint[], $12::timestamptz[],
            $13::boolean[], $14::text[], $15::text[], $16::real[], $17::text[], $18::text[],
            $19::timestamptz[], $20::timestamptz[], $21::timestamptz[])
  AS i (run_id, status, attempt, failed_attempts, lost_attempts, executor_id, registration,
        executor_host, on_lost, epoch_timeline, epoch, retry_at, held, cancel_by, cancel_reason,
        progress_percent, checkpoint, message, sent_at, started_at, attempt_started_at)
WHERE a.run_id = i.run_id AND a.attempt <= i.attempt
RETURNING a.run_id)sql";

const std::string_view kAddAttempts = R"sql(
INSERT INTO run_attempt (recorded_at, run_id, attempt, job_id, executor_id, registration,
                         executor_host, sent_at, started_at, ended_at, outcome, message)
SELECT (SELECT tidemark_now()), i.run_id, i.attempt, i.job_id, i.executor_id, i.registration,
       i.executor_host, i.sent_at, i.started_at, i.ended_at, i.outcome, i.message
FROM unnest($1::uuid[], $2::integer[], $3::bigint[], $4::text[], $5::bigint[], $6::text[],
            $7::timestamptz[], $8::timestamptz[], $9::timestamptz[], $10::text[], $11::text[])
  AS i (run_id, attempt, job_id, executor_id, registration, executor_host, sent_at, started_at,
        ended_at, outcome, message)
ON CONFLICT DO NOTHING)sql";

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

const std::string_view kWriteCursors = R"sql(
INSERT INTO job_cursor AS c (job_id, last_fire)
SELECT i.job_id, i.last_fire
FROM unnest($1::bigint[], $2::timestamptz[]) AS i (job_id, last_fire)
ORDER BY i.job_id
ON CONFLICT (job_id) DO UPDATE SET last_fire = EXCLUDED.last_fire
  WHERE c.last_fire < EXCLUDED.last_fire)sql";

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
UPDATE executor e
SET state = coalesce(nullif(i.state, ''), e.state), drained = coalesce(i.drained, e.drained),
    last_seen = CASE WHEN i.state = '' THEN e.last_seen ELSE tidemark_now() END
FROM unnest($1::text[], $2::bigint[], $3::text[], $4::boolean[])
  AS i (executor_id, registration, state, drained)
WHERE e.executor_id = i.executor_id
  AND (e.registration = i.registration OR i.drained IS NOT NULL))sql";

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

}  // namespace tidemark::sql
