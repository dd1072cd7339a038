// Orders that wait for a second person.
#include <utility>

#include "absl/strings/escaping.h"
#include "common/status.h"
#include "common/text.h"
#include "scheduler/store/access_rows.h"
#include "scheduler/store/access_store.h"
#include "scheduler/store/audit_row.h"

namespace tidemark {
namespace {

constexpr std::string_view kColumns =
    "SELECT approval_id, method, encode(request, 'hex'), job_name, namespace, subject, reason, "
    "asked_by, asked_token, asked_at, expires_at, CASE WHEN state = 'WAITING' "
    "AND expires_at <= tidemark_now() THEN 'EXPIRED' ELSE state END, decided_by, decided_at "
    "FROM approval ";

// The same person asks for the same again: it waits already.
constexpr std::string_view kSame =
    "WHERE state = 'WAITING' AND expires_at > tidemark_now() AND method = $1 "
    "AND request = decode($2, 'hex') AND asked_by = $3 LIMIT 1";

constexpr std::string_view kInsert =
    "INSERT INTO approval (approval_id, method, request, job_name, namespace, subject, reason, "
    "asked_by, asked_token, asked_at, expires_at) VALUES ($1, $2, decode($3, 'hex'), $4, "
    "tidemark_namespace_of($4), $5, $6, $7, $8, tidemark_now(), tidemark_now() + interval '1 day')";

constexpr std::string_view kList =
    "WHERE ($1 = '' OR namespace = $1) AND ($2 OR (state = 'WAITING' "
    "AND expires_at > tidemark_now())) ORDER BY asked_at DESC, approval_id LIMIT 1000";

constexpr std::string_view kFind =
    "WHERE ($1 = '' OR namespace = $1) AND starts_with(approval_id::text, $2) "
    "AND (state = 'WAITING' OR length($2) = 36) ORDER BY asked_at DESC LIMIT 2";

constexpr std::string_view kDecide =
    "UPDATE approval SET state = $2, decided_by = $3, decided_at = tidemark_now() "
    "WHERE approval_id = $1 AND state = 'WAITING' AND expires_at > tidemark_now()";

ApprovalRow ReadApproval(const SqlRows& rows, int i) {
  ApprovalRow row;
  row.approval_id = rows.Text(i, 0);
  row.method = rows.Text(i, 1);
  row.request = ToStd(absl::HexStringToBytes(ToAbsl(rows.View(i, 2))));
  row.job = rows.Text(i, 3);
  row.ns = rows.Text(i, 4);
  row.subject = rows.Text(i, 5);
  row.reason = rows.Text(i, 6);
  row.asked_by = rows.Text(i, 7);
  row.asked_token = rows.Text(i, 8);
  row.asked_at = rows.Time(i, 9);
  row.expires_at = rows.Time(i, 10);
  row.state = rows.Text(i, 11);
  row.decided_by = rows.Text(i, 12);
  row.decided_at = rows.OptTime(i, 13);
  return row;
}

absl::StatusOr<SqlRows> Read(SqlTransaction& tx, std::string_view where,
                             const std::vector<SqlParam>& params) {
  return tx.Run(std::string(kColumns) + std::string(where), params);
}

std::string Verb(const std::string& method) { return method.substr(method.find('/') + 1); }

absl::Status AuditApproval(SqlTransaction& tx, const AccessDesk::By& by, const char* action,
                           const ApprovalRow& row, const std::string& after,
                           const std::string& reason) {
  AuditRow audit{by.actor, action, row.job, row.ns, row.approval_id};
  audit.before = row.state;
  audit.after = after;
  audit.reason = reason;
  audit.detail = Verb(row.method) + " " + row.subject + ", asked for by " + row.asked_by;
  return WriteAudit(tx, CallerOf(by), audit);
}

}  // namespace

absl::StatusOr<ApprovalRow> AccessStore::AddApproval(const By& by, const ApprovalRow& approval) {
  ApprovalRow row;
  const std::string request = ToStd(absl::BytesToHexString(ToAbsl(approval.request)));
  const std::string id = NewUuid(clock_.WallNow(), random_);
  TM_RETURN_IF_ERROR(pool_.Transact([&](SqlTransaction& tx) -> absl::Status {
    TM_ASSIGN_OR_RETURN(const SqlRows same, Read(tx, kSame, {approval.method, request, by.actor}));
    if (!same.empty()) {
      row = ReadApproval(same, 0);
      return absl::OkStatus();
    }
    TM_RETURN_IF_ERROR(tx.Run(kInsert, {id, approval.method, request, approval.job,
                                        approval.subject, approval.reason, by.actor, by.token_id})
                           .status());
    TM_ASSIGN_OR_RETURN(const SqlRows made, Read(tx, "WHERE approval_id = $1", {id}));
    if (made.empty()) return absl::AbortedError("the order vanished while it was recorded");
    row = ReadApproval(made, 0);
    ApprovalRow before = row;
    before.state.clear();
    return AuditApproval(tx, by, "approval_ask", before, row.state, row.reason);
  }));
  return row;
}

absl::StatusOr<std::vector<ApprovalRow>> AccessStore::ListApprovals(const By& by, bool all) {
  std::vector<ApprovalRow> approvals;
  TM_RETURN_IF_ERROR(pool_.Transact([&](SqlTransaction& tx) -> absl::Status {
    approvals.clear();
    TM_ASSIGN_OR_RETURN(const SqlRows rows, Read(tx, kList, {by.ns, ToParam(all)}));
    for (int i = 0; i < rows.size(); ++i) approvals.push_back(ReadApproval(rows, i));
    return absl::OkStatus();
  }));
  return approvals;
}

absl::StatusOr<ApprovalRow> AccessStore::FindApproval(const By& by, const std::string& prefix) {
  ApprovalRow row;
  TM_RETURN_IF_ERROR(pool_.Transact([&](SqlTransaction& tx) -> absl::Status {
    TM_ASSIGN_OR_RETURN(const SqlRows rows, Read(tx, kFind, {by.ns, prefix}));
    if (rows.empty()) {
      return absl::NotFoundError(ToAbsl("no order that waits for approval begins with '" +
                                        EscapeControl(prefix) +
                                        "'; tidemark approval list shows them"));
    }
    if (rows.size() > 1) {
      return absl::FailedPreconditionError(
          ToAbsl("several orders begin with '" + prefix + "'; give more of the id"));
    }
    row = ReadApproval(rows, 0);
    return absl::OkStatus();
  }));
  return row;
}

absl::StatusOr<ApprovalRow> AccessStore::Decide(const By& by, const std::string& approval_id,
                                                bool approved, const std::string& reason) {
  ApprovalRow row;
  TM_RETURN_IF_ERROR(pool_.Transact([&](SqlTransaction& tx) -> absl::Status {
    const std::string state = approved ? "APPROVED" : "REFUSED";
    TM_ASSIGN_OR_RETURN(const SqlRows before, Read(tx, kFind, {by.ns, approval_id}));
    if (before.empty()) return absl::NotFoundError("there is no such order");
    TM_ASSIGN_OR_RETURN(const SqlRows changed, tx.Run(kDecide, {approval_id, state, by.actor}));
    TM_ASSIGN_OR_RETURN(const SqlRows after, Read(tx, "WHERE approval_id = $1", {approval_id}));
    row = ReadApproval(after, 0);
    if (changed.affected() == 0) {
      return absl::FailedPreconditionError(
          ToAbsl("the order is " + row.state +
                 (row.decided_by.empty() ? "" : " (by " + row.decided_by + ")") +
                 " already; tidemark approval list --all shows it"));
    }
    return AuditApproval(tx, by, approved ? "approval_approve" : "approval_refuse",
                         ReadApproval(before, 0), state, reason);
  }));
  return row;
}

}  // namespace tidemark
