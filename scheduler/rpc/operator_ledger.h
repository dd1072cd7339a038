// A stored job's ledger, from its rows.
#ifndef TIDEMARK_SCHEDULER_RPC_OPERATOR_LEDGER_H_
#define TIDEMARK_SCHEDULER_RPC_OPERATOR_LEDGER_H_

#include <string>

#include "absl/status/statusor.h"
#include "scheduler/core/ledger.h"
#include "scheduler/rpc/operator_job.h"

namespace tidemark {

// Every due date by rows.now. Blocks for the database: for the jobs that it waits for.
absl::StatusOr<Ledger> LedgerOfJob(OperatorPort& store, const LoadedJob& job,
                                   const LedgerRows& rows);

// "paused by ann: the bank moves house", "the job is disabled"; "" when neither.
std::string WhyPaused(const LoadedJob& job);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_OPERATOR_LEDGER_H_
