// What happens to an occurrence that comes due while runs of its job are live (R1).
#ifndef TIDEMARK_SCHEDULER_CORE_BLOCKING_H_
#define TIDEMARK_SCHEDULER_CORE_BLOCKING_H_

#include <string>

#include "scheduler/core/job.h"

namespace tidemark {

struct BlockingDecision {
  enum class Kind {
    kOpen,   // it is made, and waits for its turn where the policy says so
    kSkip,   // a SKIPPED row, nothing is sent
    kCover,  // made; what is live is cancelled, and it starts when that is released
  };
  Kind kind = Kind::kOpen;
  std::string reason;  // of kSkip: "blocked" or "queue_full"
};

// `live`: runs of the job that have not ended, queued ones included. Decided at the moment of
// launch, by the policy that is in force then.
BlockingDecision DecideBlocking(const BlockingRule& rule, int live);

// How many runs of the job may have an attempt at once.
int RunsAtOnce(const JobSpec& spec, bool dated);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CORE_BLOCKING_H_
