// Orders about the dates of a job that no run carries out: a person's word on what became of them.
#ifndef TIDEMARK_SCHEDULER_ENGINE_DATE_ORDERS_H_
#define TIDEMARK_SCHEDULER_ENGINE_DATE_ORDERS_H_

#include <functional>
#include <string>
#include <vector>

#include "scheduler/engine/state.h"

namespace tidemark {

// Part of the engine; works on State and nothing else. Not thread-safe.
//
// Nothing is written while a run of the date is live, or without knowing what stood there before:
// each change has its audit row with both. Afterwards the gap is looked at again.
class DateOrders {
 public:
  explicit DateOrders(State& state) : s_(state) {}

  // Carries out waive, force_done or unwaive (arguments in commands.h).
  void Carry(const Command& command, JobState& job);
  // Waives every due date that is neither settled nor live, then calls `then`; on a failure the
  // order is refused and `then` is not called.
  void WaiveMissed(const Command& command, JobState& job, std::function<void(JobState&)> then);

 private:
  struct Range;
  std::string ReadRange(const Command& command, JobState& job, Range& range);
  std::string WhyLive(const JobState& job, const std::vector<absl::CivilDay>& dates) const;
  void Decide(const Command& command, const Range& range, JobState* job,
              const LedgerResult& ledger);
  void Change(JobState& job, const LedgerEntry& entry, const std::string& status,
              const std::string& actor, const std::string& words, const std::string& action);

  State& s_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_DATE_ORDERS_H_
