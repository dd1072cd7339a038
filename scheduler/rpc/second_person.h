// Orders that take a second operator when the scheduler runs with --require-approval.
#ifndef TIDEMARK_SCHEDULER_RPC_SECOND_PERSON_H_
#define TIDEMARK_SCHEDULER_RPC_SECOND_PERSON_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "scheduler/access/access_desk.h"
#include "scheduler/engine/operator_port.h"
#include "tidemark/v1/operator.pb.h"

namespace tidemark {

// What would have to be approved, or nothing when the order needs nobody else. The order must be
// one that could be given: what it is about exists for who asks.
template <typename Request>
absl::StatusOr<std::optional<ApprovalRow>> NeedsSecondPerson(OperatorPort&, const Request&) {
  return std::optional<ApprovalRow>();
}
absl::StatusOr<std::optional<ApprovalRow>> NeedsSecondPerson(OperatorPort& store,
                                                             const v1::WaiveDatesRequest& request);
absl::StatusOr<std::optional<ApprovalRow>> NeedsSecondPerson(OperatorPort& store,
                                                             const v1::ForceDoneRequest& request);
absl::StatusOr<std::optional<ApprovalRow>> NeedsSecondPerson(OperatorPort& store,
                                                             const v1::RerunRunRequest& request);
absl::StatusOr<std::optional<ApprovalRow>> NeedsSecondPerson(OperatorPort& store,
                                                             const v1::ReleaseRunRequest& request);
// With `reprocess: all` it runs DONE dates again, as a forced rerun does.
absl::StatusOr<std::optional<ApprovalRow>> NeedsSecondPerson(
    OperatorPort& store, const v1::CreateBackfillRequest& request);
// With skip_missed it waives.
absl::StatusOr<std::optional<ApprovalRow>> NeedsSecondPerson(OperatorPort& store,
                                                             const v1::ResumeJobRequest& request);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_SECOND_PERSON_H_
