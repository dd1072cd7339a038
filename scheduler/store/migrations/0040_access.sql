-- Who may do what, who did what, and what waits for a second person.

-- Tokens. The text of one is 256 random bits and is kept nowhere: only its SHA-256 is.
CREATE TABLE token (
  token_id    varchar(16) PRIMARY KEY,         -- names it; no secret
  token_hash  char(64) NOT NULL UNIQUE CHECK (token_hash ~ '^[0-9a-f]{64}$'),
  name        varchar(64) NOT NULL CHECK (name <> ''),  -- whose; several may have one name
  role        varchar(16) NOT NULL CHECK (role IN ('viewer', 'operator', 'admin', 'executor')),
  namespace   varchar(64) NOT NULL,            -- '': all
  app         varchar(64) NOT NULL,            -- of an executor
  created_at  timestamptz NOT NULL,
  created_by  text NOT NULL,
  expires_at  timestamptz NOT NULL,
  revoked_at  timestamptz,
  revoked_by  text NOT NULL DEFAULT '',
  CHECK ((role = 'executor') = (app <> '')),
  CHECK (role <> 'executor' OR namespace <> '')
);

ALTER TABLE audit
  ADD COLUMN namespace varchar(64) NOT NULL DEFAULT '',  -- of the job or object; '': none
  ADD COLUMN token_id  varchar(16) NOT NULL DEFAULT '',  -- '': nobody was asked, or the scheduler
  ADD COLUMN before    text NOT NULL DEFAULT '',
  ADD COLUMN after     text NOT NULL DEFAULT '',
  ADD COLUMN reason    text NOT NULL DEFAULT '',
  ADD COLUMN command_id uuid;                           -- of the order, if its owner carries it out
CREATE INDEX audit_job ON audit (job_name, at);

-- The namespace of a job by its name: of the one that exists, else of the last that did.
CREATE FUNCTION tidemark_namespace_of(varchar) RETURNS varchar
  LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
  SELECT coalesce((SELECT namespace FROM job WHERE name = $1
                   ORDER BY (deleted_at IS NULL) DESC, job_id DESC LIMIT 1), '') $$;
UPDATE audit SET namespace = tidemark_namespace_of(job_name) WHERE job_name <> '';

-- Orders that wait for a second operator.
CREATE TABLE approval (
  approval_id  uuid PRIMARY KEY,
  method       varchar(64) NOT NULL,
  request      bytea NOT NULL,                 -- the message, as the wire has it
  job_name     varchar(64) NOT NULL,
  namespace    varchar(64) NOT NULL,
  subject      text NOT NULL,
  reason       text NOT NULL,
  asked_by     text NOT NULL,
  asked_token  varchar(16) NOT NULL,
  asked_at     timestamptz NOT NULL,
  expires_at   timestamptz NOT NULL,
  state        varchar(16) NOT NULL DEFAULT 'WAITING'
               CHECK (state IN ('WAITING', 'APPROVED', 'REFUSED')),
  decided_by   text NOT NULL DEFAULT '',
  decided_at   timestamptz,
  CHECK ((state = 'WAITING') = (decided_at IS NULL))
);
CREATE INDEX approval_waiting ON approval (asked_at) WHERE state = 'WAITING';
