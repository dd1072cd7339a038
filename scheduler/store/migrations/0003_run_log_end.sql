-- What is known of a log beyond its kept bytes: a row without data says that the log reaches its
-- start_byte (what is missing before it was cut or lost), and with "ended" that it ends there.
-- recorded_at is the time that the run's id carries, so that a chunk that comes twice is one row.
ALTER TABLE run_log ADD COLUMN ended boolean NOT NULL DEFAULT false;
