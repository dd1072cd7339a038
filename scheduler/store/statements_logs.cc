// Statements about the logs of runs.
#include "scheduler/store/statements.h"

namespace tidemark::sql {

// octet_length does not fetch or unpack the bytes.
const std::string_view kFindRunLogs = R"sql(
SELECT w.number, o.executor_id, o.registration, l.reached, l.marked, l.ended
FROM unnest($1::uuid[], $2::integer[], $3::timestamptz[]) WITH ORDINALITY
     AS w (run_id, attempt, recorded_at, number)
CROSS JOIN LATERAL (
  SELECT a.executor_id, a.registration FROM active_run a
  WHERE a.run_id = w.run_id AND a.attempt = w.attempt
  UNION
  SELECT t.executor_id, t.registration FROM attempt t
  WHERE t.run_id = w.run_id AND t.attempt = w.attempt
) AS o
CROSS JOIN LATERAL (
  SELECT COALESCE(max(start_byte + octet_length(data)), 0) AS reached,
         COALESCE(bool_or(octet_length(data) = 0), false) AS marked,
         COALESCE(bool_or(ended), false) AS ended
  FROM run_log r
  WHERE r.run_id = w.run_id AND r.attempt = w.attempt AND r.recorded_at = w.recorded_at
) AS l)sql";

const std::string_view kUnmarkRunLogs = R"sql(
DELETE FROM run_log r
USING unnest($1::uuid[], $2::integer[], $3::timestamptz[]) AS w (run_id, attempt, recorded_at)
WHERE r.run_id = w.run_id AND r.attempt = w.attempt AND r.recorded_at = w.recorded_at
  AND octet_length(r.data) = 0 AND NOT r.ended)sql";

// Bytes take the place of a mark, nothing takes the place of bytes.
const std::string_view kAddRunLogs = R"sql(
INSERT INTO run_log AS r (recorded_at, run_id, attempt, start_byte, data, ended)
SELECT i.recorded_at, i.run_id, i.attempt, i.start_byte, i.data, i.ended
FROM unnest($1::timestamptz[], $2::uuid[], $3::integer[], $4::bigint[], $5::bytea[], $6::boolean[])
     AS i (recorded_at, run_id, attempt, start_byte, data, ended)
ORDER BY i.run_id, i.attempt, i.start_byte
ON CONFLICT (run_id, attempt, start_byte, recorded_at) DO UPDATE
  SET data = EXCLUDED.data, ended = r.ended OR EXCLUDED.ended
  WHERE octet_length(r.data) = 0)sql";

const std::string_view kRunLogState = R"sql(
WITH r AS (
  SELECT attempt AS last, NOT live AS ended, ended_at,
         CASE WHEN $2::integer = 0 THEN attempt ELSE $2::integer END AS asked
  FROM run WHERE run_id = $1::uuid
), over AS (
  SELECT max(t.recorded_at) AS at FROM attempt t, r
  WHERE t.run_id = $1::uuid AND t.attempt = r.asked
)
SELECT r.last, r.ended, r.asked,
       r.ended OR over.at IS NOT NULL OR r.asked < r.last,
       COALESCE(COALESCE(over.at, r.ended_at)
                < tidemark_now() - make_interval(secs => $3::bigint / 1000000.0),
                r.asked < r.last)
FROM r, over)sql";

const std::string_view kRunLogEnd = R"sql(
SELECT COALESCE(max(start_byte + octet_length(data)), 0), COALESCE(bool_or(ended), false)
FROM run_log
WHERE run_id = $1::uuid AND attempt = $2::integer AND recorded_at = $3::timestamptz)sql";

// A row has at most 64 KiB, so none that begins earlier reaches the offset.
const std::string_view kReadRunLog = R"sql(
SELECT start_byte, encode(data, 'hex')
FROM (
  SELECT start_byte, data,
         sum(octet_length(data)) OVER (ORDER BY start_byte) - octet_length(data) AS before
  FROM run_log
  WHERE run_id = $1::uuid AND attempt = $2::integer AND recorded_at = $3::timestamptz
    AND start_byte > $4::bigint - 65536 AND start_byte + octet_length(data) > $4::bigint
    AND octet_length(data) > 0
) AS s
WHERE before < $5::bigint
ORDER BY start_byte)sql";

}  // namespace tidemark::sql
