// Backfills and drills as operators see them: rows to messages. Pure.
#ifndef TIDEMARK_SCHEDULER_RPC_BACKFILL_VIEW_H_
#define TIDEMARK_SCHEDULER_RPC_BACKFILL_VIEW_H_

#include <vector>

#include "scheduler/core/backfill.h"
#include "scheduler/engine/operator_rows.h"
#include "scheduler/rpc/operator_job.h"
#include "tidemark/v1/backfill.pb.h"

namespace tidemark {

// Every due date of the job as it stands, ascending.
std::vector<DateStanding> StandingsOf(const LoadedJob& job, const LedgerRows& rows);

// All but the dates.
void BackfillToProto(const OperatorBackfill& backfill, v1::Backfill* out);
// Every due date of the range, and the counts that need them.
void BackfillDatesToProto(const OperatorBackfill& backfill,
                          const std::vector<DateStanding>& standings, const LedgerRows& rows,
                          v1::Backfill* out);

void DrillToProto(const std::vector<OperatorDrillDate>& dates, v1::Drill* out);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_BACKFILL_VIEW_H_
