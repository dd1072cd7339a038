-- Tables of the scheduler. Applied inside one transaction with search_path set to the configured
-- schema, so no object is named with it. Append-only: later changes are later files.

-- The time of every statement. Tests replace it with a shifted one.
CREATE FUNCTION tidemark_now() RETURNS timestamptz
  LANGUAGE sql VOLATILE PARALLEL SAFE AS $$ SELECT clock_timestamp() $$;

-- ---------------------------------------------------------------- jobs

CREATE TABLE job (
  job_id        bigint PRIMARY KEY,              -- random, time-ordered; never reused
  name          varchar(64) NOT NULL,
  namespace     varchar(64) NOT NULL DEFAULT 'default',
  app           varchar(64) NOT NULL,
  shard         smallint NOT NULL CHECK (shard >= 0),
  version       integer NOT NULL CHECK (version > 0),   -- in force
  paused        boolean NOT NULL DEFAULT false,
  pause_reason  text NOT NULL DEFAULT '',
  paused_by     text NOT NULL DEFAULT '',
  paused_at     timestamptz,
  error         text NOT NULL DEFAULT '',        -- the stored definition cannot be used: why
  finished      boolean NOT NULL DEFAULT false,
  ledger_from   date,                            -- first biz_date accounted for; NULL: not launched yet
  created_at    timestamptz NOT NULL,
  updated_at    timestamptz NOT NULL,
  deleted_at    timestamptz,
  CHECK (NOT paused OR pause_reason <> '')
);
CREATE UNIQUE INDEX job_name ON job (name) WHERE deleted_at IS NULL;
CREATE INDEX job_shard ON job (shard) WHERE deleted_at IS NULL;
CREATE INDEX job_app ON job (app) WHERE deleted_at IS NULL;

CREATE TABLE job_version (
  job_id      bigint NOT NULL REFERENCES job,
  version     integer NOT NULL CHECK (version > 0),
  valid_from  timestamptz NOT NULL,              -- the instant of the edit
  spec        text NOT NULL,                     -- JobSpec message as JSON
  author      text NOT NULL DEFAULT '',
  PRIMARY KEY (job_id, version)
);

-- The truth about dates. Ages out never.
CREATE TABLE job_watermark (
  job_name       varchar(64) NOT NULL,
  biz_date       date NOT NULL,
  status         varchar(16) NOT NULL
                 CHECK (status IN ('RUNNING', 'DONE', 'FAILED', 'WAIVED', 'EXPIRED')),
  finished_at    timestamptz,
  job_id         bigint NOT NULL,
  run_id         uuid,
  result_rows    bigint,
  result_digest  text NOT NULL DEFAULT '',
  reason         varchar(32) NOT NULL DEFAULT '',  -- of FAILED: retries, permanent, cancelled, held …
  note           text NOT NULL DEFAULT '',
  actor          text NOT NULL DEFAULT '',
  reopened_on    date,                             -- day (UTC) of the automatic reopenings counted in
  reopened       integer NOT NULL DEFAULT 0,       -- … this many
  updated_at     timestamptz NOT NULL,
  PRIMARY KEY (job_name, biz_date)
);
CREATE INDEX job_watermark_job ON job_watermark (job_id, biz_date);

-- Watermarks of deleted jobs: a job of the same name made later inherits nothing.
CREATE TABLE job_watermark_archive (LIKE job_watermark);
ALTER TABLE job_watermark_archive ADD COLUMN archived_at timestamptz NOT NULL;
CREATE INDEX job_watermark_archive_job ON job_watermark_archive (job_id, biz_date);

-- Interval jobs: the last fire dealt with; never moves back.
CREATE TABLE job_cursor (
  job_id     bigint PRIMARY KEY REFERENCES job,
  last_fire  timestamptz NOT NULL
) WITH (fillfactor = 50);

-- ---------------------------------------------------------------- runs

-- What is live. This row is the exclusion: no two runs of one occurrence, whoever asks.
CREATE TABLE active_run (
  job_id            bigint NOT NULL,
  kind              char(1) NOT NULL CHECK (kind IN ('D', 'F', 'M')),  -- date, fire time, manual
  occurrence        varchar(64) NOT NULL,          -- biz_date, fire time (UTC) or request id
  run_id            uuid NOT NULL,
  shard             smallint NOT NULL,
  namespace         varchar(64) NOT NULL,
  job_name          varchar(64) NOT NULL,
  app               varchar(64) NOT NULL,
  handler           varchar(64) NOT NULL,
  job_version       integer NOT NULL,
  biz_date          date,
  nominal_time      timestamp,
  fire_time         timestamptz NOT NULL,
  trigger_type      varchar(16) NOT NULL
                    CHECK (trigger_type IN ('SCHEDULE', 'CATCH_UP', 'BACKFILL', 'MANUAL')),
  tag               varchar(32) NOT NULL DEFAULT '',
  request_id        varchar(64) NOT NULL DEFAULT '',
  requested_by      text NOT NULL DEFAULT '',
  reason            text NOT NULL DEFAULT '',
  rerun_of          uuid,
  wanted_executor   varchar(64) NOT NULL DEFAULT '',
  params            text NOT NULL DEFAULT '',      -- overrides of this run, JSON object
  status            varchar(16) NOT NULL CHECK (status IN ('PENDING', 'RUNNING')),
  attempt           integer NOT NULL DEFAULT 0,    -- the last one recorded; 0: none yet
  failed_attempts   integer NOT NULL DEFAULT 0,    -- started and failed: what max_attempts limits
  lost_attempts     integer NOT NULL DEFAULT 0,
  executor_id       varchar(64) NOT NULL DEFAULT '',  -- chosen for `attempt`; '' none
  registration      bigint NOT NULL DEFAULT 0,
  executor_host     text NOT NULL DEFAULT '',
  on_lost           varchar(8) NOT NULL DEFAULT '',
  epoch_timeline    integer NOT NULL DEFAULT 0,
  epoch             bigint NOT NULL DEFAULT 0,
  retry_at          timestamptz,
  held              boolean NOT NULL DEFAULT false,
  cancel_by         text NOT NULL DEFAULT '',      -- an operator asked to cancel it
  cancel_reason     text NOT NULL DEFAULT '',
  progress_percent  real NOT NULL DEFAULT -1,
  checkpoint        text NOT NULL DEFAULT '',
  message           text NOT NULL DEFAULT '',
  created_at        timestamptz NOT NULL,
  sent_at           timestamptz,                   -- of `attempt`
  started_at        timestamptz,                   -- of the first attempt
  attempt_started_at timestamptz,
  PRIMARY KEY (job_id, kind, occurrence)
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX active_run_id ON active_run (run_id);
CREATE INDEX active_run_shard ON active_run (shard);

-- What ended. Append-only; partitions by month are dropped when old.
CREATE TABLE run_history (
  recorded_at       timestamptz NOT NULL,
  run_id            uuid NOT NULL,
  job_id            bigint NOT NULL,
  kind              char(1) NOT NULL,
  occurrence        varchar(64) NOT NULL,
  namespace         varchar(64) NOT NULL,
  job_name          varchar(64) NOT NULL,
  app               varchar(64) NOT NULL,
  handler           varchar(64) NOT NULL,
  job_version       integer NOT NULL,
  biz_date          date,
  nominal_time      timestamp,
  fire_time         timestamptz NOT NULL,
  trigger_type      varchar(16) NOT NULL,
  tag               varchar(32) NOT NULL,
  request_id        varchar(64) NOT NULL,
  requested_by      text NOT NULL,
  reason            text NOT NULL,
  rerun_of          uuid,
  params            text NOT NULL,
  status            varchar(16) NOT NULL
                    CHECK (status IN ('COMPLETED', 'FAILED', 'CANCELLED', 'SKIPPED')),
  status_reason     varchar(32) NOT NULL,
  attempt           integer NOT NULL,
  failed_attempts   integer NOT NULL,
  lost_attempts     integer NOT NULL,
  executor_id       varchar(64) NOT NULL,
  registration      bigint NOT NULL,
  executor_host     text NOT NULL,
  epoch_timeline    integer NOT NULL,
  epoch             bigint NOT NULL,
  progress_percent  real NOT NULL,
  checkpoint        text NOT NULL,
  message           text NOT NULL,
  result            text NOT NULL,
  result_rows       bigint,
  result_digest     text NOT NULL,
  created_at        timestamptz NOT NULL,
  started_at        timestamptz,
  ended_at          timestamptz NOT NULL,
  PRIMARY KEY (run_id, recorded_at)
) PARTITION BY RANGE (recorded_at);
CREATE INDEX run_history_job ON run_history (job_id, run_id DESC);
CREATE INDEX run_history_date ON run_history (job_id, biz_date) WHERE biz_date IS NOT NULL;

-- Each attempt that was sent, once it is over.
CREATE TABLE run_attempt (
  recorded_at    timestamptz NOT NULL,
  run_id         uuid NOT NULL,
  attempt        integer NOT NULL,
  job_id         bigint NOT NULL,
  executor_id    varchar(64) NOT NULL,
  registration   bigint NOT NULL,
  executor_host  text NOT NULL,
  sent_at        timestamptz,
  started_at     timestamptz,
  ended_at       timestamptz NOT NULL,
  outcome        varchar(32) NOT NULL,
  message        text NOT NULL,
  PRIMARY KEY (run_id, attempt, recorded_at)
) PARTITION BY RANGE (recorded_at);

CREATE TABLE run_log (
  recorded_at  timestamptz NOT NULL,
  run_id       uuid NOT NULL,
  attempt      integer NOT NULL,
  start_byte   bigint NOT NULL,
  data         bytea NOT NULL,
  PRIMARY KEY (run_id, attempt, start_byte, recorded_at)
) PARTITION BY RANGE (recorded_at);

-- Makes the monthly partitions that the next months need. Runs with its owner's rights, so that
-- the application role needs none to create tables.
CREATE FUNCTION tidemark_ensure_partitions() RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET client_min_messages = warning
  SET search_path FROM CURRENT AS $$
DECLARE
  parent text;
  month  timestamptz;
  made   integer := 0;
  child  text;
  home   text := (SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                  WHERE c.oid = 'run_history'::regclass);
BEGIN
  FOREACH parent IN ARRAY ARRAY['run_history', 'run_attempt', 'run_log'] LOOP
    FOR ahead IN 0..2 LOOP
      month := date_trunc('month', tidemark_now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
               + make_interval(months => ahead);
      child := parent || '_' || to_char(month AT TIME ZONE 'UTC', 'YYYYMM');
      IF to_regclass(format('%I.%I', home, child)) IS NULL THEN
        EXECUTE format('CREATE TABLE %I.%I PARTITION OF %I.%I FOR VALUES FROM (%L) TO (%L)',
                       home, child, home, parent, month, month + interval '1 month');
        made := made + 1;
      END IF;
    END LOOP;
  END LOOP;
  RETURN made;
END $$;

-- A row that no partition takes must not stop a run from ending.
CREATE TABLE run_history_default PARTITION OF run_history DEFAULT;
CREATE TABLE run_attempt_default PARTITION OF run_attempt DEFAULT;
CREATE TABLE run_log_default PARTITION OF run_log DEFAULT;

-- Live and ended runs as one.
CREATE VIEW run AS
  SELECT run_id, job_id, kind, occurrence, namespace, job_name, app, handler, job_version, biz_date,
         nominal_time, fire_time, trigger_type, tag, request_id, requested_by, reason, rerun_of,
         params, status, '' AS status_reason, attempt, failed_attempts, lost_attempts, executor_id,
         registration, executor_host, epoch_timeline, epoch, progress_percent, checkpoint, message,
         '' AS result, NULL::bigint AS result_rows, '' AS result_digest, created_at, started_at,
         NULL::timestamptz AS ended_at, held, retry_at, true AS live
  FROM active_run
  UNION ALL
  SELECT run_id, job_id, kind, occurrence, namespace, job_name, app, handler, job_version, biz_date,
         nominal_time, fire_time, trigger_type, tag, request_id, requested_by, reason, rerun_of,
         params, status, status_reason, attempt, failed_attempts, lost_attempts, executor_id,
         registration, executor_host, epoch_timeline, epoch, progress_percent, checkpoint, message,
         result, result_rows, result_digest, created_at, started_at,
         ended_at, false, NULL, false
  FROM run_history;

-- Fires of interval jobs that were not run, as ranges.
CREATE TABLE skipped_range (
  job_id      bigint NOT NULL,
  from_fire   timestamptz NOT NULL,
  to_fire     timestamptz NOT NULL,
  fires       bigint NOT NULL CHECK (fires > 0),
  reason      varchar(32) NOT NULL,
  recorded_at timestamptz NOT NULL,
  PRIMARY KEY (job_id, from_fire)
);

-- ---------------------------------------------------------------- executors

CREATE TABLE executor (
  executor_id    varchar(64) PRIMARY KEY,
  app            varchar(64) NOT NULL,
  namespace      varchar(64) NOT NULL DEFAULT 'default',
  registration   bigint NOT NULL,              -- the highest given out
  incarnation    uuid NOT NULL,                -- that has it
  host           text NOT NULL,
  version        text NOT NULL,
  capacity       integer NOT NULL,
  handlers       text[] NOT NULL,
  labels         text NOT NULL DEFAULT '{}',   -- JSON object
  drained        boolean NOT NULL DEFAULT false,
  state          varchar(16) NOT NULL CHECK (state IN ('UP', 'DRAINING', 'LOST', 'GONE')),
  registered_at  timestamptz NOT NULL,
  last_seen      timestamptz NOT NULL
);
CREATE INDEX executor_app ON executor (app);

-- Which incarnations ever had a registration: a superseded one is refused for good.
CREATE TABLE executor_incarnation (
  executor_id   varchar(64) NOT NULL REFERENCES executor,
  incarnation   uuid NOT NULL,
  registration  bigint NOT NULL,
  registered_at timestamptz NOT NULL,
  PRIMARY KEY (executor_id, incarnation)
);

-- ---------------------------------------------------------------- cluster

-- The lease of a node. Apart from the fence row, so that renewal never waits for a flush.
CREATE TABLE scheduler_node (
  node_id      varchar(64) PRIMARY KEY,
  incarnation  uuid NOT NULL,                  -- of the term that has the lease
  address      text NOT NULL,
  version      text NOT NULL,
  lease_until  timestamptz NOT NULL,
  started_at   timestamptz NOT NULL
) WITH (fillfactor = 50);

-- Every owner transaction holds FOR SHARE on its own row; a take-over sets `fenced` and so waits
-- for the transactions that are open.
CREATE TABLE node_fence (
  node_id      varchar(64) NOT NULL,
  incarnation  uuid NOT NULL,
  fenced       boolean NOT NULL DEFAULT false,
  created_at   timestamptz NOT NULL,
  PRIMARY KEY (node_id, incarnation)
);

CREATE TABLE shard (
  shard        smallint PRIMARY KEY,
  node_id      varchar(64),                    -- NULL: free
  incarnation  uuid,
  epoch        bigint NOT NULL DEFAULT 0,      -- grows with each change of owner
  CHECK ((node_id IS NULL) = (incarnation IS NULL))
);
INSERT INTO shard (shard) SELECT generate_series(0, 127);

-- The last flush of a term: settles whether a commit in doubt took place.
CREATE TABLE flush (
  node_id      varchar(64) NOT NULL,
  incarnation  uuid NOT NULL,
  seq          bigint NOT NULL,
  PRIMARY KEY (node_id, incarnation)
) WITH (fillfactor = 50);

-- Orders of operators: read by "not done yet".
CREATE TABLE command (
  command_id  uuid PRIMARY KEY,
  shard       smallint NOT NULL,
  job_id      bigint NOT NULL,
  kind        varchar(32) NOT NULL,
  args        text NOT NULL,                   -- JSON object
  request_id  varchar(64),
  actor       text NOT NULL,
  created_at  timestamptz NOT NULL,
  done_at     timestamptz,
  code        integer,                         -- absl::StatusCode; 0 is OK
  result      text NOT NULL DEFAULT ''         -- JSON object when OK, else the message
);
CREATE INDEX command_open ON command (shard, created_at) WHERE done_at IS NULL;
CREATE UNIQUE INDEX command_request ON command (job_id, request_id) WHERE request_id IS NOT NULL;

-- A result that came in through a node that does not own its run.
CREATE TABLE inbox (
  run_id       uuid NOT NULL,
  attempt      integer NOT NULL,
  shard        smallint NOT NULL,
  body         bytea NOT NULL,
  received_at  timestamptz NOT NULL,
  PRIMARY KEY (run_id, attempt)
);
CREATE INDEX inbox_shard ON inbox (shard);

-- ---------------------------------------------------------------- alerts, audit

CREATE TABLE alert (
  alert_id      uuid PRIMARY KEY,
  dedup_key     text NOT NULL UNIQUE,          -- includes the run or episode
  kind          varchar(32) NOT NULL,
  severity      varchar(16) NOT NULL CHECK (severity IN ('info', 'warning', 'critical')),
  namespace     varchar(64) NOT NULL DEFAULT 'default',
  job_name      varchar(64) NOT NULL DEFAULT '',
  biz_date      date,
  run_id        uuid,
  summary       text NOT NULL,
  detail        text NOT NULL,
  raised_at     timestamptz NOT NULL,
  resolved_at   timestamptz,
  logged_at     timestamptz,                   -- written by the log channel
  delivered_at  timestamptz                    -- by a channel that is not the log
);
CREATE INDEX alert_open ON alert (raised_at) WHERE resolved_at IS NULL;
CREATE INDEX alert_unlogged ON alert (raised_at) WHERE logged_at IS NULL;

CREATE TABLE audit (
  audit_id    uuid PRIMARY KEY,
  at          timestamptz NOT NULL,
  actor       text NOT NULL,
  peer        text NOT NULL DEFAULT '',
  action      varchar(32) NOT NULL,
  job_name    varchar(64) NOT NULL DEFAULT '',
  subject     text NOT NULL DEFAULT '',
  detail      text NOT NULL DEFAULT ''
);
CREATE INDEX audit_at ON audit (at);

SELECT tidemark_ensure_partitions();
