// Statements of the daily check.
#include "scheduler/store/statements.h"

namespace tidemark::sql {

const std::string_view kVerdictsOf = R"sql(
SELECT v.job_id, v.biz_date
FROM unnest($1::bigint[], $2::date[]) AS i (job_id, biz_date)
JOIN check_verdict v ON v.job_id = i.job_id AND v.biz_date = i.biz_date)sql";

const std::string_view kWriteVerdicts = R"sql(
INSERT INTO check_verdict (job_id, job_name, namespace, biz_date, expected_at, verdict, state,
                           checked_at, run_id)
SELECT i.job_id, i.job_name, i.namespace, i.biz_date, i.expected_at, i.verdict, i.state,
       tidemark_now(), i.run_id
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::date[], $5::timestamptz[], $6::text[],
            $7::text[], $8::uuid[])
  AS i (job_id, job_name, namespace, biz_date, expected_at, verdict, state, run_id)
ORDER BY i.job_id, i.biz_date
ON CONFLICT (job_id, biz_date) DO NOTHING
RETURNING job_id, biz_date)sql";

const std::string_view kSettleVerdicts = R"sql(
UPDATE check_verdict v SET settled_at = tidemark_now()
FROM unnest($1::bigint[], $2::date[]) AS i (job_id, biz_date)
WHERE v.job_id = i.job_id AND v.biz_date = i.biz_date AND v.verdict = 'LATE'
  AND v.settled_at IS NULL)sql";

}  // namespace tidemark::sql
