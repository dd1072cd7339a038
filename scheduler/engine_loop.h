// Runs the engine: a thread that takes events from everywhere, and carries the effects out.
#ifndef TIDEMARK_SCHEDULER_ENGINE_LOOP_H_
#define TIDEMARK_SCHEDULER_ENGINE_LOOP_H_

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "common/clock.h"
#include "common/id.h"
#include "scheduler/core/db_clock.h"
#include "scheduler/engine/engine.h"
#include "scheduler/metrics/metrics.h"
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
    Metrics* metrics = nullptr;
  };

  // As of the loop's last look, at most a second ago while it turns.
  struct Status {
    EngineGauges gauges;
    std::optional<absl::Duration> idle;  // since its last turn; unset: it has not started
    std::optional<absl::Duration> clock_offset;
    std::optional<absl::Duration> clock_uncertainty;
    absl::Duration lag;  // longest that an event waited, between the last two looks
  };

  // Clock and random must be thread-safe and outlive it.
  EngineLoop(Decoders decoders, Clock& clock, Random& random, CatchUpBudget budget);
  ~EngineLoop() override;

  void Attach(Outlets outlets);
  void Start();
  // Handles what is queued, then ends the thread.
  void Stop();

  // From any thread.
  Status GetStatus() const;

  void OnTermStarted(const TermInfo& info, Snapshot snapshot) override;
  void OnTermEnded(const std::string& why) override;
  void OnFlushed(FlushResult result) override;
  void OnLedger(LedgerResult result) override;
  void OnCommands(std::vector<Command> commands) override;
  void OnClockSample(const ClockSample& sample) override;
  void OnShardsGained(Snapshot gained) override;
  void OnInbox(std::vector<InboxItem> items, absl::Duration read) override;
  void OnNodes(std::vector<std::string> addresses) override;
  void OnDrained(std::set<std::string> executor_ids) override;
  void OnUpstreams(std::vector<std::string> jobs) override;
  void OnMessage(StreamId stream, ExecutorMessage message, absl::Duration received) override;
  void OnStreamClosed(StreamId stream) override;
  void OnCongested(StreamId stream, bool congested) override;

 private:
  using Event = std::function<void()>;  // run on the loop's thread
  void Post(Event event);
  void Run();
  std::deque<Event> Await();
  void Turn(const std::deque<Event>& events);
  // What is due leaves before anything else is looked at: what was reported waits, an instant does
  // not.
  void LaunchDue();
  void Publish(absl::Duration now);
  Moment Now() const;
  void CarryOutAll();
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
  bool snapshot_taken_ = false;  // in this turn
  absl::Duration flush_sent_;
  size_t flush_rows_ = 0;
  absl::Duration lag_;           // of the events of this turn
  absl::Duration longest_lag_;   // since the last publishing
  absl::Duration next_publish_;  // of gauges

  absl::Mutex mutex_;
  std::deque<Event> events_ ABSL_GUARDED_BY(mutex_);
  absl::Duration oldest_event_ ABSL_GUARDED_BY(mutex_);  // when the first of events_ came
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  mutable absl::Mutex status_mutex_;
  Status status_ ABSL_GUARDED_BY(status_mutex_);
  std::optional<absl::Duration> last_turn_ ABSL_GUARDED_BY(status_mutex_);
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_LOOP_H_
