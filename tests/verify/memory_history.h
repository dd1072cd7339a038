// The oracle's input from what a memory store kept.
#ifndef TIDEMARK_TESTS_VERIFY_MEMORY_HISTORY_H_
#define TIDEMARK_TESTS_VERIFY_MEMORY_HISTORY_H_

#include <functional>
#include <string>

#include "scheduler/verify/history.h"
#include "tests/engine/harness.h"

namespace tidemark {

// `spec_of` reads a stored definition. The job must exist.
verify::History HistoryOf(const MemoryStore& store, int64_t job_id, absl::Time now,
                          const std::function<JobSpec(const std::string&)>& spec_of);

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_VERIFY_MEMORY_HISTORY_H_
