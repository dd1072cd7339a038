// Who gets the next free executor: what is due now first, then catch-up within its budget.
#include <algorithm>
#include <vector>

#include "scheduler/core/catch_up_budget.h"
#include "scheduler/engine/runs.h"
#include "scheduler/engine/sessions.h"

namespace tidemark {

namespace {

// Changes what waits of one job, and keeps its place among the jobs.
template <typename Change>
void ChangeCatchUp(AppQueue& queue, int64_t job_id, const Change& change) {
  auto& runs = queue.catch_up[job_id];
  if (!runs.empty()) queue.oldest.erase({runs.begin()->first, job_id});
  change(runs);
  if (runs.empty()) {
    queue.catch_up.erase(job_id);
  } else {
    queue.oldest.emplace(runs.begin()->first, job_id);
  }
}

}  // namespace

void Runs::EnterWaiting(const LiveRun& run) {
  AppQueue& queue = s_.waiting[run.row.app];
  const int64_t job_id = run.row.occurrence.job_id;
  if (NeedsSlot(run.row.trigger)) {
    ChangeCatchUp(queue, job_id,
                  [&](auto& runs) { runs.emplace(run.row.fire_time, run.row.run_id); });
  } else {
    queue.regular[job_id].insert(run.row.run_id);
  }
}

void Runs::LeaveWaiting(const LiveRun& run) {
  const auto it = s_.waiting.find(run.row.app);
  if (it == s_.waiting.end()) return;
  AppQueue& queue = it->second;
  const int64_t job_id = run.row.occurrence.job_id;
  if (NeedsSlot(run.row.trigger)) {
    ChangeCatchUp(queue, job_id,
                  [&](auto& runs) { runs.erase({run.row.fire_time, run.row.run_id}); });
    return;
  }
  const auto job = queue.regular.find(job_id);
  if (job == queue.regular.end()) return;
  job->second.erase(run.row.run_id);
  if (job->second.empty()) queue.regular.erase(job);
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
  int held = 0;
  for (const auto& [app, run_ids] : s_.slots) {  // all of the node: a few dozen
    for (const std::string& run_id : run_ids) held += job.runs.contains(run_id) ? 1 : 0;
  }
  return held;
}

bool Runs::OthersWait(const LiveRun& run) const {
  const auto it = s_.waiting.find(run.row.app);
  if (it == s_.waiting.end()) return false;
  return std::any_of(it->second.oldest.begin(), it->second.oldest.end(), [&](const auto& entry) {
    const JobState* job = s_.FindJob(entry.second);
    if (job == nullptr || entry.second == run.row.occurrence.job_id || SlotsOf(*job) > 0) {
      return false;
    }
    const std::vector<std::string> in_turn = InTurn(*job);
    return std::any_of(in_turn.begin(), in_turn.end(), [&](const std::string& run_id) {
      const LiveRun* other = s_.FindRun(run_id);
      return other != nullptr && NeedsSlot(other->row.trigger) && Ready(*other, *job);
    });
  });
}

bool Runs::WithinBudget(const LiveRun& run, const JobState& job) const {
  if (!NeedsSlot(run.row.trigger)) return true;
  CatchUpLoad load;
  const auto held = s_.slots.find(run.row.app);
  if (held != s_.slots.end()) load.of_app = static_cast<int>(held->second.size());
  load.of_node = s_.slots_held;
  load.capacity = s_.session_part->Capacity(run.row.app);
  if (!MayCatchUp(s_.budget, load)) return false;  // whoever else waits
  load.of_job = SlotsOf(job);
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
    if (name != app && !queue.oldest.empty()) {
      others.emplace_back(queue.oldest.begin()->first, name);
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
    const auto& oldest = s_.waiting[app].oldest;
    for (auto it = oldest.begin(); it != oldest.end() && !full();) {
      const auto [fire_time, job_id] = *it;
      const JobState* job = s_.FindJob(job_id);
      if (job != nullptr && (SlotsOf(*job) > 0) == more) {
        for (const std::string& run_id : InTurn(*job)) {
          LiveRun* run = s_.FindRun(run_id);
          if (run != nullptr && NeedsSlot(run->row.trigger)) Advance(*run);
        }
      }
      it = oldest.upper_bound({fire_time, job_id});  // what started left its place
    }
  }
}

}  // namespace tidemark
