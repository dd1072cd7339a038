// Backfills and drills, as operators look at them.
#include <map>
#include <utility>

#include "common/status.h"
#include "common/text.h"
#include "scheduler/store/array.h"
#include "scheduler/store/backfill_rows.h"
#include "scheduler/store/operator_store.h"

namespace tidemark {
namespace {

// The columns of ReadBackfillRow, and the job's name.
constexpr std::string_view kBackfills =
    "SELECT b.backfill_id, b.job_id, b.from_date, b.to_date, b.reprocess, b.reverse, b.parallel, "
    "b.state, b.state_reason, b.reason, b.actor, array_to_string(b.dates, ' '), b.created_at, "
    "b.resumed_at, b.ended_at, j.name FROM backfill b JOIN job j ON j.job_id = b.job_id ";

constexpr std::string_view kTheirRuns =
    "SELECT DISTINCT ON (backfill_id, biz_date) backfill_id, biz_date, run_id, status, "
    "status_reason, message, result_rows, result_digest, started_at, ended_at, live "
    "FROM run WHERE backfill_id = ANY ($1::uuid[]) AND biz_date IS NOT NULL "
    "ORDER BY backfill_id, biz_date, run_id DESC";

constexpr std::string_view kDurations =
    "SELECT extract(epoch FROM ended_at - started_at) FROM run_history "
    "WHERE job_id = $1 AND status = 'COMPLETED' AND started_at IS NOT NULL "
    "ORDER BY run_id DESC LIMIT $2";

constexpr std::string_view kDrill =
    "SELECT d.drill_id, j.name, d.actor, d.started_at, d.biz_date, d.first_run_id, d.first_rows, "
    "d.first_digest, w.status, r.run_id, r.status, r.live, r.result_rows, r.result_digest, "
    "r.message FROM drill d JOIN job j ON j.job_id = d.job_id "
    "LEFT JOIN job_watermark w ON w.job_id = d.job_id AND w.biz_date = d.biz_date "
    "LEFT JOIN LATERAL (SELECT * FROM run r WHERE r.job_id = d.job_id AND r.biz_date = d.biz_date "
    "  AND r.created_at >= d.started_at ORDER BY r.run_id DESC LIMIT 1) r ON true "
    "WHERE d.drill_id = $1 AND ($2 = '' OR j.namespace = $2) ORDER BY d.biz_date";

OperatorRun ReadItsRun(const SqlRows& rows, int i) {
  OperatorRun run;
  run.biz_date = rows.OptDate(i, 1);
  run.run_id = rows.Text(i, 2);
  run.status = rows.Text(i, 3);
  run.status_reason = rows.Text(i, 4);
  run.message = rows.Text(i, 5);
  run.result_rows = rows.OptInt(i, 6);
  run.result_digest = rows.Text(i, 7);
  run.started_at = rows.OptTime(i, 8);
  run.ended_at = rows.OptTime(i, 9);
  run.live = rows.Bool(i, 10);
  return run;
}

OperatorDrillDate ReadDrillDate(const SqlRows& rows, int i) {
  OperatorDrillDate date;
  date.drill_id = rows.Text(i, 0);
  date.job = rows.Text(i, 1);
  date.actor = rows.Text(i, 2);
  date.started_at = rows.Time(i, 3);
  date.date = rows.OptDate(i, 4).value_or(absl::CivilDay());
  date.first_run_id = rows.Text(i, 5);
  date.first_rows = rows.OptInt(i, 6);
  date.first_digest = rows.Text(i, 7);
  date.mark = rows.Text(i, 8);
  date.run_id = rows.Text(i, 9);
  date.run_status = rows.Text(i, 10);
  date.live = rows.Bool(i, 11);
  date.rows = rows.OptInt(i, 12);
  date.digest = rows.Text(i, 13);
  date.message = rows.Text(i, 14);
  return date;
}

}  // namespace

absl::StatusOr<std::vector<OperatorBackfill>> OperatorStore::ReadBackfills(
    const std::string& condition, const std::vector<SqlParam>& params) {
  std::vector<OperatorBackfill> backfills;
  TM_RETURN_IF_ERROR(pool_->Transact(
      [&](SqlTransaction& tx) -> absl::Status {
        backfills.clear();
        TM_ASSIGN_OR_RETURN(const SqlRows rows,
                            tx.Run(std::string(kBackfills) + condition, params));
        std::map<std::string, size_t> index;
        SqlArray ids;
        for (int i = 0; i < rows.size(); ++i) {
          backfills.push_back({ReadBackfillRow(rows, i), rows.Text(i, 15), {}});
          index[rows.Text(i, 0)] = backfills.size() - 1;
          ids.Add(rows.Text(i, 0));
        }
        TM_ASSIGN_OR_RETURN(const SqlRows runs, tx.Run(kTheirRuns, {std::move(ids).Take()}));
        for (int i = 0; i < runs.size(); ++i) {
          OperatorRun run = ReadItsRun(runs, i);
          const absl::CivilDay date = run.biz_date.value_or(absl::CivilDay());
          backfills[index[runs.Text(i, 0)]].runs[date] = std::move(run);
        }
        return absl::OkStatus();
      },
      Isolation::kRepeatableReadOnly));
  return backfills;
}

absl::StatusOr<std::vector<OperatorBackfill>> OperatorStore::ListBackfills(
    std::optional<int64_t> job_id, int limit) {
  return ReadBackfills(
      "WHERE ($1::bigint IS NULL OR b.job_id = $1::bigint) AND ($3 = '' OR j.namespace = $3) "
      "ORDER BY b.created_at DESC, b.backfill_id DESC LIMIT $2",
      {ToParam(job_id), ToParam(limit), caller_.ns});
}

absl::StatusOr<std::optional<OperatorBackfill>> OperatorStore::FindBackfill(
    const std::string& backfill_id) {
  TM_ASSIGN_OR_RETURN(std::vector<OperatorBackfill> found,
                      ReadBackfills("WHERE b.backfill_id = $1 AND ($2 = '' OR j.namespace = $2)",
                                    {backfill_id, caller_.ns}));
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

absl::StatusOr<std::vector<absl::Duration>> OperatorStore::LastDurations(int64_t job_id,
                                                                         int limit) {
  std::vector<absl::Duration> durations;
  TM_RETURN_IF_ERROR(pool_->Transact([&](SqlTransaction& tx) -> absl::Status {
    durations.clear();
    TM_ASSIGN_OR_RETURN(const SqlRows rows, tx.Run(kDurations, {ToParam(job_id), ToParam(limit)}));
    for (int i = 0; i < rows.size(); ++i) durations.push_back(absl::Seconds(rows.Double(i, 0)));
    return absl::OkStatus();
  }));
  return durations;
}

absl::StatusOr<std::vector<OperatorDrillDate>> OperatorStore::FindDrill(
    const std::string& drill_id) {
  std::vector<OperatorDrillDate> dates;
  TM_RETURN_IF_ERROR(pool_->Transact([&](SqlTransaction& tx) -> absl::Status {
    dates.clear();
    TM_ASSIGN_OR_RETURN(const SqlRows rows, tx.Run(kDrill, {drill_id, caller_.ns}));
    for (int i = 0; i < rows.size(); ++i) dates.push_back(ReadDrillDate(rows, i));
    return absl::OkStatus();
  }));
  return dates;
}

}  // namespace tidemark
