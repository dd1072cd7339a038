// The thread that ends a term which was not renewed.
#ifndef TIDEMARK_SCHEDULER_STORE_TERM_WATCHDOG_H_
#define TIDEMARK_SCHEDULER_STORE_TERM_WATCHDOG_H_

#include <thread>

#include "absl/base/thread_annotations.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "scheduler/store/term.h"

namespace tidemark {

// Ends the term at its deadline. It never waits for the database, on which all other threads of a
// term may hang for longer than the lease. Owns its thread.
class TermWatchdog {
 public:
  TermWatchdog(Term* term, Clock* clock);
  ~TermWatchdog();

 private:
  void Run();

  Term* const term_;
  Clock* const clock_;
  Signal wake_;
  Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_TERM_WATCHDOG_H_
