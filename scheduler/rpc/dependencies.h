// Dependencies between jobs, as operators state and see them: checked at apply, shown as a chain.
#ifndef TIDEMARK_SCHEDULER_RPC_DEPENDENCIES_H_
#define TIDEMARK_SCHEDULER_RPC_DEPENDENCIES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/civil_time.h"
#include "scheduler/core/dependency.h"
#include "scheduler/engine/operator_port.h"
#include "scheduler/rpc/operator_job.h"
#include "tidemark/v1/operator.pb.h"

namespace tidemark {

// What the check of an apply found of jobs that are not part of it.
struct StoredUpstreams {
  std::map<std::string, LoadedJob> jobs;  // all that the given ones wait for, directly or not
  std::map<int64_t, int> versions;        // of them, by job_id
};

// Reads what `specs` wait for, directly or not. INVALID_ARGUMENT: an unknown job (with the nearest
// name), a circle (which is named).
absl::StatusOr<StoredUpstreams> CheckAfter(OperatorPort& store,
                                           const std::vector<const JobSpec*>& specs);

// The jobs whose definition in force waits for that one, as "a, b"; "" when none does.
absl::StatusOr<std::string> DependentsOf(OperatorPort& store, const std::string& job);

// Adds the chain that the job is part of, upstream first; nothing when it stands alone.
absl::Status AddChain(OperatorPort& store, const LoadedJob& job, absl::Time now, v1::Job* out);

// Of the job's due dates those that wait for another job's, with the first that holds them back.
absl::StatusOr<std::map<absl::CivilDay, UpstreamDate>> WaitingDates(
    OperatorPort& store, const LoadedJob& job, const std::vector<Occurrence>& due);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_DEPENDENCIES_H_
