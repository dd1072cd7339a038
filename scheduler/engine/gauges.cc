#include "scheduler/engine/gauges.h"

namespace tidemark {
namespace {

void AddExecutor(const State& state, const ExecutorSession& session, EngineGauges::App& app) {
  app.slots_used += static_cast<int>(session.runs.size());
  if (session.left) return;
  if (!session.connected || state.now.mono - session.last_beat >= state.times.lease) {
    ++app.executors_lost;
  } else if (session.draining || session.drained) {
    ++app.executors_draining;
  } else {
    ++app.executors_up;
    app.slots += session.hello.capacity;
  }
}

}  // namespace

EngineGauges GaugesOf(const State& state) {
  EngineGauges gauges;
  gauges.active = state.active;
  gauges.holding = state.holding;
  gauges.shards = static_cast<int>(state.shards.size());
  gauges.jobs = state.jobs.size();
  gauges.live_runs = state.runs.size();
  gauges.streams = state.streams.size();
  for (const auto& [executor_id, entry] : state.executors) {
    if (!entry.current) continue;
    AddExecutor(state, *entry.current, gauges.apps[entry.current->hello.app]);
  }
  for (const auto& [name, queue] : state.waiting) {
    const int waiting = queue.regular + queue.catch_ups;
    if (waiting == 0 && !gauges.apps.contains(name)) continue;
    gauges.apps[name].waiting = waiting;
    gauges.apps[name].catch_up_waiting = queue.catch_ups;
  }
  for (const auto& [name, run_ids] : state.slots) {
    if (!run_ids.empty()) {
      gauges.apps[name].catch_up_slots_used = static_cast<int>(run_ids.size());
    }
  }
  return gauges;
}

}  // namespace tidemark
