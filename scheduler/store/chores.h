// What one node of several does now and then to keep the tables in order.
#ifndef TIDEMARK_SCHEDULER_STORE_CHORES_H_
#define TIDEMARK_SCHEDULER_STORE_CHORES_H_

#include <functional>

#include "absl/time/time.h"
#include "scheduler/store/database.h"
#include "scheduler/store/scheduler_store.h"

namespace tidemark {

// Partitions ahead and rows of terms long gone (Housekeeping), and history older than its
// retention. For one term, used by one thread; `options` must outlive it. Any number of nodes may
// do so at once.
class Chores {
 public:
  // `now`: Clock::Monotonic. `stopping`: whether to leave off.
  Chores(const StoreOptions& options, absl::Duration now, std::function<bool()> stopping);

  // Does what is due by now. What fails is tried again later.
  void Look(Connection& connection, absl::Duration now);

 private:
  // What is older than its retention; what others use now is left for the next time.
  void DropOldPartitions(Connection& connection);

  const StoreOptions& options_;
  const std::function<bool()> stopping_;
  absl::Duration next_check_;
  absl::Duration next_drop_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_CHORES_H_
