// A few connections that operators' requests share.
#ifndef TIDEMARK_SCHEDULER_STORE_OPERATOR_POOL_H_
#define TIDEMARK_SCHEDULER_STORE_OPERATOR_POOL_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/store/database.h"

namespace tidemark {

// Opens connections when they are asked for, at most `size`, and keeps them. A request that finds
// all in use waits. Owns its connections; thread-safe. All requests must be over before it dies.
class OperatorPool {
 public:
  OperatorPool(DatabaseOptions options, int size);

  // Runs `body` as one transaction. It may be called again, so it must start its outputs afresh:
  // once on a new connection when the old one broke before COMMIT, and up to three times after a
  // serialization failure or deadlock. UNAVAILABLE: the database cannot be reached, nothing was
  // committed. UNKNOWN: the connection broke during COMMIT.
  absl::Status Transact(const std::function<absl::Status(SqlTransaction&)>& body,
                        Isolation isolation = Isolation::kReadCommitted);

 private:
  absl::StatusOr<std::unique_ptr<Connection>> Take(bool fresh);
  void GiveBack(std::unique_ptr<Connection> connection);
  absl::Status Once(const std::function<absl::Status(SqlTransaction&)>& body, Isolation isolation,
                    bool fresh);

  const DatabaseOptions options_;
  const int size_;
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_ ABSL_GUARDED_BY(mutex_);
  int out_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_OPERATOR_POOL_H_
