-- What each fire writes, made as little as it can be.

-- Of a run whose first attempt succeeded the row in run_history tells all that a row of run_attempt
-- would; this one column more says when it was sent. NULL: run_attempt has the attempts.
ALTER TABLE run_history ADD COLUMN sent_at timestamptz;

-- Every attempt that was sent, once it is over, wherever it is kept.
CREATE VIEW attempt AS
  SELECT recorded_at, run_id, attempt, job_id, executor_id, registration, executor_host, sent_at,
         started_at, ended_at, outcome, message
  FROM run_attempt
  UNION ALL
  SELECT recorded_at, run_id, attempt, job_id, executor_id, registration, executor_host, sent_at,
         started_at, ended_at, 'SUCCEEDED', message
  FROM run_history WHERE sent_at IS NOT NULL;

-- Rows of job are never deleted, so these checks find nothing; they lock the job's row at every
-- first fire and every date.
ALTER TABLE job_cursor DROP CONSTRAINT job_cursor_job_id_fkey;
ALTER TABLE due_date DROP CONSTRAINT due_date_job_id_fkey;
