#include "scheduler/store/term_watchdog.h"

#include <algorithm>

namespace tidemark {

TermWatchdog::TermWatchdog(Term* term, Clock* clock)
    : term_(term), clock_(clock), thread_([this] { Run(); }) {}

TermWatchdog::~TermWatchdog() {
  {
    const MutexLock lock(&mutex_);
    stopped_ = true;
  }
  wake_.Notify();
  thread_.join();
}

void TermWatchdog::Run() {
  // While the machine is suspended the deadline comes nearer, and a wait does not.
  constexpr absl::Duration kLook = absl::Milliseconds(500);
  while (!term_->Over()) {
    wake_.Wait(std::clamp(term_->deadline() - clock_->Monotonic(), absl::Milliseconds(1), kLook));
    const MutexLock lock(&mutex_);
    if (stopped_) return;
  }
}

}  // namespace tidemark
