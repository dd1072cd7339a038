// Tokens and the audit.
#include "scheduler/store/access_store.h"

#include <utility>

#include "common/status.h"
#include "common/text.h"
#include "scheduler/store/access_rows.h"
#include "scheduler/store/audit_row.h"

namespace tidemark {
namespace {

constexpr std::string_view kLoadTokens =
    "SELECT token_id, token_hash, name, role, namespace, app, created_at, expires_at FROM token "
    "WHERE revoked_at IS NULL AND expires_at > tidemark_now()";

constexpr std::string_view kInsertToken =
    "INSERT INTO token (token_id, token_hash, name, role, namespace, app, created_at, created_by, "
    "expires_at) VALUES ($1, $2, $3, $4, $5, $6, tidemark_now(), $7, "
    "tidemark_now() + make_interval(secs => $8::double precision))";

constexpr std::string_view kTokens =
    "SELECT token_id, name, role, namespace, app, created_at, created_by, expires_at, revoked_at, "
    "revoked_by, CASE WHEN revoked_at IS NOT NULL THEN 'REVOKED' "
    "WHEN expires_at <= tidemark_now() THEN 'EXPIRED' ELSE 'VALID' END FROM token "
    "WHERE ($1 = '' OR namespace = $1) AND ($2 = '' OR token_id = $2) "
    "AND ($3 OR (revoked_at IS NULL AND expires_at > tidemark_now())) "
    "ORDER BY name, created_at, token_id";

constexpr std::string_view kRevoke =
    "UPDATE token SET revoked_at = tidemark_now(), revoked_by = $2 "
    "WHERE token_id = $1 AND revoked_at IS NULL";

// What an order came to is in its command.
constexpr std::string_view kAudit =
    "SELECT a.at, a.actor, a.token_id, a.peer, a.action, a.namespace, a.job_name, a.subject, "
    "a.before, a.after, a.reason, a.detail, a.command_id IS NOT NULL, c.done_at IS NOT NULL, "
    "c.code, CASE WHEN c.code <> 0 OR c.result = '' THEN c.result "
    "ELSE coalesce(c.result::json ->> 'message', 'run ' || (c.result::json ->> 'run_id'), '') END "
    "FROM audit a LEFT JOIN command c ON c.command_id = a.command_id "
    "WHERE ($1 = '' OR a.namespace = $1) AND ($2 = '' OR a.job_name = $2) "
    "AND ($3 = '' OR a.actor = $3) AND ($4 = '' OR a.action = $4) "
    "AND ($5::timestamptz IS NULL OR a.at >= $5) AND ($6::timestamptz IS NULL OR a.at < $6) "
    "ORDER BY a.at DESC, a.audit_id DESC LIMIT $7";

TokenRow ReadToken(const SqlRows& rows, int i) {
  TokenRow row;
  row.token.token_id = rows.Text(i, 0);
  row.token.name = rows.Text(i, 1);
  row.token.role = ParseRole(rows.View(i, 2)).value_or(Role::kNone);
  row.token.ns = rows.Text(i, 3);
  row.token.app = rows.Text(i, 4);
  row.token.created_at = rows.Time(i, 5);
  row.created_by = rows.Text(i, 6);
  row.token.expires_at = rows.Time(i, 7);
  row.revoked_at = rows.OptTime(i, 8);
  row.revoked_by = rows.Text(i, 9);
  row.state = rows.Text(i, 10);
  return row;
}

std::string Describe(const TokenRecord& token) {
  std::string text = "role " + std::string(Name(token.role));
  if (!token.app.empty()) text += ", app " + token.app;
  return text + ", namespace " + (token.ns.empty() ? "all" : token.ns);
}

AuditEntry ReadAudit(const SqlRows& rows, int i) {
  AuditEntry entry;
  entry.at = rows.Time(i, 0);
  entry.actor = rows.Text(i, 1);
  entry.token_id = rows.Text(i, 2);
  entry.peer = rows.Text(i, 3);
  entry.action = rows.Text(i, 4);
  entry.ns = rows.Text(i, 5);
  entry.job = rows.Text(i, 6);
  entry.subject = rows.Text(i, 7);
  entry.before = rows.Text(i, 8);
  entry.after = rows.Text(i, 9);
  entry.reason = rows.Text(i, 10);
  entry.detail = rows.Text(i, 11);
  if (!rows.Bool(i, 12) || !rows.Bool(i, 13)) return entry;
  const std::string said = rows.Text(i, 15);
  if (rows.Int(i, 14) == 0) {
    entry.outcome = "OK";
    if (entry.after.empty()) entry.after = said;
  } else {
    entry.outcome = "refused: " + said;
  }
  return entry;
}

}  // namespace

absl::StatusOr<ValidTokens> AccessStore::LoadTokens() {
  ValidTokens valid;
  TM_RETURN_IF_ERROR(pool_.Transact(
      [&](SqlTransaction& tx) -> absl::Status {
        valid = ValidTokens();
        TM_ASSIGN_OR_RETURN(const SqlRows now, tx.Run("SELECT tidemark_now()"));
        valid.now = now.Time(0, 0);
        TM_ASSIGN_OR_RETURN(const SqlRows rows, tx.Run(kLoadTokens));
        for (int i = 0; i < rows.size(); ++i) {
          const std::optional<Role> role = ParseRole(rows.View(i, 3));
          if (!role.has_value()) continue;  // of a later version: nobody here knows what it may
          valid.tokens.push_back({rows.Text(i, 0), rows.Text(i, 1), rows.Text(i, 2), *role,
                                  rows.Text(i, 4), rows.Text(i, 5), rows.Time(i, 6),
                                  rows.Time(i, 7)});
        }
        return absl::OkStatus();
      },
      Isolation::kReadCommitted));
  return valid;
}

absl::StatusOr<TokenRow> AccessStore::AddToken(const By& by, const TokenRecord& token,
                                               absl::Duration valid_for) {
  TokenRow made;
  TM_RETURN_IF_ERROR(pool_.Transact([&](SqlTransaction& tx) -> absl::Status {
    TM_RETURN_IF_ERROR(tx.Run(kInsertToken, {token.token_id, token.hash, token.name,
                                             std::string(Name(token.role)), token.ns, token.app,
                                             by.actor, ToParam(absl::ToDoubleSeconds(valid_for))})
                           .status());
    TM_ASSIGN_OR_RETURN(const SqlRows rows, tx.Run(kTokens, {"", token.token_id, ToParam(true)}));
    if (rows.empty()) return absl::AbortedError("the token vanished while it was made");
    made = ReadToken(rows, 0);
    AuditRow audit{by.actor, "token_create", "", token.ns, token.token_id};
    audit.after = Describe(token);
    audit.detail = token.name;
    return WriteAudit(tx, CallerOf(by), audit);
  }));
  return made;
}

absl::StatusOr<std::vector<TokenRow>> AccessStore::ListTokens(const By& by, bool all) {
  std::vector<TokenRow> tokens;
  TM_RETURN_IF_ERROR(pool_.Transact([&](SqlTransaction& tx) -> absl::Status {
    tokens.clear();
    TM_ASSIGN_OR_RETURN(const SqlRows rows, tx.Run(kTokens, {by.ns, "", ToParam(all)}));
    for (int i = 0; i < rows.size(); ++i) tokens.push_back(ReadToken(rows, i));
    return absl::OkStatus();
  }));
  return tokens;
}

absl::StatusOr<TokenRow> AccessStore::RevokeToken(const By& by, const std::string& token_id,
                                                  const std::string& reason) {
  TokenRow token;
  TM_RETURN_IF_ERROR(pool_.Transact([&](SqlTransaction& tx) -> absl::Status {
    const std::vector<SqlParam> params = {by.ns, token_id, ToParam(true)};
    TM_ASSIGN_OR_RETURN(const SqlRows before,
                        token_id.empty() ? SqlRows() : tx.Run(kTokens, params));
    if (before.empty()) {
      return absl::NotFoundError(ToAbsl("there is no token '" + EscapeControl(token_id) +
                                        "'; tidemark token list --all shows them"));
    }
    TM_ASSIGN_OR_RETURN(const SqlRows revoked, tx.Run(kRevoke, {token_id, by.actor}));
    TM_ASSIGN_OR_RETURN(const SqlRows after, tx.Run(kTokens, params));
    token = ReadToken(after, 0);
    if (revoked.affected() == 0) return absl::OkStatus();
    AuditRow audit{by.actor, "token_revoke", "", token.token.ns, token_id};
    audit.before = before.Text(0, 10);
    audit.after = "REVOKED";
    audit.reason = reason;
    audit.detail = token.token.name + ", " + Describe(token.token);
    return WriteAudit(tx, CallerOf(by), audit);
  }));
  return token;
}

absl::StatusOr<std::vector<AuditEntry>> AccessStore::ListAudit(const By& by,
                                                               const AuditFilter& filter) {
  std::vector<AuditEntry> entries;
  TM_RETURN_IF_ERROR(pool_.Transact([&](SqlTransaction& tx) -> absl::Status {
    entries.clear();
    TM_ASSIGN_OR_RETURN(
        const SqlRows rows,
        tx.Run(kAudit, {by.ns, filter.job, filter.actor, filter.action, ToParam(filter.from),
                        ToParam(filter.to), ToParam(filter.limit)}));
    for (int i = 0; i < rows.size(); ++i) entries.push_back(ReadAudit(rows, i));
    return absl::OkStatus();
  }));
  return entries;
}

}  // namespace tidemark
