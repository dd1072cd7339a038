// Who is told of an alert, and when not.
#ifndef TIDEMARK_SCHEDULER_ALERTS_ALERT_RULES_H_
#define TIDEMARK_SCHEDULER_ALERTS_ALERT_RULES_H_

#include <optional>
#include <string>
#include <vector>

#include "scheduler/alerts/alert_config.h"
#include "scheduler/engine/alert_delivery.h"

namespace tidemark {

// Pure. An alert about a failing channel never goes to that channel. What ended while it was kept
// back, or more than a day before anybody could be told, is told to nobody.
AlertRoute JudgeAlert(const AlertsConfig& config, const AlertFact& alert,
                      const std::vector<AlertSilence>& silences, absl::Time now);

bool Matches(const AlertMatch& match, const AlertFact& alert);

// When the window that `now` lies in ends; nullopt outside of it.
std::optional<absl::Time> EndOfWindow(const SilenceWindow& window, absl::Time now);

// The key of alerts about a channel: "channel_failing/NAME/".
std::string FailingKey(const std::string& channel);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ALERTS_ALERT_RULES_H_
