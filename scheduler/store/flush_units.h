// A flush as units that can be left out one by one when their data is bad.
#ifndef TIDEMARK_SCHEDULER_STORE_FLUSH_UNITS_H_
#define TIDEMARK_SCHEDULER_STORE_FLUSH_UNITS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/engine/ports.h"

namespace tidemark {

// All parts of a job are one unit; what belongs to no job is a unit by its own key.
struct FlushUnit {
  int64_t job_id = 0;  // 0: not a job's
  std::string key;     // "executor …", "alert …", "audit …", "command …", "run …"; "" for jobs

  friend bool operator==(const FlushUnit&, const FlushUnit&) = default;
  friend bool operator<(const FlushUnit& a, const FlushUnit& b) {
    return std::tie(a.job_id, a.key) < std::tie(b.job_id, b.key);
  }
};

std::vector<FlushUnit> UnitsOf(const Flush& flush);  // sorted, each once
Flush Select(const Flush& flush, const std::set<FlushUnit>& units);

// Finds what is to be left out so that the rest can be written. `probe` tries a selection without
// committing it: OK, a data error, or any other error, which ends the search and is returned.
// Needs about (culprits × log2(units)) probes.
absl::Status FindCulprits(const Flush& flush,
                          const std::function<absl::Status(const Flush&)>& probe,
                          std::map<FlushUnit, absl::Status>* culprits);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_FLUSH_UNITS_H_
