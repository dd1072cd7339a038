// How often a failed message is tried again, and when people are told of a failing channel.
#ifndef TIDEMARK_SCHEDULER_ALERTS_DELIVERY_POLICY_H_
#define TIDEMARK_SCHEDULER_ALERTS_DELIVERY_POLICY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "scheduler/engine/alert_delivery.h"

namespace tidemark {

// Of a message and of its channel alike, so that what waited arrives soon after the receiver is
// back: 5 s after the first failure, doubled with each, at most 5 min. `jitter` in [0, 1) moves it
// by ±20 %.
absl::Duration RetryDelay(int failures, double jitter);

// A channel fails when it has taken nothing for 5 min and three tries, this one included.
bool IsFailing(const ChannelState& before, absl::Time now);

// The alert about a failing channel, without its id.
AlertRaise ChannelFailing(const std::string& channel, const ChannelState& before,
                          const std::string& error);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ALERTS_DELIVERY_POLICY_H_
