// The thread that answers questions about watermarks.
#ifndef TIDEMARK_SCHEDULER_STORE_LEDGER_READER_H_
#define TIDEMARK_SCHEDULER_STORE_LEDGER_READER_H_

#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "common/mutex.h"
#include "common/state_log.h"
#include "scheduler/engine/ports.h"
#include "scheduler/store/backoff.h"
#include "scheduler/store/session.h"
#include "scheduler/store/term.h"

namespace tidemark {

// Answers all that wait with one statement. Tries again while the database is away; any other error
// is the answer. Owns its thread and connection.
class LedgerReader {
 public:
  LedgerReader(const StoreOptions& options, Term* term);
  ~LedgerReader();

  void Query(LedgerQuery query);  // any thread

 private:
  void Run();
  bool Next(std::vector<LedgerQuery>* queries);
  absl::StatusOr<std::vector<LedgerResult>> Read(const std::vector<LedgerQuery>& queries);

  Term* const term_;
  Session session_;
  StateLog log_{"reading the ledger"};
  Backoff backoff_;
  Signal wake_;
  Mutex mutex_;
  std::vector<LedgerQuery> queue_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// Reads watermarks of all `queries` in one statement; exposed for tests.
absl::StatusOr<std::vector<LedgerResult>> ReadLedger(Connection& connection,
                                                     const std::vector<LedgerQuery>& queries);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_LEDGER_READER_H_
