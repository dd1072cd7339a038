// One term of the store: its end, its deadline, and the gate to the listener.
#ifndef TIDEMARK_SCHEDULER_STORE_TERM_H_
#define TIDEMARK_SCHEDULER_STORE_TERM_H_

#include <functional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "scheduler/store/flush_writer.h"
#include "scheduler/store/scheduler_store.h"

namespace tidemark {

// Lets one call at a time through to the listener. Owned by SchedulerStore; thread-safe.
class ListenerGate {
 public:
  explicit ListenerGate(StoreListener* listener) : listener_(listener) {}

  void ClockSampled(const ClockSample& sample) {
    const MutexLock lock(&mutex_);
    listener_->OnClockSample(sample);
  }

 private:
  friend class Term;
  Mutex mutex_;
  StoreListener* const listener_;
};

// From the registration of an incarnation to its end. It ends when somebody says so, or by itself
// when no renewal was confirmed for `stop_after`: that is before the lease can be over, since the
// deadline counts from when the renewal was sent. Shared by the threads of the term; thread-safe.
class Term {
 public:
  // `sent`: Clock::Monotonic before the registration was sent. `wake`: told of the end.
  Term(TermInfo info, ListenerGate* gate, Clock* clock, absl::Duration stop_after,
       absl::Duration sent, Signal* wake)
      : info_(std::move(info)),
        gate_(gate),
        clock_(clock),
        stop_after_(stop_after),
        wake_(wake),
        deadline_(sent + stop_after) {}

  const TermInfo& info() const { return info_; }
  Owner owner() const { return {info_.node_id, info_.incarnation}; }

  // Opens the gate with OnTermStarted, unless the term is over already.
  void Start(Snapshot snapshot);
  // A renewal that was sent at `sent` was confirmed.
  void Renewed(absl::Duration sent);
  // Ends the term; the first reason counts. OnTermEnded follows if OnTermStarted came before.
  void End(const std::string& why);
  // True when it is over; ends it if the deadline has passed.
  bool Over();
  std::string why() const;
  absl::Duration deadline() const;

  // Calls `call` with the listener if the term is on; returns whether it was.
  bool Deliver(const std::function<void(StoreListener*)>& call);

 private:
  bool OverLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(gate_->mutex_);
  void EndLocked(const std::string& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(gate_->mutex_);

  const TermInfo info_;
  ListenerGate* const gate_;
  Clock* const clock_;
  const absl::Duration stop_after_;
  Signal* const wake_;
  absl::Duration deadline_ ABSL_GUARDED_BY(gate_->mutex_);
  bool started_ ABSL_GUARDED_BY(gate_->mutex_) = false;
  bool over_ ABSL_GUARDED_BY(gate_->mutex_) = false;
  std::string why_ ABSL_GUARDED_BY(gate_->mutex_);
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_TERM_H_
