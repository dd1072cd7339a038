// The drill (A4): the rehearsal of filling dates again.
#ifndef TIDEMARK_SCHEDULER_ENGINE_DRILLS_H_
#define TIDEMARK_SCHEDULER_ENGINE_DRILLS_H_

#include <string>
#include <vector>

#include "scheduler/engine/state.h"

namespace tidemark {

// Part of the engine; works on State and nothing else, and keeps nothing. Not thread-safe.
//
// The watermarks are deleted, and what their runs had found is remembered, in one flush. What
// fills the dates is the ordinary catch-up.
class Drills {
 public:
  explicit Drills(State& state) : s_(state) {}

  // Carries out `drill` (arguments in commands.h).
  void Carry(const Command& command, JobState& job);

 private:
  void Decide(const Command& command, size_t days, JobState* job, const LedgerResult& ledger);
  std::string WhyNot(const JobState& job, const std::vector<const LedgerEntry*>& dates,
                     bool allow_no_fingerprint) const;

  State& s_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_DRILLS_H_
