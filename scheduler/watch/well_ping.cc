#include "scheduler/watch/well_ping.h"

#include <algorithm>
#include <utility>

#include "common/log.h"
#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"

namespace tidemark {
namespace {

constexpr absl::Duration kLate = absl::Minutes(15);
// A scheduler that starts has no shards yet; that is nothing to tell.
constexpr absl::Duration kSettling = absl::Seconds(15);

std::string Seconds(absl::Time time) {
  return FormatInstant(absl::FromUnixSeconds(absl::ToUnixSeconds(time)));
}

std::string Count(int count, const std::string& one, const std::string& many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

}  // namespace

std::vector<std::string> ReasonsToWithhold(const WatchHealth& health) {
  std::vector<std::string> reasons;
  if (health.unowned_shards > 0) {
    reasons.push_back(Count(health.unowned_shards, "shard has", "shards have") +
                      " no live owner: their jobs do not fire");
  }
  if (health.undelivered > 0) {
    reasons.push_back(Count(health.undelivered, "alert was", "alerts were") +
                      " taken by no channel for more than " + DurationText(kLate) +
                      (health.undelivered_since.has_value()
                           ? ", the oldest since " + Seconds(*health.undelivered_since)
                           : "") +
                      ": tidemark alert channels");
  }
  if (health.missing > 0) {
    reasons.push_back("the daily check has no verdict for " +
                      Count(health.missing, "date", "dates") + ": tidemark alert list");
  }
  if (health.disagreeing > 0) {
    reasons.push_back("the daily check is wrong about " +
                      Count(health.disagreeing, "date", "dates") + ": tidemark alert list");
  }
  for (const auto& [node, looked_at] : health.blind) {
    reasons.push_back(
        "node " + node + " has not watched the daily check " +
        (looked_at.has_value() ? "since " + Seconds(*looked_at) : std::string("since it started")));
  }
  return reasons;
}

WellPing::WellPing(const WatchConfig& config, std::string node, bool channels, Send send,
                   WatchPort& port, Clock& clock)
    : config_(config),
      node_(std::move(node)),
      channels_(channels),
      send_(std::move(send)),
      port_(port),
      clock_(clock),
      sending_log_("pinging the dead man's switch"),
      next_(clock.Monotonic() + std::min(kSettling, config.interval)) {}

absl::Duration WellPing::Turn() {
  const absl::Duration now = clock_.Monotonic();
  if (now < next_) return next_ - now;
  next_ = now + config_.interval;
  PingState state = Judge();
  state.pings = send_ != nullptr;
  LogReasons(state.reasons);
  if (state.reasons.empty() && send_ != nullptr) {
    const absl::Status sent = send_();
    sending_log_.Report(sent);
    state.pinged = sent.ok();
    if (!sent.ok()) state.error = Message(sent);
  }
  // While the database is away there is nowhere to keep it.
  (void)port_.Pinged(node_, state);
  return next_ - clock_.Monotonic();
}

void WellPing::LogReasons(const std::vector<std::string>& reasons) {
  const std::string why = Join(reasons, "; ");
  if (why == told_) return;
  told_ = why;
  if (why.empty()) {
    LogInfo("all is well again", {{"ping", send_ != nullptr ? "goes on" : "has no URL"}});
  } else {
    LogWarn("not all is well",
            {{"ping", send_ != nullptr ? "withheld" : "has no URL"}, {"why", why}});
  }
}

PingState WellPing::Judge() {
  PingState state;
  const absl::StatusOr<WatchHealth> health =
      port_.Health(channels_ ? kLate : absl::InfiniteDuration(), 2 * config_.every);
  if (health.ok()) {
    state.reasons = ReasonsToWithhold(*health);
  } else {
    state.reasons = {"the database cannot be asked: " + Message(health.status())};
  }
  return state;
}

}  // namespace tidemark
