-- The watch of the daily check, and the ping that says that all is well: how each node fares.
CREATE TABLE watch_state (
  node_id        varchar(64) PRIMARY KEY,
  looked_at      timestamptz,                    -- last look that came to its end
  look_error     text NOT NULL DEFAULT '',       -- of a later one that did not
  jobs           bigint NOT NULL DEFAULT 0,      -- looked at then
  dates          bigint NOT NULL DEFAULT 0,      -- judged then
  pings          boolean NOT NULL DEFAULT false, -- there is a URL to ping
  pinged_at      timestamptz,                    -- last one that was taken
  ping_error     text NOT NULL DEFAULT '',       -- of a later one that was not
  withheld_since timestamptz,                    -- the last time that not all was well
  withheld_until timestamptz,                    -- NULL: it is so still
  reasons        text NOT NULL DEFAULT ''        -- why, one a line
);

-- Something that happened: over as it is raised, told once, with no end to be told.
ALTER TABLE alert ADD COLUMN event boolean NOT NULL DEFAULT false,
  ADD CHECK (NOT event OR resolved_at IS NOT NULL);

-- The key of a failed run names its job and occurrence: their success ends it.
UPDATE alert a SET dedup_key = 'run_failed/' || r.job_id || '/' || r.occurrence || '/' || r.run_id
FROM run_history r
WHERE a.kind = 'run_failed' AND a.dedup_key = 'run_failed/' || r.run_id AND r.run_id = a.run_id;
