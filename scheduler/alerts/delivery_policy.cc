#include "scheduler/alerts/delivery_policy.h"

#include <algorithm>

#include "common/time_text.h"
#include "scheduler/alerts/alert_rules.h"

namespace tidemark {
namespace {

constexpr absl::Duration kFirst = absl::Seconds(5);
constexpr absl::Duration kMost = absl::Minutes(5);

}  // namespace

absl::Duration RetryDelay(int failures, double jitter) {
  const int doublings = std::clamp(failures - 1, 0, 20);
  return std::min(kFirst * (1 << doublings), kMost) * (0.8 + 0.4 * jitter);
}

bool IsFailing(const ChannelState& before, absl::Time now) {
  return before.failures >= 2 && before.failing_since.has_value() &&
         now - *before.failing_since >= absl::Minutes(5);
}

AlertRaise ChannelFailing(const std::string& channel, const ChannelState& before,
                          const std::string& error) {
  AlertRaise alert;
  alert.dedup_key = FailingKey(channel);
  alert.kind = "channel_failing";
  alert.severity = "critical";
  const absl::Time since = before.failing_since.value_or(absl::UnixEpoch());
  alert.summary = "Alert channel " + channel + " has taken no message since " +
                  FormatInstant(absl::FromUnixSeconds(absl::ToUnixSeconds(since))) + ": " + error;
  alert.detail =
      "What waits is sent by itself once the channel works again. Mend its settings or its "
      "receiver, then: tidemark alert test " +
      channel;
  return alert;
}

}  // namespace tidemark
