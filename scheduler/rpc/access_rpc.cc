#include "scheduler/rpc/access_rpc.h"

#include "common/status.h"
#include "common/text.h"

namespace tidemark {
namespace {

constexpr int kWorkers = 2;

}  // namespace

AccessRpc::AccessRpc(const AccessGate& gate, AccessDesk& desk, std::function<void()> tokens_changed,
                     OperatorService& orders, Random& random, size_t queue)
    : desk_(desk),
      tokens_changed_(std::move(tokens_changed)),
      orders_(orders),
      random_(random),
      funnel_(gate, kWorkers, queue) {}

AccessRpc::~AccessRpc() { Stop(); }

grpc::ServerUnaryReactor* AccessRpc::WhoAmI(grpc::CallbackServerContext* context,
                                            const v1::WhoAmIRequest* request,
                                            v1::WhoAmIResponse* response) {
  return Answer(context, "WhoAmI", request,
                [=](auto& access, const auto&) { return access.WhoAmI(response); });
}

grpc::ServerUnaryReactor* AccessRpc::CreateToken(grpc::CallbackServerContext* context,
                                                 const v1::CreateTokenRequest* request,
                                                 v1::CreateTokenResponse* response) {
  return Answer(context, "CreateToken", request, [=, this](auto& access, const auto& asked) {
    const absl::Status status = access.CreateToken(asked, response);
    if (status.ok()) tokens_changed_();
    return status;
  });
}

grpc::ServerUnaryReactor* AccessRpc::ListTokens(grpc::CallbackServerContext* context,
                                                const v1::ListTokensRequest* request,
                                                v1::ListTokensResponse* response) {
  return Answer(context, "ListTokens", request, [=](auto& access, const auto& asked) {
    return access.ListTokens(asked, response);
  });
}

grpc::ServerUnaryReactor* AccessRpc::RevokeToken(grpc::CallbackServerContext* context,
                                                 const v1::RevokeTokenRequest* request,
                                                 v1::Token* response) {
  return Answer(context, "RevokeToken", request, [=, this](auto& access, const auto& asked) {
    const absl::Status status = access.RevokeToken(asked, response);
    if (status.ok()) tokens_changed_();
    return status;
  });
}

grpc::ServerUnaryReactor* AccessRpc::ListAudit(grpc::CallbackServerContext* context,
                                               const v1::ListAuditRequest* request,
                                               v1::ListAuditResponse* response) {
  return Answer(context, "ListAudit", request, [=](auto& access, const auto&) {
    return access.ListAudit(*request, response);  // its actor is a filter
  });
}

grpc::ServerUnaryReactor* AccessRpc::ListApprovals(grpc::CallbackServerContext* context,
                                                   const v1::ListApprovalsRequest* request,
                                                   v1::ListApprovalsResponse* response) {
  return Answer(context, "ListApprovals", request, [=](auto& access, const auto& asked) {
    return access.ListApprovals(asked, response);
  });
}

void AccessRpc::Approve(const Admitted& admitted, const v1::ApprovalRequest& request,
                        v1::ApproveOrderResponse* response, const RequestFunnel::Done& done) {
  OperatorAccess access(admitted, desk_, random_);
  const absl::StatusOr<ApprovalRow> row = access.FindWaiting(request);
  if (!row.ok()) return done(row.status());
  // Who approves an order must be one who could give it.
  const absl::StatusOr<Admitted> giver = funnel_.gate().AdmitAlso(admitted, row->method);
  if (!giver.ok()) return done(giver.status());
  const absl::StatusOr<ApprovalRow> decided = access.Decide(*row, true, request);
  if (!decided.ok()) return done(decided.status());
  FillApproval(*decided, response->mutable_approval());
  orders_.CarryOutApproved(*giver, *decided, [response, done](absl::StatusOr<ApprovedOrder> order) {
    if (order.ok()) {
      response->set_queued(order->queued);
      response->set_message(order->message);
    }
    done(Annotate(order.status(), "approved, but it was refused when it was carried out"));
  });
}

grpc::ServerUnaryReactor* AccessRpc::ApproveOrder(grpc::CallbackServerContext* context,
                                                  const v1::ApprovalRequest* request,
                                                  v1::ApproveOrderResponse* response) {
  return funnel_.Pass(context, "AccessService/ApproveOrder", request,
                      [this, response](const Admitted& admitted, const v1::ApprovalRequest& asked,
                                       const RequestFunnel::Done& done) {
                        Approve(admitted, asked, response, done);
                      });
}

grpc::ServerUnaryReactor* AccessRpc::RefuseOrder(grpc::CallbackServerContext* context,
                                                 const v1::ApprovalRequest* request,
                                                 v1::Approval* response) {
  return Answer(context, "RefuseOrder", request,
                [=](auto& access, const auto& asked) -> absl::Status {
                  TM_ASSIGN_OR_RETURN(const ApprovalRow row, access.FindWaiting(asked));
                  TM_ASSIGN_OR_RETURN(const ApprovalRow decided, access.Decide(row, false, asked));
                  FillApproval(decided, response);
                  return absl::OkStatus();
                });
}

}  // namespace tidemark
