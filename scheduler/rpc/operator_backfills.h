// Backfills and drills: orders, and what became of them.
#ifndef TIDEMARK_SCHEDULER_RPC_OPERATOR_BACKFILLS_H_
#define TIDEMARK_SCHEDULER_RPC_OPERATOR_BACKFILLS_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/clock.h"
#include "common/id.h"
#include "scheduler/engine/operator_port.h"
#include "scheduler/rpc/operator_job.h"
#include "tidemark/v1/operator.pb.h"

namespace tidemark {

// Checks orders and records them, and reads; blocks for the database. Thread-safe, without state.
// What it is given must outlive it. Orders: as OperatorOrders says; the id of a backfill or drill
// is that of the order which made it.
class OperatorBackfills {
 public:
  OperatorBackfills(OperatorPort& store, Clock& clock, Random& random)
      : store_(store), clock_(clock), random_(random) {}

  // A dry run is answered at once: the state is done, and the answer is in `response`.
  absl::StatusOr<CommandState> Create(const v1::CreateBackfillRequest& request,
                                      v1::CreateBackfillResponse* response);
  // `kind`: backfill_pause, backfill_resume or backfill_cancel.
  absl::StatusOr<CommandState> Move(const std::string& kind,
                                    const v1::BackfillOrderRequest& request);
  absl::Status List(const v1::ListBackfillsRequest& request, v1::ListBackfillsResponse* response);
  absl::Status Get(const v1::GetBackfillRequest& request, v1::Backfill* response);

  absl::StatusOr<CommandState> StartDrill(const v1::DrillJobRequest& request);
  absl::Status GetDrill(const v1::GetDrillRequest& request, v1::Drill* response);

  absl::StatusOr<CommandState> ResetCursor(const v1::ResetCursorRequest& request);

 private:
  OperatorCommand NewCommand(const OperatorJob& job, const std::string& kind,
                             const std::string& actor);
  absl::Status DryRun(const LoadedJob& job, const Backfill& wanted,
                      v1::CreateBackfillResponse* response);
  absl::StatusOr<OperatorBackfill> Find(const std::string& backfill_id);

  OperatorPort& store_;
  Clock& clock_;
  Random& random_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_OPERATOR_BACKFILLS_H_
