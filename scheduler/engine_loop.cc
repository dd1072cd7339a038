#include "scheduler/engine_loop.h"

#include <algorithm>
#include <utility>

#include "common/log.h"
#include "common/memory.h"
#include "common/time_text.h"

namespace tidemark {
namespace {

LogLevel LevelOf(LogLine::Level level) {
  switch (level) {
    case LogLine::Level::kInfo:
      return LogLevel::kInfo;
    case LogLine::Level::kWarn:
      return LogLevel::kWarn;
    case LogLine::Level::kError:
      return LogLevel::kError;
  }
  return LogLevel::kInfo;
}

size_t RowsOf(const Flush& flush) {
  return flush.registers.size() + flush.closes.size() + flush.disarms.size() + flush.skips.size() +
         flush.opens.size() + flush.launches.size() + flush.updates.size() + flush.attempts.size() +
         flush.watermarks.size() + flush.notes.size() + flush.cursors.size() +
         flush.skipped.size() + flush.jobs.size() + flush.executors.size() + flush.alerts.size() +
         flush.resolves.size() + flush.audits.size() + flush.cascades.size() +
         flush.backfills.size() + flush.drills.size() + flush.commands.size() + flush.inbox.size() +
         flush.inbox_taken.size();
}

}  // namespace

EngineLoop::EngineLoop(Decoders decoders, Clock& clock, Random& random, CatchUpBudget budget)
    : clock_(clock), engine_(std::move(decoders), random, budget) {}

EngineLoop::~EngineLoop() { Stop(); }

void EngineLoop::Attach(Outlets outlets) { outlets_ = std::move(outlets); }

void EngineLoop::Start() {
  thread_ = std::thread([this] { Run(); });
}

void EngineLoop::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

void EngineLoop::Post(Event event) {
  const absl::Duration now = clock_.Monotonic();
  absl::MutexLock lock(&mutex_);
  if (events_.empty()) oldest_event_ = now;
  events_.push_back(std::move(event));
}

Moment EngineLoop::Now() const {
  const absl::Duration mono = clock_.Monotonic();
  const TimeInterval time = db_clock_.At(mono);
  return {mono, time.lo, time.hi};
}

std::deque<EngineLoop::Event> EngineLoop::Await() {
  const Moment now = Now();
  // Suspends and clock steps are noticed by looking again soon, whatever the engine waits for.
  const absl::Duration wait =
      std::clamp(engine_.NextWake(now) - now.mono, absl::ZeroDuration(), absl::Seconds(1));
  absl::MutexLock lock(&mutex_);
  mutex_.AwaitWithTimeout(absl::Condition(
                              +[](EngineLoop* loop) ABSL_EXCLUSIVE_LOCKS_REQUIRED(loop->mutex_) {
                                return !loop->events_.empty() || loop->stopping_;
                              },
                              this),
                          wait);
  lag_ = events_.empty() ? absl::ZeroDuration() : clock_.Monotonic() - oldest_event_;
  return std::exchange(events_, {});
}

void EngineLoop::Run() {
  while (true) {
    Turn(Await());
    absl::MutexLock lock(&mutex_);
    if (stopping_ && events_.empty()) return;
  }
}

void EngineLoop::Turn(const std::deque<Event>& events) {
  constexpr size_t kSlice = 128;
  const absl::Duration begin = clock_.Monotonic();
  // X3, X5: a process that was suspended acts no more under a lease that ended meanwhile.
  if (engine_.active() && !outlets_.store->TermGoesOn()) {
    engine_.TermEnded(Now(), "its lease was over when it woke up");
  }
  LaunchDue();
  size_t handled = 0;
  for (const Event& event : events) {
    event();
    if (++handled % kSlice == 0) LaunchDue();
  }
  engine_.Tick(Now());
  CarryOutAll();
  // What was read of a million jobs was several times what is kept of them.
  if (std::exchange(snapshot_taken_, false)) ReturnFreedMemory();
  const Tally tally = engine_.TakeTally();
  const absl::Duration end = clock_.Monotonic();
  if (outlets_.metrics != nullptr) {
    if (!tally.apps.empty()) outlets_.metrics->Add(tally);
    outlets_.metrics->ObserveTurn(lag_, end - begin);
  }
  Publish(end);
}

void EngineLoop::LaunchDue() {
  // Longer, and whoever reports would be taken for silent.
  constexpr absl::Duration kMost = absl::Milliseconds(200);
  const absl::Duration begin = clock_.Monotonic();
  while (clock_.Monotonic() - begin < kMost && engine_.LaunchDue(Now())) CarryOutAll();
}

void EngineLoop::Publish(absl::Duration now) {
  longest_lag_ = std::max(longest_lag_, lag_);
  constexpr absl::Duration kEvery = absl::Seconds(1);
  const bool due = now >= next_publish_;
  Status status;
  if (due) {
    next_publish_ = now + kEvery;
    status.gauges = engine_.Gauges();
    status.lag = std::exchange(longest_lag_, absl::ZeroDuration());
    if (const TimeInterval time = db_clock_.At(now); db_clock_.known()) {
      status.clock_uncertainty = time.hi - time.lo;
      status.clock_offset = time.lo + (time.hi - time.lo) / 2 - clock_.WallNow();
    }
  }
  absl::MutexLock lock(&status_mutex_);
  last_turn_ = now;
  if (due) status_ = std::move(status);
}

EngineLoop::Status EngineLoop::GetStatus() const {
  absl::MutexLock lock(&status_mutex_);
  Status status = status_;
  if (last_turn_.has_value()) status.idle = clock_.Monotonic() - *last_turn_;
  return status;
}

void EngineLoop::CarryOutAll() {
  for (Effects effects = engine_.TakeEffects(); !effects.empty(); effects = engine_.TakeEffects()) {
    CarryOut(std::move(effects));
  }
}

void EngineLoop::CarryOut(Effects effects) {
  if (!effects.messages.empty()) outlets_.gateway->Send(effects.messages);
  for (const StreamId stream : effects.close) outlets_.gateway->Close(stream);
  for (const auto& [stream, why] : effects.deny) outlets_.gateway->Deny(stream, why);
  if (effects.flush.has_value()) {
    alerts_in_flight_ = !effects.flush->alerts.empty();
    flush_rows_ = RowsOf(*effects.flush);
    flush_sent_ = clock_.Monotonic();
    outlets_.store->Submit(term_, *std::move(effects.flush));
  }
  for (LedgerQuery& query : effects.queries) outlets_.store->Query(term_, std::move(query));
  if (!effects.commands_done.empty()) outlets_.commands_done(effects.commands_done);
  for (const LogLine& line : effects.logs) Log(LevelOf(line.level), line.event, line.fields);
}

void EngineLoop::OnTermStarted(const TermInfo& info, Snapshot snapshot) {
  Post([this, term = info.term, snapshot = std::move(snapshot)]() mutable {
    term_ = term;
    engine_.TermStarted(Now(), std::move(snapshot));
    snapshot_taken_ = true;
  });
}

void EngineLoop::OnTermEnded(const std::string& why) {
  Post([this, why] { engine_.TermEnded(Now(), why); });
}

void EngineLoop::OnFlushed(FlushResult result) {
  Post([this, result = std::move(result)] {
    if (outlets_.metrics != nullptr) {
      outlets_.metrics->ObserveFlush(flush_rows_, clock_.Monotonic() - flush_sent_);
    }
    engine_.Flushed(Now(), result);
    if (alerts_in_flight_) outlets_.alerts_raised();
    alerts_in_flight_ = false;
  });
}

void EngineLoop::OnLedger(LedgerResult result) {
  Post([this, result = std::move(result)] { engine_.Ledger(Now(), result); });
}

void EngineLoop::OnCommands(std::vector<Command> commands) {
  Post([this, commands = std::move(commands)] { engine_.CommandsArrived(Now(), commands); });
}

void EngineLoop::OnShardsGained(Snapshot gained) {
  Post([this, gained = std::move(gained)]() mutable {
    engine_.ShardsGained(Now(), std::move(gained));
    snapshot_taken_ = true;
  });
}

void EngineLoop::OnInbox(std::vector<InboxItem> items, absl::Duration read) {
  Post([this, items = std::move(items), read] { engine_.InboxArrived(Now(), items, read); });
}

void EngineLoop::OnNodes(std::vector<std::string> addresses) {
  outlets_.gateway->SetNodes(std::move(addresses));
}

void EngineLoop::OnDrained(std::set<std::string> executor_ids) {
  Post([this, ids = std::move(executor_ids)] { engine_.ExecutorsDrained(Now(), ids); });
}

void EngineLoop::OnUpstreams(std::vector<std::string> jobs) {
  Post([this, jobs = std::move(jobs)] { engine_.UpstreamsSettled(Now(), jobs); });
}

void EngineLoop::OnClockSample(const ClockSample& sample) {
  Post([this, sample] { TakeSample(sample); });
}

void EngineLoop::TakeSample(const ClockSample& sample) {
  const bool held = db_clock_.holding();
  const std::optional<absl::Duration> step = db_clock_.Add(sample);
  if (step.has_value()) {
    // A second round trip that tells the same step confirms it; one alone may be a fluke.
    const bool confirmed = step_.has_value() && absl::AbsDuration(*step_ - *step) < DbClock::kStep;
    step_ = step;
    if (confirmed) {
      db_clock_.Accept();
      step_.reset();
    } else if (!held) {
      LogError("the database's clock stepped: nothing fires until a second look confirms it",
               {{"step", (*step < absl::ZeroDuration() ? "-" : "+") +
                             DurationText(absl::AbsDuration(*step))}});
    }
  } else {
    step_.reset();
  }
  if (held == db_clock_.holding()) return;
  if (db_clock_.holding()) {
    engine_.ClockLeapt(Now(), *step);
  } else {
    engine_.ClockTrusted(Now());
  }
}

void EngineLoop::OnMessage(StreamId stream, ExecutorMessage message, absl::Duration received) {
  Post([this, stream, received, message = std::move(message)] {
    engine_.Received(Now(), stream, message, received);
    outlets_.gateway->Handled(stream, message.bytes);
  });
}

void EngineLoop::OnStreamClosed(StreamId stream) {
  Post([this, stream] { engine_.StreamClosed(Now(), stream); });
}

void EngineLoop::OnCongested(StreamId stream, bool congested) {
  Post([this, stream, congested] { engine_.StreamCongested(Now(), stream, congested); });
}

}  // namespace tidemark
