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
  std::string Order(int64_t job_id, const std::string& kind,
                    std::map<std::string, std::string> args);

  absl::Time DbNow() const { return start_ + (queue_.now() - begin_); }
  // How long a commit takes, at most.
  absl::Duration slowness = absl::Milliseconds(50);
  double doubt = 0;  // share of killed commits that took place all the same

 private:
  struct Pending {
    Flush flush;
    bool settled = false;
  };

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
  uint64_t life_ = 0;
  uint64_t epoch_ = 0;
  int orders_ = 0;
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<Pending> in_flight_;
  absl::Duration tick_at_ = absl::InfiniteDuration();
};

}  // namespace tidemark::sim

#endif  // TIDEMARK_TESTS_SIM_SIM_SCHEDULER_H_
