// A stored job made ready to answer questions: definition, timeline, ledger.
#ifndef TIDEMARK_SCHEDULER_RPC_OPERATOR_JOB_H_
#define TIDEMARK_SCHEDULER_RPC_OPERATOR_JOB_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/core/job.h"
#include "scheduler/core/ledger.h"
#include "scheduler/core/time/timeline.h"
#include "scheduler/engine/operator_port.h"
#include "tidemark/v1/operator.pb.h"

namespace tidemark {

// A value. `error` not empty: the newest definition cannot be used, and timeline is empty.
struct LoadedJob {
  OperatorJob row;
  JobSpec spec;
  v1::JobSpec message;  // canonical; of an unusable definition what can be read of it
  Timeline timeline;
  std::string error;

  bool dated() const { return timeline.dated(); }
  bool opens() const { return !row.paused && spec.enabled && !row.finished && error.empty(); }
};

LoadedJob LoadJob(OperatorJob row);

// The timeline of a stored job with other calendars than its own. Versions that cannot be read are
// left out, as BuildTimeline does with those that cannot be used.
absl::StatusOr<Timeline> TimelineWith(const OperatorJob& row, const CalendarSet* calendars);

// Due dates by `now` that are neither DONE nor WAIVED nor passed at the first launch.
std::vector<absl::CivilDay> UnsettledDates(const LoadedJob& job, absl::Time now);

// The job of that name. NOT_FOUND names the nearest one; INVALID_ARGUMENT for a bad name.
absl::StatusOr<LoadedJob> FindJob(OperatorPort& store, const std::string& name);

// NOT_FOUND for that job, with the nearest name and the command that lists them.
absl::Status NoSuchJob(OperatorPort& store, const std::string& name);

// First biz_date that is accounted for: as recorded, or where it will begin.
absl::CivilDay AccountedFrom(const LoadedJob& job, absl::Time now);

v1::Job JobToProto(const LoadedJob& job, absl::Time now);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_OPERATOR_JOB_H_
