// The thread that commits flushes.
#ifndef TIDEMARK_SCHEDULER_STORE_BATCH_WRITER_H_
#define TIDEMARK_SCHEDULER_STORE_BATCH_WRITER_H_

#include <deque>
#include <memory>
#include <optional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "common/clock.h"
#include "common/id.h"
#include "common/mutex.h"
#include "common/state_log.h"
#include "scheduler/engine/ports.h"
#include "scheduler/store/backoff.h"
#include "scheduler/store/session.h"
#include "scheduler/store/term.h"

namespace tidemark {

// Commits flushes one by one, in order, each until it is committed or the term is over. A commit in
// doubt is settled by the flush row; what cannot be written for its data is left out, alone. Owns
// its thread and connection. Submit and Stop from any thread.
class BatchWriter {
 public:
  BatchWriter(const StoreOptions& options, Term* term, ListenerGate* gate, Clock* clock,
              Random* random);
  ~BatchWriter();  // as Stop

  void Submit(Flush flush);
  // Waits until all that was submitted is done, or the term is over.
  void Drain();
  // Ends the thread at once; a flush in hand is abandoned.
  void Stop();

 private:
  enum class Settled { kCommitted, kNotCommitted, kTermOver };

  void Run();
  bool Next(Flush* flush);
  // nullopt: the term is over.
  std::optional<FlushResult> Commit(const Flush& whole);
  absl::Status Attempt(Connection& connection, const Flush& flush,
                       const std::set<int64_t>& left_out, bool probe, FlushResult* result);
  // Takes the culprits out of `flush`, noting them in `result`.
  absl::Status LeaveOut(const Flush& whole, Flush* flush, std::set<int64_t>* left_out,
                        FlushResult* result);
  Settled Settle(uint64_t seq);
  absl::StatusOr<uint64_t> ReadSeq();
  bool Stopped();

  Term* const term_;
  ListenerGate* const gate_;
  Clock* const clock_;
  Random* const random_;
  Session session_;
  StateLog log_{"writing to the database"};
  Backoff backoff_;
  Signal wake_;
  Signal idle_signal_;
  Mutex mutex_;
  std::deque<Flush> queue_ ABSL_GUARDED_BY(mutex_);
  bool busy_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: everything else is ready when it starts
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_BATCH_WRITER_H_
