// The SQL of operators' requests about the daily check.
#ifndef TIDEMARK_SCHEDULER_STORE_CHECK_DESK_STORE_H_
#define TIDEMARK_SCHEDULER_STORE_CHECK_DESK_STORE_H_

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/engine/check_desk.h"
#include "scheduler/store/operator_pool.h"

namespace tidemark {

// CheckDesk on PostgreSQL, with connections of its own. Thread-safe.
class CheckDeskStore : public CheckDesk {
 public:
  explicit CheckDeskStore(DatabaseOptions options, int connections = 2)
      : pool_(std::move(options), connections) {}

  absl::StatusOr<std::vector<VerdictRow>> ListVerdicts(const VerdictFilter& filter) override;
  absl::StatusOr<std::vector<VerdictRow>> VerdictsOf(
      int64_t job_id, const std::vector<absl::CivilDay>& dates) override;

 private:
  OperatorPool pool_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_CHECK_DESK_STORE_H_
