// The watch of the daily check: looks again and again whether it did its work.
#ifndef TIDEMARK_SCHEDULER_WATCH_CHECK_WATCH_H_
#define TIDEMARK_SCHEDULER_WATCH_CHECK_WATCH_H_

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/id.h"
#include "common/state_log.h"
#include "scheduler/engine/watch_port.h"
#include "scheduler/watch/judge.h"
#include "scheduler/watch/watch_config.h"

namespace tidemark {

// One look at the jobs of the shards that other nodes own (of all, when no other is up), in pages,
// with the rows of the last days alone. Turn is for one thread; Stop may come from any. All that
// it is given must outlive it.
class CheckWatch {
 public:
  // Reads the texts of a job; those that nobody can read are left out.
  using Reader = std::function<watch::Job(const WatchJob& job)>;

  CheckWatch(const WatchConfig& config, std::string node, Reader read, WatchPort& port,
             Clock& clock, Random& random);

  // Looks if it is time to; returns how long to wait until the next turn.
  absl::Duration Turn();
  // A look under way ends after its page.
  void Stop() { stopping_ = true; }

 private:
  absl::StatusOr<WatchLook> Look();
  absl::Status JudgePage(const WatchPage& page, WatchLook* look);

  const WatchConfig config_;
  const std::string node_;
  const Reader read_;
  WatchPort& port_;
  Clock& clock_;
  Random& random_;
  StateLog log_;
  absl::Duration next_;  // monotonic
  std::atomic<bool> stopping_ = false;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_WATCH_CHECK_WATCH_H_
