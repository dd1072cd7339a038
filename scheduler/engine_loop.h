// Runs the engine: a thread that takes events from everywhere, and carries the effects out.
#ifndef TIDEMARK_SCHEDULER_ENGINE_LOOP_H_
#define TIDEMARK_SCHEDULER_ENGINE_LOOP_H_

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "common/clock.h"
#include "common/id.h"
#include "scheduler/core/db_clock.h"
#include "scheduler/engine/engine.h"
#include "scheduler/rpc/executor_gateway.h"
#include "scheduler/store/scheduler_store.h"

namespace tidemark {

// Owns the engine and its thread. The listener calls may come from any thread; all else is the
// app's, in the order: construct, Attach, Start, Stop, destroy.
class EngineLoop : public StoreListener, public GatewayListener {
 public:
  struct Outlets {
    SchedulerStore* store = nullptr;
    ExecutorGateway* gateway = nullptr;
    // Called from the loop; must return soon.
    std::function<void(const std::vector<std::string>&)> commands_done;
    std::function<void()> alerts_raised;
  };

  // Clock and random must be thread-safe and outlive it.
  EngineLoop(Decoders decoders, Clock& clock, Random& random, CatchUpBudget budget);
  ~EngineLoop() override;

  void Attach(Outlets outlets);
  void Start();
  // Handles what is queued, then ends the thread.
  void Stop();

  void OnTermStarted(const TermInfo& info, Snapshot snapshot) override;
  void OnTermEnded(const std::string& why) override;
  void OnFlushed(FlushResult result) override;
  void OnLedger(LedgerResult result) override;
  void OnCommands(std::vector<Command> commands) override;
  void OnClockSample(const ClockSample& sample) override;
  void OnMessage(StreamId stream, ExecutorMessage message, absl::Duration received) override;
  void OnStreamClosed(StreamId stream) override;

 private:
  using Event = std::function<void()>;  // run on the loop's thread
  void Post(Event event);
  void Run();
  std::deque<Event> Await();
  Moment Now() const;
  void CarryOut(Effects effects);
  void TakeSample(const ClockSample& sample);

  Clock& clock_;
  Outlets outlets_;
  std::thread thread_;

  // The loop's thread alone:
  Engine engine_;
  DbClock db_clock_;
  std::optional<absl::Duration> step_;
  uint64_t term_ = 0;
  bool alerts_in_flight_ = false;

  absl::Mutex mutex_;
  std::deque<Event> events_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_LOOP_H_
