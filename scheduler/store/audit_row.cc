#include "scheduler/store/audit_row.h"

#include <string_view>

namespace tidemark {
namespace {

constexpr std::string_view kInsert =
    "INSERT INTO audit (audit_id, at, actor, token_id, peer, action, job_name, namespace, subject, "
    "before, after, reason, detail, command_id) "
    "VALUES (gen_random_uuid(), tidemark_now(), $1, $2, $3, $4, $5, "
    "CASE WHEN $6 = '' THEN tidemark_namespace_of($5) ELSE $6 END, $7, $8, $9, $10, $11, $12)";

}  // namespace

absl::Status WriteAudit(SqlTransaction& tx, const Caller& caller, const AuditRow& row) {
  return tx
      .Run(kInsert,
           {row.actor, caller.token_id, caller.peer, row.action, row.job, row.ns, row.subject,
            row.before, row.after, row.reason, row.detail, NullIfEmpty(row.command_id)})
      .status();
}

}  // namespace tidemark
