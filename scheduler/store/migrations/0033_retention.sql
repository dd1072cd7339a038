-- History ages out by dropping partitions, never row by row.

-- Drops the oldest partition of run_history, run_attempt or run_log that is wholly older than its
-- number of days (0: kept for ever) and older than every live run: a live run's earlier attempts
-- and log stay with it. One a call, so that one transaction holds one table's lock; returns its
-- name, '' when there is none. Gives up with 55P03 (lock_not_available) rather than let runs that
-- end queue behind it. Watermarks are no part of this: they keep rows and digest of what is gone.
CREATE FUNCTION tidemark_drop_partition(history_days integer, log_days integer) RETURNS text
  LANGUAGE plpgsql SECURITY DEFINER SET client_min_messages = warning SET lock_timeout = '50ms'
  SET search_path FROM CURRENT AS $$
DECLARE
  oldest_live timestamptz := COALESCE((SELECT min(created_at) FROM active_run), 'infinity');
  child       text;
BEGIN
  SELECT p.oid::regclass::text INTO child
  FROM (VALUES ('run_history'::regclass, history_days), ('run_attempt', history_days),
               ('run_log', log_days)) keep (parent, days)
  JOIN pg_inherits i ON i.inhparent = keep.parent
  JOIN pg_class p ON p.oid = i.inhrelid
  CROSS JOIN LATERAL (SELECT substring(pg_get_expr(p.relpartbound, p.oid)
                                       from $re$TO \('([^']+)'\)$re$)::timestamptz AS upper) bound
  WHERE keep.days > 0
    AND bound.upper <= tidemark_now() - make_interval(days => keep.days)
    AND bound.upper <= oldest_live
  ORDER BY bound.upper, p.relname
  LIMIT 1;
  IF child IS NULL THEN
    RETURN '';
  END IF;
  EXECUTE format('DROP TABLE %s', child);
  RETURN child;
END $$;

-- The pages that people ask for most: what did not go well, newest first, among millions that did.
CREATE INDEX run_history_unhappy ON run_history (run_id DESC) WHERE status <> 'COMPLETED';
