// What a seed does to the world.
#include <cmath>
#include <utility>

#include "common/time_text.h"
#include "tests/sim/simulation.h"

namespace tidemark::sim {
namespace {

constexpr absl::Duration kBetweenFaults = absl::Minutes(12);
constexpr absl::Duration kNoticeCut = absl::Seconds(15);  // keepalive on both sides
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
  static constexpr FaultMethod kFaults[] = {&Simulation::KillScheduler,
                                            &Simulation::KillScheduler,
                                            &Simulation::KillExecutor,
                                            &Simulation::KillExecutor,
                                            &Simulation::CutLink,
                                            &Simulation::CutLink,
                                            &Simulation::DrainExecutor,
                                            &Simulation::FillDisk,
                                            &Simulation::StartTwin,
                                            &Simulation::SuspendScheduler,
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
  if (store_.active.empty()) ++states["idle"];
  for (const auto& [key, run] : store_.active) ++states[StateOf(run)];
  if (scheduler_->Committing()) ++states["committing"];
}

SimExecutor& Simulation::AnyExecutor() { return *executors_[random_.Next() % executors_.size()]; }

std::pair<std::string, int64_t> Simulation::AnyJob() {
  auto it = job_ids_.begin();
  std::advance(it, static_cast<int64_t>(random_.Next() % job_ids_.size()));
  return *it;
}

// ---------------------------------------------------------------- processes and machines

void Simulation::KillScheduler() {
  if (!scheduler_->alive()) return;
  Count("scheduler killed");
  scheduler_->Kill();
  for (const auto& executor : executors_) Break(executor->id());
  const bool long_outage = random_.Uniform() < 0.2;
  if (random_.Uniform() < 0.1) SetClockBack();
  queue_.After(absl::Seconds(1 + (long_outage ? 900 : 20) * random_.Uniform()), [this] {
    if (scheduler_->alive()) return;
    Trace("scheduler started");
    scheduler_->Start();
  });
}

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

void Simulation::CutLink() {
  SimExecutor& executor = AnyExecutor();
  Link& link = links_[executor.id()];
  if (link.stream == 0 || link.cut) return;
  const bool minutes = random_.Uniform() < 0.3;
  Count(minutes ? "executor unreachable for minutes" : "link cut", executor.id());
  link.cut = true;
  if (minutes) {
    unreachable_until_[executor.id()] = queue_.now() + absl::Minutes(20) * random_.Uniform();
  }
  queue_.After(kNoticeCut * random_.Uniform(), [this, name = executor.id(), stream = link.stream] {
    if (links_[name].stream == stream) Break(name);
  });
}

void Simulation::SuspendScheduler() {
  if (!scheduler_->alive()) return;
  const absl::Duration d = random_.Uniform() < 0.5 ? absl::Seconds(7) * random_.Uniform()
                                                   : absl::Minutes(20) * random_.Uniform();
  Count("scheduler suspended", DurationText(d));
  scheduler_->Suspend(d);
}

// As when the node's death is one of the database's primary, too, and the next one's clock is late.
void Simulation::SetClockBack() {
  const absl::Duration step = absl::Minutes(40) * random_.Uniform();
  Count("database clock set back at a restart", DurationText(step));
  const absl::Time before = scheduler_->DbNow();
  scheduler_->SetClockBack(step);
  setbacks_.emplace_back(scheduler_->DbNow(), before);
}

void Simulation::StepClock() {
  const absl::Duration step = absl::Seconds(6) + absl::Minutes(40) * random_.Uniform();
  Count("database clock steps", DurationText(step));
  scheduler_->StepClock(step);
}

}  // namespace tidemark::sim
