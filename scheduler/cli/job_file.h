// Job files: YAML into JobSpec messages.
#ifndef TIDEMARK_SCHEDULER_CLI_JOB_FILE_H_
#define TIDEMARK_SCHEDULER_CLI_JOB_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tidemark/v1/job.pb.h"

namespace tidemark {

// The jobs of a YAML text of one or more documents, each {jobs: [...]}. Keys are the field names of
// JobSpec; durations are texts as 5m, instants RFC 3339. kInvalidArgument has one line for each
// problem, as "FILE:LINE: schedule.zoone: unknown key; did you mean 'zone'?"; bounds and the
// meaning of values are the server's to judge. `name` is the file's for messages.
absl::StatusOr<std::vector<v1::JobSpec>> ParseJobFile(std::string_view yaml,
                                                      const std::string& name);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CLI_JOB_FILE_H_
