#include "executor/examples/recon/sql.h"

namespace tidemark::recon {
namespace {

// The advisory lock is there because CREATE … IF NOT EXISTS of two sessions at once collides.
// `difference` has no natural key: when the channel corrects its bill, the row that was worked on
// stays beside the new difference of the same order and kind.
constexpr char kCreateTables[] = R"sql(
SELECT pg_advisory_xact_lock(hashtext('recon.create_tables'));
CREATE SCHEMA IF NOT EXISTS recon;
CREATE TABLE IF NOT EXISTS recon.batch (
  batch_id     text PRIMARY KEY,
  biz_date     date NOT NULL UNIQUE,
  fence        text COLLATE "C" NOT NULL,
  run_id       text NOT NULL,
  ours_rows    bigint NOT NULL,
  channel_rows bigint NOT NULL,
  completed_at timestamptz
);
CREATE TABLE IF NOT EXISTS recon.difference (
  difference_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  batch_id      text NOT NULL REFERENCES recon.batch,
  order_id      text COLLATE "C" NOT NULL,
  kind          text COLLATE "C" NOT NULL CHECK (kind IN ('MISSING_OURS', 'MISSING_CHANNEL',
                  'AMOUNT_DIFFERS', 'DUPLICATE_OURS', 'DUPLICATE_CHANNEL')),
  ours_cents    bigint,
  channel_cents bigint,
  copies        integer NOT NULL,
  handling      text NOT NULL DEFAULT 'NEW'
                  CHECK (handling IN ('NEW', 'IN_PROGRESS', 'RESOLVED', 'IGNORED')),
  handled_by    text,
  note          text,
  CHECK (handling = 'NEW' OR handled_by IS NOT NULL)
);
CREATE INDEX IF NOT EXISTS difference_by_order ON recon.difference (batch_id, order_id);
CREATE OR REPLACE VIEW recon.batch_result AS
SELECT b.batch_id, b.biz_date, b.run_id, b.completed_at,
       count(d.difference_id) AS differences,
       count(d.difference_id) FILTER (WHERE d.handling <> 'NEW') AS handled,
       'sha256:' || encode(sha256(convert_to(coalesce(string_agg(
         concat_ws('|', d.order_id, d.kind, coalesce(d.ours_cents::text, '-'),
                   coalesce(d.channel_cents::text, '-'), d.copies), E'\n'
         ORDER BY d.order_id, d.kind, d.ours_cents, d.channel_cents, d.copies), ''), 'UTF8')),
         'hex') AS digest
FROM recon.batch b LEFT JOIN recon.difference d USING (batch_id)
GROUP BY b.batch_id;
)sql";

constexpr char kTakeBatch[] = R"sql(
INSERT INTO recon.batch AS b (batch_id, biz_date, fence, run_id, ours_rows, channel_rows)
VALUES ($1, $2::date, $3, $4, $5::bigint, $6::bigint)
ON CONFLICT (batch_id) DO UPDATE
SET fence = excluded.fence, run_id = excluded.run_id, ours_rows = excluded.ours_rows,
    channel_rows = excluded.channel_rows, completed_at = NULL
WHERE b.fence <= excluded.fence
)sql";

constexpr char kCheckFence[] =
    "SELECT FROM recon.batch WHERE batch_id = $1 AND fence = $2 FOR UPDATE";

constexpr char kClearDraft[] = R"sql(
DELETE FROM recon.difference WHERE batch_id = $1 AND order_id > $2 AND handling = 'NEW'
)sql";

constexpr char kAddDifference[] = R"sql(
INSERT INTO recon.difference (batch_id, order_id, kind, ours_cents, channel_cents, copies)
SELECT $1, $2, $3, $4::bigint, $5::bigint, $6::integer
WHERE NOT EXISTS (
  SELECT FROM recon.difference
  WHERE batch_id = $1 AND order_id = $2 AND kind = $3 AND copies = $6::integer
    AND ours_cents IS NOT DISTINCT FROM $4::bigint
    AND channel_cents IS NOT DISTINCT FROM $5::bigint
    AND handling <> 'NEW')
)sql";

constexpr char kCompleteBatch[] =
    "UPDATE recon.batch SET completed_at = clock_timestamp() WHERE batch_id = $1 AND fence = $2";

constexpr char kReadResult[] =
    "SELECT differences, digest FROM recon.batch_result WHERE batch_id = $1";

}  // namespace

const Statements& StandardStatements() {
  static const Statements statements{kCreateTables,  kTakeBatch,     kCheckFence, kClearDraft,
                                     kAddDifference, kCompleteBatch, kReadResult};
  return statements;
}

}  // namespace tidemark::recon
