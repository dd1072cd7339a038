// How fast a run gets on.
#ifndef TIDEMARK_SCHEDULER_CLI_RUN_RATE_H_
#define TIDEMARK_SCHEDULER_CLI_RUN_RATE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/time/time.h"

namespace tidemark {

// The progress as it was at one look.
struct ProgressSample {
  absl::Duration at;  // of any monotonic clock
  uint32_t attempt = 0;
  double percent = -1;  // negative: not said
};

struct ProgressRate {
  double percent_per_minute = 0;      // ≥ 0; 0: stalled
  std::optional<absl::Duration> eta;  // none when stalled
};

// The rate over the last minute of `samples` (oldest first), as far back as they belong to the same
// attempt and never went backwards. nullopt while they say too little: no percentage, less than a
// second, or less than half a minute without a step forward.
std::optional<ProgressRate> RateOf(const std::vector<ProgressSample>& samples);

// Drops what RateOf would not look at.
void ForgetOldSamples(std::vector<ProgressSample>* samples);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CLI_RUN_RATE_H_
