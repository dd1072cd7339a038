-- Calendars: named sets of dates (holidays, trading days). Each edit is a version; versions are
-- never changed.

CREATE TABLE calendar (
  name        varchar(64) PRIMARY KEY,
  version     integer NOT NULL CHECK (version > 0),  -- in force; its row is the lock of an edit
  created_at  timestamptz NOT NULL,
  updated_at  timestamptz NOT NULL
);

CREATE TABLE calendar_version (
  name         varchar(64) NOT NULL REFERENCES calendar,
  version      integer NOT NULL CHECK (version > 0),
  mode         varchar(8) NOT NULL CHECK (mode IN ('include', 'exclude')),
  weekend      smallint NOT NULL CHECK (weekend BETWEEN 0 AND 127),  -- bit 0 Sunday … 6 Saturday
  dates        date[] NOT NULL,                -- ascending
  valid_from   timestamptz NOT NULL,           -- the instant of the edit
  retroactive  boolean NOT NULL,               -- replaces all earlier versions, past dates included
  author       text NOT NULL,
  PRIMARY KEY (name, version)
);

-- What a definition names, beside its text. No definition before this migration could name one.
ALTER TABLE job_version ADD COLUMN calendar varchar(64) NOT NULL DEFAULT '';
CREATE INDEX job_version_calendar ON job_version (calendar) WHERE calendar <> '';
