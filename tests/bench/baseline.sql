-- The frozen baseline: the least that PostgreSQL must do for a durable run. Each batch of 1,024 is
-- one INSERT and one commit when runs start, one UPDATE and one commit when they have finished.
-- Changing this file changes what all published ratios mean.

-- name: create
CREATE TABLE bench_run (
  run_id      uuid PRIMARY KEY,
  job_id      bigint NOT NULL,
  fire_time   timestamptz NOT NULL,
  executor    text NOT NULL,
  status      smallint NOT NULL,
  started_at  timestamptz,
  finished_at timestamptz
) WITH (fillfactor = 50);

-- name: insert
INSERT INTO bench_run (run_id, job_id, fire_time, executor, status)
SELECT run_id, job_id, fire_time, executor, 0
FROM unnest($1::uuid[], $2::bigint[], $3::timestamptz[], $4::text[])
  AS i (run_id, job_id, fire_time, executor);

-- name: finish
UPDATE bench_run b
SET status = 1, started_at = i.started_at, finished_at = i.finished_at
FROM unnest($1::uuid[], $2::timestamptz[], $3::timestamptz[])
  AS i (run_id, started_at, finished_at)
WHERE b.run_id = i.run_id;
