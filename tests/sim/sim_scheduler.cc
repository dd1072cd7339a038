#include "tests/sim/sim_scheduler.h"

#include <utility>

namespace tidemark::sim {
namespace {

constexpr absl::Duration kSlowRead = absl::Seconds(30);

}  // namespace

SimScheduler::SimScheduler(absl::Time start, EventQueue& queue, Random& random, MemoryStore& store,
                           Decoders decoders, Outside outside)
    : start_(start),
      begin_(queue.now()),
      queue_(queue),
      random_(random),
      store_(store),
      decoders_(std::move(decoders)),
      outside_(std::move(outside)) {}

void SimScheduler::Start() {
  // The fence: an open transaction of the old owner commits or dies before the load.
  if (in_flight_ && !in_flight_->settled) {
    in_flight_->settled = true;
    if (random_.Uniform() < doubt) Apply(in_flight_->flush);
  }
  in_flight_.reset();
  alive_ = true;
  ++life_;
  ++epoch_;
  engine_ = std::make_unique<Engine>(decoders_, random_);
  tick_at_ = absl::InfiniteDuration();
  Snapshot snapshot = store_.Load();
  for (int shard = 0; shard < kShards; ++shard) snapshot.shards[shard] = {1, epoch_};
  suspended_until_ = queue_.now();
  engine_->TermStarted(Now(), std::move(snapshot));
  Pump();
  std::erase_if(open_orders_,
                [&](const auto& order) { return store_.commands.contains(order.first); });
  const std::map<std::string, Command> open = open_orders_;
  for (const auto& [id, command] : open) Deliver(command);
}

void SimScheduler::WhenAwake(std::function<void()> what) {
  if (queue_.now() >= suspended_until_) return what();
  queue_.At(suspended_until_, [this, what = std::move(what), process = process_] {
    if (alive_ && process == process_) WhenAwake(what);
  });
}

void SimScheduler::Suspend(absl::Duration d) {
  if (!alive_) return;
  suspended_until_ = queue_.now() + d;
  if (d < absl::Seconds(8)) return;
  queue_.At(suspended_until_, [this, life = life_] {
    if (!alive_ || life != life_) return;
    engine_->TermEnded(Now(), "its lease was over");
    Pump();
    Start();
  });
}

void SimScheduler::StepClock(absl::Duration step) {
  if (alive_) {
    engine_->ClockLeapt(Now(), step);
    Pump();
  }
  queue_.After(absl::Seconds(3), [this, step] {
    stepped_ += step;
    if (!alive_) return;
    engine_->ClockTrusted(Now());
    Pump();
  });
}

void SimScheduler::Kill() {
  alive_ = false;
  ++life_;
  ++process_;
  engine_.reset();
}

void SimScheduler::Receive(StreamId stream, const ExecutorMessage& message) {
  if (!alive_) return;
  // Stamped where bytes arrive, however late the loop comes to them.
  WhenAwake([this, stream, message, at = queue_.now()] {
    engine_->Received(Now(), stream, message, at);
    Pump();
  });
}

void SimScheduler::Closed(StreamId stream) {
  if (!alive_) return;
  WhenAwake([this, stream] {
    engine_->StreamClosed(Now(), stream);
    Pump();
  });
}

std::string SimScheduler::Order(int64_t job_id, const std::string& kind,
                                std::map<std::string, std::string> args) {
  Command command;
  command.command_id = "order" + std::to_string(++orders_);
  command.job_id = job_id;
  command.kind = kind;
  command.args = std::move(args);
  command.actor = "simulation";
  open_orders_[command.command_id] = command;
  if (alive_) Deliver(command);
  return command.command_id;
}

// What a flush orders is a row like any other order, which the feed finds after a while.
FlushResult SimScheduler::Apply(const Flush& flush) {
  store_.now = DbNow();
  FlushResult result = store_.Apply(flush);
  for (Command& order : std::exchange(store_.orders, {})) {
    open_orders_[order.command_id] = order;
    queue_.After(absl::Milliseconds(500) * random_.Uniform(), [this, order, life = life_] {
      if (alive_ && life == life_) Deliver(order);  // else the next term reads it
    });
  }
  return result;
}

void SimScheduler::Deliver(const Command& order) {
  WhenAwake([this, order] {
    Command command = order;
    const auto job = store_.jobs.find(command.job_id);
    if (job != store_.jobs.end()) command.job = job->second;
    engine_->CommandsArrived(Now(), {command});
    Pump();
  });
}

void SimScheduler::Pump() {
  for (Effects effects = engine_->TakeEffects(); !effects.empty();
       effects = engine_->TakeEffects()) {
    Carry(std::move(effects));
  }
  PlanTick();
}

void SimScheduler::Carry(Effects effects) {
  for (const Outbound& message : effects.messages) outside_.send(message);
  for (const StreamId stream : effects.close) outside_.close(stream);
  for (const auto& [stream, why] : effects.deny) outside_.close(stream);
  if (effects.flush.has_value()) {
    in_flight_ = std::make_shared<Pending>(Pending{*std::move(effects.flush)});
    queue_.After(slowness * random_.Uniform(), [this, pending = in_flight_] { Commit(pending); });
  }
  for (LedgerQuery& query : effects.queries) {
    queue_.After(slowness * random_.Uniform(), [this, query = std::move(query), life = life_] {
      // Read at this moment; the answer is on its way for a while.
      const absl::Duration way = random_.Uniform() < slow_reads ? kSlowRead : slowness;
      queue_.After(way * random_.Uniform(), [this, result = store_.Answer(query), life] {
        if (!alive_ || life != life_) return;
        WhenAwake([this, result, life] {
          if (life != life_) return;
          engine_->Ledger(Now(), result);
          Pump();
        });
      });
    });
  }
}

void SimScheduler::Commit(const std::shared_ptr<Pending>& pending) {
  if (pending->settled) return;
  pending->settled = true;
  // A node that died meanwhile may have got its COMMIT through, or not.
  if (!alive_ && random_.Uniform() >= doubt) return;
  const FlushResult result = Apply(pending->flush);
  queue_.After(slowness * random_.Uniform(), [this, result, life = life_] {
    if (!alive_ || life != life_) return;
    WhenAwake([this, result, life] {
      if (life != life_) return;
      engine_->Flushed(Now(), result);
      Pump();
    });
  });
}

void SimScheduler::PlanTick() {
  const absl::Duration next = std::max(engine_->NextWake(Now()), queue_.now());
  if (next == absl::InfiniteDuration()) return;
  if (next >= tick_at_ && tick_at_ > queue_.now()) return;
  tick_at_ = next;
  queue_.At(tick_at_, [this, at = tick_at_, life = life_] {
    if (!alive_ || life != life_ || at != tick_at_) return;
    tick_at_ = absl::InfiniteDuration();
    WhenAwake([this, life] {
      if (life != life_) return;
      engine_->Tick(Now());
      Pump();
    });
  });
}

}  // namespace tidemark::sim
