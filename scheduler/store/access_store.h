// The SQL of the access service.
#ifndef TIDEMARK_SCHEDULER_STORE_ACCESS_STORE_H_
#define TIDEMARK_SCHEDULER_STORE_ACCESS_STORE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/clock.h"
#include "common/id.h"
#include "scheduler/access/access_desk.h"
#include "scheduler/store/operator_pool.h"

namespace tidemark {

// AccessDesk on PostgreSQL, with connections of its own. Thread-safe; a call blocks for the
// statement timeout at most. Clock and random must outlive it and be thread-safe.
class AccessStore : public AccessDesk {
 public:
  AccessStore(DatabaseOptions options, Clock& clock, Random& random, int connections = 2)
      : pool_(std::move(options), connections), clock_(clock), random_(random) {}

  absl::StatusOr<ValidTokens> LoadTokens() override;
  absl::StatusOr<TokenRow> AddToken(const By& by, const TokenRecord& token,
                                    absl::Duration valid_for) override;
  absl::StatusOr<std::vector<TokenRow>> ListTokens(const By& by, bool all) override;
  absl::StatusOr<TokenRow> RevokeToken(const By& by, const std::string& token_id,
                                       const std::string& reason) override;
  absl::StatusOr<std::vector<AuditEntry>> ListAudit(const By& by,
                                                    const AuditFilter& filter) override;
  absl::StatusOr<ApprovalRow> AddApproval(const By& by, const ApprovalRow& approval) override;
  absl::StatusOr<std::vector<ApprovalRow>> ListApprovals(const By& by, bool all) override;
  absl::StatusOr<ApprovalRow> FindApproval(const By& by, const std::string& prefix) override;
  absl::StatusOr<ApprovalRow> Decide(const By& by, const std::string& approval_id, bool approved,
                                     const std::string& reason) override;

 private:
  OperatorPool pool_;
  Clock& clock_;
  Random& random_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_ACCESS_STORE_H_
