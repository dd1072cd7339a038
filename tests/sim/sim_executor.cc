#include "tests/sim/sim_executor.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tidemark::sim {
namespace {

std::string AttemptText(const exec::AttemptKey& key) {
  return key.run_id + "#" + std::to_string(key.attempt);
}

}  // namespace

SimExecutor::SimExecutor(Facts facts, EventQueue& queue, Random& random, Oracle& oracle,
                         Outside outside)
    : facts_(std::move(facts)),
      queue_(queue),
      random_(random),
      oracle_(oracle),
      outside_(std::move(outside)),
      clock_(queue, facts_.rate, absl::ZeroDuration()) {}

exec::Moment SimExecutor::Now() const { return {clock_.Monotonic(), clock_.WallNow()}; }

void SimExecutor::Start() {
  ++incarnation_;
  exec::CoreOptions options;
  options.executor_id = facts_.executor_id;
  options.app = "app";
  uuid_ = NewUuid(absl::UnixEpoch() + queue_.now(), random_);
  options.incarnation = uuid_;
  options.host = Process();
  options.capacity = 4;
  options.handlers = {{"work", facts_.interruptible, 0}};
  std::vector<exec::SpooledResult> spooled;
  for (const auto& [key, result] : spool_) spooled.push_back(result);
  core_ = std::make_unique<exec::SessionCore>(options, std::move(spooled), Now());
  if (disk_full_) core_->OnSpoolHealth(false, "no space left on device");
  tick_at_ = absl::InfiniteDuration();
  dialer_.emplace(facts_.nodes, random_);
  Pump();
}

void SimExecutor::Kill() {
  if (!alive()) return;
  oracle_.Died(Process());
  running_.clear();
  unsaved_.clear();
  core_.reset();
  dialer_.reset();
  outside_.close_all(*this);
}

void SimExecutor::Stop() {
  if (!alive()) return;
  core_->OnStop(Now());
  Pump();
}

void SimExecutor::FillDisk() {
  disk_full_ = true;
  if (!alive()) return;
  core_->OnSpoolHealth(false, "no space left on device");
  Pump();
}

void SimExecutor::FreeDisk() {
  disk_full_ = false;
  for (const auto& [key, result] : unsaved_) spool_[key] = result;
  unsaved_.clear();
  if (!alive()) return;
  core_->OnSpoolHealth(true, "");
  Pump();
}

bool SimExecutor::Inside(const std::string& run_id) const {
  return std::any_of(running_.begin(), running_.end(),
                     [&](const auto& entry) { return entry.first.run_id == run_id; });
}

bool SimExecutor::Unacknowledged(const std::string& run_id) const {
  for (const auto* results : {&spool_, &unsaved_}) {
    for (const auto& [key, result] : *results) {
      if (key.run_id == run_id && !result.acknowledged) return true;
    }
  }
  return false;
}

// A write takes its time: a process that dies before has not written, or torn it, which is the
// same.
void SimExecutor::WriteSoon(const exec::AttemptKey& key) {
  queue_.After(absl::Milliseconds(30) * random_.Uniform(), [this, key, process = incarnation_] {
    const auto it = unsaved_.find(key);
    if (process != incarnation_ || disk_full_ || it == unsaved_.end()) return;
    spool_[key] = it->second;
    unsaved_.erase(it);
  });
}

void SimExecutor::LinkOpened(exec::LinkId link) {
  core_->OnLinkOpened(link, Now());
  Pump();
}

void SimExecutor::LinkClosed(exec::LinkId link) {
  if (!alive()) return;
  core_->OnLinkClosed(link, Now());
  dialer_->OnClosed(link, "closed", clock_.Monotonic());
  Pump();
}

void SimExecutor::Receive(exec::LinkId link, const v1::SchedulerMessage& message) {
  if (!alive()) return;
  core_->OnMessage(link, message, Now());
  Pump();
}

void SimExecutor::Pump() {
  while (alive()) {
    std::vector<exec::Effect> effects = core_->TakeEffects(Now());
    if (effects.empty()) break;
    for (exec::Effect& effect : effects) {
      if (!alive()) return;
      Carry(std::move(effect));
    }
  }
  if (alive()) {
    for (const auto& [link, node] : dialer_->Due(clock_.Monotonic())) {
      outside_.dial(*this, link, node);
    }
  }
  PlanTick();
}

void SimExecutor::PlanTick() {
  if (!alive()) return;
  const absl::Duration next = clock_.QueueTime(std::min(core_->NextWake(), dialer_->NextWake()));
  if (next >= tick_at_ && tick_at_ > queue_.now()) return;
  if (next == absl::InfiniteDuration()) return;
  tick_at_ = std::max(next, queue_.now());
  queue_.At(tick_at_, [this, at = tick_at_, incarnation = incarnation_] {
    if (!alive() || incarnation != incarnation_ || at != tick_at_) return;
    tick_at_ = absl::InfiniteDuration();
    core_->OnTick(Now());
    Pump();
  });
}

void SimExecutor::Carry(exec::Effect effect) {
  if (auto* send = std::get_if<exec::SendEffect>(&effect)) {
    core_->OnWritten(send->link, send->bytes);
    outside_.send(*this, send->link, send->message);
  } else if (auto* close = std::get_if<exec::CloseEffect>(&effect)) {
    if (close->parked_by) dialer_->Park(close->link, *close->parked_by);
    outside_.close(*this, close->link);
  } else if (auto* nodes = std::get_if<exec::NodesEffect>(&effect)) {
    dialer_->SetNodes(nodes->addresses, clock_.Monotonic());
  } else if (auto* note = std::get_if<exec::NoteEffect>(&effect)) {
    if (note->kind == exec::NoteEffect::Kind::kWelcomed) dialer_->OnWelcomed(note->link);
  } else if (auto* start = std::get_if<exec::StartEffect>(&effect)) {
    Enter(*start);
  } else if (auto* cancel = std::get_if<exec::CancelEffect>(&effect)) {
    OnCancel(cancel->key);
  } else if (std::holds_alternative<exec::AbortEffect>(effect) ||
             std::holds_alternative<exec::LeaveEffect>(effect)) {
    Kill();
    queue_.After(absl::Seconds(10), [this] {
      if (!alive() && comes_back) Start();
    });
  } else if (auto* write = std::get_if<exec::SpoolWriteEffect>(&effect)) {
    unsaved_[write->key] = {write->report, false};
    WriteSoon(write->key);
  } else if (auto* ack = std::get_if<exec::SpoolAckEffect>(&effect)) {
    outside_.acknowledged(ack->key.run_id, static_cast<int>(ack->key.attempt));
    if (spool_.contains(ack->key)) spool_[ack->key].acknowledged = true;
    if (unsaved_.contains(ack->key)) unsaved_[ack->key].acknowledged = true;
  } else if (auto* gone = std::get_if<exec::SpoolDeleteEffect>(&effect)) {
    spool_.erase(gone->key);
    unsaved_.erase(gone->key);
  }
}

void SimExecutor::Enter(const exec::StartEffect& start) {
  Running& run = running_[start.key];
  run.occurrence = start.trigger->batch_id();
  outside_.entering(*this, *start.trigger);
  oracle_.Entered(queue_.now(), run.occurrence, Process(), AttemptText(start.key));
  core_->OnEntered(start.key, Now());
  const double luck = random_.Uniform();
  using Kind = exec::HandlerResult::Kind;
  const Kind kind = luck < odds.fails                  ? Kind::kFailed
                    : luck < odds.fails + odds.retries ? Kind::kRetry
                                                       : Kind::kSucceeded;
  absl::Duration takes = odds.mean * -std::log(1 - random_.Uniform());
  if (random_.Uniform() < odds.takes_hours) takes *= 8;
  queue_.After(takes, [this, key = start.key, kind, incarnation = incarnation_] {
    if (incarnation == incarnation_) Finish(key, kind);
  });
}

void SimExecutor::OnCancel(const exec::AttemptKey& key) {
  const auto it = running_.find(key);
  if (it == running_.end()) return;
  it->second.cancelled = true;
  if (random_.Uniform() < odds.ignores_cancel) return;
  queue_.After(absl::Seconds(20) * random_.Uniform(), [this, key, incarnation = incarnation_] {
    if (incarnation == incarnation_) Finish(key, exec::HandlerResult::Kind::kStopped);
  });
}

void SimExecutor::Finish(const exec::AttemptKey& key, exec::HandlerResult::Kind kind) {
  const auto it = running_.find(key);
  if (!alive() || it == running_.end()) return;
  const bool succeeded = kind == exec::HandlerResult::Kind::kSucceeded;
  oracle_.Left(queue_.now(), it->second.occurrence, facts_.name, AttemptText(key), succeeded);
  running_.erase(it);
  outside_.left();
  if (!alive()) return;
  exec::HandlerResult result;
  result.kind = kind;
  result.rows = 1;
  result.digest = "d";
  core_->OnFinished(key, result, Now());
  Pump();
}

}  // namespace tidemark::sim
