// Orders that take a second person: keeping them, and carrying them out once he has approved.
#include <utility>

#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"
#include "scheduler/rpc/operator_job.h"
#include "scheduler/rpc/operator_service.h"
#include "scheduler/rpc/order_answers.h"

namespace tidemark {
namespace {

// Parses the stored message, puts both names into it, and records the order.
template <typename Request, typename Give>
absl::StatusOr<CommandState> GiveAs(const ApprovalRow& approval, const std::string& approver,
                                    const Give& give) {
  Request request;
  if (!request.ParseFromString(approval.request)) {
    return absl::InternalError("the order that was kept cannot be read any more; give it again");
  }
  request.set_actor(approval.asked_by + " (approved by " + approver + ")");
  return give(request);
}

// A job that was deleted and made anew under the name is another: what was asked for the first does
// not hold for it. Runs need no such look, their ids are for ever.
absl::Status SameJob(OperatorParts& parts, const ApprovalRow& approval) {
  TM_ASSIGN_OR_RETURN(const LoadedJob job, FindJob(parts.store, approval.job));
  if (job.row.created_at <= approval.asked_at) return absl::OkStatus();
  return absl::FailedPreconditionError(
      ToAbsl("job '" + approval.job + "' was deleted and made anew after " + approval.asked_by +
             " had asked: give the order again if it is wanted of the new one"));
}

absl::StatusOr<CommandState> Give(OperatorParts& parts, const ApprovalRow& approval,
                                  const std::string& approver) {
  const bool of_run = approval.method == "OperatorService/RerunRun" ||
                      approval.method == "OperatorService/ReleaseRun";
  if (!of_run) TM_RETURN_IF_ERROR(SameJob(parts, approval));
  if (approval.method == "OperatorService/WaiveDates") {
    return GiveAs<v1::WaiveDatesRequest>(approval, approver,
                                         [&](const auto& r) { return parts.dates.Waive(r); });
  }
  if (approval.method == "OperatorService/ForceDone") {
    return GiveAs<v1::ForceDoneRequest>(approval, approver,
                                        [&](const auto& r) { return parts.dates.ForceDone(r); });
  }
  if (approval.method == "OperatorService/RerunRun") {
    return GiveAs<v1::RerunRunRequest>(approval, approver,
                                       [&](const auto& r) { return parts.orders.Rerun(r); });
  }
  if (approval.method == "OperatorService/CreateBackfill") {
    v1::CreateBackfillResponse dates;  // of a dry run alone
    return GiveAs<v1::CreateBackfillRequest>(
        approval, approver, [&](const auto& r) { return parts.backfills.Create(r, &dates); });
  }
  if (approval.method == "OperatorService/ResumeJob") {
    return GiveAs<v1::ResumeJobRequest>(approval, approver,
                                        [&](const auto& r) { return parts.orders.Resume(r); });
  }
  if (approval.method == "OperatorService/ReleaseRun") {
    return GiveAs<v1::ReleaseRunRequest>(approval, approver,
                                         [&](const auto& r) { return parts.orders.Release(r); });
  }
  return absl::InternalError(ToAbsl("nobody knows how to carry out " + approval.method));
}

std::string MessageOf(const CommandState& state) {
  if (std::string message = Field(state, "message"); !message.empty()) return message;
  if (const std::string run = Field(state, "run_id"); !run.empty()) return "run " + run;
  return "done";
}

}  // namespace

absl::Status OperatorService::Ask(const Admitted& admitted, ApprovalRow approval,
                                  const google::protobuf::Message& request) {
  const Identity& identity = admitted.identity();
  approval.request = request.SerializeAsString();
  const AccessDesk::By by = {identity.ns, identity.token_id, admitted.peer(), admitted.Actor("")};
  TM_ASSIGN_OR_RETURN(const ApprovalRow row, options_.approvals->AddApproval(by, approval));
  return absl::FailedPreconditionError(ToAbsl(
      "this takes a second operator: the order is kept until " +
      FormatInstant(absl::FromUnixSeconds(absl::ToUnixSeconds(row.expires_at))) +
      " and carried out when somebody else approves it. Let him type: tidemark approval approve " +
      row.approval_id));
}

void OperatorService::CarryOutApproved(const Admitted& admitted, const ApprovalRow& approval,
                                       std::function<void(absl::StatusOr<ApprovedOrder>)> done) {
  OperatorParts parts = PartsFor(admitted);
  auto order = std::make_shared<ApprovedOrder>();
  Await(
      Give(parts, approval, admitted.Actor("")),
      [order](const CommandState* state, bool) {
        order->queued = state == nullptr;
        order->message = state == nullptr ? kQueued : MessageOf(*state);
      },
      [order, done = std::move(done)](const absl::Status& status) {
        if (status.ok()) {
          done(*order);
        } else {
          done(status);
        }
      });
}

}  // namespace tidemark
