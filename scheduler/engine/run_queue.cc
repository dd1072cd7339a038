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

void Runs::EnterWaiting(LiveRun& run) {
  if (run.waiting) return;
  run.waiting = true;
  AppQueue& queue = s_.waiting[run.row.app];
  if (!NeedsSlot(run.row.trigger)) {
    ++queue.regular;
    return;
  }
  ++queue.catch_ups;
  ChangeCatchUp(queue, run.row.occurrence.job_id,
                [&](auto& runs) { runs.emplace(run.row.fire_time, run.row.run_id); });
}

void Runs::LeaveWaiting(LiveRun& run) {
  if (!run.waiting) return;
  run.waiting = false;
  LeaveReady(run);
  AppQueue& queue = s_.waiting[run.row.app];
  if (!NeedsSlot(run.row.trigger)) {
    --queue.regular;
    return;
  }
  --queue.catch_ups;
  ChangeCatchUp(queue, run.row.occurrence.job_id,
                [&](auto& runs) { runs.erase({run.row.fire_time, run.row.run_id}); });
}

void Runs::LetBeReady(LiveRun& run, const JobState& job) {
  if (NeedsSlot(run.row.trigger) || !run.ready_under.empty()) return;
  run.ready_under = Sessions::NeedOf(run, job);
  s_.waiting[run.row.app].ready[run.ready_under].insert(run.row.run_id);
}

void Runs::LeaveReady(LiveRun& run) {
  if (run.ready_under.empty()) return;
  AppQueue& queue = s_.waiting[run.row.app];
  const auto under = queue.ready.find(run.ready_under);
  run.ready_under.clear();
  under->second.erase(run.row.run_id);
  if (under->second.empty()) queue.ready.erase(under);
}

// Over all needs the oldest first, until none of them finds an executor.
void Runs::AdvanceReady(AppQueue& queue) {
  std::map<std::string, std::string> heads;  // of each need that may still be met: run_id → need
  for (const auto& [need, runs] : queue.ready) heads.emplace(*runs.begin(), need);
  while (!heads.empty()) {
    const auto [run_id, need] = *heads.begin();
    heads.erase(heads.begin());
    LiveRun* run = s_.FindRun(run_id);
    const JobState* job = run == nullptr ? nullptr : s_.FindJob(run->row.occurrence.job_id);
    bool on = true;
    if (run != nullptr && (job == nullptr || !Ready(*run, *job))) {
      LeaveReady(*run);  // whoever makes it ready again advances it
    } else if (run != nullptr) {
      Advance(*run);
      // Another one may be taken by executors that this one is to avoid for now.
      on = run->phase != RunPhase::kWaiting ||
           std::any_of(run->avoid.begin(), run->avoid.end(),
                       [&](const auto& executor) { return executor.second > s_.now.mono; });
    }
    const auto under = queue.ready.find(need);
    if (!on || under == queue.ready.end()) continue;
    const auto next = under->second.upper_bound(run_id);
    if (next != under->second.end()) heads.emplace(*next, need);
  }
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
    for (const std::string& run_id : run_ids) held += job.runs().contains(run_id) ? 1 : 0;
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
  if (it != s_.waiting.end() && s_.session_part->AnyRoom(app)) {
    AdvanceReady(it->second);
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
