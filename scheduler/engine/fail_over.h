// After a fail-over of the database: commits may be lost, so nothing is sent to an app before those
// of its executors that were up have said what they run (N2).
#ifndef TIDEMARK_SCHEDULER_ENGINE_FAIL_OVER_H_
#define TIDEMARK_SCHEDULER_ENGINE_FAIL_OVER_H_

#include <string>

#include "scheduler/engine/ports.h"
#include "scheduler/engine/state.h"

namespace tidemark {

// Part of the engine; works on State and nothing else. Not thread-safe.
class FailOver {
 public:
  explicit FailOver(State& state) : s_(state) {}

  // Shards are being taken. Executors that have a stream to this node are asked again.
  void Begin(const Snapshot& snapshot);
  // The executor has said what it has, and that was dealt with.
  void OnHello(const ExecutorSession& session);

  // Whether runs of the job have to wait. Whoever was not heard of for lost_after has stopped what
  // could be stopped.
  bool Holds(const JobState& job) const;
  // Monotonic end of that, at the latest.
  absl::Duration Until(const JobState& job) const;
  std::string WhyHeld(const JobState& job) const;  // for people

 private:
  State& s_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_FAIL_OVER_H_
