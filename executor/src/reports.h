// Makes the reports of an attempt, with every text within the contract's limits.
#ifndef TIDEMARK_EXECUTOR_SRC_REPORTS_H_
#define TIDEMARK_EXECUTOR_SRC_REPORTS_H_

#include <string>
#include <string_view>

#include "executor/src/core_types.h"

namespace tidemark::exec {

// Bytes, as in executor.proto.
inline constexpr size_t kMaxRefusal = 1024;
inline constexpr size_t kMaxProgressMessage = 1024;
inline constexpr size_t kMaxCheckpoint = 4096;
inline constexpr size_t kMaxFinishMessage = 4096;
inline constexpr size_t kMaxResult = 16384;
inline constexpr size_t kMaxDigest = 128;
inline constexpr size_t kMaxLogChunk = 65536;

v1::RunReport AcceptedReport(const AttemptKey& key, int64_t registration);
v1::RunReport StartedReport(const AttemptKey& key, int64_t registration, absl::Time at);
v1::RunReport RefusedReport(const AttemptKey& key, int64_t registration, v1::Refused::Reason reason,
                            std::string_view message);
v1::RunReport ProgressReport(const AttemptKey& key, int64_t registration,
                             const ProgressUpdate& progress);
v1::RunReport LogReport(const AttemptKey& key, int64_t registration, uint64_t offset,
                        std::string data, bool end);

// Everything of Finished but the outcome's decision.
struct FinishedParts {
  v1::Finished::Outcome outcome = v1::Finished::OUTCOME_UNSPECIFIED;
  std::string message;
  const HandlerResult* result = nullptr;
  std::string checkpoint;
  absl::Time started_at;
  absl::Time finished_at;
};
v1::RunReport FinishedReport(const AttemptKey& key, int64_t registration,
                             const FinishedParts& parts);

// True when `checkpoint` can be kept as it is: at most kMaxCheckpoint bytes of UTF-8 without NUL.
bool CheckpointFits(std::string_view checkpoint);

}  // namespace tidemark::exec

#endif  // TIDEMARK_EXECUTOR_SRC_REPORTS_H_
