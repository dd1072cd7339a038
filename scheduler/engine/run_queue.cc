// Who gets the next free executor: what is due now first, then catch-up within its budget.
#include <algorithm>
#include <vector>

#include "scheduler/core/catch_up_budget.h"
#include "scheduler/engine/runs.h"
#include "scheduler/engine/sessions.h"

namespace tidemark {

void Runs::EnterWaiting(const LiveRun& run) {
  AppQueue& queue = s_.waiting[run.row.app];
  if (NeedsSlot(run.row.trigger)) {
    queue.catch_up.emplace(run.row.fire_time, run.row.run_id);
  } else {
    queue.regular[run.row.occurrence.job_id].insert(run.row.run_id);
  }
}

void Runs::LeaveWaiting(const LiveRun& run) {
  const auto it = s_.waiting.find(run.row.app);
  if (it == s_.waiting.end()) return;
  const auto job = it->second.regular.find(run.row.occurrence.job_id);
  if (job != it->second.regular.end()) {
    job->second.erase(run.row.run_id);
    if (job->second.empty()) it->second.regular.erase(job);
  }
  it->second.catch_up.erase({run.row.fire_time, run.row.run_id});
}

void Runs::TakeSlot(const LiveRun& run) {
  if (!NeedsSlot(run.row.trigger)) return;
  if (s_.slots[run.row.app].insert(run.row.run_id).second) ++s_.slots_held;
}

void Runs::FreeSlot(const LiveRun& run) {
  const auto it = s_.slots.find(run.row.app);
  if (it == s_.slots.end() || it->second.erase(run.row.run_id) == 0) return;
  // Other apps may have waited for the node's ceiling.
  if (s_.slots_held-- >= s_.budget.per_node) s_.ceiling_left = true;
}

bool Runs::Ready(const LiveRun& run, const JobState& job) const {
  return run.phase == RunPhase::kWaiting && run.not_before <= s_.now.mono && ItsTurn(run, job);
}

int Runs::SlotsOf(const JobState& job) const {
  return static_cast<int>(
      std::count_if(job.runs.begin(), job.runs.end(), [&](const std::string& run_id) {
        const LiveRun* run = s_.FindRun(run_id);
        // Of the run's own app: an edit may have moved the job to another.
        const auto held = run == nullptr ? s_.slots.end() : s_.slots.find(run->row.app);
        return held != s_.slots.end() && held->second.contains(run_id);
      }));
}

bool Runs::OthersWait(const LiveRun& run) const {
  const auto it = s_.waiting.find(run.row.app);
  if (it == s_.waiting.end()) return false;
  return std::any_of(it->second.catch_up.begin(), it->second.catch_up.end(),
                     [&](const auto& entry) {
                       const LiveRun* other = s_.FindRun(entry.second);
                       if (other == nullptr) return false;
                       const int64_t job_id = other->row.occurrence.job_id;
                       const JobState* job = s_.FindJob(job_id);
                       return job_id != run.row.occurrence.job_id && job != nullptr &&
                              SlotsOf(*job) == 0 && Ready(*other, *job);
                     });
}

bool Runs::WithinBudget(const LiveRun& run, const JobState& job) const {
  if (!NeedsSlot(run.row.trigger)) return true;
  CatchUpLoad load;
  const auto held = s_.slots.find(run.row.app);
  if (held != s_.slots.end()) load.of_app = static_cast<int>(held->second.size());
  load.of_node = s_.slots_held;
  load.of_job = SlotsOf(job);
  load.capacity = s_.session_part->Capacity(run.row.app);
  load.others_wait = load.of_job > 0 && OthersWait(run);
  return MayCatchUp(s_.budget, load);
}

void Runs::AdvanceApp(const std::string& app) {
  const auto it = s_.waiting.find(app);
  if (it != s_.waiting.end()) {
    std::set<std::string> in_turn;  // over all jobs: the oldest first
    for (const auto& [job_id, runs] : it->second.regular) {
      const JobState* job = s_.FindJob(job_id);
      if (job == nullptr) continue;
      for (const std::string& run_id : InTurn(*job)) in_turn.insert(run_id);
    }
    for (const std::string& run_id : in_turn) {
      if (LiveRun* run = s_.FindRun(run_id)) Advance(*run);
    }
    AdvanceCatchUps(app);
  }
  if (!s_.ceiling_left) return;
  s_.ceiling_left = false;
  // The oldest date of all apps first.
  std::vector<std::pair<absl::Time, std::string>> others;
  for (const auto& [name, queue] : s_.waiting) {
    if (name != app && !queue.catch_up.empty()) {
      others.emplace_back(queue.catch_up.begin()->first, name);
    }
  }
  std::sort(others.begin(), others.end());
  for (const auto& [oldest, name] : others) AdvanceCatchUps(name);
}

void Runs::AdvanceCatchUps(const std::string& app) {
  const int slots = SlotsOfApp(s_.budget, s_.session_part->Capacity(app));
  const auto full = [&] {
    return static_cast<int>(s_.slots[app].size()) >= slots || s_.slots_held >= s_.budget.per_node;
  };
  // Jobs without a slot come first: each then has one before any has two.
  for (const bool more : {false, true}) {
    auto& queue = s_.waiting[app].catch_up;
    for (auto it = queue.begin(); it != queue.end() && !full();) {
      LiveRun* run = s_.FindRun((it++)->second);  // starting it takes its entry out
      const JobState* job = run == nullptr ? nullptr : s_.FindJob(run->row.occurrence.job_id);
      if (job != nullptr && (SlotsOf(*job) > 0) == more) Advance(*run);
    }
  }
}

}  // namespace tidemark
