-- Runs that are recorded before they are due, so that nothing but sending is left at the instant.

-- Set with the row, and taken back when the row is first rewritten after its launch: a row that has
-- it may have been sent if its time has come, and never before.
ALTER TABLE active_run ADD COLUMN armed boolean NOT NULL DEFAULT false;

-- Read as a whole at the start of a term: for that no index is worth what each run pays for it.
DROP INDEX active_run_shard;

-- An armed run is none yet.
CREATE OR REPLACE VIEW run AS
  SELECT run_id, job_id, kind, occurrence, namespace, job_name, app, handler, job_version, biz_date,
         nominal_time, fire_time, trigger_type, tag, request_id, requested_by, reason, rerun_of,
         params, status, '' AS status_reason, attempt, failed_attempts, lost_attempts, executor_id,
         registration, executor_host, epoch_timeline, epoch, progress_percent, checkpoint, message,
         '' AS result, NULL::bigint AS result_rows, '' AS result_digest, created_at, started_at,
         NULL::timestamptz AS ended_at, held, retry_at, true AS live, backfill_id
  FROM active_run
  WHERE NOT (armed AND fire_time > tidemark_now())
  UNION ALL
  SELECT run_id, job_id, kind, occurrence, namespace, job_name, app, handler, job_version, biz_date,
         nominal_time, fire_time, trigger_type, tag, request_id, requested_by, reason, rerun_of,
         params, status, status_reason, attempt, failed_attempts, lost_attempts, executor_id,
         registration, executor_host, epoch_timeline, epoch, progress_percent, checkpoint, message,
         result, result_rows, result_digest, created_at, started_at,
         ended_at, false, NULL, false, backfill_id
  FROM run_history;
