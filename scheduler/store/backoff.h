// Pauses that grow between tries.
#ifndef TIDEMARK_SCHEDULER_STORE_BACKOFF_H_
#define TIDEMARK_SCHEDULER_STORE_BACKOFF_H_

#include <algorithm>

#include "absl/time/time.h"

namespace tidemark {

// Used by one thread.
class Backoff {
 public:
  Backoff(absl::Duration first, absl::Duration most) : first_(first), most_(most), next_(first) {}

  absl::Duration Next() {
    const absl::Duration now = next_;
    next_ = std::min(next_ * 2, most_);
    return now;
  }
  void Reset() { next_ = first_; }

 private:
  const absl::Duration first_;
  const absl::Duration most_;
  absl::Duration next_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_BACKOFF_H_
