// A listener that keeps what it is told.
#ifndef TIDEMARK_TESTS_STORE_RECORDING_LISTENER_H_
#define TIDEMARK_TESTS_STORE_RECORDING_LISTENER_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "common/mutex.h"
#include "scheduler/store/scheduler_store.h"

namespace tidemark {

// Thread-safe.
class RecordingListener : public StoreListener {
 public:
  struct State {
    std::vector<TermInfo> terms;
    std::vector<Snapshot> snapshots;
    std::vector<std::string> ends;
    std::vector<FlushResult> flushed;
    std::vector<LedgerResult> ledgers;
    std::vector<Command> commands;
    std::vector<ClockSample> clocks;
    std::vector<Snapshot> gained;
    std::vector<InboxItem> inbox;
    std::vector<std::vector<std::string>> nodes;  // each telling
    std::vector<std::set<std::string>> drained;   // each telling
    bool listening = false;                       // to notifications
    size_t began_to_listen = 0;
    std::vector<std::vector<std::string>> upstreams;  // each telling that names one
    std::vector<std::string> order;                   // "start", "end", "flush", …
  };

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

  State Get() const;
  // Waits until `condition` holds of the state; false after half a minute.
  bool Wait(const std::function<bool(const State&)>& condition) const;
  // Waits for the start of the n-th term (from 1) and returns it.
  TermInfo WaitForTerm(size_t n) const;
  bool WaitForEnds(size_t n) const;
  // Shards of the present term, those gained included; 0 between terms.
  size_t Shards() const;
  bool WaitForShards(size_t n) const;
  bool WaitForFlush(uint64_t seq) const;  // the last one delivered has this number

 private:
  mutable Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_STORE_RECORDING_LISTENER_H_
