-- Which jobs wait for which: what the definition in force says, beside its text. Of a deleted job
-- the rows stay, and mean nothing.
CREATE TABLE job_after (
  job_id       bigint NOT NULL REFERENCES job,
  upstream     varchar(64) NOT NULL,           -- by name, as the definition says it
  date_offset  integer NOT NULL,               -- days added to the job's biz_date
  PRIMARY KEY (job_id, upstream, date_offset)
);
CREATE INDEX job_after_upstream ON job_after (upstream);
