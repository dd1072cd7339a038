// Logs of runs, for operators.
#include "absl/strings/escaping.h"
#include "common/status.h"
#include "common/text.h"
#include "scheduler/store/operator_store.h"
#include "scheduler/store/run_log_rows.h"
#include "scheduler/store/statements.h"

namespace tidemark {
namespace {

// An executor sends the end of a log with it. One that cannot (it was killed) says nothing: after
// this time nobody waits for it any more.
constexpr absl::Duration kSettled = absl::Seconds(5);

constexpr std::string_view kNamespaceOfRun = "SELECT namespace FROM run WHERE run_id = $1";

absl::Status ReadBytes(SqlTransaction& tx, const std::string& run_id, uint64_t offset, size_t bytes,
                       OperatorRunLog* log) {
  const SqlParam attempt = ToParam(log->attempt);
  const SqlParam time = ToParam(RunLogTime(run_id));
  TM_ASSIGN_OR_RETURN(const SqlRows end, tx.Run(sql::kRunLogEnd, {run_id, attempt, time}));
  log->reached = static_cast<uint64_t>(end.Int(0, 0));
  log->ended = end.Bool(0, 1);
  TM_ASSIGN_OR_RETURN(
      const SqlRows rows,
      tx.Run(sql::kReadRunLog, {run_id, attempt, time, ToParam(static_cast<int64_t>(offset)),
                                ToParam(static_cast<int64_t>(bytes))}));
  for (int i = 0; i < rows.size(); ++i) {
    log->pieces.push_back({static_cast<uint64_t>(rows.Int(i, 0)),
                           ToStd(absl::HexStringToBytes(ToAbsl(rows.View(i, 1))))});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::optional<OperatorRunLog>> OperatorStore::ReadRunLog(const std::string& run_id,
                                                                        int attempt,
                                                                        uint64_t offset,
                                                                        size_t bytes) {
  std::optional<OperatorRunLog> log;
  TM_RETURN_IF_ERROR(pool_->Transact(
      [&](SqlTransaction& tx) -> absl::Status {
        log.reset();
        if (!caller_.ns.empty()) {
          TM_ASSIGN_OR_RETURN(const SqlRows run, tx.Run(kNamespaceOfRun, {run_id}));
          if (run.empty() || !caller_.Sees(run.Text(0, 0))) return absl::OkStatus();
        }
        TM_ASSIGN_OR_RETURN(
            const SqlRows rows,
            tx.Run(sql::kRunLogState,
                   {run_id, ToParam(attempt), ToParam(absl::ToInt64Microseconds(kSettled))}));
        if (rows.empty()) return absl::OkStatus();
        log.emplace();
        log->last_attempt = static_cast<int>(rows.Int(0, 0));
        log->run_ended = rows.Bool(0, 1);
        log->attempt = static_cast<int>(rows.Int(0, 2));
        log->over = rows.Bool(0, 3);
        log->settled = rows.Bool(0, 4);
        return ReadBytes(tx, run_id, offset, bytes, &*log);
      },
      Isolation::kRepeatableReadOnly));
  return log;
}

}  // namespace tidemark
