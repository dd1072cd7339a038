// The ping to a dead man's switch: a sign of life that is given only while all is well.
#ifndef TIDEMARK_SCHEDULER_WATCH_WELL_PING_H_
#define TIDEMARK_SCHEDULER_WATCH_WELL_PING_H_

#include <functional>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/state_log.h"
#include "scheduler/engine/watch_port.h"
#include "scheduler/watch/watch_config.h"

namespace tidemark {

// What is not as it should be, one reason a line for people; empty: all is well.
std::vector<std::string> ReasonsToWithhold(const WatchHealth& health);

// Asks the database at each turn, so that nothing that hangs in memory can say that all is well.
// Turn is for one thread. All that it is given must outlive it.
class WellPing {
 public:
  // Sends one; blocks for its timeout at most. The error has no secret.
  using Send = std::function<absl::Status()>;

  // `send` is null without a URL: then only the reasons are kept.
  // `channels`: whether there are any but the log; without them no alert waits for one.
  WellPing(const WatchConfig& config, std::string node, bool channels, Send send, WatchPort& port,
           Clock& clock);

  // Pings if it is time to and all is well; returns how long to wait until the next turn.
  absl::Duration Turn();

 private:
  PingState Judge();
  // Says in the log when it changes.
  void LogReasons(const std::vector<std::string>& reasons);

  const WatchConfig config_;
  const std::string node_;
  const bool channels_;
  const Send send_;
  WatchPort& port_;
  Clock& clock_;
  StateLog sending_log_;
  std::string told_;     // the reasons that were logged last
  absl::Duration next_;  // monotonic
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_WATCH_WELL_PING_H_
