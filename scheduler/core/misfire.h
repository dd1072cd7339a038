// Interval jobs: which of the fires since the cursor are run, and which are skipped (C6).
#ifndef TIDEMARK_SCHEDULER_CORE_MISFIRE_H_
#define TIDEMARK_SCHEDULER_CORE_MISFIRE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "scheduler/core/catch_up.h"
#include "scheduler/core/job.h"
#include "scheduler/core/run.h"
#include "scheduler/core/time/timeline.h"

namespace tidemark {

struct FirePlan {
  struct Launch {
    Occurrence occurrence;
    TriggerType trigger = TriggerType::kSchedule;
  };
  struct Skip {
    absl::Time from;
    absl::Time to;
    int64_t fires = 0;
    std::string reason;  // "misfire", "window" or "cap"
  };
  std::vector<Launch> launch;  // oldest first
  std::vector<Skip> skip;
  std::optional<absl::Time> cursor;  // the last fire dealt with; unset: none was due
};

// Deals with every fire in (cursor, now]. Those later than the tolerance are missed: of them
// fire_once runs the latest, fire_all the latest `cap`, skip none; those before now − window never.
FirePlan PlanFires(const Timeline& timeline, absl::Time cursor, absl::Time now,
                   const MisfireRule& rule);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CORE_MISFIRE_H_
