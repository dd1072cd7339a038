#include "scheduler/rpc/operator_ledger.h"

#include <algorithm>

#include "common/status.h"
#include "scheduler/rpc/dependencies.h"

namespace tidemark {

absl::StatusOr<Ledger> LedgerOfJob(OperatorPort& store, const LoadedJob& job,
                                   const LedgerRows& rows) {
  LedgerInput input;
  absl::CivilDay first = AccountedFrom(job, rows.now);
  for (const auto& [date, row] : rows.watermarks) {
    input.rows[date] = row.status;
    if (row.status == "EXPIRED" && row.reason == "first_launch") input.passed.insert(date);
    first = std::min(first, date);
  }
  for (const auto& [date, run_id] : rows.live) input.live.insert(date);
  input.due = job.timeline.Due(first, rows.now);
  input.paused = job.row.paused || !job.spec.enabled;
  input.strict = job.spec.catch_up.order == CatchUpOrder::kStrict;
  TM_ASSIGN_OR_RETURN(input.waits, WaitingDates(store, job, input.due));
  return BuildLedger(input);
}

std::string WhyPaused(const LoadedJob& job) {
  if (job.row.paused) return "paused by " + job.row.paused_by + ": " + job.row.pause_reason;
  return job.spec.enabled ? "" : "the job is disabled";
}

}  // namespace tidemark
