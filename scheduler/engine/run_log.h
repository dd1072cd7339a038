// Where the logs of runs go: past the engine, so that log bytes never delay scheduling.
#ifndef TIDEMARK_SCHEDULER_ENGINE_RUN_LOG_H_
#define TIDEMARK_SCHEDULER_ENGINE_RUN_LOG_H_

#include <cstdint>
#include <string>
#include <tuple>

#include "scheduler/core/run.h"

namespace tidemark {

// Of each attempt's log the bytes below this offset are kept.
inline constexpr uint64_t kRunLogLimit = 4u << 20;

// Whose log it is: an attempt as one process had it.
struct RunLogKey {
  AttemptRef attempt;
  std::string executor_id;
  int64_t registration = 0;

  bool operator<(const RunLogKey& other) const {
    return std::tie(attempt, executor_id, registration) <
           std::tie(other.attempt, other.executor_id, other.registration);
  }
};

struct RunLogChunk {
  RunLogKey key;
  uint64_t offset = 0;
  std::string data;  // any bytes, of any size
  bool end = false;  // the log ends behind data
};

// Thread-safe.
class RunLogSink {
 public:
  virtual ~RunLogSink() = default;
  // Never blocks. Takes what there is room for; that the rest existed is noted in the log.
  virtual void Take(RunLogChunk chunk) = 0;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_RUN_LOG_H_
