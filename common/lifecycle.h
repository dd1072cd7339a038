// Start and stop of a process.
#ifndef TIDEMARK_COMMON_LIFECYCLE_H_
#define TIDEMARK_COMMON_LIFECYCLE_H_

#include "absl/time/time.h"

namespace tidemark {

// Blocks SIGTERM, SIGINT and SIGHUP in this thread and all that it starts later; SIGPIPE is
// ignored. Make one in main before any thread. The process's only reader of signals.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Waits for a stop signal and returns its number; 0 when `timeout` is over first.
  int Wait(absl::Duration timeout);
  // A file descriptor that becomes readable when a stop signal is pending (for poll).
  int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace tidemark

#endif  // TIDEMARK_COMMON_LIFECYCLE_H_
