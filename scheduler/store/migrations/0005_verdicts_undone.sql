-- What rows that change cannot tell afterwards, for `job verify`: when a job was paused, and which
-- verdicts of dates were taken away again. Written by the database itself, in the transaction of
-- the change, whoever makes it: the rehearsal's DELETE on the console counts as well.

CREATE TABLE job_pause (
  job_id      bigint NOT NULL REFERENCES job,
  paused_at   timestamptz NOT NULL,
  resumed_at  timestamptz,                     -- NULL: still paused
  reason      text NOT NULL,
  actor       text NOT NULL,
  PRIMARY KEY (job_id, paused_at)
);
INSERT INTO job_pause (job_id, paused_at, reason, actor)
  SELECT job_id, COALESCE(paused_at, updated_at), pause_reason, paused_by FROM job WHERE paused;

CREATE FUNCTION tidemark_note_pause() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE job_pause SET resumed_at = tidemark_now()
    WHERE job_id = NEW.job_id AND resumed_at IS NULL;
  IF NEW.paused THEN
    INSERT INTO job_pause (job_id, paused_at, reason, actor)
      VALUES (NEW.job_id, tidemark_now(), NEW.pause_reason, NEW.paused_by)
      ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER job_pause_noted AFTER UPDATE ON job
  FOR EACH ROW WHEN (OLD.paused <> NEW.paused) EXECUTE FUNCTION tidemark_note_pause();

-- Each verdict that settled a date and was taken away: its row deleted, or overtaken by a run. A
-- person's DONE that a run replaces by its own counts, too: the date was settled since then.
CREATE TABLE watermark_undone (
  job_id      bigint NOT NULL,
  biz_date    date NOT NULL,
  status      varchar(16) NOT NULL,            -- that it had: DONE, WAIVED or EXPIRED
  run_id      uuid,
  actor       text NOT NULL,                   -- on the old verdict
  settled_at  timestamptz NOT NULL,
  undone_at   timestamptz NOT NULL,
  undone_by   text NOT NULL                    -- the session's role in the database
);
CREATE INDEX watermark_undone_job ON watermark_undone (job_id, biz_date);

-- A deleted job's watermarks move to their archive: nothing is undone by that.
CREATE FUNCTION tidemark_note_undone() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO watermark_undone (job_id, biz_date, status, run_id, actor, settled_at, undone_at,
                                undone_by)
    SELECT OLD.job_id, OLD.biz_date, OLD.status, OLD.run_id, OLD.actor, OLD.updated_at,
           tidemark_now(), session_user
    FROM job WHERE job_id = OLD.job_id AND deleted_at IS NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER watermark_deleted AFTER DELETE ON job_watermark
  FOR EACH ROW WHEN (OLD.status IN ('DONE', 'WAIVED', 'EXPIRED'))
  EXECUTE FUNCTION tidemark_note_undone();
CREATE TRIGGER watermark_overtaken AFTER UPDATE ON job_watermark
  FOR EACH ROW WHEN (OLD.status IN ('DONE', 'WAIVED', 'EXPIRED') AND
                     (NEW.status <> OLD.status OR (OLD.actor <> '' AND NEW.actor = '')))
  EXECUTE FUNCTION tidemark_note_undone();
