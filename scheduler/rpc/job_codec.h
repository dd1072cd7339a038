// Job definitions between their forms: the JobSpec message, the core's JobSpec, the stored text.
#ifndef TIDEMARK_SCHEDULER_RPC_JOB_CODEC_H_
#define TIDEMARK_SCHEDULER_RPC_JOB_CODEC_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "scheduler/core/job.h"
#include "scheduler/core/time/schedule.h"
#include "tidemark/v1/job.pb.h"

namespace tidemark {

// Checks every bound that job.proto states and fills in the defaults. kInvalidArgument lists all
// fields that are wrong, by their path in the job file: "schedule.zone: …; retry.jitter: …". Zone
// and cron are only known to be good after CompileJob.
absl::StatusOr<JobSpec> JobSpecFromProto(const v1::JobSpec& message);

// The canonical message: what equals its default is left out, so equal specs give equal messages.
v1::JobSpec JobSpecToProto(const JobSpec& spec);

// Compiles the schedule and applies the rules between fields (CheckPolicies). `calendar` is the
// version in force when the spec names one, else null. Reads zone files.
absl::StatusOr<std::shared_ptr<const Schedule>> CompileJob(
    const JobSpec& spec, std::shared_ptr<const Calendar> calendar = nullptr);

// The text of job_version.spec: the canonical message as JSON. Equal specs give equal texts.
std::string EncodeJobSpec(const JobSpec& spec);
// kInvalidArgument when the text is no JobSpec, or one that a bound refuses. Thread-safe.
absl::StatusOr<JobSpec> DecodeJobSpec(std::string_view json);

// Overrides of a run's parameters as text, and back: a JSON object of texts; "" for none.
std::string EncodeParams(const std::map<std::string, std::string>& params);
absl::StatusOr<std::map<std::string, std::string>> DecodeParams(std::string_view json);

// One field that differs.
struct FieldDiff {
  std::string path;    // as in the job file: "schedule.cron", "params.bills"
  std::string before;  // "" when it was not set
  std::string after;   // "" when it is no longer set
};
// What differs between two canonical messages, by path.
std::vector<FieldDiff> DiffJobSpecs(const v1::JobSpec& before, const v1::JobSpec& after);

// What an accepted job may still surprise with, each one sentence.
std::vector<std::string> JobWarnings(const JobSpec& spec, const Schedule& schedule, absl::Time now);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_JOB_CODEC_H_
