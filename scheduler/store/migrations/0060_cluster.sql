-- Several nodes: what they tell of themselves, and what one takes in for another.

-- Under which of PostgreSQL's timelines the owner took the shard; 0: under none yet. Another one
-- since then means a fail-over, and perhaps lost commits.
ALTER TABLE shard
  ADD COLUMN timeline bigint NOT NULL DEFAULT 0,
  ADD COLUMN timeline_since timestamptz;  -- when it was last found to be another one

-- Written with each renewal of the lease. Microseconds; NULL: not known yet.
ALTER TABLE scheduler_node
  ADD COLUMN draining boolean NOT NULL DEFAULT false,  -- an operator's word: it takes no shards
  ADD COLUMN clock_offset bigint,       -- the database's time less the node's wall clock
  ADD COLUMN clock_uncertainty bigint,  -- width of what the node knows of the database's time
  ADD COLUMN lag bigint;                -- how late the node's loop came to its last events

-- A report as columns instead of a body: Finished, or Refused with its reason.
DELETE FROM inbox;
ALTER TABLE inbox
  DROP COLUMN body,
  ADD COLUMN registration bigint NOT NULL,
  ADD COLUMN refused varchar(32) NOT NULL DEFAULT '',
  ADD COLUMN outcome varchar(32) NOT NULL,
  ADD COLUMN message text NOT NULL DEFAULT '',
  ADD COLUMN result text NOT NULL DEFAULT '',
  ADD COLUMN result_rows bigint,
  ADD COLUMN result_digest varchar(128) NOT NULL DEFAULT '',
  ADD COLUMN checkpoint text NOT NULL DEFAULT '';

-- How many shards a node is to have: all of them, divided among the live nodes that an operator
-- does not drain; among all live nodes when no other is left, since a job without an owner is worse.
CREATE FUNCTION tidemark_share(node text, term uuid) RETURNS integer
  LANGUAGE sql VOLATILE AS $$
SELECT CASE WHEN count(*) FILTER (WHERE n.node_id = node AND n.incarnation = term AND n.draining) > 0
             AND count(*) FILTER (WHERE NOT n.draining) > 0
            THEN 0
            ELSE ceil((SELECT count(*) FROM shard)::numeric
                      / coalesce(nullif(count(*) FILTER (WHERE NOT n.draining), 0),
                                 greatest(1, count(*))))::integer END
FROM scheduler_node n, (SELECT tidemark_now() AS at OFFSET 0) t
WHERE n.lease_until > t.at
$$;
