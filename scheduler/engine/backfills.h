// Backfills: orders about them, and what the planner must know of them. They open nothing
// themselves: the dates they want are input of the one planner.
#ifndef TIDEMARK_SCHEDULER_ENGINE_BACKFILLS_H_
#define TIDEMARK_SCHEDULER_ENGINE_BACKFILLS_H_

#include <string>
#include <vector>

#include "scheduler/engine/runs.h"
#include "scheduler/engine/state.h"

namespace tidemark {

// Part of the engine; works on State and nothing else. Not thread-safe.
//
// The rows are the truth: what a backfill still wants are its dates less those that its own runs
// in history settled. The engine keeps that in JobState::backfills, as read at the term's start,
// and moves it with each commit.
class Backfills {
 public:
  explicit Backfills(State& state) : s_(state) {}

  void Take(OpenBackfill backfill);  // of the term's snapshot
  // Carries out backfill_create, _pause, _resume or _cancel (arguments in commands.h).
  void Carry(const Command& command, JobState& job);
  void CancelAll(JobState& job, const std::string& why);

  // ---- for the planner

  bool Running(const JobState& job) const;
  // Adds the dates that running ones may want.
  void AddDates(const JobState& job, std::vector<absl::CivilDay>& dates) const;
  // The backfill that wants the date, which is not live, as the ledger has it; "": none.
  std::string WhoWants(const JobState& job, const LedgerEntry& entry) const;
  std::vector<BackfillPace> Paces(const JobState& job) const;
  // Says in the run who asked for it.
  void Credit(const JobState& job, RunRequest& request) const;
  // Ends those for which nothing is left. `input`: what the ledger said of all due dates.
  void EndThoseDone(JobState& job, const CatchUpInput& input);

  // A run ends in the flush that is being collected: what follows for its backfill is in it, too.
  void OnClosing(const ActiveRun& run, RunStatus status, const std::string& why);

 private:
  void Create(const Command& command, JobState& job);
  void Decide(const Command& command, Backfill backfill, JobState* job, const LedgerResult& ledger);
  std::string WhyNot(const JobState& job, const Backfill& backfill) const;
  void Move(const Command& command, JobState& job);
  void Resume(OpenBackfill& backfill) const;
  OpenBackfill* Find(JobState& job, const std::string& backfill_id) const;
  int LiveRuns(const JobState& job, const std::string& backfill_id) const;
  void Write(const Backfill& row);
  void End(JobState& job, OpenBackfill backfill, BackfillState state, const std::string& why);

  State& s_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_BACKFILLS_H_
