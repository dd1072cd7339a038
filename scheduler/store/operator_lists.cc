// Ledger rows, executors, alerts.
#include "common/status.h"
#include "common/text.h"
#include "scheduler/store/operator_store.h"

namespace tidemark {
namespace {

constexpr std::string_view kWatermarks =
    "SELECT biz_date, status, reason, note, actor, run_id, finished_at, result_rows, result_digest "
    "FROM job_watermark WHERE job_id = $1";

constexpr std::string_view kLiveDates =
    "SELECT biz_date, run_id, created_at FROM active_run WHERE job_id = $1 AND kind = 'D'";

constexpr std::string_view kExecutors =
    "SELECT executor_id, app, namespace, registration, incarnation, host, version, state, "
    "capacity, COALESCE(a.runs, 0), registered_at, last_seen, drained FROM executor e "
    "LEFT JOIN (SELECT executor_id, count(*) AS runs FROM active_run "
    "           WHERE NOT (armed AND fire_time > tidemark_now()) GROUP BY executor_id) a "
    "USING (executor_id) "
    "WHERE ($1 = '' OR app = $1) AND ($3 = '' OR namespace = $3) "
    "AND ($2 OR drained OR state <> 'GONE') ORDER BY app, executor_id";

constexpr std::string_view kHandlers =
    "SELECT executor_id, unnest(handlers) FROM executor e "
    "WHERE ($1 = '' OR app = $1) AND ($3 = '' OR namespace = $3) "
    "AND ($2 OR drained OR state <> 'GONE') ORDER BY 1, 2";

constexpr std::string_view kLabels =
    "SELECT executor_id, l.key, l.value FROM executor e, json_each_text(e.labels::json) l "
    "WHERE ($1 = '' OR app = $1) AND ($3 = '' OR namespace = $3) "
    "AND ($2 OR drained OR state <> 'GONE')";

constexpr std::string_view kAlerts =
    "SELECT alert_id, kind, severity, job_name, biz_date, run_id, summary, detail, raised_at, "
    "resolved_at, delivered_at, acked_at, acked_by, CASE WHEN resolved_at IS NULL "
    "AND routed_at IS NULL AND silenced_until > tidemark_now() THEN silenced_until END FROM alert "
    "WHERE ($1 = '' OR job_name = $1) AND ($2 OR resolved_at IS NULL) "
    "AND ($4 = '' OR namespace = $4) ORDER BY raised_at DESC, alert_id DESC LIMIT $3";

OperatorExecutor ReadExecutor(const SqlRows& rows, int i) {
  OperatorExecutor e;
  e.executor_id = rows.Text(i, 0);
  e.app = rows.Text(i, 1);
  e.ns = rows.Text(i, 2);
  e.registration = rows.Int(i, 3);
  e.incarnation = rows.Text(i, 4);
  e.host = rows.Text(i, 5);
  e.version = rows.Text(i, 6);
  e.state = rows.Text(i, 7);
  e.capacity = static_cast<int>(rows.Int(i, 8));
  e.running = static_cast<int>(rows.Int(i, 9));
  e.registered_at = rows.Time(i, 10);
  e.last_seen = rows.Time(i, 11);
  e.drained = rows.Bool(i, 12);
  return e;
}

OperatorAlert ReadAlert(const SqlRows& rows, int i) {
  return {rows.Text(i, 0),    rows.Text(i, 1),    rows.Text(i, 2),     rows.Text(i, 3),
          rows.OptDate(i, 4), rows.Text(i, 5),    rows.Text(i, 6),     rows.Text(i, 7),
          rows.Time(i, 8),    rows.OptTime(i, 9), rows.OptTime(i, 10), rows.OptTime(i, 11),
          rows.Text(i, 12),   rows.OptTime(i, 13)};
}

}  // namespace

absl::StatusOr<LedgerRows> OperatorStore::Ledger(int64_t job_id) {
  LedgerRows ledger;
  // One snapshot: a run that ends between the two reads would else look as if nobody had it.
  TM_RETURN_IF_ERROR(pool_->Transact(
      [&](SqlTransaction& tx) -> absl::Status {
        ledger = LedgerRows();
        TM_ASSIGN_OR_RETURN(const SqlRows rows, tx.Run(kWatermarks, {ToParam(job_id)}));
        for (int i = 0; i < rows.size(); ++i) {
          ledger.watermarks[rows.OptDate(i, 0).value_or(absl::CivilDay())] = {
              rows.Text(i, 1), rows.Text(i, 2),    rows.Text(i, 3),   rows.Text(i, 4),
              rows.Text(i, 5), rows.OptTime(i, 6), rows.OptInt(i, 7), rows.Text(i, 8)};
        }
        TM_ASSIGN_OR_RETURN(const SqlRows live, tx.Run(kLiveDates, {ToParam(job_id)}));
        for (int i = 0; i < live.size(); ++i) {
          ledger.live[live.OptDate(i, 0).value_or(absl::CivilDay())] = live.Text(i, 1);
          ledger.live_since[live.OptDate(i, 0).value_or(absl::CivilDay())] = live.Time(i, 2);
        }
        TM_ASSIGN_OR_RETURN(const SqlRows now, tx.Run("SELECT tidemark_now()"));
        ledger.now = now.Time(0, 0);
        return absl::OkStatus();
      },
      Isolation::kRepeatableReadOnly));
  return ledger;
}

absl::StatusOr<std::vector<OperatorExecutor>> OperatorStore::ListExecutors(const std::string& app,
                                                                           bool all) {
  std::vector<OperatorExecutor> executors;
  const std::vector<SqlParam> params = {app, ToParam(all), caller_.ns};
  TM_RETURN_IF_ERROR(pool_->Transact(
      [&](SqlTransaction& tx) -> absl::Status {
        executors.clear();
        std::map<std::string, size_t> index;
        TM_ASSIGN_OR_RETURN(const SqlRows rows, tx.Run(kExecutors, params));
        for (int i = 0; i < rows.size(); ++i) {
          executors.push_back(ReadExecutor(rows, i));
          index[executors.back().executor_id] = executors.size() - 1;
        }
        TM_ASSIGN_OR_RETURN(const SqlRows handlers, tx.Run(kHandlers, params));
        for (int i = 0; i < handlers.size(); ++i) {
          executors[index[handlers.Text(i, 0)]].handlers.push_back(handlers.Text(i, 1));
        }
        TM_ASSIGN_OR_RETURN(const SqlRows labels, tx.Run(kLabels, params));
        for (int i = 0; i < labels.size(); ++i) {
          executors[index[labels.Text(i, 0)]].labels[labels.Text(i, 1)] = labels.Text(i, 2);
        }
        return absl::OkStatus();
      },
      Isolation::kRepeatableReadOnly));
  return executors;
}

absl::StatusOr<std::vector<OperatorAlert>> OperatorStore::ListAlerts(const std::string& job,
                                                                     bool all, int limit) {
  std::vector<OperatorAlert> alerts;
  TM_RETURN_IF_ERROR(pool_->Transact([&](SqlTransaction& tx) -> absl::Status {
    alerts.clear();
    TM_ASSIGN_OR_RETURN(const SqlRows rows,
                        tx.Run(kAlerts, {job, ToParam(all), ToParam(limit), caller_.ns}));
    for (int i = 0; i < rows.size(); ++i) alerts.push_back(ReadAlert(rows, i));
    return absl::OkStatus();
  }));
  return alerts;
}

}  // namespace tidemark
