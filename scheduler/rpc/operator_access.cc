#include "scheduler/rpc/operator_access.h"

#include <algorithm>
#include <utility>

#include "common/status.h"
#include "common/text.h"
#include "scheduler/rpc/proto_time.h"

namespace tidemark {
namespace {

constexpr size_t kMaxReason = 1024;
constexpr uint32_t kMostEntries = 1000;

absl::Status CheckName(const std::string& field, const std::string& name) {
  const std::string problem = NameProblem(name);
  return problem.empty() ? absl::OkStatus() : Invalid(field + ": " + problem);
}

absl::Status CheckReason(const std::string& reason) {
  if (reason.size() <= kMaxReason && IsCleanUtf8(reason)) return absl::OkStatus();
  return Invalid("reason: must be UTF-8 text of at most 1024 bytes");
}

void FillToken(const TokenRow& row, v1::Token* out) {
  out->set_token_id(row.token.token_id);
  out->set_name(row.token.name);
  out->set_role(std::string(Name(row.token.role)));
  out->set_namespace_(row.token.ns);
  out->set_app(row.token.app);
  *out->mutable_created_at() = ToProto(row.token.created_at);
  out->set_created_by(row.created_by);
  *out->mutable_expires_at() = ToProto(row.token.expires_at);
  if (row.revoked_at.has_value()) *out->mutable_revoked_at() = ToProto(*row.revoked_at);
  out->set_revoked_by(row.revoked_by);
  out->set_state(row.state);
}

void FillEntry(const AuditEntry& entry, v1::AuditEntry* out) {
  *out->mutable_at() = ToProto(entry.at);
  out->set_actor(entry.actor);
  out->set_token_id(entry.token_id);
  out->set_peer(entry.peer);
  out->set_action(entry.action);
  out->set_namespace_(entry.ns);
  out->set_job(entry.job);
  out->set_subject(entry.subject);
  out->set_before(entry.before);
  out->set_after(entry.after);
  out->set_reason(entry.reason);
  out->set_detail(entry.detail);
  out->set_outcome(entry.outcome);
}

absl::StatusOr<Role> RoleFor(const v1::CreateTokenRequest& request) {
  if (!request.app().empty()) {
    if (!request.role().empty()) {
      return Invalid("give --role (an operator's token) or --app (an executor's), not both");
    }
    TM_RETURN_IF_ERROR(CheckName("app", request.app()));
    return Role::kExecutor;
  }
  const std::optional<Role> role = ParseRole(request.role());
  if (!role.has_value() || *role == Role::kExecutor) {
    return Invalid("role: '" + EscapeControl(request.role()) +
                   "' is none of viewer, operator, admin (or give --app for executors)");
  }
  return *role;
}

absl::StatusOr<absl::Duration> ValidFor(const v1::CreateTokenRequest& request) {
  if (!request.has_valid_for()) return kTokenDays;
  const absl::Duration wanted = FromProto(request.valid_for());
  if (wanted < absl::Minutes(1) || wanted > kMostTokenDays) {
    return Invalid("expires: a token is valid from 1m to 3660d; it can be made anew before");
  }
  return wanted;
}

}  // namespace

AccessDesk::By OperatorAccess::By(const std::string& actor) const {
  const Identity& identity = caller_.identity();
  return {identity.ns, identity.token_id, caller_.peer(), actor};
}

absl::Status OperatorAccess::WhoAmI(v1::WhoAmIResponse* response) {
  const Identity& identity = caller_.identity();
  response->set_authenticated(identity.authenticated);
  v1::Token* token = response->mutable_token();
  token->set_token_id(identity.token_id);
  token->set_name(identity.name);
  token->set_role(std::string(Name(identity.role)));
  token->set_namespace_(identity.ns);
  token->set_app(identity.app);
  return absl::OkStatus();
}

absl::StatusOr<std::string> OperatorAccess::NamespaceFor(
    const v1::CreateTokenRequest& request) const {
  const std::string& own = caller_.identity().ns;
  const std::string& wanted = request.namespace_();
  if (!wanted.empty()) TM_RETURN_IF_ERROR(CheckName("namespace", wanted));
  if (!own.empty() && !wanted.empty() && wanted != own) {
    return absl::PermissionDeniedError(
        ToAbsl("your token is for namespace '" + own + "': it can make tokens for that alone"));
  }
  if (!own.empty()) return own;
  return wanted.empty() && !request.app().empty() ? std::string("default") : wanted;
}

absl::Status OperatorAccess::CreateToken(const v1::CreateTokenRequest& request,
                                         v1::CreateTokenResponse* response) {
  TokenRecord token;
  token.name = request.name();
  if (token.name.empty()) token.name = request.app();
  TM_RETURN_IF_ERROR(CheckName("name", token.name));
  TM_ASSIGN_OR_RETURN(token.role, RoleFor(request));
  TM_ASSIGN_OR_RETURN(token.ns, NamespaceFor(request));
  TM_ASSIGN_OR_RETURN(const absl::Duration valid_for, ValidFor(request));
  token.app = request.app();
  token.token_id = NewTokenId(random_);
  const std::string secret = NewToken(random_);
  token.hash = TokenHash(secret);
  TM_ASSIGN_OR_RETURN(const TokenRow row, desk_.AddToken(By(request.actor()), token, valid_for));
  response->set_secret(secret);
  FillToken(row, response->mutable_token());
  return absl::OkStatus();
}

absl::Status OperatorAccess::ListTokens(const v1::ListTokensRequest& request,
                                        v1::ListTokensResponse* response) {
  TM_ASSIGN_OR_RETURN(const std::vector<TokenRow> rows, desk_.ListTokens(By(""), request.all()));
  for (const TokenRow& row : rows) FillToken(row, response->add_tokens());
  return absl::OkStatus();
}

absl::Status OperatorAccess::RevokeToken(const v1::RevokeTokenRequest& request,
                                         v1::Token* response) {
  TM_RETURN_IF_ERROR(CheckReason(request.reason()));
  const std::string id = request.token_id().size() <= 16 && IsCleanUtf8(request.token_id())
                             ? request.token_id()
                             : CleanText(request.token_id(), 16);
  TM_ASSIGN_OR_RETURN(const TokenRow row,
                      desk_.RevokeToken(By(request.actor()), id, request.reason()));
  FillToken(row, response);
  return absl::OkStatus();
}

absl::Status OperatorAccess::ListAudit(const v1::ListAuditRequest& request,
                                       v1::ListAuditResponse* response) {
  AuditFilter filter;
  filter.job = request.job();
  filter.actor = request.actor();
  filter.action = request.action();
  for (const std::string* text : {&filter.job, &filter.actor, &filter.action}) {
    if (!IsCleanUtf8(*text)) return Invalid("filters must be UTF-8 text");
  }
  if (request.has_from()) filter.from = FromProto(request.from());
  if (request.has_to()) filter.to = FromProto(request.to());
  if (request.limit() > kMostEntries) return Invalid("limit: at most 1000; narrow it with --to");
  if (request.limit() > 0) filter.limit = static_cast<int>(request.limit());
  TM_ASSIGN_OR_RETURN(const std::vector<AuditEntry> entries, desk_.ListAudit(By(""), filter));
  for (const AuditEntry& entry : entries) FillEntry(entry, response->add_entries());
  return absl::OkStatus();
}

absl::Status OperatorAccess::ListApprovals(const v1::ListApprovalsRequest& request,
                                           v1::ListApprovalsResponse* response) {
  TM_ASSIGN_OR_RETURN(const std::vector<ApprovalRow> rows,
                      desk_.ListApprovals(By(""), request.all()));
  for (const ApprovalRow& row : rows) FillApproval(row, response->add_approvals());
  return absl::OkStatus();
}

absl::StatusOr<ApprovalRow> OperatorAccess::FindWaiting(const v1::ApprovalRequest& request) {
  TM_RETURN_IF_ERROR(CheckReason(request.reason()));
  const std::string& id = request.approval_id();
  const bool plain = std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '-';
  });
  if (id.size() < 8 || id.size() > 36 || !plain) {
    return Invalid("approval_id: '" + EscapeControl(id) +
                   "' is not the id of an order, or at least its first 8 characters (tidemark "
                   "approval list shows them)");
  }
  TM_ASSIGN_OR_RETURN(ApprovalRow row, desk_.FindApproval(By(""), id));
  if (row.state != "WAITING") {
    return absl::FailedPreconditionError(
        ToAbsl("the order is " + row.state +
               (row.decided_by.empty() ? "" : " (by " + row.decided_by + ")") +
               " already; tidemark approval list --all shows it"));
  }
  return row;
}

absl::StatusOr<ApprovalRow> OperatorAccess::Decide(const ApprovalRow& row, bool approved,
                                                   const v1::ApprovalRequest& request) {
  const Identity& identity = caller_.identity();
  const bool same = !identity.authenticated || row.asked_by == identity.name ||
                    row.asked_token == identity.token_id;
  // Whoever asked may take it back.
  if (approved && same) {
    return absl::PermissionDeniedError(
        ToAbsl(row.asked_by +
               " asked for it: it takes somebody else's word. Let another operator "
               "type: tidemark approval approve " +
               row.approval_id));
  }
  return desk_.Decide(By(request.actor()), row.approval_id, approved, request.reason());
}

void FillApproval(const ApprovalRow& row, v1::Approval* out) {
  out->set_approval_id(row.approval_id);
  out->set_action(row.method.substr(row.method.find('/') + 1));
  out->set_subject(row.subject);
  out->set_reason(row.reason);
  out->set_asked_by(row.asked_by);
  *out->mutable_asked_at() = ToProto(row.asked_at);
  *out->mutable_expires_at() = ToProto(row.expires_at);
  out->set_state(row.state);
  out->set_decided_by(row.decided_by);
  if (row.decided_at.has_value()) *out->mutable_decided_at() = ToProto(*row.decided_at);
  out->set_namespace_(row.ns);
}

}  // namespace tidemark
