#include "scheduler/store/flush_parts.h"

namespace tidemark::parts {
namespace {

constexpr bool kKey = true;

// What is said only now comes from the input, what was decided at the start from the row. A deleted
// job's run leaves no watermark: a job of the same name made later inherits nothing.
constexpr std::string_view kCloseTables = R"sql(gone AS (
  DELETE FROM active_run a USING closing i
  WHERE a.job_id = i.job_id AND a.kind = i.kind AND a.occurrence = i.occurrence
    AND a.run_id = i.run_id
  RETURNING a.run_id, a.job_id, a.kind, a.occurrence, a.namespace, a.job_name, a.app, a.handler,
            a.job_version, a.biz_date, a.nominal_time, a.fire_time, a.trigger_type, a.tag,
            a.request_id, a.requested_by, a.reason, a.rerun_of, a.params, i.status, i.status_reason,
            i.attempt, i.failed_attempts, i.lost_attempts, i.executor_id, i.registration,
            i.executor_host, i.epoch_timeline, i.epoch, i.progress_percent, i.checkpoint, i.message,
            i.result, i.result_rows, i.result_digest, a.created_at,
            COALESCE(i.started_at, a.started_at) AS started_at, i.ended_at, a.backfill_id,
            i.sent_at, i.watermark, i.mark_reason, i.mark_note, i.mark_actor
), kept AS (
  INSERT INTO run_history (recorded_at, run_id, job_id, kind, occurrence, namespace, job_name, app,
                           handler, job_version, biz_date, nominal_time, fire_time, trigger_type,
                           tag, request_id, requested_by, reason, rerun_of, params, status,
                           status_reason, attempt, failed_attempts, lost_attempts, executor_id,
                           registration, executor_host, epoch_timeline, epoch, progress_percent,
                           checkpoint, message, result, result_rows, result_digest, created_at,
                           started_at, ended_at, backfill_id, sent_at)
  SELECT (SELECT at FROM go), run_id, job_id, kind, occurrence, namespace, job_name, app, handler,
         job_version, biz_date, nominal_time, fire_time, trigger_type, tag, request_id,
         requested_by, reason, rerun_of, params, status, status_reason, attempt, failed_attempts,
         lost_attempts, executor_id, registration, executor_host, epoch_timeline, epoch,
         progress_percent, checkpoint, message, result, result_rows, result_digest, created_at,
         started_at, ended_at, backfill_id, sent_at
  FROM gone
))sql";

// As a rule the run's start has left a row: ON CONFLICT would write a lock of it to the log before
// the change, so that it is for those without one.
constexpr std::string_view kCloseMarks = R"sql(marking AS (
  SELECT g.job_name, g.biz_date, g.watermark, g.ended_at, g.job_id, g.run_id, g.result_rows,
         g.result_digest, g.mark_reason, g.mark_note, g.mark_actor
  FROM gone g
  JOIN job j ON j.job_id = g.job_id AND j.deleted_at IS NULL
  WHERE g.biz_date IS NOT NULL AND g.watermark <> ''
), closed_mark AS (
  UPDATE job_watermark w
  SET status = m.watermark, finished_at = m.ended_at, job_id = m.job_id, run_id = m.run_id,
      result_rows = m.result_rows, result_digest = m.result_digest, reason = m.mark_reason,
      note = m.mark_note, actor = m.mark_actor, updated_at = go.at
  FROM marking m, go
  WHERE w.job_name = m.job_name AND w.biz_date = m.biz_date
    AND (w.status <> 'DONE' OR m.watermark = 'DONE')
  RETURNING 1
), new_mark AS (
  INSERT INTO job_watermark AS w (job_name, biz_date, status, finished_at, job_id, run_id,
                                  result_rows, result_digest, reason, note, actor, updated_at)
  SELECT m.job_name, m.biz_date, m.watermark, m.ended_at, m.job_id, m.run_id, m.result_rows,
         m.result_digest, m.mark_reason, m.mark_note, m.mark_actor, (SELECT at FROM go)
  FROM marking m
  WHERE (SELECT count(*) FROM closed_mark) < (SELECT count(*) FROM marking)
    AND NOT EXISTS (SELECT 1 FROM job_watermark x
                    WHERE x.job_name = m.job_name AND x.biz_date = m.biz_date)
  ON CONFLICT (job_name, biz_date) DO UPDATE
    SET status = EXCLUDED.status, finished_at = EXCLUDED.finished_at, job_id = EXCLUDED.job_id,
        run_id = EXCLUDED.run_id, result_rows = EXCLUDED.result_rows,
        result_digest = EXCLUDED.result_digest, reason = EXCLUDED.reason, note = EXCLUDED.note,
        actor = EXCLUDED.actor, updated_at = EXCLUDED.updated_at
    WHERE w.status <> 'DONE' OR EXCLUDED.status = 'DONE'
))sql";

// NOT EXISTS, and no ON CONFLICT: that would write a record of its own to the log for each row. The
// shard's owner alone inserts, so that a row which appears between is no more than a retry.
constexpr std::string_view kOpenTables = R"sql(made AS (
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
  FROM opening o
  WHERE NOT EXISTS (SELECT 1 FROM active_run a
                    WHERE a.job_id = o.job_id AND a.kind = o.kind AND a.occurrence = o.occurrence)
  RETURNING run_id, job_id, job_name, biz_date, armed
))sql";

constexpr std::string_view kOpenMarks = R"sql(opened_mark AS (
  INSERT INTO job_watermark AS w (job_name, biz_date, status, job_id, run_id, reopened_on, reopened,
                                  updated_at)
  SELECT m.job_name, m.biz_date, 'RUNNING', m.job_id, m.run_id, i.count_on,
         CASE WHEN i.count_on IS NULL THEN 0 ELSE 1 END, (SELECT at FROM go)
  FROM made m
  JOIN opening i ON i.run_id = m.run_id
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
))sql";

// Only what the engine knows to be unsent is taken back, and only by the owner of the fence.
constexpr std::string_view kDisarmTables = R"sql(disarmed AS (
  DELETE FROM active_run a USING disarming i WHERE a.run_id = i.run_id AND a.armed
))sql";

constexpr std::string_view kLaunchTables = R"sql(launched_mark AS (
  INSERT INTO job_watermark AS w (job_name, biz_date, status, job_id, run_id, reopened, updated_at)
  SELECT a.job_name, a.biz_date, 'RUNNING', a.job_id, a.run_id, 0, (SELECT at FROM go)
  FROM launching i
  JOIN active_run a ON a.run_id = i.run_id AND a.biz_date IS NOT NULL
  JOIN job j ON j.job_id = a.job_id AND j.deleted_at IS NULL
  ORDER BY a.job_name, a.biz_date
  ON CONFLICT (job_name, biz_date) DO UPDATE
    SET status = 'RUNNING', finished_at = NULL, job_id = EXCLUDED.job_id, run_id = EXCLUDED.run_id,
        reason = '', note = '', actor = '', updated_at = EXCLUDED.updated_at
    WHERE w.status <> 'DONE'
))sql";

// Attempts never go back: a late copy of an older state changes nothing.
constexpr std::string_view kUpdateTables = R"sql(changed AS (
  UPDATE active_run a
  SET status = i.status, attempt = i.attempt, failed_attempts = i.failed_attempts,
      lost_attempts = i.lost_attempts, executor_id = i.executor_id, registration = i.registration,
      executor_host = i.executor_host, on_lost = i.on_lost, epoch_timeline = i.epoch_timeline,
      epoch = i.epoch, retry_at = i.retry_at, held = i.held, cancel_by = i.cancel_by,
      cancel_reason = i.cancel_reason, progress_percent = i.progress_percent,
      checkpoint = i.checkpoint, message = i.message, sent_at = i.sent_at,
      started_at = i.started_at, attempt_started_at = i.attempt_started_at,
      armed = false
  FROM updating i
  WHERE a.job_id = i.job_id AND a.kind = i.kind AND a.occurrence = i.occurrence
    AND a.run_id = i.run_id AND a.attempt <= i.attempt
  RETURNING a.run_id
))sql";

constexpr std::string_view kAttemptTables = R"sql(told AS (
  INSERT INTO run_attempt (recorded_at, run_id, attempt, job_id, executor_id, registration,
                           executor_host, sent_at, started_at, ended_at, outcome, message)
  SELECT (SELECT at FROM go), run_id, attempt, job_id, executor_id, registration, executor_host,
         sent_at, started_at, ended_at, outcome, message
  FROM ended
  ON CONFLICT DO NOTHING
))sql";

// Two statements instead of ON CONFLICT DO UPDATE, which locks each row in the log before it
// changes it; the second one does not look when all rows were there.
constexpr std::string_view kCursorTables = R"sql(moved AS (
  UPDATE job_cursor c SET last_fire = i.last_fire
  FROM fired i
  WHERE c.job_id = i.job_id AND c.last_fire < i.last_fire
  RETURNING 1
), begun AS (
  INSERT INTO job_cursor (job_id, last_fire)
  SELECT i.job_id, i.last_fire FROM fired i
  WHERE (SELECT count(*) FROM moved) < (SELECT count(*) FROM fired)
    AND NOT EXISTS (SELECT 1 FROM job_cursor c WHERE c.job_id = i.job_id)
))sql";

}  // namespace

// Nothing follows `go` without both: the fence first, and then the flush before this one.
const std::string_view kFirst = R"sql(WITH fence AS MATERIALIZED (
  SELECT tidemark_now() AS at FROM node_fence
  WHERE node_id = $1 AND incarnation = $2::uuid AND NOT fenced FOR SHARE
), counted AS (
  UPDATE flush SET seq = $3::bigint
  WHERE node_id = $1 AND incarnation = $2::uuid AND seq = $3::bigint - 1
    AND EXISTS (SELECT 1 FROM fence)
  RETURNING seq
), go AS MATERIALIZED (SELECT f.at FROM fence f, counted))sql";

const std::string_view kLater = "WITH go AS MATERIALIZED (SELECT tidemark_now() AS at)";

const FlushPart& Close() {
  static const FlushPart part = {"closing",
                                 {{"run_id", "uuid", kKey},
                                  {"job_id", "bigint", kKey},
                                  {"kind", "bpchar", kKey},
                                  {"occurrence", "text", kKey},
                                  {"status", "text"},
                                  {"status_reason", "text"},
                                  {"attempt", "integer"},
                                  {"failed_attempts", "integer"},
                                  {"lost_attempts", "integer"},
                                  {"executor_id", "text"},
                                  {"registration", "bigint"},
                                  {"executor_host", "text"},
                                  {"epoch_timeline", "integer"},
                                  {"epoch", "bigint"},
                                  {"progress_percent", "real"},
                                  {"checkpoint", "text"},
                                  {"message", "text"},
                                  {"result", "text"},
                                  {"result_rows", "bigint"},
                                  {"result_digest", "text"},
                                  {"started_at", "timestamptz"},
                                  {"ended_at", "timestamptz"},
                                  {"sent_at", "timestamptz"},
                                  {"watermark", "text"},
                                  {"mark_reason", "text"},
                                  {"mark_note", "text"},
                                  {"mark_actor", "text"}},
                                 kCloseTables,
                                 "gone",
                                 kCloseMarks};
  return part;
}

const FlushPart& Open() {
  static const FlushPart part = {"opening",
                                 {{"run_id", "uuid", kKey},
                                  {"job_id", "bigint", kKey},
                                  {"kind", "bpchar", kKey},
                                  {"occurrence", "text", kKey},
                                  {"shard", "smallint"},
                                  {"namespace", "text"},
                                  {"job_name", "text"},
                                  {"app", "text"},
                                  {"handler", "text"},
                                  {"job_version", "integer"},
                                  {"biz_date", "date"},
                                  {"nominal_time", "timestamp"},
                                  {"fire_time", "timestamptz"},
                                  {"trigger_type", "text"},
                                  {"tag", "text"},
                                  {"request_id", "text"},
                                  {"requested_by", "text"},
                                  {"reason", "text"},
                                  {"rerun_of", "uuid"},
                                  {"wanted_executor", "text"},
                                  {"params", "text"},
                                  {"status", "text"},
                                  {"attempt", "integer"},
                                  {"failed_attempts", "integer"},
                                  {"lost_attempts", "integer"},
                                  {"executor_id", "text"},
                                  {"registration", "bigint"},
                                  {"executor_host", "text"},
                                  {"on_lost", "text"},
                                  {"epoch_timeline", "integer"},
                                  {"epoch", "bigint"},
                                  {"retry_at", "timestamptz"},
                                  {"held", "boolean"},
                                  {"cancel_by", "text"},
                                  {"cancel_reason", "text"},
                                  {"progress_percent", "real"},
                                  {"checkpoint", "text"},
                                  {"message", "text"},
                                  {"sent_at", "timestamptz"},
                                  {"started_at", "timestamptz"},
                                  {"attempt_started_at", "timestamptz"},
                                  {"created_at", "timestamptz"},
                                  {"count_on", "date"},
                                  {"backfill_id", "uuid"},
                                  {"armed", "boolean"}},
                                 kOpenTables,
                                 "made",
                                 kOpenMarks};
  return part;
}

const FlushPart& Disarm() {
  static const FlushPart part = {"disarming", {{"run_id", "uuid", kKey}}, kDisarmTables, ""};
  return part;
}

const FlushPart& Launch() {
  static const FlushPart part = {"launching", {{"run_id", "uuid", kKey}}, kLaunchTables, ""};
  return part;
}

const FlushPart& Update() {
  static const FlushPart part = {"updating",
                                 {{"run_id", "uuid", kKey},
                                  {"job_id", "bigint", kKey},
                                  {"kind", "bpchar", kKey},
                                  {"occurrence", "text", kKey},
                                  {"status", "text"},
                                  {"attempt", "integer"},
                                  {"failed_attempts", "integer"},
                                  {"lost_attempts", "integer"},
                                  {"executor_id", "text"},
                                  {"registration", "bigint"},
                                  {"executor_host", "text"},
                                  {"on_lost", "text"},
                                  {"epoch_timeline", "integer"},
                                  {"epoch", "bigint"},
                                  {"retry_at", "timestamptz"},
                                  {"held", "boolean"},
                                  {"cancel_by", "text"},
                                  {"cancel_reason", "text"},
                                  {"progress_percent", "real"},
                                  {"checkpoint", "text"},
                                  {"message", "text"},
                                  {"sent_at", "timestamptz"},
                                  {"started_at", "timestamptz"},
                                  {"attempt_started_at", "timestamptz"}},
                                 kUpdateTables,
                                 "changed"};
  return part;
}

const FlushPart& Attempt() {
  static const FlushPart part = {"ended",
                                 {{"run_id", "uuid", kKey},
                                  {"attempt", "integer"},
                                  {"job_id", "bigint", kKey},
                                  {"executor_id", "text"},
                                  {"registration", "bigint"},
                                  {"executor_host", "text"},
                                  {"sent_at", "timestamptz"},
                                  {"started_at", "timestamptz"},
                                  {"ended_at", "timestamptz"},
                                  {"outcome", "text"},
                                  {"message", "text"}},
                                 kAttemptTables,
                                 ""};
  return part;
}

const FlushPart& Cursor() {
  static const FlushPart part = {
      "fired", {{"job_id", "bigint", kKey}, {"last_fire", "timestamptz"}}, kCursorTables, ""};
  return part;
}

}  // namespace tidemark::parts
