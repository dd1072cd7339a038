#include "common/mutex_checks.h"

#include "absl/synchronization/mutex.h"

namespace tidemark {

void ForgoMutexChecks() {
#ifdef NDEBUG
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
#endif
}

}  // namespace tidemark
