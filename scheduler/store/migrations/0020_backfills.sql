-- Backfills: ranges of business dates that operators asked for, and which runs belong to them.

CREATE TABLE backfill (
  backfill_id   uuid PRIMARY KEY,
  job_id        bigint NOT NULL REFERENCES job,
  from_date     date NOT NULL,
  to_date       date NOT NULL CHECK (from_date <= to_date),
  reprocess     varchar(8) NOT NULL CHECK (reprocess IN ('missing', 'failed', 'all')),
  reverse       boolean NOT NULL,              -- newest first
  parallel      integer NOT NULL CHECK (parallel > 0),
  state         varchar(16) NOT NULL
                CHECK (state IN ('RUNNING', 'PAUSED', 'DONE', 'FAILED', 'CANCELLED')),
  state_reason  text NOT NULL DEFAULT '',
  reason        text NOT NULL DEFAULT '',      -- the words of who asked
  actor         text NOT NULL,
  dates         date[] NOT NULL,               -- taken when it was made, ascending
  created_at    timestamptz NOT NULL,
  resumed_at    timestamptz,                   -- dates that failed before are tried again
  ended_at      timestamptz,
  updated_at    timestamptz NOT NULL,
  CHECK ((state IN ('RUNNING', 'PAUSED')) = (ended_at IS NULL))
);
CREATE INDEX backfill_job ON backfill (job_id, created_at);
CREATE INDEX backfill_open ON backfill (job_id) WHERE ended_at IS NULL;

-- Which dates a backfill has tried is what its own runs say.
ALTER TABLE active_run ADD COLUMN backfill_id uuid;
ALTER TABLE run_history ADD COLUMN backfill_id uuid;
CREATE INDEX run_history_backfill ON run_history (backfill_id) WHERE backfill_id IS NOT NULL;

CREATE OR REPLACE VIEW run AS
  SELECT run_id, job_id, kind, occurrence, namespace, job_name, app, handler, job_version, biz_date,
         nominal_time, fire_time, trigger_type, tag, request_id, requested_by, reason, rerun_of,
         params, status, '' AS status_reason, attempt, failed_attempts, lost_attempts, executor_id,
         registration, executor_host, epoch_timeline, epoch, progress_percent, checkpoint, message,
         '' AS result, NULL::bigint AS result_rows, '' AS result_digest, created_at, started_at,
         NULL::timestamptz AS ended_at, held, retry_at, true AS live, backfill_id
  FROM active_run
  UNION ALL
  SELECT run_id, job_id, kind, occurrence, namespace, job_name, app, handler, job_version, biz_date,
         nominal_time, fire_time, trigger_type, tag, request_id, requested_by, reason, rerun_of,
         params, status, status_reason, attempt, failed_attempts, lost_attempts, executor_id,
         registration, executor_host, epoch_timeline, epoch, progress_percent, checkpoint, message,
         result, result_rows, result_digest, created_at, started_at,
         ended_at, false, NULL, false, backfill_id
  FROM run_history;

-- Rehearsals: the watermarks that were deleted, with what the first runs had found.
CREATE TABLE drill (
  drill_id           uuid NOT NULL,
  job_id             bigint NOT NULL REFERENCES job,
  biz_date           date NOT NULL,
  first_run_id       uuid,
  first_rows         bigint,
  first_digest       text NOT NULL,
  first_finished_at  timestamptz,
  actor              text NOT NULL,
  started_at         timestamptz NOT NULL,
  PRIMARY KEY (drill_id, biz_date)
);
CREATE INDEX drill_date ON drill (job_id, biz_date);
