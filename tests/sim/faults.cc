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

void Simulation::StepClock() {
  const absl::Duration step = absl::Seconds(6) + absl::Minutes(40) * random_.Uniform();
  Count("database clock steps", DurationText(step));
  scheduler_->StepClock(step);
}

// ---------------------------------------------------------------- people

void Simulation::DeleteWatermark() {
  if (store_.watermarks.empty()) return;
  auto it = store_.watermarks.begin();
  std::advance(it, static_cast<int64_t>(random_.Next() % store_.watermarks.size()));
  const auto [job, date] = it->first;
  Count("watermark deleted by SQL", FormatDate(date) + " " + it->second.status);
  store_.now = scheduler_->DbNow();
  store_.DeleteWatermark(job, date);
}

void Simulation::DeleteRunningWatermark() {
  for (const auto& [key, run] : store_.active) {
    if (!run.biz_date.has_value()) continue;
    Count("watermark of a live date deleted", key.key);
    store_.now = scheduler_->DbNow();
    store_.DeleteWatermark(key.job_id, *run.biz_date);
    return;
  }
}

void Simulation::OrderCancel() {
  if (store_.active.empty()) return;
  auto it = store_.active.begin();
  std::advance(it, static_cast<int64_t>(random_.Next() % store_.active.size()));
  Count("cancel ordered", it->second.run_id);
  scheduler_->Order(it->first.job_id, "cancel", {{"run_id", it->second.run_id}});
}

void Simulation::OrderRerun() {
  const auto [name, id] = AnyJob();
  if (name == "beat") {
    Count("manual trigger ordered", name);
    scheduler_->Order(id, "trigger", {});
    return;
  }
  const std::string date = FormatDate(*ParseDate("2026-11-16") + random_.Next() % 5);
  Count("rerun ordered", name + " " + date);
  scheduler_->Order(id, "rerun", {{"biz_date", date}, {"run_id", "x"}, {"force", "true"}});
}

void Simulation::OrderBackfill() {
  const auto [name, id] = AnyJob();
  if (name == "beat") return;
  const absl::CivilDay from = *ParseDate("2026-11-16") + random_.Next() % 5;
  const absl::CivilDay to = from + random_.Next() % 4;
  constexpr const char* kReprocess[] = {"missing", "failed", "all"};
  const std::string reprocess = kReprocess[random_.Next() % std::size(kReprocess)];
  const bool loose = name == "loose";
  Count("backfill ordered",
        name + " " + FormatDate(from) + " to " + FormatDate(to) + " " + reprocess);
  scheduler_->Order(id, "backfill_create",
                    {{"backfill_id", "backfill" + std::to_string(++made_backfills_)},
                     {"from", FormatDate(from)},
                     {"to", FormatDate(to)},
                     {"reprocess", reprocess},
                     {"reverse", loose && random_.Uniform() < 0.5 ? "true" : "false"},
                     {"parallel", loose ? std::to_string(1 + random_.Next() % 3) : "1"}});
}

void Simulation::MoveBackfill() {
  if (store_.backfills.empty()) return;
  auto it = store_.backfills.begin();
  std::advance(it, static_cast<std::ptrdiff_t>(random_.Next() % store_.backfills.size()));
  constexpr const char* kMoves[] = {"backfill_pause", "backfill_resume", "backfill_cancel"};
  const std::string move = kMoves[random_.Next() % std::size(kMoves)];
  Count("backfill paused, resumed, cancelled", it->first + " " + move);
  scheduler_->Order(it->second.job_id, move,
                    {{"backfill_id", it->first}, {"reason", "simulation"}});
}

void Simulation::OrderDrill() {
  const auto [name, id] = AnyJob();
  if (name == "beat") return;
  Count("drill ordered", name);
  scheduler_->Order(id, "drill",
                    {{"drill_id", "drill" + std::to_string(++made_backfills_)},
                     {"days", std::to_string(1 + random_.Next() % 3)},
                     {"now", random_.Uniform() < 0.5 ? "true" : "false"},
                     {"allow_no_fingerprint", "true"}});
}

void Simulation::PauseJob() {
  const auto [name, id] = AnyJob();
  Count("job paused", name);
  scheduler_->Order(id, "pause", {{"reason", "simulation"}});
  const bool skip = random_.Uniform() < 0.2;
  queue_.After(absl::Hours(3) * random_.Uniform() * random_.Uniform(),
               [this, name = name, id = id, skip] {
                 Trace("job resumed: " + name);
                 if (skip) {
                   for (const absl::CivilDay date : DueDates(id, scheduler_->DbNow())) {
                     oracle_.Excuse(name + "/" + FormatDate(date));
                   }
                 }
                 scheduler_->Order(id, "resume", {{"skip_missed", skip ? "true" : "false"}});
               });
}

void Simulation::EditJob() {
  const std::string name = random_.Uniform() < 0.5 ? "strict" : "loose";
  JobSpec spec = NewestSpec(name);
  constexpr const char* kTimes[] = {"0 0 1 * * ?", "0 30 0 * * ?", "0 0 6 * * ?", "0 45 13 * * ?",
                                    "0 0 20 * * ?"};
  spec.schedule.cron = kTimes[random_.Next() % std::size(kTimes)];
  if (name == "loose" && random_.Uniform() < 0.3) spec.schedule.cron = "0 0 2 ? * MON-FRI";
  spec.retry.max_attempts = 2 + static_cast<int>(random_.Next() % 3);
  Count("job edited", name + " " + spec.schedule.cron);
  Edit(name, spec);
}

void Simulation::EditCalendar() {
  const bool retroactive = random_.Uniform() < 0.5;
  std::vector<absl::CivilDay> closed;
  for (int i = 0; i < 2; ++i) closed.push_back(*ParseDate("2026-11-16") + random_.Next() % 7);
  Count(retroactive ? "calendar edited for the past, too" : "calendar edited",
        FormatDate(closed[0]) + " " + FormatDate(closed[1]));
  ImportCalendar(closed, retroactive);
}

// "mortal" is deleted and made again: the new one inherits nothing.
void Simulation::DeleteJob() {
  const int64_t id = job_ids_.at("mortal");
  if (!store_.jobs.contains(id)) return;
  Count("job deleted");
  scheduler_->Order(id, "delete", {});
  queue_.After(absl::Minutes(20) * random_.Uniform(), [this, id] {
    if (store_.jobs.contains(id) || job_ids_.at("mortal") != id) return;
    Trace("job made again");
    AddDailyJob("mortal", CatchUpOrder::kStrict, "");
    scheduler_->Order(job_ids_.at("mortal"), "job_changed", {});
  });
}

void Simulation::Waive() {
  const std::string name = random_.Uniform() < 0.5 ? "strict" : "loose";
  const std::string date = FormatDate(*ParseDate("2026-11-16") + random_.Next() % 6);
  const double luck = random_.Uniform();
  const std::string kind = luck < 0.4 ? "waive" : luck < 0.7 ? "force_done" : "unwaive";
  Count(kind + " ordered", name + " " + date);
  // Perhaps refused; order may pass the date from now on all the same.
  if (kind != "unwaive") oracle_.Excuse(name + "/" + date);
  scheduler_->Order(job_ids_.at(name), kind,
                    {{"date", date}, {"from", date}, {"to", date}, {"reason", "simulation"}});
}

}  // namespace tidemark::sim
