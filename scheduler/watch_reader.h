// Reads the texts of jobs for the watch, which knows nothing of their coding.
#ifndef TIDEMARK_SCHEDULER_WATCH_READER_H_
#define TIDEMARK_SCHEDULER_WATCH_READER_H_

#include "scheduler/engine/watch_port.h"
#include "scheduler/watch/judge.h"

namespace tidemark {

// Versions that cannot be read are left out, as the scheduler leaves them out.
watch::Job ReadWatchJob(const WatchJob& job);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_WATCH_READER_H_
