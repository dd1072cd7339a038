// What operators ask of the database about the daily check's verdicts.
#ifndef TIDEMARK_SCHEDULER_ENGINE_CHECK_DESK_H_
#define TIDEMARK_SCHEDULER_ENGINE_CHECK_DESK_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"

namespace tidemark {

struct VerdictRow {
  int64_t job_id = 0;
  std::string job;
  std::string ns;
  absl::CivilDay date;
  absl::Time expected_at;
  std::string verdict;
  std::string state;
  absl::Time checked_at;
  std::string run_id;
  std::optional<absl::Time> settled_at;
  std::string pause_reason;  // of a job that is paused now
  std::string paused_by;
};

struct VerdictFilter {
  std::string job;  // name; "": all, as the next
  std::string ns;
  std::optional<absl::CivilDay> from;
  std::optional<absl::CivilDay> to;
  bool late = false;
  int limit = 100;
};

// Implementations are thread-safe; calls block for as long as the database takes. Errors as those
// of OperatorPort.
class CheckDesk {
 public:
  virtual ~CheckDesk() = default;

  // Those expected last first.
  virtual absl::StatusOr<std::vector<VerdictRow>> ListVerdicts(const VerdictFilter& filter) = 0;
  // Of one job's dates, by date.
  virtual absl::StatusOr<std::vector<VerdictRow>> VerdictsOf(
      int64_t job_id, const std::vector<absl::CivilDay>& dates) = 0;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_CHECK_DESK_H_
