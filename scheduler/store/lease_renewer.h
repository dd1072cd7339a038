// The thread that renews the lease.
#ifndef TIDEMARK_SCHEDULER_STORE_LEASE_RENEWER_H_
#define TIDEMARK_SCHEDULER_STORE_LEASE_RENEWER_H_

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "common/state_log.h"
#include "scheduler/store/session.h"
#include "scheduler/store/term.h"

namespace tidemark {

// Renews each `renew_every`, on a connection of its own so that no flush delays it, and ends the
// term when the database says that the lease is over, or is not the one that the term began with: a
// standby was promoted. Owns its thread and connection.
class LeaseRenewer {
 public:
  LeaseRenewer(const StoreOptions& options, Term* term, ListenerGate* gate, Clock* clock);
  ~LeaseRenewer();

 private:
  void Run();
  absl::Status Renew();

  const absl::Duration lease_;
  const std::function<NodeVitals()> vitals_;
  const absl::Duration every_;
  const absl::Duration retry_;
  Term* const term_;
  ListenerGate* const gate_;
  Clock* const clock_;
  Session session_;
  StateLog log_{"renewing the lease"};
  Signal wake_;
  Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_LEASE_RENEWER_H_
