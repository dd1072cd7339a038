-- Every date that came due, as the job's owner noted it when it looked at the gap: at each of the
-- job's fires at the latest. Left-joined with job_watermark it is the ledger in SQL; what is not
-- settled is all that the owner has to ask for.
CREATE TABLE due_date (
  job_id     bigint NOT NULL REFERENCES job,
  biz_date   date NOT NULL,
  fire_time  timestamptz NOT NULL,             -- at which it was due
  settled    boolean NOT NULL,                 -- its watermark settles it: kept by the trigger below
  PRIMARY KEY (job_id, biz_date)
);
CREATE INDEX due_date_unsettled ON due_date (job_id, biz_date) WHERE NOT settled;

-- The last date noted; NULL: all are noted anew at the next look.
ALTER TABLE job ADD COLUMN due_until date;

CREATE FUNCTION tidemark_settles(status text, reason text) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT status IN ('DONE', 'WAIVED') OR (status = 'EXPIRED' AND reason = 'first_launch') $$;

-- Whoever changes a watermark, a person's DELETE included: the date is due again at once.
CREATE FUNCTION tidemark_mark_due() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  now_settled boolean := TG_OP <> 'DELETE' AND tidemark_settles(NEW.status, NEW.reason);
BEGIN
  IF TG_OP = 'DELETE' THEN
    UPDATE due_date SET settled = false
    WHERE job_id = OLD.job_id AND biz_date = OLD.biz_date AND settled;
  ELSE
    UPDATE due_date SET settled = now_settled
    WHERE job_id = NEW.job_id AND biz_date = NEW.biz_date AND settled <> now_settled;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER job_watermark_due AFTER INSERT OR UPDATE OR DELETE ON job_watermark
  FOR EACH ROW EXECUTE FUNCTION tidemark_mark_due();

CREATE FUNCTION tidemark_mark_all_due() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE due_date SET settled = false WHERE settled;
  RETURN NULL;
END $$;
CREATE TRIGGER job_watermark_all_due AFTER TRUNCATE ON job_watermark
  FOR EACH STATEMENT EXECUTE FUNCTION tidemark_mark_all_due();
