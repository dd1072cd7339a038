// A way to tell people.
#ifndef TIDEMARK_SCHEDULER_ALERTS_ALERT_CHANNEL_H_
#define TIDEMARK_SCHEDULER_ALERTS_ALERT_CHANNEL_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/clock.h"
#include "scheduler/alerts/alert_config.h"
#include "scheduler/engine/alert_delivery.h"

namespace tidemark {

// Thread-safe.
class AlertChannel {
 public:
  virtual ~AlertChannel() = default;

  // Sends one message; blocks for the channel's timeout at most. Returns what the receiver
  // answered, for people. Neither answer nor error holds a secret. CANCELLED: Abort.
  virtual absl::StatusOr<std::string> Send(const AlertMessage& message) = 0;
  // Ends what is under way within a second, and all later calls at once.
  virtual void Abort() = 0;
};

// `clock` dates and signs messages; it must outlive the channel and be thread-safe.
std::unique_ptr<AlertChannel> MakeAlertChannel(const ChannelConfig& config, Clock& clock);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ALERTS_ALERT_CHANNEL_H_
