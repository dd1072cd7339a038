// Which executor gets a run: pure functions of the candidates.
#ifndef TIDEMARK_SCHEDULER_CORE_ROUTING_H_
#define TIDEMARK_SCHEDULER_CORE_ROUTING_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/core/job.h"

namespace tidemark {

// An executor that may take the run: live, of the app, with the handler, the labels and a slot.
struct Candidate {
  std::string_view executor_id;
  int64_t registration = 0;
  int running = 0;
  int capacity = 1;
  uint64_t last_used = 0;  // grows; 0: never
};

// The index of the chosen one, or -1 when there is none. `last_executor`: the job's last one, "" if
// none. `seed`: random bits.
int Route(const std::vector<Candidate>& candidates, RoutingStrategy strategy, int64_t job_id,
          const std::string& last_executor, uint64_t seed);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CORE_ROUTING_H_
