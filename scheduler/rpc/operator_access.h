// Tokens, audit and approvals for operators.
#ifndef TIDEMARK_SCHEDULER_RPC_OPERATOR_ACCESS_H_
#define TIDEMARK_SCHEDULER_RPC_OPERATOR_ACCESS_H_

#include "absl/status/status.h"
#include "common/clock.h"
#include "common/id.h"
#include "scheduler/access/access_desk.h"
#include "scheduler/access/access_gate.h"
#include "tidemark/v1/access.pb.h"

namespace tidemark {

// Checks the requests of one admitted caller and answers them; blocks for the database. Used by one
// thread. What it is given must outlive it.
class OperatorAccess {
 public:
  OperatorAccess(const Admitted& caller, AccessDesk& desk, Random& random)
      : caller_(caller), desk_(desk), random_(random) {}

  absl::Status WhoAmI(v1::WhoAmIResponse* response);
  absl::Status CreateToken(const v1::CreateTokenRequest& request,
                           v1::CreateTokenResponse* response);
  absl::Status ListTokens(const v1::ListTokensRequest& request, v1::ListTokensResponse* response);
  absl::Status RevokeToken(const v1::RevokeTokenRequest& request, v1::Token* response);
  absl::Status ListAudit(const v1::ListAuditRequest& request, v1::ListAuditResponse* response);
  absl::Status ListApprovals(const v1::ListApprovalsRequest& request,
                             v1::ListApprovalsResponse* response);
  // The order, if it waits and the caller may decide about it: PERMISSION_DENIED for who asked.
  absl::StatusOr<ApprovalRow> FindWaiting(const v1::ApprovalRequest& request);
  absl::StatusOr<ApprovalRow> Decide(const ApprovalRow& row, bool approved,
                                     const v1::ApprovalRequest& request);

 private:
  AccessDesk::By By(const std::string& actor) const;
  // Which namespace a new token is for.
  absl::StatusOr<std::string> NamespaceFor(const v1::CreateTokenRequest& request) const;

  const Admitted& caller_;
  AccessDesk& desk_;
  Random& random_;
};

void FillApproval(const ApprovalRow& row, v1::Approval* out);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_OPERATOR_ACCESS_H_
