// A scheduler node in the simulation: the real engine on a store that takes its time, and that may
// have committed what a dying node never heard of.
#ifndef TIDEMARK_TESTS_SIM_SIM_SCHEDULER_H_
#define TIDEMARK_TESTS_SIM_SIM_SCHEDULER_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/id.h"
#include "scheduler/engine/engine.h"
#include "tests/engine/harness.h"
#include "tests/sim/event_queue.h"

namespace tidemark::sim {

class SimScheduler {
 public:
  struct Outside {
    std::function<void(const Outbound&)> send;
    std::function<void(StreamId)> close;
  };

  // `start`: the database's time at the queue's beginning.
  SimScheduler(absl::Time start, EventQueue& queue, Random& random, MemoryStore& store,
               Decoders decoders, Outside outside);

  void Start();  // a new process, or a new term: fences what is still under way, and loads
  void Kill();   // what was on its way to the store may still get there
  bool alive() const { return alive_; }

  void Receive(StreamId stream, const ExecutorMessage& message);
  void Closed(StreamId stream);
  // Orders are rows: one that no node has carried out waits for the next.
  std::string Order(int64_t job_id, const std::string& kind,
                    std::map<std::string, std::string> args);
  // The process does nothing for a while. Longer than its lease, the term is over when it wakes.
  void Suspend(absl::Duration d);
  // The database's clock steps; the node notices, holds, and trusts it again.
  void StepClock(absl::Duration step);
  // It was set back while no node was there to notice.
  void SetClockBack(absl::Duration step) { stepped_ -= step; }
  // Whether a transaction is open.
  bool Committing() const { return in_flight_ && !in_flight_->settled; }

  absl::Time DbNow() const { return start_ + (queue_.now() - begin_) + stepped_; }
  // How long a commit takes, at most.
  absl::Duration slowness = absl::Milliseconds(50);
  double doubt = 0;       // share of killed commits that took place all the same
  double slow_reads = 0;  // share of ledger answers that are on their way for long

 private:
  struct Pending {
    Flush flush;
    bool settled = false;
  };

  // Lets `what` happen once the process is not suspended, if it still lives then.
  void WhenAwake(std::function<void()> what);
  void Deliver(const Command& command);
  FlushResult Apply(const Flush& flush);
  Moment Now() const { return {queue_.now(), DbNow(), DbNow()}; }
  void Pump();
  void Carry(Effects effects);
  void Commit(const std::shared_ptr<Pending>& pending);
  void PlanTick();

  const absl::Time start_;
  const absl::Duration begin_;
  EventQueue& queue_;
  Random& random_;
  MemoryStore& store_;
  const Decoders decoders_;
  const Outside outside_;

  bool alive_ = false;
  uint64_t life_ = 0;     // of the term
  uint64_t process_ = 0;  // a process lives through terms
  uint64_t epoch_ = 0;
  int orders_ = 0;
  std::map<std::string, Command> open_orders_;
  absl::Duration stepped_;
  absl::Duration suspended_until_;
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<Pending> in_flight_;
  absl::Duration tick_at_ = absl::InfiniteDuration();
};

}  // namespace tidemark::sim

#endif  // TIDEMARK_TESTS_SIM_SIM_SCHEDULER_H_
