-- Alerts on their way to people: what each channel was given, and what operators said about it.

ALTER TABLE alert
  ADD COLUMN episode        integer NOT NULL DEFAULT 1 CHECK (episode > 0),  -- grows with each raising anew
  ADD COLUMN routed_at      timestamptz,   -- its deliveries are made
  ADD COLUMN end_routed_at  timestamptz,   -- and those that tell its end
  ADD COLUMN silenced_until timestamptz,   -- not routed before
  ADD COLUMN silenced_by    uuid,          -- the row of alert_silence; NULL: a window of the file
  ADD COLUMN remind_at      timestamptz,   -- told again then, unless it ended or is acknowledged
  ADD COLUMN reminders      integer NOT NULL DEFAULT 0,
  ADD COLUMN acked_at       timestamptz,
  ADD COLUMN acked_by       text NOT NULL DEFAULT '',
  ADD COLUMN ack_note       text NOT NULL DEFAULT '';
-- What ended before there were channels is history.
UPDATE alert SET routed_at = resolved_at, end_routed_at = resolved_at WHERE resolved_at IS NOT NULL;
CREATE INDEX alert_unrouted ON alert (raised_at) WHERE routed_at IS NULL;
CREATE INDEX alert_end_unrouted ON alert (resolved_at)
  WHERE resolved_at IS NOT NULL AND end_routed_at IS NULL;
CREATE INDEX alert_to_remind ON alert (remind_at)
  WHERE remind_at IS NOT NULL AND resolved_at IS NULL AND acked_at IS NULL;

-- One message of one alert to one channel.
CREATE TABLE alert_delivery (
  alert_id      uuid NOT NULL REFERENCES alert ON DELETE CASCADE,
  episode       integer NOT NULL,
  channel       varchar(64) NOT NULL,
  phase         varchar(16) NOT NULL CHECK (phase IN ('raised', 'reminder', 'resolved')),
  number        integer NOT NULL DEFAULT 0,    -- of the reminder, from 1
  state         varchar(16) NOT NULL DEFAULT 'pending'
                CHECK (state IN ('pending', 'delivered', 'dead', 'dropped')),
  created_at    timestamptz NOT NULL,          -- or when a dead one was ordered to be tried again
  next_try_at   timestamptz NOT NULL,
  tries         integer NOT NULL DEFAULT 0,
  last_error    text NOT NULL DEFAULT '',
  message_id    uuid,                          -- the try that has it, shared by those of a digest
  claimed_by    text NOT NULL DEFAULT '',      -- node
  claimed_until timestamptz,
  ended_at      timestamptz,                   -- since when it is not pending
  PRIMARY KEY (alert_id, episode, channel, phase, number),
  CHECK ((state = 'pending') = (ended_at IS NULL))
);
CREATE INDEX alert_delivery_pending ON alert_delivery (channel, created_at) WHERE state = 'pending';
CREATE INDEX alert_delivery_sent ON alert_delivery (channel, ended_at) WHERE state = 'delivered';
CREATE INDEX alert_delivery_dead ON alert_delivery (alert_id) WHERE state = 'dead';
CREATE INDEX alert_delivery_message ON alert_delivery (message_id);

-- How a channel fares. Its row is the lock of whoever takes its next message.
CREATE TABLE alert_channel (
  channel       varchar(64) PRIMARY KEY,
  failures      integer NOT NULL DEFAULT 0,    -- in a row
  failing_since timestamptz,
  next_try_at   timestamptz,                   -- nothing is sent before
  last_ok_at    timestamptz,
  last_error    text NOT NULL DEFAULT '',
  CHECK ((failures = 0) = (failing_since IS NULL))
);

-- Asked for by operators; '' matches all.
CREATE TABLE alert_silence (
  silence_id    uuid PRIMARY KEY,
  job_name      varchar(64) NOT NULL DEFAULT '',
  kind          varchar(32) NOT NULL DEFAULT '',
  namespace     varchar(64) NOT NULL DEFAULT '',
  reason        text NOT NULL CHECK (reason <> ''),
  actor         text NOT NULL,
  created_at    timestamptz NOT NULL,
  until         timestamptz NOT NULL,
  CHECK (job_name <> '' OR kind <> '' OR namespace <> '')
);
CREATE INDEX alert_silence_until ON alert_silence (until);
