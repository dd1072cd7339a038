// What a seed does to the world.
#include <cmath>
#include <utility>

#include "common/time_text.h"
#include "tests/sim/simulation.h"

namespace tidemark::sim {
namespace {

constexpr absl::Duration kBetweenFaults = absl::Minutes(12);
constexpr absl::Duration kNoticeCut = absl::Seconds(15);  // keepalive on both sides
constexpr absl::Duration kStall = absl::Seconds(14);
constexpr double kFocus = 0.06;  // of the moments of a run that draw a fault

}  // namespace

const std::vector<std::string>& RunStates() {
  static const auto& states =
      *new std::vector<std::string>{"idle", "waiting", "sent", "running", "finished", "committing"};
  return states;
}

// ---------------------------------------------------------------- when

void Simulation::PlanFault() {
  queue_.After(kBetweenFaults * -std::log(1 - random_.Uniform()), [this] {
    if (!faults_on_) return;
    Fault();
    PlanFault();
  });
}

void Simulation::Focus() {
  if (!faults_on_ || random_.Uniform() >= kFocus) return;
  const double luck = random_.Uniform();
  queue_.After(absl::Seconds(3) * luck * luck * luck, [this] {
    if (faults_on_) Fault();
  });
}

void Simulation::Fault() {
  static constexpr FaultMethod kFaults[] = {&Simulation::KillNode,
                                            &Simulation::KillNode,
                                            &Simulation::KillAllNodes,
                                            &Simulation::StopNode,
                                            &Simulation::SuspendNode,
                                            &Simulation::SuspendNode,
                                            &Simulation::DrainNode,
                                            &Simulation::CutNodeFromDatabase,
                                            &Simulation::CutNodeFromDatabase,
                                            &Simulation::CutNodeFromExecutors,
                                            &Simulation::SplitNetwork,
                                            &Simulation::SplitNetwork,
                                            &Simulation::StallLinks,
                                            &Simulation::FailOver,
                                            &Simulation::KillExecutor,
                                            &Simulation::KillExecutor,
                                            &Simulation::CutLink,
                                            &Simulation::CutLink,
                                            &Simulation::DrainExecutor,
                                            &Simulation::FillDisk,
                                            &Simulation::StartTwin,
                                            &Simulation::StepClock,
                                            &Simulation::DeleteWatermark,
                                            &Simulation::DeleteRunningWatermark,
                                            &Simulation::OrderCancel,
                                            &Simulation::OrderRerun,
                                            &Simulation::OrderBackfill,
                                            &Simulation::MoveBackfill,
                                            &Simulation::OrderDrill,
                                            &Simulation::PauseJob,
                                            &Simulation::EditJob,
                                            &Simulation::EditOffset,
                                            &Simulation::EditAfter,
                                            &Simulation::EditCalendar,
                                            &Simulation::DeleteJob,
                                            &Simulation::Waive};
  (this->*kFaults[random_.Next() % std::size(kFaults)])();
}

std::string Simulation::StateOf(const ActiveRun& run) const {
  for (const auto& executor : executors_) {
    if (executor->Inside(run.run_id)) return "running";
  }
  for (const auto& executor : executors_) {
    if (executor->Unacknowledged(run.run_id)) return "finished";
  }
  return run.executor_id.empty() ? "waiting" : "sent";
}

void Simulation::Count(const std::string& kind, const std::string& detail) {
  ++report_.faults[kind];
  Trace(kind + (detail.empty() ? "" : ": " + detail));
  auto& states = report_.matrix[kind];
  if (Store().active.empty()) ++states["idle"];
  for (const auto& [key, run] : Store().active) ++states[StateOf(run)];
  if (primary_->open() > 0) ++states["committing"];
}

SimExecutor& Simulation::AnyExecutor() { return *executors_[random_.Next() % executors_.size()]; }

std::pair<std::string, int64_t> Simulation::AnyJob() {
  auto it = job_ids_.begin();
  std::advance(it, static_cast<int64_t>(random_.Next() % job_ids_.size()));
  return *it;
}

// ---------------------------------------------------------------- processes and machines

void Simulation::RestartExecutor(SimExecutor& executor, absl::Duration after) {
  queue_.After(after, [this, &executor] {
    if (executor.alive() || !executor.comes_back) return;
    Trace("executor started: " + executor.id());
    executor.Start();
  });
}

void Simulation::KillExecutor() {
  SimExecutor& executor = AnyExecutor();
  if (!executor.alive()) return;
  Count("executor killed", executor.id());
  executor.Kill();
  RestartExecutor(executor, absl::Seconds(1 + 600 * random_.Uniform() * random_.Uniform()));
}

void Simulation::DrainExecutor() {
  SimExecutor& executor = AnyExecutor();
  if (!executor.alive()) return;
  Count("executor drained (SIGTERM)", executor.id());
  executor.Stop();
  if (random_.Uniform() < 0.3) {
    queue_.After(absl::Seconds(30) * random_.Uniform(), [&executor] { executor.Stop(); });
  }
}

void Simulation::FillDisk() {
  SimExecutor& executor = AnyExecutor();
  Count("disk full", executor.id());
  executor.FillDisk();
  queue_.After(absl::Minutes(10) * random_.Uniform(), [&executor] { executor.FreeDisk(); });
}

// Another process with the id of e1 starts beside it, and ends after a while.
void Simulation::StartTwin() {
  SimExecutor& twin = *executors_.back();
  if (twin.alive()) return;
  Count("two processes with one id");
  twin.Start();
  queue_.After(absl::Minutes(15) * random_.Uniform(), [&twin] { twin.Kill(); });
}

// From one node, or from all.
void Simulation::CutLink() {
  SimExecutor& executor = AnyExecutor();
  const bool all = random_.Uniform() < 0.5;
  const std::string& name = AnyNode().name();
  const bool minutes = random_.Uniform() < (executor.interruptible() ? 0.3 : 0.6);
  // What cannot be stopped is waited for: a contact lost for long frees nothing.
  const bool hours = minutes && !executor.interruptible() && random_.Uniform() < 0.5;
  std::vector<StreamId> cut;
  for (auto& [stream, link] : links_) {
    if (link.executor != &executor || link.cut || link.closed) continue;
    if (all || link.node->name() == name) cut.push_back(stream);
  }
  if (cut.empty()) return;
  Count(std::string(hours     ? "executor unreachable for hours"
                    : minutes ? "executor unreachable for minutes"
                              : "link cut") +
            (nodes_.size() > 1 && !all ? ", from one node" : ""),
        executor.id() + (all ? "" : " from " + name));
  const absl::Duration until =
      queue_.now() + (hours ? absl::Hours(2) : absl::Minutes(20)) * random_.Uniform();
  for (const auto& node : nodes_) {
    if (minutes && (all || node->name() == name)) {
      unreachable_until_[{executor.id(), node->name()}] = until;
    }
  }
  CutStreams(cut);
}

// Nothing gets through any more; both sides notice after a while.
void Simulation::CutStreams(const std::vector<StreamId>& streams) {
  for (const StreamId stream : streams) {
    links_.at(stream).cut = true;
    queue_.After(kNoticeCut * random_.Uniform(), [this, stream] { Break(stream); });
  }
}

// Bytes of one executor are late, in their order, by less than what makes anybody give up.
void Simulation::StallLinks() {
  SimExecutor& executor = AnyExecutor();
  const bool full = random_.Uniform() < 0.4;
  Count(full ? "links stalled, disk full meanwhile" : "links stalled", executor.id());
  if (full) {
    executor.FillDisk();
    queue_.After(kStall * random_.Uniform(), [&executor] { executor.FreeDisk(); });
  }
  for (auto& [stream, link] : links_) {
    if (link.executor != &executor || random_.Uniform() < 0.3) continue;
    const absl::Duration until = queue_.now() + kStall * random_.Uniform();
    if (random_.Uniform() < 0.7) link.last_to_executor = std::max(link.last_to_executor, until);
    if (random_.Uniform() < 0.7) link.last_to_node = std::max(link.last_to_node, until);
  }
}

}  // namespace tidemark::sim
