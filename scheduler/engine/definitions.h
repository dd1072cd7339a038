// What job definitions mean, computed once for all jobs that state the same.
#ifndef TIDEMARK_SCHEDULER_ENGINE_DEFINITIONS_H_
#define TIDEMARK_SCHEDULER_ENGINE_DEFINITIONS_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/core/job.h"
#include "scheduler/core/time/timeline.h"
#include "scheduler/engine/ports.h"

namespace tidemark {

// How the engine reads texts that the store keeps for it.
struct Decoders {
  std::function<absl::StatusOr<JobSpec>(const std::string& json)> spec;
  std::function<absl::StatusOr<std::map<std::string, std::string>>(const std::string& json)> params;
};

// Immutable, shared by jobs.
struct Definition {
  JobSpec spec;  // the newest version; its name may be missing
  Timeline timeline;

  static const std::shared_ptr<const Definition>& Empty();
};

// Not thread-safe. Remembers a bounded number of definitions: thousands of jobs that differ in
// their names alone are decoded and compiled once.
class Definitions {
 public:
  // `decoders` must outlive it.
  explicit Definitions(const Decoders& decoders) : decoders_(decoders) {}

  // The definition that the row's versions make. On an error *definition has what could be read,
  // with the timeline that it had before.
  absl::Status Compile(const JobRow& row, std::shared_ptr<const Definition>* definition);

 private:
  absl::Status CompileText(const JobRow& row, std::shared_ptr<const Definition>* definition);
  absl::StatusOr<std::shared_ptr<Definition>> Make(
      const JobRow& row, std::shared_ptr<const Definition>* definition) const;

  const Decoders& decoders_;
  std::unordered_map<std::string, std::shared_ptr<const Definition>> known_;  // by KeyOf
  // By JobRow::Version::like, so that not even its text has to be looked at.
  std::unordered_map<std::shared_ptr<const std::string>, std::shared_ptr<const Definition>> read_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_DEFINITIONS_H_
