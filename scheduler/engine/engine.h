// The engine: one node's scheduling, sans I/O. Events go in, effects come out.
#ifndef TIDEMARK_SCHEDULER_ENGINE_ENGINE_H_
#define TIDEMARK_SCHEDULER_ENGINE_ENGINE_H_

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scheduler/engine/effects.h"
#include "scheduler/engine/ports.h"
#include "scheduler/engine/state.h"
#include "scheduler/engine/tally.h"

namespace tidemark {

// Driven by one thread (or a simulation). After one or more events call TakeEffects() and carry
// them out; at the latest at NextWake() call Tick().
//
// Outside a term nothing is known and nothing is done: streams are closed as they come, and the
// executors keep what they have until a node serves again.
class Engine {
 public:
  // `random` must outlive the engine.
  Engine(Decoders decoders, Random& random, CatchUpBudget budget = CatchUpBudget());
  ~Engine();

  void TermStarted(Moment now, Snapshot snapshot);
  void TermEnded(Moment now, const std::string& why);
  // More shards in the middle of a term: a dead node's, or one's that leaves.
  void ShardsGained(Moment now, Snapshot gained);
  // The database's clock stepped by `step`: nothing fires until it is trusted again.
  void ClockLeapt(Moment now, absl::Duration step);
  void ClockTrusted(Moment now);

  // `received`: the monotonic time at which the bytes arrived, before any queue.
  void Received(Moment now, StreamId stream, const ExecutorMessage& message,
                absl::Duration received);
  void StreamClosed(Moment now, StreamId stream);
  // Too much of what the stream sent waits to be handled (its executor is told to hold), or no
  // more.
  void StreamCongested(Moment now, StreamId stream, bool congested);

  void Flushed(Moment now, const FlushResult& result);
  void Ledger(Moment now, const LedgerResult& result);
  void CommandsArrived(Moment now, const std::vector<Command>& commands);
  // Final reports that other nodes took in (X7). All that were there at `read`, on the monotonic
  // clock, have arrived with them.
  void InboxArrived(Moment now, const std::vector<InboxItem>& items, absl::Duration read);
  // All executors that operators drained, whichever node took the order.
  void ExecutorsDrained(Moment now, std::set<std::string> executor_ids);
  // Other nodes' jobs of which dates were settled (Flush.news), by name. None named: it may have
  // been any of them, since word of it may have been lost.
  void UpstreamsSettled(Moment now, const std::vector<std::string>& jobs);
  void Tick(Moment now);
  // The first of what is due by now, which Tick would see to as well, and nothing else. False:
  // nothing is due, or it has to wait.
  bool LaunchDue(Moment now);

  Effects TakeEffects();
  // What was counted since the last call.
  Tally TakeTally();
  // Looks at every executor and at what waits, not at every job or run.
  EngineGauges Gauges() const;
  // Monotonic time at which something is due; InfiniteDuration() when nothing is.
  absl::Duration NextWake(Moment now) const;
  bool active() const;

 private:
  class Parts;
  std::unique_ptr<Parts> MakeParts();
  void SetNow(Moment now);
  void TakeIn(Snapshot snapshot);
  void DropKnown(Snapshot& gained);
  void BlameJobs(const FlushResult& result);

  Decoders decoders_;
  Random& random_;
  const CatchUpBudget budget_;
  RunIdSource ids_;               // outlives terms: ids stay in order
  Tally tally_;                   // so do counts
  std::unique_ptr<Parts> parts_;  // of this term; made anew with each
  Moment last_;
  std::optional<absl::Duration> leapt_;  // by so much, and not trusted since; outlives terms, too
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_ENGINE_H_
