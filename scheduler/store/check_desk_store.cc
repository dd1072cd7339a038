#include "scheduler/store/check_desk_store.h"

#include "common/status.h"
#include "scheduler/store/array.h"
#include "scheduler/store/batch.h"

namespace tidemark {
namespace {

constexpr std::string_view kVerdicts = R"sql(
SELECT v.job_id, v.job_name, v.namespace, v.biz_date, v.expected_at, v.verdict, v.state,
       v.checked_at, v.run_id, v.settled_at, CASE WHEN j.paused THEN j.pause_reason ELSE '' END,
       CASE WHEN j.paused THEN j.paused_by ELSE '' END
FROM check_verdict v LEFT JOIN job j ON j.job_id = v.job_id AND j.deleted_at IS NULL
WHERE ($1 = '' OR v.job_name = $1) AND ($2::date IS NULL OR v.biz_date >= $2::date)
  AND ($3::date IS NULL OR v.biz_date <= $3::date) AND (NOT $4::boolean OR v.verdict = 'LATE')
  AND ($6 = '' OR v.namespace = $6)
ORDER BY v.expected_at DESC, v.job_name, v.biz_date DESC
LIMIT $5::bigint)sql";

constexpr std::string_view kVerdictsOfDates = R"sql(
SELECT v.job_id, v.job_name, v.namespace, v.biz_date, v.expected_at, v.verdict, v.state,
       v.checked_at, v.run_id, v.settled_at, '', ''
FROM check_verdict v
WHERE v.job_id = $1::bigint AND v.biz_date = ANY ($2::date[])
ORDER BY v.biz_date)sql";

VerdictRow ReadVerdict(const SqlRows& rows, int i) {
  VerdictRow row;
  row.job_id = rows.Int(i, 0);
  row.job = rows.Text(i, 1);
  row.ns = rows.Text(i, 2);
  row.date = rows.OptDate(i, 3).value_or(absl::CivilDay());
  row.expected_at = rows.Time(i, 4);
  row.verdict = rows.Text(i, 5);
  row.state = rows.Text(i, 6);
  row.checked_at = rows.Time(i, 7);
  row.run_id = rows.Text(i, 8);
  row.settled_at = rows.OptTime(i, 9);
  row.pause_reason = rows.Text(i, 10);
  row.paused_by = rows.Text(i, 11);
  return row;
}

absl::StatusOr<std::vector<VerdictRow>> ReadVerdicts(OperatorPool& pool, std::string_view statement,
                                                     const std::vector<SqlParam>& params) {
  std::vector<VerdictRow> verdicts;
  TM_RETURN_IF_ERROR(pool.Transact([&](SqlTransaction& tx) -> absl::Status {
    verdicts.clear();
    TM_ASSIGN_OR_RETURN(const SqlRows rows, tx.Run(statement, params));
    for (int i = 0; i < rows.size(); ++i) verdicts.push_back(ReadVerdict(rows, i));
    return absl::OkStatus();
  }));
  return verdicts;
}

}  // namespace

absl::StatusOr<std::vector<VerdictRow>> CheckDeskStore::ListVerdicts(const VerdictFilter& filter) {
  return ReadVerdicts(pool_, kVerdicts,
                      {Exact(filter.job), ToParam(filter.from), ToParam(filter.to),
                       ToParam(filter.late), ToParam(filter.limit), filter.ns});
}

absl::StatusOr<std::vector<VerdictRow>> CheckDeskStore::VerdictsOf(
    int64_t job_id, const std::vector<absl::CivilDay>& dates) {
  SqlArray array;
  for (const absl::CivilDay date : dates) array.Add(ToParam(date));
  return ReadVerdicts(pool_, kVerdictsOfDates, {ToParam(job_id), std::move(array).Take()});
}

}  // namespace tidemark
