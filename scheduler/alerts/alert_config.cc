#include "scheduler/alerts/alert_config.h"

#include <algorithm>
#include <utility>

#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"
#include "common/yaml_reader.h"
#include "scheduler/alerts/channel_config.h"
#include "scheduler/core/time/zone.h"

namespace tidemark {
namespace {

const std::vector<std::string> kSeverities = {"info", "warning", "critical"};

void ReadMatch(YamlReader* reader, AlertMatch* match) {
  reader->TextOrTexts("job", &match->jobs);
  reader->TextOrTexts("namespace", &match->namespaces);
  reader->TextOrTexts("kind", &match->kinds);
  reader->TextOrTexts("severity", &match->severities);
  for (const std::string& severity : match->severities) {
    if (std::find(kSeverities.begin(), kSeverities.end(), severity) == kSeverities.end()) {
      reader->Fail("severity",
                   "\"" + EscapeControl(severity) + "\" is none of info, warning, critical");
    }
  }
}

absl::StatusOr<RouteConfig> ReadRoute(const YAML::Node& node, const std::string& file,
                                      const std::string& place,
                                      const std::vector<std::string>& channels) {
  RouteConfig route;
  YamlReader reader(node, file, place);
  ReadMatch(&reader, &route.match);
  reader.Require("channels");
  reader.TextOrTexts("channels", &route.channels);
  TM_RETURN_IF_ERROR(reader.Done());
  if (route.channels.empty()) {
    reader.Fail("channels", "is empty: somebody must be told; `silences` keeps alerts back");
  }
  for (const std::string& channel : route.channels) {
    if (std::find(channels.begin(), channels.end(), channel) != channels.end()) continue;
    const std::string meant = Nearest(channel, channels);
    reader.Fail("channels", "there is no channel \"" + EscapeControl(channel) + "\"" +
                                (meant.empty() ? "" : "; did you mean \"" + meant + "\"?"));
  }
  TM_RETURN_IF_ERROR(reader.Done());
  return route;
}

// "22:00" as minutes since midnight; -1 when it is something else.
int ParseMinutes(const std::string& text) {
  if (text.size() != 5 || text[2] != ':') return -1;
  for (const size_t i : {0, 1, 3, 4}) {
    if (text[i] < '0' || text[i] > '9') return -1;
  }
  const int hour = (text[0] - '0') * 10 + text[1] - '0';
  const int minute = (text[3] - '0') * 10 + text[4] - '0';
  return hour < 24 && minute < 60 ? hour * 60 + minute : -1;
}

absl::StatusOr<SilenceWindow> ReadSilenceWindow(const YAML::Node& node, const std::string& file,
                                                const std::string& place, absl::TimeZone zone) {
  SilenceWindow window;
  window.zone = zone;
  YamlReader reader(node, file, place);
  ReadMatch(&reader, &window.match);
  std::string from;
  std::string to;
  std::string zone_name;
  reader.Require("from");
  reader.Text("from", &from);
  reader.Require("to");
  reader.Text("to", &to);
  reader.Text("zone", &zone_name);
  TM_RETURN_IF_ERROR(reader.Done());
  window.from = ParseMinutes(from);
  window.to = ParseMinutes(to);
  if (window.from < 0) reader.Fail("from", "must be a time of the day, as \"22:00\"");
  if (window.to < 0) reader.Fail("to", "must be a time of the day, as \"06:00\"");
  if (from == to) reader.Fail("to", "is the same as from: nobody would ever be told");
  if (!zone_name.empty()) {
    const absl::StatusOr<absl::TimeZone> loaded = LoadZone(zone_name);
    if (!loaded.ok()) reader.Fail("zone", Message(loaded.status()));
    if (loaded.ok()) window.zone = *loaded;
  }
  TM_RETURN_IF_ERROR(reader.Done());
  return window;
}

absl::Status ReadDigest(const YAML::Node& node, const std::string& file, AlertsConfig* config) {
  YamlReader reader(node, file, "alerts.digest");
  int64_t more_than = config->most_messages;
  reader.Number("more_than", 1, 1000, &more_than);
  config->most_messages = static_cast<int>(more_than);
  reader.Duration("window", &config->window);
  TM_RETURN_IF_ERROR(reader.Done());
  if (config->window < absl::Seconds(1) || config->window > absl::Hours(1)) {
    reader.Fail("window", "must be from 1s to 1h");
  }
  return reader.Done();
}

void CheckTimes(const AlertsConfig& config, YamlReader* reader) {
  if (config.remind_every != absl::ZeroDuration() && config.remind_every < absl::Minutes(1)) {
    reader->Fail("remind_every", "must be at least 1m, or 0s for never");
  }
  if (config.give_up_after < absl::Hours(1)) {
    reader->Fail("give_up_after", "must be at least 1h");
  }
}

std::string PlaceOf(const char* list, size_t i) {
  return "alerts." + std::string(list) + "[" + std::to_string(i) + "]";
}

absl::Status ReadLists(const std::vector<YAML::Node>& channels,
                       const std::vector<YAML::Node>& routes,
                       const std::vector<YAML::Node>& silences, const std::string& file,
                       const AlertStyle& style, AlertsConfig* config) {
  std::vector<std::string> names;
  for (size_t i = 0; i < channels.size(); ++i) {
    TM_ASSIGN_OR_RETURN(ChannelConfig channel,
                        ReadChannel(channels[i], file, PlaceOf("channels", i), style, names));
    names.push_back(channel.name);
    config->channels.push_back(std::move(channel));
  }
  for (size_t i = 0; i < routes.size(); ++i) {
    TM_ASSIGN_OR_RETURN(RouteConfig route, ReadRoute(routes[i], file, PlaceOf("routes", i), names));
    config->routes.push_back(std::move(route));
  }
  for (size_t i = 0; i < silences.size(); ++i) {
    TM_ASSIGN_OR_RETURN(SilenceWindow window,
                        ReadSilenceWindow(silences[i], file, PlaceOf("silences", i), style.zone));
    config->silences.push_back(std::move(window));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<AlertsConfig> ReadAlertsConfig(const YAML::Node& node, const std::string& file) {
  AlertsConfig config;
  AlertStyle style;
  YamlReader reader(node, file, "alerts");
  ReadStyle(&reader, &style);
  reader.Duration("remind_every", &config.remind_every);
  reader.Duration("give_up_after", &config.give_up_after);
  const std::vector<YAML::Node> channels = reader.Items("channels");
  const std::vector<YAML::Node> routes = reader.Items("routes");
  const std::vector<YAML::Node> silences = reader.Items("silences");
  const std::optional<YAML::Node> digest = reader.Item("digest");
  TM_RETURN_IF_ERROR(reader.Done());
  CheckTimes(config, &reader);
  TM_RETURN_IF_ERROR(reader.Done());
  if (digest.has_value()) TM_RETURN_IF_ERROR(ReadDigest(*digest, file, &config));
  TM_RETURN_IF_ERROR(ReadLists(channels, routes, silences, file, style, &config));
  return config;
}

}  // namespace tidemark
