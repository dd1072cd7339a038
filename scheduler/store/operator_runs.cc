// Runs and their attempts, live and ended.
#include <set>

#include "common/status.h"
#include "scheduler/store/operator_store.h"

namespace tidemark {
namespace {

constexpr std::string_view kRunColumns =
    "SELECT run_id, job_id, kind, occurrence, job_name, namespace, app, handler, job_version, "
    "biz_date, "
    "nominal_time, "
    "fire_time, trigger_type, requested_by, reason, rerun_of, params, status, status_reason, "
    "attempt, lost_attempts, executor_id, executor_host, epoch_timeline, epoch, progress_percent, "
    "checkpoint, message, result, result_rows, result_digest, created_at, started_at, ended_at, "
    "held, retry_at, live, backfill_id, tag FROM run ";

constexpr std::string_view kAttempts =
    "SELECT attempt, executor_id, executor_host, sent_at, started_at, ended_at, outcome, message "
    "FROM attempt WHERE run_id = $1 ORDER BY attempt, recorded_at";

constexpr std::string_view kCurrentAttempt =
    "SELECT attempt, executor_id, executor_host, sent_at, attempt_started_at, NULL, '', '' "
    "FROM active_run WHERE run_id = $1 AND attempt > 0 AND executor_id <> ''";

OperatorRun ReadRun(const SqlRows& rows, int i) {
  OperatorRun run;
  int c = 0;
  run.run_id = rows.Text(i, c++);
  run.job_id = rows.Int(i, c++);
  run.kind = rows.Text(i, c++);
  run.occurrence = rows.Text(i, c++);
  run.job = rows.Text(i, c++);
  run.ns = rows.Text(i, c++);
  run.app = rows.Text(i, c++);
  run.handler = rows.Text(i, c++);
  run.job_version = static_cast<int>(rows.Int(i, c++));
  run.biz_date = rows.OptDate(i, c++);
  run.nominal = rows.OptCivil(i, c++);
  run.fire_time = rows.Time(i, c++);
  run.trigger_type = rows.Text(i, c++);
  run.requested_by = rows.Text(i, c++);
  run.reason = rows.Text(i, c++);
  run.rerun_of = rows.Text(i, c++);
  run.params = rows.Text(i, c++);
  run.status = rows.Text(i, c++);
  run.status_reason = rows.Text(i, c++);
  run.attempt = static_cast<int>(rows.Int(i, c++));
  run.lost_attempts = static_cast<int>(rows.Int(i, c++));
  run.executor_id = rows.Text(i, c++);
  run.executor_host = rows.Text(i, c++);
  run.epoch_timeline = static_cast<uint32_t>(rows.Int(i, c++));
  run.epoch = static_cast<uint64_t>(rows.Int(i, c++));
  run.progress_percent = rows.Double(i, c++);
  run.checkpoint = rows.Text(i, c++);
  run.message = rows.Text(i, c++);
  run.result = rows.Text(i, c++);
  run.result_rows = rows.OptInt(i, c++);
  run.result_digest = rows.Text(i, c++);
  run.created_at = rows.Time(i, c++);
  run.started_at = rows.OptTime(i, c++);
  run.ended_at = rows.OptTime(i, c++);
  run.held = rows.Bool(i, c++);
  run.retry_at = rows.OptTime(i, c++);
  run.live = rows.Bool(i, c++);
  run.backfill_id = rows.Text(i, c++);
  run.tag = rows.Text(i, c++);
  return run;
}

// The condition of one status as operators see it. `live` spares the planner the half of the view
// that cannot have it.
std::string StatusCondition(const std::string& status) {
  if (status == "COMPENSATED") {
    return "NOT live AND status = 'COMPLETED' AND trigger_type IN ('CATCH_UP', 'BACKFILL')";
  }
  if (status == "COMPLETED") {
    return "NOT live AND status = 'COMPLETED' AND trigger_type NOT IN ('CATCH_UP', 'BACKFILL')";
  }
  for (const char* known : {"PENDING", "RUNNING"}) {
    if (status == known) return "live AND status = '" + status + "'";
  }
  for (const char* known : {"FAILED", "CANCELLED", "SKIPPED"}) {
    if (status == known) return "NOT live AND status = '" + status + "'";
  }
  return "false";
}

// The conditions of a filter, as SQL with numbered parameters.
class Where {
 public:
  void Add(const std::string& condition) {
    text_ += (text_.empty() ? "WHERE " : " AND ") + condition;
  }
  void Add(const std::string& condition, SqlParam value) {
    params_.push_back(std::move(value));
    Add(condition + "$" + std::to_string(params_.size()));
  }
  // `condition` is added for this text alone.
  std::string With(const std::string& condition) const {
    if (condition.empty()) return text_;
    return (text_.empty() ? "WHERE " : text_ + " AND ") + condition;
  }
  std::string Limit(int limit) {
    params_.push_back(ToParam(limit));
    return " LIMIT $" + std::to_string(params_.size());
  }
  const std::vector<SqlParam>& params() const { return params_; }

 private:
  std::string text_;
  std::vector<SqlParam> params_;
};

// run_id is ordered by time, so pages need no offset. Of several statuses each has a page of its
// own to begin with: an index has the runs of one status by run_id, not those of two.
std::string PageOf(Where& where, const RunFilter& filter) {
  const std::string newest = " ORDER BY run_id DESC" + where.Limit(filter.limit + 1);
  const auto page = [&](const std::string& condition) {
    const std::string runs = std::string(kRunColumns) + where.With(condition);
    if (!filter.biz_date.has_value()) return runs + newest;
    // The planner takes a date's runs for evenly spread over the history, of which it would then
    // walk through the newest: OFFSET keeps it from that.
    return "SELECT * FROM (" + runs + " OFFSET 0) of_date" + newest;
  };
  const std::set<std::string> statuses(filter.statuses.begin(), filter.statuses.end());
  if (statuses.empty()) return page("");
  std::string pages;
  for (const std::string& status : statuses) {
    if (!pages.empty()) pages += " UNION ALL ";
    pages += "(" + page(StatusCondition(status)) + ")";
  }
  return statuses.size() == 1 ? pages : pages + newest;
}

}  // namespace

absl::StatusOr<std::vector<OperatorRun>> OperatorStore::ListRuns(const RunFilter& filter) {
  Where where;
  if (filter.job_id.has_value()) where.Add("job_id = ", ToParam(*filter.job_id));
  if (!filter.ns.empty()) where.Add("namespace = ", filter.ns);
  if (!caller_.ns.empty()) where.Add("namespace = ", caller_.ns);
  if (filter.biz_date.has_value()) where.Add("biz_date = ", ToParam(*filter.biz_date));
  if (!filter.before.empty()) where.Add("run_id < ", filter.before);
  const std::string statement = PageOf(where, filter);
  std::vector<OperatorRun> runs;
  TM_RETURN_IF_ERROR(pool_->Transact([&](SqlTransaction& tx) -> absl::Status {
    runs.clear();
    TM_ASSIGN_OR_RETURN(const SqlRows rows, tx.Run(statement, where.params()));
    for (int i = 0; i < rows.size(); ++i) runs.push_back(ReadRun(rows, i));
    return absl::OkStatus();
  }));
  return runs;
}

absl::StatusOr<std::optional<OperatorRun>> OperatorStore::FindRun(const std::string& run_id) {
  std::optional<OperatorRun> run;
  TM_RETURN_IF_ERROR(pool_->Transact([&](SqlTransaction& tx) -> absl::Status {
    run.reset();
    TM_ASSIGN_OR_RETURN(const SqlRows rows,
                        tx.Run(std::string(kRunColumns) + "WHERE run_id = $1", {run_id}));
    if (!rows.empty()) run = ReadRun(rows, 0);
    if (run.has_value() && !caller_.Sees(run->ns)) run.reset();
    return absl::OkStatus();
  }));
  return run;
}

absl::StatusOr<std::vector<OperatorAttempt>> OperatorStore::Attempts(const OperatorRun& run) {
  std::vector<OperatorAttempt> attempts;
  TM_RETURN_IF_ERROR(pool_->Transact(
      [&](SqlTransaction& tx) -> absl::Status {
        attempts.clear();
        for (const std::string_view statement : {kAttempts, kCurrentAttempt}) {
          TM_ASSIGN_OR_RETURN(const SqlRows rows, tx.Run(statement, {run.run_id}));
          for (int i = 0; i < rows.size(); ++i) {
            const int number = static_cast<int>(rows.Int(i, 0));
            // In back-off the live row still names the attempt that is over.
            if (!attempts.empty() && attempts.back().attempt == number) continue;
            attempts.push_back({number, rows.Text(i, 1), rows.Text(i, 2), rows.OptTime(i, 3),
                                rows.OptTime(i, 4), rows.OptTime(i, 5), rows.Text(i, 6),
                                rows.Text(i, 7)});
          }
        }
        return absl::OkStatus();
      },
      Isolation::kRepeatableReadOnly));
  return attempts;
}

}  // namespace tidemark
