// What the access service asks of the database: tokens, the audit, orders that wait for a second
// person.
#ifndef TIDEMARK_SCHEDULER_ACCESS_ACCESS_DESK_H_
#define TIDEMARK_SCHEDULER_ACCESS_ACCESS_DESK_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "scheduler/access/token.h"

namespace tidemark {

// A token as admins see it.
struct TokenRow {
  TokenRecord token;  // without its hash
  std::string created_by;
  std::optional<absl::Time> revoked_at;
  std::string revoked_by;
  std::string state;  // VALID, EXPIRED, REVOKED
};

struct ValidTokens {
  std::vector<TokenRecord> tokens;
  absl::Time now;  // of the database
};

struct AuditFilter {
  std::string job;  // "" any, as below
  std::string actor;
  std::string action;
  std::optional<absl::Time> from;
  std::optional<absl::Time> to;
  int limit = 100;
};

struct AuditEntry {
  absl::Time at;
  std::string actor;
  std::string token_id;
  std::string peer;
  std::string action;
  std::string ns;
  std::string job;
  std::string subject;
  std::string before;
  std::string after;
  std::string reason;
  std::string detail;
  std::string outcome;  // of an order: "" while it is open, "OK", or the refusal
};

// An order that waits for a second operator.
struct ApprovalRow {
  std::string approval_id;
  std::string method;   // "OperatorService/WaiveDates"
  std::string request;  // the message as the wire has it
  std::string job;
  std::string ns;
  std::string subject;
  std::string reason;
  std::string asked_by;
  std::string asked_token;
  absl::Time asked_at;
  absl::Time expires_at;
  std::string state;  // WAITING, APPROVED, REFUSED, EXPIRED
  std::string decided_by;
  std::optional<absl::Time> decided_at;
};

// Implementations are thread-safe; calls block for as long as the database takes. Errors as those
// of OperatorPort. What changes something writes to the audit, in the same transaction. Each call
// is for a caller: his namespace bounds what he sees ("": all), the rest is for the audit.
class AccessDesk {
 public:
  struct By {
    std::string ns;
    std::string token_id;
    std::string peer;
    std::string actor;
  };

  virtual ~AccessDesk() = default;

  // Those that are neither revoked nor expired.
  virtual absl::StatusOr<ValidTokens> LoadTokens() = 0;
  // `token.created_at` and `expires_at` are set by it. Returns the row.
  virtual absl::StatusOr<TokenRow> AddToken(const By& by, const TokenRecord& token,
                                            absl::Duration valid_for) = 0;
  // By name, then by creation. `all`: expired and revoked ones, too.
  virtual absl::StatusOr<std::vector<TokenRow>> ListTokens(const By& by, bool all) = 0;
  // NOT_FOUND. One that is revoked already stays as it is.
  virtual absl::StatusOr<TokenRow> RevokeToken(const By& by, const std::string& token_id,
                                               const std::string& reason) = 0;

  // The newest first.
  virtual absl::StatusOr<std::vector<AuditEntry>> ListAudit(const By& by,
                                                            const AuditFilter& filter) = 0;

  // `approval` without times, state and decision. Returns it as it stands; of the same request by
  // the same person that waits already the one that does.
  virtual absl::StatusOr<ApprovalRow> AddApproval(const By& by, const ApprovalRow& approval) = 0;
  virtual absl::StatusOr<std::vector<ApprovalRow>> ListApprovals(const By& by, bool all) = 0;
  // `prefix`: an id or its beginning. NOT_FOUND; FAILED_PRECONDITION: several waiting ones begin
  // so.
  virtual absl::StatusOr<ApprovalRow> FindApproval(const By& by, const std::string& prefix) = 0;
  // WAITING becomes APPROVED or REFUSED, once. FAILED_PRECONDITION: it was decided or is expired.
  virtual absl::StatusOr<ApprovalRow> Decide(const By& by, const std::string& approval_id,
                                             bool approved, const std::string& reason) = 0;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ACCESS_ACCESS_DESK_H_
