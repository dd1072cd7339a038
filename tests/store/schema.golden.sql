
CREATE SCHEMA tidemark;

CREATE FUNCTION tidemark.tidemark_drop_partition(history_days integer, log_days integer) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET client_min_messages TO 'warning'
    SET lock_timeout TO '50ms'
    SET search_path TO 'tidemark', 'pg_temp'
    AS $_$
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
END $_$;

CREATE FUNCTION tidemark.tidemark_ensure_partitions() RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET client_min_messages TO 'warning'
    SET search_path TO 'tidemark', 'pg_temp'
    AS $$
DECLARE
  parent text;
  month  timestamptz;
  made   integer := 0;
  child  text;
  home   text := (SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                  WHERE c.oid = 'run_history'::regclass);
BEGIN
  FOREACH parent IN ARRAY ARRAY['run_history', 'run_attempt', 'run_log'] LOOP
    FOR ahead IN 0..2 LOOP
      month := date_trunc('month', tidemark_now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
               + make_interval(months => ahead);
      child := parent || '_' || to_char(month AT TIME ZONE 'UTC', 'YYYYMM');
      IF to_regclass(format('%I.%I', home, child)) IS NULL THEN
        EXECUTE format('CREATE TABLE %I.%I PARTITION OF %I.%I FOR VALUES FROM (%L) TO (%L)',
                       home, child, home, parent, month, month + interval '1 month');
        made := made + 1;
      END IF;
    END LOOP;
  END LOOP;
  RETURN made;
END $$;

CREATE FUNCTION tidemark.tidemark_mark_all_due() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'tidemark', 'pg_temp'
    AS $$
BEGIN
  UPDATE due_date SET settled = false WHERE settled;
  RETURN NULL;
END $$;

CREATE FUNCTION tidemark.tidemark_mark_due() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'tidemark', 'pg_temp'
    AS $_$
BEGIN
  -- Planned anew each time: what is right for one date is wrong for a thousand.
  EXECUTE
    'UPDATE due_date d SET settled = c.settled
     FROM (SELECT job_id, biz_date, $1 AND tidemark_settles(status, reason) AS settled
           FROM changed) c
     WHERE d.job_id = c.job_id AND d.biz_date = c.biz_date AND d.settled <> c.settled'
  USING TG_OP <> 'DELETE';
  RETURN NULL;
END $_$;

CREATE FUNCTION tidemark.tidemark_namespace_of(character varying) RETURNS character varying
    LANGUAGE sql STABLE
    SET search_path TO 'tidemark', 'pg_temp'
    AS $_$
  SELECT coalesce((SELECT namespace FROM job WHERE name = $1
                   ORDER BY (deleted_at IS NULL) DESC, job_id DESC LIMIT 1), '') $_$;

CREATE FUNCTION tidemark.tidemark_note_pause() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'tidemark', 'pg_temp'
    AS $$
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

CREATE FUNCTION tidemark.tidemark_note_undone() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'tidemark', 'pg_temp'
    AS $$
BEGIN
  INSERT INTO watermark_undone (job_id, biz_date, status, run_id, actor, settled_at, undone_at,
                                undone_by)
    SELECT OLD.job_id, OLD.biz_date, OLD.status, OLD.run_id, OLD.actor, OLD.updated_at,
           tidemark_now(), session_user
    FROM job WHERE job_id = OLD.job_id AND deleted_at IS NULL;
  RETURN NULL;
END $$;

CREATE FUNCTION tidemark.tidemark_now() RETURNS timestamp with time zone
    LANGUAGE sql PARALLEL SAFE
    AS $$ SELECT clock_timestamp() $$;

CREATE FUNCTION tidemark.tidemark_settles(status text, reason text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  SELECT status IN ('DONE', 'WAIVED') OR (status = 'EXPIRED' AND reason = 'first_launch') $$;

CREATE FUNCTION tidemark.tidemark_share(node text, term uuid) RETURNS integer
    LANGUAGE sql
    AS $$
SELECT CASE WHEN count(*) FILTER (WHERE n.node_id = node AND n.incarnation = term AND n.draining) > 0
             AND count(*) FILTER (WHERE NOT n.draining) > 0
            THEN 0
            ELSE ceil((SELECT count(*) FROM shard)::numeric
                      / coalesce(nullif(count(*) FILTER (WHERE NOT n.draining), 0),
                                 greatest(1, count(*))))::integer END
FROM scheduler_node n, (SELECT tidemark_now() AS at OFFSET 0) t
WHERE n.lease_until > t.at
$$;

CREATE TABLE tidemark.active_run (
    job_id bigint NOT NULL,
    kind character(1) NOT NULL,
    occurrence character varying(64) NOT NULL,
    run_id uuid NOT NULL,
    shard smallint NOT NULL,
    namespace character varying(64) NOT NULL,
    job_name character varying(64) NOT NULL,
    app character varying(64) NOT NULL,
    handler character varying(64) NOT NULL,
    job_version integer NOT NULL,
    biz_date date,
    nominal_time timestamp without time zone,
    fire_time timestamp with time zone NOT NULL,
    trigger_type character varying(16) NOT NULL,
    tag character varying(32) DEFAULT ''::character varying NOT NULL,
    request_id character varying(64) DEFAULT ''::character varying NOT NULL,
    requested_by text DEFAULT ''::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    rerun_of uuid,
    wanted_executor character varying(64) DEFAULT ''::character varying NOT NULL,
    params text DEFAULT ''::text NOT NULL,
    status character varying(16) NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    failed_attempts integer DEFAULT 0 NOT NULL,
    lost_attempts integer DEFAULT 0 NOT NULL,
    executor_id character varying(64) DEFAULT ''::character varying NOT NULL,
    registration bigint DEFAULT 0 NOT NULL,
    executor_host text DEFAULT ''::text NOT NULL,
    on_lost character varying(8) DEFAULT ''::character varying NOT NULL,
    epoch_timeline integer DEFAULT 0 NOT NULL,
    epoch bigint DEFAULT 0 NOT NULL,
    retry_at timestamp with time zone,
    held boolean DEFAULT false NOT NULL,
    cancel_by text DEFAULT ''::text NOT NULL,
    cancel_reason text DEFAULT ''::text NOT NULL,
    progress_percent real DEFAULT '-1'::integer NOT NULL,
    checkpoint text DEFAULT ''::text NOT NULL,
    message text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    sent_at timestamp with time zone,
    started_at timestamp with time zone,
    attempt_started_at timestamp with time zone,
    backfill_id uuid,
    armed boolean DEFAULT false NOT NULL,
    CONSTRAINT active_run_kind_check CHECK ((kind = ANY (ARRAY['D'::bpchar, 'F'::bpchar, 'M'::bpchar]))),
    CONSTRAINT active_run_status_check CHECK (((status)::text = ANY ((ARRAY['PENDING'::character varying, 'RUNNING'::character varying])::text[]))),
    CONSTRAINT active_run_trigger_type_check CHECK (((trigger_type)::text = ANY ((ARRAY['SCHEDULE'::character varying, 'CATCH_UP'::character varying, 'BACKFILL'::character varying, 'MANUAL'::character varying])::text[])))
)
WITH (fillfactor='50');

CREATE TABLE tidemark.alert (
    alert_id uuid NOT NULL,
    dedup_key text NOT NULL,
    kind character varying(32) NOT NULL,
    severity character varying(16) NOT NULL,
    namespace character varying(64) DEFAULT 'default'::character varying NOT NULL,
    job_name character varying(64) DEFAULT ''::character varying NOT NULL,
    biz_date date,
    run_id uuid,
    summary text NOT NULL,
    detail text NOT NULL,
    raised_at timestamp with time zone NOT NULL,
    resolved_at timestamp with time zone,
    logged_at timestamp with time zone,
    delivered_at timestamp with time zone,
    episode integer DEFAULT 1 NOT NULL,
    routed_at timestamp with time zone,
    end_routed_at timestamp with time zone,
    silenced_until timestamp with time zone,
    silenced_by uuid,
    remind_at timestamp with time zone,
    reminders integer DEFAULT 0 NOT NULL,
    acked_at timestamp with time zone,
    acked_by text DEFAULT ''::text NOT NULL,
    ack_note text DEFAULT ''::text NOT NULL,
    event boolean DEFAULT false NOT NULL,
    CONSTRAINT alert_check CHECK (((NOT event) OR (resolved_at IS NOT NULL))),
    CONSTRAINT alert_episode_check CHECK ((episode > 0)),
    CONSTRAINT alert_severity_check CHECK (((severity)::text = ANY ((ARRAY['info'::character varying, 'warning'::character varying, 'critical'::character varying])::text[])))
);

CREATE TABLE tidemark.alert_channel (
    channel character varying(64) NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    failing_since timestamp with time zone,
    next_try_at timestamp with time zone,
    last_ok_at timestamp with time zone,
    last_error text DEFAULT ''::text NOT NULL,
    CONSTRAINT alert_channel_check CHECK (((failures = 0) = (failing_since IS NULL)))
);

CREATE TABLE tidemark.alert_delivery (
    alert_id uuid NOT NULL,
    episode integer NOT NULL,
    channel character varying(64) NOT NULL,
    phase character varying(16) NOT NULL,
    number integer DEFAULT 0 NOT NULL,
    state character varying(16) DEFAULT 'pending'::character varying NOT NULL,
    created_at timestamp with time zone NOT NULL,
    next_try_at timestamp with time zone NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    last_error text DEFAULT ''::text NOT NULL,
    message_id uuid,
    claimed_by text DEFAULT ''::text NOT NULL,
    claimed_until timestamp with time zone,
    ended_at timestamp with time zone,
    CONSTRAINT alert_delivery_check CHECK ((((state)::text = 'pending'::text) = (ended_at IS NULL))),
    CONSTRAINT alert_delivery_phase_check CHECK (((phase)::text = ANY ((ARRAY['raised'::character varying, 'reminder'::character varying, 'resolved'::character varying])::text[]))),
    CONSTRAINT alert_delivery_state_check CHECK (((state)::text = ANY ((ARRAY['pending'::character varying, 'delivered'::character varying, 'dead'::character varying, 'dropped'::character varying])::text[])))
);

CREATE TABLE tidemark.alert_silence (
    silence_id uuid NOT NULL,
    job_name character varying(64) DEFAULT ''::character varying NOT NULL,
    kind character varying(32) DEFAULT ''::character varying NOT NULL,
    namespace character varying(64) DEFAULT ''::character varying NOT NULL,
    reason text NOT NULL,
    actor text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    until timestamp with time zone NOT NULL,
    CONSTRAINT alert_silence_check CHECK ((((job_name)::text <> ''::text) OR ((kind)::text <> ''::text) OR ((namespace)::text <> ''::text))),
    CONSTRAINT alert_silence_reason_check CHECK ((reason <> ''::text))
);

CREATE TABLE tidemark.approval (
    approval_id uuid NOT NULL,
    method character varying(64) NOT NULL,
    request bytea NOT NULL,
    job_name character varying(64) NOT NULL,
    namespace character varying(64) NOT NULL,
    subject text NOT NULL,
    reason text NOT NULL,
    asked_by text NOT NULL,
    asked_token character varying(16) NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    state character varying(16) DEFAULT 'WAITING'::character varying NOT NULL,
    decided_by text DEFAULT ''::text NOT NULL,
    decided_at timestamp with time zone,
    CONSTRAINT approval_check CHECK ((((state)::text = 'WAITING'::text) = (decided_at IS NULL))),
    CONSTRAINT approval_state_check CHECK (((state)::text = ANY ((ARRAY['WAITING'::character varying, 'APPROVED'::character varying, 'REFUSED'::character varying])::text[])))
);

CREATE TABLE tidemark.run_attempt (
    recorded_at timestamp with time zone NOT NULL,
    run_id uuid NOT NULL,
    attempt integer NOT NULL,
    job_id bigint NOT NULL,
    executor_id character varying(64) NOT NULL,
    registration bigint NOT NULL,
    executor_host text NOT NULL,
    sent_at timestamp with time zone,
    started_at timestamp with time zone,
    ended_at timestamp with time zone NOT NULL,
    outcome character varying(32) NOT NULL,
    message text NOT NULL
)
PARTITION BY RANGE (recorded_at);

CREATE TABLE tidemark.run_history (
    recorded_at timestamp with time zone NOT NULL,
    run_id uuid NOT NULL,
    job_id bigint NOT NULL,
    kind character(1) NOT NULL,
    occurrence character varying(64) NOT NULL,
    namespace character varying(64) NOT NULL,
    job_name character varying(64) NOT NULL,
    app character varying(64) NOT NULL,
    handler character varying(64) NOT NULL,
    job_version integer NOT NULL,
    biz_date date,
    nominal_time timestamp without time zone,
    fire_time timestamp with time zone NOT NULL,
    trigger_type character varying(16) NOT NULL,
    tag character varying(32) NOT NULL,
    request_id character varying(64) NOT NULL,
    requested_by text NOT NULL,
    reason text NOT NULL,
    rerun_of uuid,
    params text NOT NULL,
    status character varying(16) NOT NULL,
    status_reason character varying(32) NOT NULL,
    attempt integer NOT NULL,
    failed_attempts integer NOT NULL,
    lost_attempts integer NOT NULL,
    executor_id character varying(64) NOT NULL,
    registration bigint NOT NULL,
    executor_host text NOT NULL,
    epoch_timeline integer NOT NULL,
    epoch bigint NOT NULL,
    progress_percent real NOT NULL,
    checkpoint text NOT NULL,
    message text NOT NULL,
    result text NOT NULL,
    result_rows bigint,
    result_digest text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    ended_at timestamp with time zone NOT NULL,
    backfill_id uuid,
    sent_at timestamp with time zone,
    CONSTRAINT run_history_status_check CHECK (((status)::text = ANY ((ARRAY['COMPLETED'::character varying, 'FAILED'::character varying, 'CANCELLED'::character varying, 'SKIPPED'::character varying])::text[])))
)
PARTITION BY RANGE (recorded_at);

CREATE VIEW tidemark.attempt AS
 SELECT run_attempt.recorded_at,
    run_attempt.run_id,
    run_attempt.attempt,
    run_attempt.job_id,
    run_attempt.executor_id,
    run_attempt.registration,
    run_attempt.executor_host,
    run_attempt.sent_at,
    run_attempt.started_at,
    run_attempt.ended_at,
    run_attempt.outcome,
    run_attempt.message
   FROM tidemark.run_attempt
UNION ALL
 SELECT run_history.recorded_at,
    run_history.run_id,
    run_history.attempt,
    run_history.job_id,
    run_history.executor_id,
    run_history.registration,
    run_history.executor_host,
    run_history.sent_at,
    run_history.started_at,
    run_history.ended_at,
    'SUCCEEDED'::character varying AS outcome,
    run_history.message
   FROM tidemark.run_history
  WHERE (run_history.sent_at IS NOT NULL);

CREATE TABLE tidemark.audit (
    audit_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    actor text NOT NULL,
    peer text DEFAULT ''::text NOT NULL,
    action character varying(32) NOT NULL,
    job_name character varying(64) DEFAULT ''::character varying NOT NULL,
    subject text DEFAULT ''::text NOT NULL,
    detail text DEFAULT ''::text NOT NULL,
    namespace character varying(64) DEFAULT ''::character varying NOT NULL,
    token_id character varying(16) DEFAULT ''::character varying NOT NULL,
    before text DEFAULT ''::text NOT NULL,
    after text DEFAULT ''::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    command_id uuid
);

CREATE TABLE tidemark.backfill (
    backfill_id uuid NOT NULL,
    job_id bigint NOT NULL,
    from_date date NOT NULL,
    to_date date NOT NULL,
    reprocess character varying(8) NOT NULL,
    reverse boolean NOT NULL,
    parallel integer NOT NULL,
    state character varying(16) NOT NULL,
    state_reason text DEFAULT ''::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    actor text NOT NULL,
    dates date[] NOT NULL,
    created_at timestamp with time zone NOT NULL,
    resumed_at timestamp with time zone,
    ended_at timestamp with time zone,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT backfill_check CHECK ((from_date <= to_date)),
    CONSTRAINT backfill_check1 CHECK ((((state)::text = ANY ((ARRAY['RUNNING'::character varying, 'PAUSED'::character varying])::text[])) = (ended_at IS NULL))),
    CONSTRAINT backfill_parallel_check CHECK ((parallel > 0)),
    CONSTRAINT backfill_reprocess_check CHECK (((reprocess)::text = ANY ((ARRAY['missing'::character varying, 'failed'::character varying, 'all'::character varying])::text[]))),
    CONSTRAINT backfill_state_check CHECK (((state)::text = ANY ((ARRAY['RUNNING'::character varying, 'PAUSED'::character varying, 'DONE'::character varying, 'FAILED'::character varying, 'CANCELLED'::character varying])::text[])))
);

CREATE TABLE tidemark.calendar (
    name character varying(64) NOT NULL,
    version integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT calendar_version_check CHECK ((version > 0))
);

CREATE TABLE tidemark.calendar_version (
    name character varying(64) NOT NULL,
    version integer NOT NULL,
    mode character varying(8) NOT NULL,
    weekend smallint NOT NULL,
    dates date[] NOT NULL,
    valid_from timestamp with time zone NOT NULL,
    retroactive boolean NOT NULL,
    author text NOT NULL,
    CONSTRAINT calendar_version_mode_check CHECK (((mode)::text = ANY ((ARRAY['include'::character varying, 'exclude'::character varying])::text[]))),
    CONSTRAINT calendar_version_version_check CHECK ((version > 0)),
    CONSTRAINT calendar_version_weekend_check CHECK (((weekend >= 0) AND (weekend <= 127)))
);

CREATE TABLE tidemark.check_verdict (
    job_id bigint NOT NULL,
    job_name character varying(64) NOT NULL,
    namespace character varying(64) NOT NULL,
    biz_date date NOT NULL,
    expected_at timestamp with time zone NOT NULL,
    verdict character varying(16) NOT NULL,
    state character varying(16) NOT NULL,
    checked_at timestamp with time zone NOT NULL,
    run_id uuid,
    settled_at timestamp with time zone,
    CONSTRAINT check_verdict_check CHECK (((settled_at IS NULL) OR ((verdict)::text = 'LATE'::text))),
    CONSTRAINT check_verdict_state_check CHECK (((state)::text = ANY ((ARRAY['DONE'::character varying, 'WAIVED'::character varying, 'EXPIRED'::character varying, 'MISSING'::character varying, 'RUNNING'::character varying, 'FAILED'::character varying, 'BLOCKED'::character varying, 'PAUSED'::character varying])::text[]))),
    CONSTRAINT check_verdict_verdict_check CHECK (((verdict)::text = ANY ((ARRAY['ON_TIME'::character varying, 'LATE'::character varying, 'PAUSED'::character varying])::text[])))
);

CREATE TABLE tidemark.command (
    command_id uuid NOT NULL,
    shard smallint NOT NULL,
    job_id bigint NOT NULL,
    kind character varying(32) NOT NULL,
    args text NOT NULL,
    request_id character varying(64),
    actor text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    done_at timestamp with time zone,
    code integer,
    result text DEFAULT ''::text NOT NULL
);

CREATE TABLE tidemark.drill (
    drill_id uuid NOT NULL,
    job_id bigint NOT NULL,
    biz_date date NOT NULL,
    first_run_id uuid,
    first_rows bigint,
    first_digest text NOT NULL,
    first_finished_at timestamp with time zone,
    actor text NOT NULL,
    started_at timestamp with time zone NOT NULL
);

CREATE TABLE tidemark.due_date (
    job_id bigint NOT NULL,
    biz_date date NOT NULL,
    fire_time timestamp with time zone NOT NULL,
    settled boolean NOT NULL
);

CREATE TABLE tidemark.executor (
    executor_id character varying(64) NOT NULL,
    app character varying(64) NOT NULL,
    namespace character varying(64) DEFAULT 'default'::character varying NOT NULL,
    registration bigint NOT NULL,
    incarnation uuid NOT NULL,
    host text NOT NULL,
    version text NOT NULL,
    capacity integer NOT NULL,
    handlers text[] NOT NULL,
    labels text DEFAULT '{}'::text NOT NULL,
    drained boolean DEFAULT false NOT NULL,
    state character varying(16) NOT NULL,
    registered_at timestamp with time zone NOT NULL,
    last_seen timestamp with time zone NOT NULL,
    CONSTRAINT executor_state_check CHECK (((state)::text = ANY ((ARRAY['UP'::character varying, 'DRAINING'::character varying, 'LOST'::character varying, 'GONE'::character varying])::text[])))
);

CREATE TABLE tidemark.executor_incarnation (
    executor_id character varying(64) NOT NULL,
    incarnation uuid NOT NULL,
    registration bigint NOT NULL,
    registered_at timestamp with time zone NOT NULL
);

CREATE TABLE tidemark.flush (
    node_id character varying(64) NOT NULL,
    incarnation uuid NOT NULL,
    seq bigint NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE tidemark.inbox (
    run_id uuid NOT NULL,
    attempt integer NOT NULL,
    shard smallint NOT NULL,
    received_at timestamp with time zone NOT NULL,
    registration bigint NOT NULL,
    refused character varying(32) DEFAULT ''::character varying NOT NULL,
    outcome character varying(32) NOT NULL,
    message text DEFAULT ''::text NOT NULL,
    result text DEFAULT ''::text NOT NULL,
    result_rows bigint,
    result_digest character varying(128) DEFAULT ''::character varying NOT NULL,
    checkpoint text DEFAULT ''::text NOT NULL
);

CREATE TABLE tidemark.job (
    job_id bigint NOT NULL,
    name character varying(64) NOT NULL,
    namespace character varying(64) DEFAULT 'default'::character varying NOT NULL,
    app character varying(64) NOT NULL,
    shard smallint NOT NULL,
    version integer NOT NULL,
    paused boolean DEFAULT false NOT NULL,
    pause_reason text DEFAULT ''::text NOT NULL,
    paused_by text DEFAULT ''::text NOT NULL,
    paused_at timestamp with time zone,
    error text DEFAULT ''::text NOT NULL,
    finished boolean DEFAULT false NOT NULL,
    ledger_from date,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    due_until date,
    check_from timestamp with time zone DEFAULT tidemark.tidemark_now() NOT NULL,
    checked_until timestamp with time zone,
    CONSTRAINT job_check CHECK (((NOT paused) OR (pause_reason <> ''::text))),
    CONSTRAINT job_shard_check CHECK ((shard >= 0)),
    CONSTRAINT job_version_check CHECK ((version > 0))
);

CREATE TABLE tidemark.job_after (
    job_id bigint NOT NULL,
    upstream character varying(64) NOT NULL,
    date_offset integer NOT NULL
);

CREATE TABLE tidemark.job_cursor (
    job_id bigint NOT NULL,
    last_fire timestamp with time zone NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE tidemark.job_pause (
    job_id bigint NOT NULL,
    paused_at timestamp with time zone NOT NULL,
    resumed_at timestamp with time zone,
    reason text NOT NULL,
    actor text NOT NULL
);

CREATE TABLE tidemark.job_version (
    job_id bigint NOT NULL,
    version integer NOT NULL,
    valid_from timestamp with time zone NOT NULL,
    spec text NOT NULL,
    author text DEFAULT ''::text NOT NULL,
    calendar character varying(64) DEFAULT ''::character varying NOT NULL,
    CONSTRAINT job_version_version_check CHECK ((version > 0))
);

CREATE TABLE tidemark.job_watermark (
    job_name character varying(64) NOT NULL,
    biz_date date NOT NULL,
    status character varying(16) NOT NULL,
    finished_at timestamp with time zone,
    job_id bigint NOT NULL,
    run_id uuid,
    result_rows bigint,
    result_digest text DEFAULT ''::text NOT NULL,
    reason character varying(32) DEFAULT ''::character varying NOT NULL,
    note text DEFAULT ''::text NOT NULL,
    actor text DEFAULT ''::text NOT NULL,
    reopened_on date,
    reopened integer DEFAULT 0 NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT job_watermark_status_check CHECK (((status)::text = ANY ((ARRAY['RUNNING'::character varying, 'DONE'::character varying, 'FAILED'::character varying, 'WAIVED'::character varying, 'EXPIRED'::character varying])::text[])))
)
WITH (fillfactor='50');

CREATE TABLE tidemark.job_watermark_archive (
    job_name character varying(64) NOT NULL,
    biz_date date NOT NULL,
    status character varying(16) NOT NULL,
    finished_at timestamp with time zone,
    job_id bigint NOT NULL,
    run_id uuid,
    result_rows bigint,
    result_digest text NOT NULL,
    reason character varying(32) NOT NULL,
    note text NOT NULL,
    actor text NOT NULL,
    reopened_on date,
    reopened integer NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    archived_at timestamp with time zone NOT NULL
);

CREATE TABLE tidemark.node_fence (
    node_id character varying(64) NOT NULL,
    incarnation uuid NOT NULL,
    fenced boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE VIEW tidemark.run AS
 SELECT active_run.run_id,
    active_run.job_id,
    active_run.kind,
    active_run.occurrence,
    active_run.namespace,
    active_run.job_name,
    active_run.app,
    active_run.handler,
    active_run.job_version,
    active_run.biz_date,
    active_run.nominal_time,
    active_run.fire_time,
    active_run.trigger_type,
    active_run.tag,
    active_run.request_id,
    active_run.requested_by,
    active_run.reason,
    active_run.rerun_of,
    active_run.params,
    active_run.status,
    ''::character varying AS status_reason,
    active_run.attempt,
    active_run.failed_attempts,
    active_run.lost_attempts,
    active_run.executor_id,
    active_run.registration,
    active_run.executor_host,
    active_run.epoch_timeline,
    active_run.epoch,
    active_run.progress_percent,
    active_run.checkpoint,
    active_run.message,
    ''::text AS result,
    NULL::bigint AS result_rows,
    ''::text AS result_digest,
    active_run.created_at,
    active_run.started_at,
    NULL::timestamp with time zone AS ended_at,
    active_run.held,
    active_run.retry_at,
    true AS live,
    active_run.backfill_id
   FROM tidemark.active_run
  WHERE (NOT (active_run.armed AND (active_run.fire_time > tidemark.tidemark_now())))
UNION ALL
 SELECT run_history.run_id,
    run_history.job_id,
    run_history.kind,
    run_history.occurrence,
    run_history.namespace,
    run_history.job_name,
    run_history.app,
    run_history.handler,
    run_history.job_version,
    run_history.biz_date,
    run_history.nominal_time,
    run_history.fire_time,
    run_history.trigger_type,
    run_history.tag,
    run_history.request_id,
    run_history.requested_by,
    run_history.reason,
    run_history.rerun_of,
    run_history.params,
    run_history.status,
    run_history.status_reason,
    run_history.attempt,
    run_history.failed_attempts,
    run_history.lost_attempts,
    run_history.executor_id,
    run_history.registration,
    run_history.executor_host,
    run_history.epoch_timeline,
    run_history.epoch,
    run_history.progress_percent,
    run_history.checkpoint,
    run_history.message,
    run_history.result,
    run_history.result_rows,
    run_history.result_digest,
    run_history.created_at,
    run_history.started_at,
    run_history.ended_at,
    false AS held,
    NULL::timestamp with time zone AS retry_at,
    false AS live,
    run_history.backfill_id
   FROM tidemark.run_history;

CREATE TABLE tidemark.run_attempt_default (
    recorded_at timestamp with time zone NOT NULL,
    run_id uuid NOT NULL,
    attempt integer NOT NULL,
    job_id bigint NOT NULL,
    executor_id character varying(64) NOT NULL,
    registration bigint NOT NULL,
    executor_host text NOT NULL,
    sent_at timestamp with time zone,
    started_at timestamp with time zone,
    ended_at timestamp with time zone NOT NULL,
    outcome character varying(32) NOT NULL,
    message text NOT NULL
);

CREATE TABLE tidemark.run_history_default (
    recorded_at timestamp with time zone NOT NULL,
    run_id uuid NOT NULL,
    job_id bigint NOT NULL,
    kind character(1) NOT NULL,
    occurrence character varying(64) NOT NULL,
    namespace character varying(64) NOT NULL,
    job_name character varying(64) NOT NULL,
    app character varying(64) NOT NULL,
    handler character varying(64) NOT NULL,
    job_version integer NOT NULL,
    biz_date date,
    nominal_time timestamp without time zone,
    fire_time timestamp with time zone NOT NULL,
    trigger_type character varying(16) NOT NULL,
    tag character varying(32) NOT NULL,
    request_id character varying(64) NOT NULL,
    requested_by text NOT NULL,
    reason text NOT NULL,
    rerun_of uuid,
    params text NOT NULL,
    status character varying(16) NOT NULL,
    status_reason character varying(32) NOT NULL,
    attempt integer NOT NULL,
    failed_attempts integer NOT NULL,
    lost_attempts integer NOT NULL,
    executor_id character varying(64) NOT NULL,
    registration bigint NOT NULL,
    executor_host text NOT NULL,
    epoch_timeline integer NOT NULL,
    epoch bigint NOT NULL,
    progress_percent real NOT NULL,
    checkpoint text NOT NULL,
    message text NOT NULL,
    result text NOT NULL,
    result_rows bigint,
    result_digest text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    ended_at timestamp with time zone NOT NULL,
    backfill_id uuid,
    sent_at timestamp with time zone,
    CONSTRAINT run_history_status_check CHECK (((status)::text = ANY ((ARRAY['COMPLETED'::character varying, 'FAILED'::character varying, 'CANCELLED'::character varying, 'SKIPPED'::character varying])::text[])))
);

CREATE TABLE tidemark.run_log (
    recorded_at timestamp with time zone NOT NULL,
    run_id uuid NOT NULL,
    attempt integer NOT NULL,
    start_byte bigint NOT NULL,
    data bytea NOT NULL,
    ended boolean DEFAULT false NOT NULL
)
PARTITION BY RANGE (recorded_at);

CREATE TABLE tidemark.run_log_default (
    recorded_at timestamp with time zone NOT NULL,
    run_id uuid NOT NULL,
    attempt integer NOT NULL,
    start_byte bigint NOT NULL,
    data bytea NOT NULL,
    ended boolean DEFAULT false NOT NULL
);

CREATE TABLE tidemark.scheduler_node (
    node_id character varying(64) NOT NULL,
    incarnation uuid NOT NULL,
    address text NOT NULL,
    version text NOT NULL,
    lease_until timestamp with time zone NOT NULL,
    started_at timestamp with time zone NOT NULL,
    draining boolean DEFAULT false NOT NULL,
    clock_offset bigint,
    clock_uncertainty bigint,
    lag bigint
)
WITH (fillfactor='50');

CREATE TABLE tidemark.schema_migration (
    version integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone NOT NULL,
    needs integer
);

CREATE TABLE tidemark.shard (
    shard smallint NOT NULL,
    node_id character varying(64),
    incarnation uuid,
    epoch bigint DEFAULT 0 NOT NULL,
    timeline bigint DEFAULT 0 NOT NULL,
    timeline_since timestamp with time zone,
    CONSTRAINT shard_check CHECK (((node_id IS NULL) = (incarnation IS NULL)))
);

CREATE TABLE tidemark.skipped_range (
    job_id bigint NOT NULL,
    from_fire timestamp with time zone NOT NULL,
    to_fire timestamp with time zone NOT NULL,
    fires bigint NOT NULL,
    reason character varying(32) NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    CONSTRAINT skipped_range_fires_check CHECK ((fires > 0))
);

CREATE TABLE tidemark.token (
    token_id character varying(16) NOT NULL,
    token_hash character(64) NOT NULL,
    name character varying(64) NOT NULL,
    role character varying(16) NOT NULL,
    namespace character varying(64) NOT NULL,
    app character varying(64) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    created_by text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    revoked_by text DEFAULT ''::text NOT NULL,
    CONSTRAINT token_check CHECK ((((role)::text = 'executor'::text) = ((app)::text <> ''::text))),
    CONSTRAINT token_check1 CHECK ((((role)::text <> 'executor'::text) OR ((namespace)::text <> ''::text))),
    CONSTRAINT token_name_check CHECK (((name)::text <> ''::text)),
    CONSTRAINT token_role_check CHECK (((role)::text = ANY ((ARRAY['viewer'::character varying, 'operator'::character varying, 'admin'::character varying, 'executor'::character varying])::text[]))),
    CONSTRAINT token_token_hash_check CHECK ((token_hash ~ '^[0-9a-f]{64}$'::text))
);

CREATE TABLE tidemark.watch_state (
    node_id character varying(64) NOT NULL,
    looked_at timestamp with time zone,
    look_error text DEFAULT ''::text NOT NULL,
    jobs bigint DEFAULT 0 NOT NULL,
    dates bigint DEFAULT 0 NOT NULL,
    pings boolean DEFAULT false NOT NULL,
    pinged_at timestamp with time zone,
    ping_error text DEFAULT ''::text NOT NULL,
    withheld_since timestamp with time zone,
    withheld_until timestamp with time zone,
    reasons text DEFAULT ''::text NOT NULL
);

CREATE TABLE tidemark.watermark_undone (
    job_id bigint NOT NULL,
    biz_date date NOT NULL,
    status character varying(16) NOT NULL,
    run_id uuid,
    actor text NOT NULL,
    settled_at timestamp with time zone NOT NULL,
    undone_at timestamp with time zone NOT NULL,
    undone_by text NOT NULL
);

ALTER TABLE ONLY tidemark.run_attempt ATTACH PARTITION tidemark.run_attempt_default DEFAULT;

ALTER TABLE ONLY tidemark.run_history ATTACH PARTITION tidemark.run_history_default DEFAULT;

ALTER TABLE ONLY tidemark.run_log ATTACH PARTITION tidemark.run_log_default DEFAULT;

ALTER TABLE ONLY tidemark.active_run
    ADD CONSTRAINT active_run_pkey PRIMARY KEY (job_id, kind, occurrence);

ALTER TABLE ONLY tidemark.alert_channel
    ADD CONSTRAINT alert_channel_pkey PRIMARY KEY (channel);

ALTER TABLE ONLY tidemark.alert
    ADD CONSTRAINT alert_dedup_key_key UNIQUE (dedup_key);

ALTER TABLE ONLY tidemark.alert_delivery
    ADD CONSTRAINT alert_delivery_pkey PRIMARY KEY (alert_id, episode, channel, phase, number);

ALTER TABLE ONLY tidemark.alert
    ADD CONSTRAINT alert_pkey PRIMARY KEY (alert_id);

ALTER TABLE ONLY tidemark.alert_silence
    ADD CONSTRAINT alert_silence_pkey PRIMARY KEY (silence_id);

ALTER TABLE ONLY tidemark.approval
    ADD CONSTRAINT approval_pkey PRIMARY KEY (approval_id);

ALTER TABLE ONLY tidemark.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (audit_id);

ALTER TABLE ONLY tidemark.backfill
    ADD CONSTRAINT backfill_pkey PRIMARY KEY (backfill_id);

ALTER TABLE ONLY tidemark.calendar
    ADD CONSTRAINT calendar_pkey PRIMARY KEY (name);

ALTER TABLE ONLY tidemark.calendar_version
    ADD CONSTRAINT calendar_version_pkey PRIMARY KEY (name, version);

ALTER TABLE ONLY tidemark.check_verdict
    ADD CONSTRAINT check_verdict_pkey PRIMARY KEY (job_id, biz_date);

ALTER TABLE ONLY tidemark.command
    ADD CONSTRAINT command_pkey PRIMARY KEY (command_id);

ALTER TABLE ONLY tidemark.drill
    ADD CONSTRAINT drill_pkey PRIMARY KEY (drill_id, biz_date);

ALTER TABLE ONLY tidemark.due_date
    ADD CONSTRAINT due_date_pkey PRIMARY KEY (job_id, biz_date);

ALTER TABLE ONLY tidemark.executor_incarnation
    ADD CONSTRAINT executor_incarnation_pkey PRIMARY KEY (executor_id, incarnation);

ALTER TABLE ONLY tidemark.executor
    ADD CONSTRAINT executor_pkey PRIMARY KEY (executor_id);

ALTER TABLE ONLY tidemark.flush
    ADD CONSTRAINT flush_pkey PRIMARY KEY (node_id, incarnation);

ALTER TABLE ONLY tidemark.inbox
    ADD CONSTRAINT inbox_pkey PRIMARY KEY (run_id, attempt);

ALTER TABLE ONLY tidemark.job_after
    ADD CONSTRAINT job_after_pkey PRIMARY KEY (job_id, upstream, date_offset);

ALTER TABLE ONLY tidemark.job_cursor
    ADD CONSTRAINT job_cursor_pkey PRIMARY KEY (job_id);

ALTER TABLE ONLY tidemark.job_pause
    ADD CONSTRAINT job_pause_pkey PRIMARY KEY (job_id, paused_at);

ALTER TABLE ONLY tidemark.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (job_id);

ALTER TABLE ONLY tidemark.job_version
    ADD CONSTRAINT job_version_pkey PRIMARY KEY (job_id, version);

ALTER TABLE ONLY tidemark.job_watermark
    ADD CONSTRAINT job_watermark_pkey PRIMARY KEY (job_name, biz_date);

ALTER TABLE ONLY tidemark.node_fence
    ADD CONSTRAINT node_fence_pkey PRIMARY KEY (node_id, incarnation);

ALTER TABLE ONLY tidemark.run_attempt
    ADD CONSTRAINT run_attempt_pkey PRIMARY KEY (run_id, attempt, recorded_at);

ALTER TABLE ONLY tidemark.run_attempt_default
    ADD CONSTRAINT run_attempt_default_pkey PRIMARY KEY (run_id, attempt, recorded_at);

ALTER TABLE ONLY tidemark.run_history
    ADD CONSTRAINT run_history_pkey PRIMARY KEY (run_id, recorded_at);

ALTER TABLE ONLY tidemark.run_history_default
    ADD CONSTRAINT run_history_default_pkey PRIMARY KEY (run_id, recorded_at);

ALTER TABLE ONLY tidemark.run_log
    ADD CONSTRAINT run_log_pkey PRIMARY KEY (run_id, attempt, start_byte, recorded_at);

ALTER TABLE ONLY tidemark.run_log_default
    ADD CONSTRAINT run_log_default_pkey PRIMARY KEY (run_id, attempt, start_byte, recorded_at);

ALTER TABLE ONLY tidemark.scheduler_node
    ADD CONSTRAINT scheduler_node_pkey PRIMARY KEY (node_id);

ALTER TABLE ONLY tidemark.schema_migration
    ADD CONSTRAINT schema_migration_pkey PRIMARY KEY (version);

ALTER TABLE ONLY tidemark.shard
    ADD CONSTRAINT shard_pkey PRIMARY KEY (shard);

ALTER TABLE ONLY tidemark.skipped_range
    ADD CONSTRAINT skipped_range_pkey PRIMARY KEY (job_id, from_fire);

ALTER TABLE ONLY tidemark.token
    ADD CONSTRAINT token_pkey PRIMARY KEY (token_id);

ALTER TABLE ONLY tidemark.token
    ADD CONSTRAINT token_token_hash_key UNIQUE (token_hash);

ALTER TABLE ONLY tidemark.watch_state
    ADD CONSTRAINT watch_state_pkey PRIMARY KEY (node_id);

CREATE UNIQUE INDEX active_run_id ON tidemark.active_run USING btree (run_id);

CREATE INDEX alert_delivery_dead ON tidemark.alert_delivery USING btree (alert_id) WHERE ((state)::text = 'dead'::text);

CREATE INDEX alert_delivery_message ON tidemark.alert_delivery USING btree (message_id);

CREATE INDEX alert_delivery_pending ON tidemark.alert_delivery USING btree (channel, created_at) WHERE ((state)::text = 'pending'::text);

CREATE INDEX alert_delivery_sent ON tidemark.alert_delivery USING btree (channel, ended_at) WHERE ((state)::text = 'delivered'::text);

CREATE INDEX alert_end_unrouted ON tidemark.alert USING btree (resolved_at) WHERE ((resolved_at IS NOT NULL) AND (end_routed_at IS NULL));

CREATE INDEX alert_open ON tidemark.alert USING btree (raised_at) WHERE (resolved_at IS NULL);

CREATE INDEX alert_silence_until ON tidemark.alert_silence USING btree (until);

CREATE INDEX alert_to_remind ON tidemark.alert USING btree (remind_at) WHERE ((remind_at IS NOT NULL) AND (resolved_at IS NULL) AND (acked_at IS NULL));

CREATE INDEX alert_unlogged ON tidemark.alert USING btree (raised_at) WHERE (logged_at IS NULL);

CREATE INDEX alert_unrouted ON tidemark.alert USING btree (raised_at) WHERE (routed_at IS NULL);

CREATE INDEX approval_waiting ON tidemark.approval USING btree (asked_at) WHERE ((state)::text = 'WAITING'::text);

CREATE INDEX audit_at ON tidemark.audit USING btree (at);

CREATE INDEX audit_job ON tidemark.audit USING btree (job_name, at);

CREATE INDEX backfill_job ON tidemark.backfill USING btree (job_id, created_at);

CREATE INDEX backfill_open ON tidemark.backfill USING btree (job_id) WHERE (ended_at IS NULL);

CREATE INDEX check_verdict_expected ON tidemark.check_verdict USING btree (expected_at);

CREATE INDEX check_verdict_late ON tidemark.check_verdict USING btree (expected_at) WHERE ((verdict)::text = 'LATE'::text);

CREATE INDEX command_open ON tidemark.command USING btree (shard, created_at) WHERE (done_at IS NULL);

CREATE UNIQUE INDEX command_request ON tidemark.command USING btree (job_id, request_id) WHERE (request_id IS NOT NULL);

CREATE INDEX drill_date ON tidemark.drill USING btree (job_id, biz_date);

CREATE INDEX due_date_unsettled ON tidemark.due_date USING btree (job_id, biz_date) WHERE (NOT settled);

CREATE INDEX executor_app ON tidemark.executor USING btree (app);

CREATE INDEX executor_drained ON tidemark.executor USING btree (executor_id) WHERE drained;

CREATE INDEX inbox_shard ON tidemark.inbox USING btree (shard);

CREATE INDEX job_after_upstream ON tidemark.job_after USING btree (upstream);

CREATE INDEX job_app ON tidemark.job USING btree (app) WHERE (deleted_at IS NULL);

CREATE UNIQUE INDEX job_name ON tidemark.job USING btree (name) WHERE (deleted_at IS NULL);

CREATE INDEX job_shard ON tidemark.job USING btree (shard) WHERE (deleted_at IS NULL);

CREATE INDEX job_version_calendar ON tidemark.job_version USING btree (calendar) WHERE ((calendar)::text <> ''::text);

CREATE INDEX job_watermark_archive_job ON tidemark.job_watermark_archive USING btree (job_id, biz_date);

CREATE INDEX job_watermark_job ON tidemark.job_watermark USING btree (job_id, biz_date);

CREATE INDEX run_history_backfill ON ONLY tidemark.run_history USING btree (backfill_id) WHERE (backfill_id IS NOT NULL);

CREATE INDEX run_history_compensated ON ONLY tidemark.run_history USING btree (run_id DESC) WHERE (((status)::text = 'COMPLETED'::text) AND ((trigger_type)::text = ANY ((ARRAY['CATCH_UP'::character varying, 'BACKFILL'::character varying])::text[])));

CREATE INDEX run_history_date ON ONLY tidemark.run_history USING btree (biz_date, job_id) WHERE (biz_date IS NOT NULL);

CREATE INDEX run_history_default_backfill_id_idx ON tidemark.run_history_default USING btree (backfill_id) WHERE (backfill_id IS NOT NULL);

CREATE INDEX run_history_default_biz_date_job_id_idx ON tidemark.run_history_default USING btree (biz_date, job_id) WHERE (biz_date IS NOT NULL);

CREATE INDEX run_history_job ON ONLY tidemark.run_history USING btree (job_id, run_id DESC);

CREATE INDEX run_history_default_job_id_run_id_idx ON tidemark.run_history_default USING btree (job_id, run_id DESC);

CREATE INDEX run_history_namespace ON ONLY tidemark.run_history USING btree (namespace, run_id DESC) WHERE ((namespace)::text <> 'default'::text);

CREATE INDEX run_history_default_namespace_run_id_idx ON tidemark.run_history_default USING btree (namespace, run_id DESC) WHERE ((namespace)::text <> 'default'::text);

CREATE INDEX run_history_default_run_id_idx ON tidemark.run_history_default USING btree (run_id DESC) WHERE (((status)::text = 'COMPLETED'::text) AND ((trigger_type)::text = ANY ((ARRAY['CATCH_UP'::character varying, 'BACKFILL'::character varying])::text[])));

CREATE INDEX run_history_unhappy ON ONLY tidemark.run_history USING btree (status, run_id DESC) WHERE ((status)::text <> 'COMPLETED'::text);

CREATE INDEX run_history_default_status_run_id_idx ON tidemark.run_history_default USING btree (status, run_id DESC) WHERE ((status)::text <> 'COMPLETED'::text);

CREATE INDEX watermark_undone_job ON tidemark.watermark_undone USING btree (job_id, biz_date);

ALTER INDEX tidemark.run_attempt_pkey ATTACH PARTITION tidemark.run_attempt_default_pkey;

ALTER INDEX tidemark.run_history_backfill ATTACH PARTITION tidemark.run_history_default_backfill_id_idx;

ALTER INDEX tidemark.run_history_date ATTACH PARTITION tidemark.run_history_default_biz_date_job_id_idx;

ALTER INDEX tidemark.run_history_job ATTACH PARTITION tidemark.run_history_default_job_id_run_id_idx;

ALTER INDEX tidemark.run_history_namespace ATTACH PARTITION tidemark.run_history_default_namespace_run_id_idx;

ALTER INDEX tidemark.run_history_pkey ATTACH PARTITION tidemark.run_history_default_pkey;

ALTER INDEX tidemark.run_history_compensated ATTACH PARTITION tidemark.run_history_default_run_id_idx;

ALTER INDEX tidemark.run_history_unhappy ATTACH PARTITION tidemark.run_history_default_status_run_id_idx;

ALTER INDEX tidemark.run_log_pkey ATTACH PARTITION tidemark.run_log_default_pkey;

CREATE TRIGGER job_pause_noted AFTER UPDATE ON tidemark.job FOR EACH ROW WHEN ((old.paused <> new.paused)) EXECUTE FUNCTION tidemark.tidemark_note_pause();

CREATE TRIGGER job_watermark_all_due AFTER TRUNCATE ON tidemark.job_watermark FOR EACH STATEMENT EXECUTE FUNCTION tidemark.tidemark_mark_all_due();

CREATE TRIGGER job_watermark_due_deleted AFTER DELETE ON tidemark.job_watermark REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tidemark.tidemark_mark_due();

CREATE TRIGGER job_watermark_due_inserted AFTER INSERT ON tidemark.job_watermark REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tidemark.tidemark_mark_due();

CREATE TRIGGER job_watermark_due_updated AFTER UPDATE ON tidemark.job_watermark REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tidemark.tidemark_mark_due();

CREATE TRIGGER watermark_deleted AFTER DELETE ON tidemark.job_watermark FOR EACH ROW WHEN (((old.status)::text = ANY ((ARRAY['DONE'::character varying, 'WAIVED'::character varying, 'EXPIRED'::character varying])::text[]))) EXECUTE FUNCTION tidemark.tidemark_note_undone();

CREATE TRIGGER watermark_overtaken AFTER UPDATE ON tidemark.job_watermark FOR EACH ROW WHEN ((((old.status)::text = ANY ((ARRAY['DONE'::character varying, 'WAIVED'::character varying, 'EXPIRED'::character varying])::text[])) AND (((new.status)::text <> (old.status)::text) OR ((old.actor <> ''::text) AND (new.actor = ''::text))))) EXECUTE FUNCTION tidemark.tidemark_note_undone();

ALTER TABLE ONLY tidemark.alert_delivery
    ADD CONSTRAINT alert_delivery_alert_id_fkey FOREIGN KEY (alert_id) REFERENCES tidemark.alert(alert_id) ON DELETE CASCADE;

ALTER TABLE ONLY tidemark.backfill
    ADD CONSTRAINT backfill_job_id_fkey FOREIGN KEY (job_id) REFERENCES tidemark.job(job_id);

ALTER TABLE ONLY tidemark.calendar_version
    ADD CONSTRAINT calendar_version_name_fkey FOREIGN KEY (name) REFERENCES tidemark.calendar(name);

ALTER TABLE ONLY tidemark.drill
    ADD CONSTRAINT drill_job_id_fkey FOREIGN KEY (job_id) REFERENCES tidemark.job(job_id);

ALTER TABLE ONLY tidemark.executor_incarnation
    ADD CONSTRAINT executor_incarnation_executor_id_fkey FOREIGN KEY (executor_id) REFERENCES tidemark.executor(executor_id);

ALTER TABLE ONLY tidemark.job_after
    ADD CONSTRAINT job_after_job_id_fkey FOREIGN KEY (job_id) REFERENCES tidemark.job(job_id);

ALTER TABLE ONLY tidemark.job_pause
    ADD CONSTRAINT job_pause_job_id_fkey FOREIGN KEY (job_id) REFERENCES tidemark.job(job_id);

ALTER TABLE ONLY tidemark.job_version
    ADD CONSTRAINT job_version_job_id_fkey FOREIGN KEY (job_id) REFERENCES tidemark.job(job_id);

