-- A date's watermark is written when its run starts and again when it ends.

-- Room for the second one beside the first: no index is touched again.
ALTER TABLE job_watermark SET (fillfactor = 50);

-- Once a statement, not once a row, of a thousand of which a flush is made.
DROP TRIGGER job_watermark_due ON job_watermark;
CREATE OR REPLACE FUNCTION tidemark_mark_due() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  -- Planned anew each time: what is right for one date is wrong for a thousand.
  EXECUTE
    'UPDATE due_date d SET settled = c.settled
     FROM (SELECT job_id, biz_date, $1 AND tidemark_settles(status, reason) AS settled
           FROM changed) c
     WHERE d.job_id = c.job_id AND d.biz_date = c.biz_date AND d.settled <> c.settled'
  USING TG_OP <> 'DELETE';
  RETURN NULL;
END $$;
CREATE TRIGGER job_watermark_due_inserted AFTER INSERT ON job_watermark
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tidemark_mark_due();
CREATE TRIGGER job_watermark_due_updated AFTER UPDATE ON job_watermark
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tidemark_mark_due();
CREATE TRIGGER job_watermark_due_deleted AFTER DELETE ON job_watermark
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tidemark_mark_due();

-- A page of runs reads what it shows, whatever it asks for. No run that succeeds at its first
-- schedule in the default namespace is in one of these.
DROP INDEX run_history_unhappy;
CREATE INDEX run_history_unhappy ON run_history (status, run_id DESC) WHERE status <> 'COMPLETED';
CREATE INDEX run_history_compensated ON run_history (run_id DESC)
  WHERE status = 'COMPLETED' AND trigger_type IN ('CATCH_UP', 'BACKFILL');
CREATE INDEX run_history_namespace ON run_history (namespace, run_id DESC)
  WHERE namespace <> 'default';

-- The date first: it serves a date of all jobs, too, and what one night writes lies together.
DROP INDEX run_history_date;
CREATE INDEX run_history_date ON run_history (biz_date, job_id) WHERE biz_date IS NOT NULL;
