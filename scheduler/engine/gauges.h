// Where the engine stands, for metrics.
#ifndef TIDEMARK_SCHEDULER_ENGINE_GAUGES_H_
#define TIDEMARK_SCHEDULER_ENGINE_GAUGES_H_

#include "scheduler/engine/state.h"
#include "scheduler/engine/tally.h"

namespace tidemark {

// Looks at every executor and at what waits, not at every job or run.
EngineGauges GaugesOf(const State& state);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_GAUGES_H_
