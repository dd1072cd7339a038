-- The daily check: one verdict for each due date, given at the time by which the date was expected
-- to be done.
CREATE TABLE check_verdict (
  job_id       bigint NOT NULL,
  job_name     varchar(64) NOT NULL,
  namespace    varchar(64) NOT NULL,
  biz_date     date NOT NULL,
  expected_at  timestamptz NOT NULL,
  verdict      varchar(16) NOT NULL CHECK (verdict IN ('ON_TIME', 'LATE', 'PAUSED')),
  -- the ledger's word at checked_at
  state        varchar(16) NOT NULL
               CHECK (state IN ('DONE', 'WAIVED', 'EXPIRED', 'MISSING', 'RUNNING', 'FAILED',
                                'BLOCKED', 'PAUSED')),
  checked_at   timestamptz NOT NULL,
  run_id       uuid,
  settled_at   timestamptz,                      -- a LATE date was settled after all
  PRIMARY KEY (job_id, biz_date),
  CHECK (settled_at IS NULL OR verdict = 'LATE')
);
CREATE INDEX check_verdict_expected ON check_verdict (expected_at);
CREATE INDEX check_verdict_late ON check_verdict (expected_at) WHERE verdict = 'LATE';

-- Dates expected after check_from get a verdict: since the job exists, or, for jobs that are older
-- than the check, since the first start of a scheduler that has it. Nobody is told of the nights
-- before as if they had just been missed.
ALTER TABLE job ADD COLUMN check_from timestamptz NOT NULL DEFAULT tidemark_now();
-- All dates expected up to it have their verdict; NULL: none yet. Spares the owner asking again.
ALTER TABLE job ADD COLUMN checked_until timestamptz;
