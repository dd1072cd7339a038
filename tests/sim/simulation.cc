#include "tests/sim/simulation.h"

#include <cmath>
#include <utility>

#include "common/time_text.h"
#include "scheduler/rpc/executor_codec.h"

namespace tidemark::sim {
namespace {

constexpr absl::Duration kFaultTime = absl::Hours(36);
constexpr absl::Duration kCalmTime = absl::Hours(30);
constexpr absl::Duration kBetweenFaults = absl::Minutes(12);
constexpr absl::Duration kNoticeCut = absl::Seconds(15);  // keepalive on both sides
constexpr int kDaysDueAtStart = 4;

}  // namespace

Simulation::Simulation(uint64_t seed) : seed_(seed), random_(seed) {
  const absl::Time start = *ParseInstant("2026-11-20T16:30:00Z");  // 00:30 in Shanghai
  scheduler_ = std::make_unique<SimScheduler>(
      start, queue_, random_, store_, MakeDecoders(),
      SimScheduler::Outside{[this](const Outbound& message) { ToExecutor(message); },
                            [this](StreamId stream) { CloseStream(stream); }});
  scheduler_->doubt = 0.5;
  AddJob("strict", CatchUpOrder::kStrict);
  AddJob("loose", CatchUpOrder::kIndependent);
  AddExecutor("e1", true);
  AddExecutor("e2", true);
  AddExecutor("e3", false);
}

Decoders Simulation::MakeDecoders() {
  return {[this](const std::string& text) -> absl::StatusOr<JobSpec> { return specs_.at(text); },
          [](const std::string&) { return std::map<std::string, std::string>{}; }};
}

int64_t Simulation::AddJob(const std::string& name, CatchUpOrder order) {
  JobSpec spec = EngineHarness::DailyJob(name, "2026-11-16");
  spec.catch_up.order = order;
  spec.catch_up.parallelism = 2;
  spec.routing.strategy =
      random_.Uniform() < 0.5 ? RoutingStrategy::kLeastBusy : RoutingStrategy::kRoundRobin;
  specs_[name] = spec;
  const int64_t id = static_cast<int64_t>(store_.jobs.size()) + 1;
  JobRow& row = store_.jobs[id];
  row.job_id = id;
  row.name = name;
  row.ns = "default";
  row.app = "app";
  row.version = 1;
  row.created_at = scheduler_->DbNow();
  row.versions.push_back({1, row.created_at, name});
  job_ids_[name] = id;
  return id;
}

void Simulation::AddExecutor(const std::string& id, bool interruptible) {
  executors_.push_back(std::make_unique<SimExecutor>(
      id, interruptible, queue_, random_, oracle_,
      SimExecutor::Outside{
          [this](SimExecutor& executor) { Dial(executor); },
          [this](SimExecutor& executor, const v1::ExecutorMessage& message) {
            ToScheduler(executor, message);
          },
          [this](SimExecutor& executor) { CloseStream(links_[executor.id()].stream); },
          [this](const v1::Trigger& trigger) { CheckEntering(trigger); }}));
  executors_.back()->odds = {0.05, 0.15, 0.5, absl::Seconds(20)};
  // Long enough to outlive a lost contact.
  if (!interruptible || random_.Uniform() < 0.3) executors_.back()->odds.mean = absl::Minutes(8);
}

// ---------------------------------------------------------------- the network

void Simulation::Dial(SimExecutor& executor) {
  queue_.After(absl::Milliseconds(200 + 2000 * random_.Uniform()), [this, &executor] {
    if (!executor.alive() || executor.linked()) return;
    if (!scheduler_->alive() || queue_.now() < unreachable_until_[executor.id()]) {
      return Dial(executor);
    }
    Link& link = links_[executor.id()];
    link = Link();
    link.stream = ++last_stream_;
    executor.LinkOpened();
  });
}

void Simulation::ToScheduler(SimExecutor& executor, const v1::ExecutorMessage& message) {
  Link& link = links_[executor.id()];
  const absl::Duration arrives =
      std::max(link.last_to_scheduler, queue_.now() + absl::Milliseconds(20) * random_.Uniform());
  link.last_to_scheduler = arrives;
  // What was sent before a cut or a death may still arrive: only the cut itself stops it.
  queue_.At(arrives, [this, id = executor.id(), stream = link.stream, message] {
    const Link& link = links_[id];
    if (link.cut && link.stream == stream) return;
    scheduler_->Receive(stream, FromProto(message));
  });
}

void Simulation::ToExecutor(const Outbound& message) {
  for (const auto& executor : executors_) {
    Link& link = links_[executor->id()];
    if (link.stream != message.stream || link.stream == 0) continue;
    v1::SchedulerMessage wire;
    AddTo(message, wire);
    const absl::Duration arrives =
        std::max(link.last_to_executor, queue_.now() + absl::Milliseconds(20) * random_.Uniform());
    link.last_to_executor = arrives;
    queue_.At(arrives, [this, to = executor.get(), stream = link.stream, wire] {
      const Link& link = links_[to->id()];
      if (link.cut || link.stream != stream) return;
      to->Receive(wire);
    });
  }
}

void Simulation::CloseStream(StreamId stream) {
  if (stream == 0) return;
  for (const auto& executor : executors_) {
    if (links_[executor->id()].stream == stream) return Break(executor->id());
  }
}

void Simulation::Break(const std::string& id) {
  Link& link = links_[id];
  const StreamId stream = std::exchange(link.stream, 0);
  if (stream == 0) return;
  queue_.After(absl::Milliseconds(20), [this, stream] { scheduler_->Closed(stream); });
  for (const auto& executor : executors_) {
    if (executor->id() != id) continue;
    queue_.After(absl::Milliseconds(20), [this, to = executor.get()] {
      if (links_[to->id()].stream == 0) to->LinkClosed();
    });
  }
}

// ---------------------------------------------------------------- the oracle's eyes

void Simulation::CheckEntering(const v1::Trigger& trigger) {
  if (trigger.job() != "strict") return;
  std::vector<std::string> before;
  const absl::CivilDay date = *ParseDate(trigger.biz_date());
  for (absl::CivilDay day = *ParseDate("2026-11-16"); day < date; ++day) {
    before.push_back("strict/" + FormatDate(day));
  }
  oracle_.CheckOrder(queue_.now(), "strict/" + trigger.biz_date(), before);
}

// ---------------------------------------------------------------- faults

void Simulation::Trace(const std::string& what) {
  report_.trace.push_back(DurationText(queue_.now()) + " " + what);
}

SimExecutor& Simulation::AnyExecutor() { return *executors_[random_.Next() % executors_.size()]; }

void Simulation::PlanFault() {
  queue_.After(kBetweenFaults * -std::log(1 - random_.Uniform()), [this] {
    if (!faults_on_) return;
    Fault();
    PlanFault();
  });
}

void Simulation::Fault() {
  switch (random_.Next() % 6) {
    case 0:
      return KillScheduler();
    case 1:
      return KillExecutor(AnyExecutor());
    case 2:
    case 3:
      return CutLink(AnyExecutor());
    case 4:
      return DeleteWatermarks();
    default:
      return OrderSomething();
  }
}

void Simulation::KillScheduler() {
  if (!scheduler_->alive()) return;
  ++report_.faults["scheduler killed"];
  Trace("scheduler killed");
  scheduler_->Kill();
  for (const auto& executor : executors_) Break(executor->id());
  const bool long_outage = random_.Uniform() < 0.2;
  queue_.After(absl::Seconds(1 + (long_outage ? 900 : 20) * random_.Uniform()), [this] {
    if (scheduler_->alive()) return;
    Trace("scheduler started");
    scheduler_->Start();
  });
}

void Simulation::KillExecutor(SimExecutor& executor) {
  if (!executor.alive()) return;
  ++report_.faults["executor killed"];
  Trace("executor killed: " + executor.id());
  executor.Kill();
  queue_.After(absl::Seconds(1 + 600 * random_.Uniform() * random_.Uniform()), [this, &executor] {
    if (executor.alive()) return;
    Trace("executor started: " + executor.id());
    executor.Start();
  });
}

void Simulation::CutLink(SimExecutor& executor) {
  Link& link = links_[executor.id()];
  if (link.stream == 0 || link.cut) return;
  ++report_.faults["link cut"];
  Trace("link cut: " + executor.id());
  link.cut = true;
  if (random_.Uniform() < 0.3) {
    ++report_.faults["executor unreachable for minutes"];
    unreachable_until_[executor.id()] = queue_.now() + absl::Minutes(20) * random_.Uniform();
  }
  queue_.After(kNoticeCut * random_.Uniform(), [this, id = executor.id(), stream = link.stream] {
    if (links_[id].stream == stream) Break(id);
  });
}

void Simulation::DeleteWatermarks() {
  if (store_.watermarks.empty()) return;
  ++report_.faults["watermark deleted by SQL"];
  auto it = store_.watermarks.begin();
  std::advance(it, static_cast<int64_t>(random_.Next() % store_.watermarks.size()));
  Trace("watermark deleted: " + FormatDate(it->first.second) + " " + it->second.status);
  store_.watermarks.erase(it);
}

void Simulation::OrderSomething() {
  const int64_t job = 1 + static_cast<int64_t>(random_.Next() % store_.jobs.size());
  if (random_.Uniform() < 0.5) {
    if (store_.active.empty()) return;
    auto it = store_.active.begin();
    std::advance(it, static_cast<int64_t>(random_.Next() % store_.active.size()));
    ++report_.faults["cancel ordered"];
    Trace("cancel " + it->second.run_id);
    scheduler_->Order(it->first.job_id, "cancel", {{"run_id", it->second.run_id}});
    return;
  }
  ++report_.faults["rerun ordered"];
  Trace("rerun of job " + std::to_string(job));
  scheduler_->Order(job, "rerun", {{"biz_date", "2026-11-17"}, {"run_id", "x"}, {"force", "true"}});
}

// ---------------------------------------------------------------- the course

void Simulation::Calm() {
  faults_on_ = false;
  Trace("calm");
  for (const auto& executor : executors_) {
    executor->odds = {0, 0, 0, absl::Seconds(20)};
    if (!executor->alive()) executor->Start();
  }
  if (!scheduler_->alive()) scheduler_->Start();
}

// What alerts ask a person for: dates that were cancelled, or are held, are opened by hand.
void Simulation::MendByHand() {
  for (const auto& [key, mark] : store_.watermarks) {
    if (mark.status == "FAILED" && (mark.reason == "cancelled" || mark.reason == "held")) {
      scheduler_->Order(key.first, "trigger", {{"biz_date", FormatDate(key.second)}});
    }
  }
  if (!faults_on_) queue_.After(absl::Minutes(30), [this] { MendByHand(); });
}

SimReport Simulation::Run() {
  const absl::Duration begin = queue_.now();
  scheduler_->Start();
  for (const auto& executor : executors_) {
    queue_.After(absl::Seconds(60) * random_.Uniform(), [to = executor.get()] { to->Start(); });
  }
  PlanFault();
  queue_.RunUntil(begin + kFaultTime);
  Calm();
  MendByHand();
  queue_.RunUntil(begin + kFaultTime + kCalmTime);

  oracle_.CheckWatermarks(queue_.now(), store_);
  for (const auto& [name, id] : job_ids_) {
    std::vector<absl::CivilDay> due;
    const absl::CivilDay last =
        absl::CivilDay(absl::ToCivilSecond(scheduler_->DbNow() - absl::Hours(1) + absl::Hours(8),
                                           absl::UTCTimeZone())) -
        1;
    for (absl::CivilDay day = *ParseDate("2026-11-16"); day <= last; ++day) due.push_back(day);
    if (due.size() < kDaysDueAtStart) report_.violations.push_back("nothing was due");
    oracle_.CheckSettled(queue_.now(), store_, id, due);
  }
  for (const std::string& violation : oracle_.violations()) {
    report_.violations.push_back(violation);
  }
  report_.events = queue_.happened();
  report_.handlers_entered = oracle_.entered();
  report_.simulated = queue_.now() - begin;
  return report_;
}

}  // namespace tidemark::sim
