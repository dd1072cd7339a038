#include "tests/sim/sim_node.h"

#include <algorithm>
#include <utility>

namespace tidemark::sim {

SimNode::SimNode(std::string name, double rate, EventQueue& queue, Random& random,
                 Decoders decoders, Outside outside)
    : name_(std::move(name)),
      queue_(queue),
      random_(random),
      clock_(queue, rate, absl::Minutes(3)),
      decoders_(std::move(decoders)),
      outside_(std::move(outside)) {}

void SimNode::Start() {
  alive_ = true;
  stopping_ = false;
  ++process_;
  ++connection_;
  suspended_until_ = queue_.now();
  loop_at_ = queue_.now();
  write_at_ = queue_.now();
  tick_at_ = absl::InfiniteDuration();
  engine_ = std::make_unique<Engine>(decoders_, random_);
  db_clock_ = DbClock();
  step_.reset();
  nodes_.clear();
  loop_term_ = 0;
  last_incarnation_.clear();
  term_.reset();
  Acquire();
}

void SimNode::Kill() {
  alive_ = false;
  ++process_;
  term_.reset();
  engine_.reset();
}

void SimNode::Stop() {
  if (!alive_ || stopping_) return;
  WhenAwake([this] {
    stopping_ = true;
    if (term_ == nullptr) {
      Kill();
      outside_.left();
      return;
    }
    term_->leaving = true;
    LeaveIfWritten(term_);
  });
}

void SimNode::Later(absl::Duration d, std::function<void()> what) {
  queue_.After(d, [this, process = process_, what = std::move(what)] {
    if (alive_ && process == process_) WhenAwake(what);
  });
}

void SimNode::WhenAwake(std::function<void()> what) {
  if (!suspended()) return what();
  queue_.At(suspended_until_, [this, process = process_, what = std::move(what)] {
    if (alive_ && process == process_) WhenAwake(what);
  });
}

void SimNode::Post(std::function<void()> event) {
  loop_at_ = std::max(loop_at_, queue_.now() + absl::Milliseconds(1) * random_.Uniform());
  Later(loop_at_ - queue_.now(), [this, event = std::move(event)] {
    event();
    Pump();
  });
}

void SimNode::Write(std::function<void()> out) {
  write_at_ = std::max(write_at_, queue_.now() + absl::Milliseconds(1) * random_.Uniform());
  Later(write_at_ - queue_.now(), std::move(out));
}

Moment SimNode::Now() const {
  const absl::Duration mono = clock_.Monotonic();
  const TimeInterval time = db_clock_.At(mono);
  return {mono, time.lo, time.hi};
}

absl::Duration SimNode::Trip() {
  const absl::Duration most = random_.Uniform() < slow ? absl::Seconds(3) : absl::Milliseconds(12);
  return most * random_.Uniform();
}

SimNode::ServerPointer SimNode::Connect() const {
  return queue_.now() < cut_until_ ? nullptr : outside_.server();
}

void SimNode::CutDatabase(absl::Duration d) {
  ++connection_;
  cut_until_ = std::max(cut_until_, queue_.now() + d);
  if (!alive_ || term_ == nullptr || term_->open == nullptr) return;
  if (random_.Uniform() < 0.3) term_->open->lost = true;
  const absl::Duration notice = std::min(d, absl::Seconds(8) * random_.Uniform());
  Later(notice, [this, t = term_, tx = term_->open] { Broken(t, tx); });
}

// ---------------------------------------------------------------- what comes in

void SimNode::Receive(StreamId stream, const ExecutorMessage& message) {
  if (!alive_) return;
  // Stamped where bytes are read, however late the loop comes to them.
  WhenAwake([this, stream, message] {
    Post([this, stream, message, at = clock_.Monotonic()] {
      engine_->Received(Now(), stream, message, at);
    });
  });
}

void SimNode::Closed(StreamId stream) {
  if (!alive_) return;
  WhenAwake([this, stream] { Post([this, stream] { engine_->StreamClosed(Now(), stream); }); });
}

void SimNode::OnTermStarted(const TermInfo& info, Snapshot snapshot) {
  Post([this, term = info.term, snapshot = std::move(snapshot)] {
    loop_term_ = term;
    engine_->TermStarted(Now(), snapshot);
  });
}

void SimNode::OnTermEnded(const std::string& why) {
  outside_.told(name_ + ": term ended: " + why);
  Post([this, why] { engine_->TermEnded(Now(), why); });
  Later(absl::ZeroDuration(), [this, t = term_] { Finish(t); });
}

void SimNode::OnFlushed(FlushResult result) {
  Post([this, result = std::move(result)] { engine_->Flushed(Now(), result); });
}

void SimNode::OnLedger(LedgerResult result) {
  Post([this, result = std::move(result)] { engine_->Ledger(Now(), result); });
}

void SimNode::OnCommands(std::vector<Command> commands) {
  Post([this, commands = std::move(commands)] { engine_->CommandsArrived(Now(), commands); });
}

void SimNode::OnShardsGained(Snapshot gained) {
  Post([this, gained = std::move(gained)] { engine_->ShardsGained(Now(), gained); });
}

void SimNode::OnInbox(std::vector<InboxItem> items, absl::Duration read) {
  Post([this, items = std::move(items), read] { engine_->InboxArrived(Now(), items, read); });
}

void SimNode::OnNodes(std::vector<std::string> addresses) {
  nodes_ = std::move(addresses);
  outside_.nodes();
}

void SimNode::OnUpstreams(std::vector<std::string> jobs) {
  Post([this, jobs = std::move(jobs)] { engine_->UpstreamsSettled(Now(), jobs); });
}

void SimNode::OnClockSample(const ClockSample& sample) {
  Post([this, sample] { TakeSample(sample); });
}

// As EngineLoop does.
void SimNode::TakeSample(const ClockSample& sample) {
  const bool held = db_clock_.holding();
  const std::optional<absl::Duration> step = db_clock_.Add(sample);
  if (step.has_value()) {
    const bool confirmed = step_.has_value() && absl::AbsDuration(*step_ - *step) < DbClock::kStep;
    step_ = step;
    if (confirmed) {
      db_clock_.Accept();
      step_.reset();
    }
  } else {
    step_.reset();
  }
  if (held == db_clock_.holding()) return;
  if (db_clock_.holding()) {
    engine_->ClockLeapt(Now(), *step);
  } else {
    engine_->ClockTrusted(Now());
  }
}

// ---------------------------------------------------------------- what goes out

void SimNode::Pump() {
  for (Effects effects = engine_->TakeEffects(); !effects.empty();
       effects = engine_->TakeEffects()) {
    Carry(std::move(effects));
  }
  PlanTick();
}

// Messages are with the gateway: they leave although the term may be over by then.
void SimNode::Carry(Effects effects) {
  for (Outbound& message : effects.messages) {
    if (std::holds_alternative<TriggerOrder>(message.body)) outside_.about_to_send();
    Write([this, message = std::move(message)] { outside_.send(message); });
  }
  for (const StreamId stream : effects.close) Write([this, stream] { outside_.close(stream); });
  for (const auto& [stream, why] : effects.deny) {
    Write([this, stream = stream] { outside_.close(stream); });
  }
  if (effects.flush.has_value()) Submit(*std::move(effects.flush));
  for (LedgerQuery& query : effects.queries) Query(std::move(query));
}

void SimNode::PlanTick() {
  // The loop looks each second at the latest.
  const absl::Duration next =
      std::min(std::max(clock_.QueueTime(engine_->NextWake(Now())), queue_.now()),
               queue_.now() + absl::Seconds(1));
  if (next >= tick_at_ && tick_at_ > queue_.now()) return;
  tick_at_ = next;
  queue_.At(tick_at_, [this, at = tick_at_, process = process_] {
    if (!alive_ || process != process_ || at != tick_at_) return;
    tick_at_ = absl::InfiniteDuration();
    WhenAwake([this] {
      engine_->Tick(Now());
      Pump();
    });
  });
}

}  // namespace tidemark::sim
