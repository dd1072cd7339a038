// Orders of operators: what can be judged at once, and the command that the owner carries out.
#ifndef TIDEMARK_SCHEDULER_RPC_OPERATOR_ORDERS_H_
#define TIDEMARK_SCHEDULER_RPC_OPERATOR_ORDERS_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/clock.h"
#include "common/id.h"
#include "scheduler/engine/operator_port.h"
#include "scheduler/rpc/operator_job.h"
#include "tidemark/v1/operator.pb.h"

namespace tidemark {

// Checks orders and records them; blocks for the database. Thread-safe, without state. What it is
// given must outlive it.
//
// Each call returns the state of the recorded command, or one with an empty command_id and `done`
// when there was nothing to order (the result says so), or the refusal.
class OperatorOrders {
 public:
  OperatorOrders(OperatorPort& store, Clock& clock, Random& random)
      : store_(store), clock_(clock), random_(random) {}

  absl::StatusOr<CommandState> Trigger(const v1::TriggerJobRequest& request);
  absl::StatusOr<CommandState> Pause(const v1::PauseJobRequest& request);
  absl::StatusOr<CommandState> Resume(const v1::ResumeJobRequest& request);
  absl::StatusOr<CommandState> Delete(const v1::DeleteJobRequest& request);
  absl::StatusOr<CommandState> Cancel(const v1::CancelRunRequest& request);
  absl::StatusOr<CommandState> Rerun(const v1::RerunRunRequest& request);
  absl::StatusOr<CommandState> Release(const v1::ReleaseRunRequest& request);
  absl::StatusOr<CommandState> Drain(const v1::DrainExecutorRequest& request);

 private:
  // Of a live run, with the run_id and the reason.
  template <typename Request>
  OperatorCommand RunCommand(const OperatorRun& run, const std::string& kind,
                             const Request& request);
  OperatorCommand NewCommand(const OperatorJob& job, const std::string& kind,
                             const std::string& actor);
  // The date to trigger, as text. INVALID_ARGUMENT and FAILED_PRECONDITION say which are near.
  absl::StatusOr<std::string> CheckDate(const LoadedJob& job, const std::string& text);
  absl::Status CheckExecutor(const LoadedJob& job, const std::string& executor_id);
  // Whoever may not see a job runs none of its dates again, on no roundabout way.
  absl::Status CheckCascade(const std::string& job);
  absl::Status CheckVerdict(const LoadedJob& job, const std::string& date);

  OperatorPort& store_;
  Clock& clock_;
  Random& random_;
};

// INVALID_ARGUMENT for a reason that is too long, or no text.
absl::Status CheckReason(const std::string& reason);

// The run of that id. INVALID_ARGUMENT for what is no id, NOT_FOUND.
absl::StatusOr<OperatorRun> FindRun(OperatorPort& store, const std::string& run_id);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_OPERATOR_ORDERS_H_
