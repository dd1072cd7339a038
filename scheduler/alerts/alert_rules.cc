#include "scheduler/alerts/alert_rules.h"

#include <algorithm>
#include <string_view>

namespace tidemark {
namespace {

constexpr absl::Duration kOldNews = absl::Hours(24);
constexpr absl::Duration kPausedAgain = absl::Hours(7 * 24);  // C8: a weekly reminder

// `*` stands for any characters.
bool GlobMatches(std::string_view pattern, std::string_view text) {
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;
  size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool AnyOf(const std::vector<std::string>& patterns, const std::string& text) {
  return patterns.empty() || std::any_of(patterns.begin(), patterns.end(),
                                         [&](const auto& p) { return GlobMatches(p, text); });
}

bool Covers(const AlertSilence& silence, const AlertFact& alert) {
  return (silence.job.empty() || silence.job == alert.job) &&
         (silence.kind.empty() || silence.kind == alert.kind) &&
         (silence.ns.empty() || silence.ns == alert.ns);
}

void Silence(const AlertsConfig& config, const AlertFact& alert,
             const std::vector<AlertSilence>& silences, absl::Time now, AlertRoute* route) {
  for (const AlertSilence& silence : silences) {
    if (!Covers(silence, alert)) continue;
    if (route->silenced_until.has_value() && *route->silenced_until >= silence.until) continue;
    route->silenced_until = silence.until;
    route->silence_id = silence.silence_id;
  }
  for (const SilenceWindow& window : config.silences) {
    if (!Matches(window.match, alert)) continue;
    const std::optional<absl::Time> end = EndOfWindow(window, now);
    if (!end.has_value() || route->silenced_until.value_or(now) >= *end) continue;
    route->silenced_until = end;
    route->silence_id.clear();
  }
}

std::vector<std::string> ChannelsFor(const AlertsConfig& config, const AlertFact& alert) {
  std::vector<std::string> channels;
  channels.reserve(config.channels.size());
  for (const ChannelConfig& channel : config.channels) channels.push_back(channel.name);
  for (const RouteConfig& route : config.routes) {
    if (!Matches(route.match, alert)) continue;
    channels = route.channels;
    break;
  }
  const auto itself = [&](const std::string& channel) {
    return alert.dedup_key == FailingKey(channel);
  };
  channels.erase(std::remove_if(channels.begin(), channels.end(), itself), channels.end());
  return channels;
}

}  // namespace

std::string FailingKey(const std::string& channel) { return "channel_failing/" + channel + "/"; }

bool Matches(const AlertMatch& match, const AlertFact& alert) {
  return AnyOf(match.jobs, alert.job) && AnyOf(match.namespaces, alert.ns) &&
         AnyOf(match.kinds, alert.kind) && AnyOf(match.severities, alert.severity);
}

std::optional<absl::Time> EndOfWindow(const SilenceWindow& window, absl::Time now) {
  const absl::CivilSecond local = absl::ToCivilSecond(now, window.zone);
  const int minute = local.hour() * 60 + local.minute();
  const bool over_midnight = window.to <= window.from;
  const bool inside = over_midnight ? minute >= window.from || minute < window.to
                                    : minute >= window.from && minute < window.to;
  if (!inside) return std::nullopt;
  absl::CivilDay day(local);
  if (over_midnight && minute >= window.from) ++day;
  const absl::Time end = absl::FromCivil(absl::CivilMinute(day) + window.to, window.zone);
  // A zone may skip the window's end: then look again soon.
  return end > now ? end : now + absl::Minutes(1);
}

AlertRoute JudgeAlert(const AlertsConfig& config, const AlertFact& alert,
                      const std::vector<AlertSilence>& silences, absl::Time now) {
  AlertRoute route;
  Silence(config, alert, silences, now, &route);
  const bool over = alert.resolved_at.has_value() || alert.event;
  const bool old = over && now - alert.raised_at > kOldNews;
  if (old || (alert.resolved_at.has_value() && route.silenced_until.has_value())) return {};
  if (route.silenced_until.has_value()) return route;
  route.channels = ChannelsFor(config, alert);
  if (config.remind_every > absl::ZeroDuration()) {
    if (alert.severity == "critical") route.remind_after = config.remind_every;
    if (alert.kind == "job_paused") route.remind_after = kPausedAgain;
  }
  return route;
}

}  // namespace tidemark
