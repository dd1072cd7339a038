// Definitions of jobs for operators: apply, look, next fires.
#ifndef TIDEMARK_SCHEDULER_RPC_OPERATOR_JOBS_H_
#define TIDEMARK_SCHEDULER_RPC_OPERATOR_JOBS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/clock.h"
#include "common/id.h"
#include "scheduler/engine/operator_port.h"
#include "scheduler/rpc/dependencies.h"
#include "scheduler/rpc/operator_job.h"
#include "scheduler/rpc/schedule_edit.h"
#include "tidemark/v1/operator.pb.h"

namespace tidemark {

// Answers requests; blocks for the database. Thread-safe, without state. What it is given must
// outlive it.
class OperatorJobs {
 public:
  OperatorJobs(OperatorPort& store, Clock& clock, Random& random)
      : store_(store), clock_(clock), random_(random) {}

  // `changed`: something was written, the engine should look.
  absl::Status Apply(const v1::ApplyJobsRequest& request, v1::ApplyJobsResponse* response,
                     bool* changed);
  absl::Status List(const v1::ListJobsRequest& request, v1::ListJobsResponse* response);
  absl::Status Get(const v1::GetJobRequest& request, v1::Job* response);
  absl::Status Next(const v1::NextFiresRequest& request, v1::NextFiresResponse* response);

 private:
  // A requested job, checked, beside what is stored of that name.
  struct Draft {
    JobSpec spec;
    std::shared_ptr<const Schedule> schedule;
    std::optional<LoadedJob> current;
    absl::Time valid_from;     // the instant at which it is judged
    int calendar_version = 0;  // of the calendar that it names
    ScheduleEdit edit;
    v1::AppliedJob applied;
  };

  absl::StatusOr<std::vector<Draft>> ReadDrafts(const v1::ApplyJobsRequest& request);
  // Only dates can be waited for.
  absl::Status CheckTracking(const std::vector<Draft>& drafts, const StoredUpstreams& stored);
  absl::Status Compile(std::vector<Draft>* drafts);
  absl::Status UnknownCalendar(const std::string& name);
  absl::Status Compare(Draft* draft, GapChoice choice);
  absl::Status Judge(Draft* draft, GapChoice choice);
  void WarnOfSettled(Draft* draft);
  absl::Status AddWarnings(Draft* draft);
  std::vector<JobWrite> Writes(const std::vector<Draft>& drafts,
                               const std::map<int64_t, int>& versions);

  OperatorPort& store_;
  Clock& clock_;
  Random& random_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_OPERATOR_JOBS_H_
