#include "scheduler/watch/watch_config.h"

#include "common/status.h"
#include "common/time_text.h"
#include "common/yaml_reader.h"
#include "scheduler/alerts/alert_config.h"

namespace tidemark {
namespace {

void CheckRange(const char* key, absl::Duration value, absl::Duration least, absl::Duration most,
                YamlReader* reader) {
  if (value >= least && value <= most) return;
  reader->Fail(key, "must be from " + DurationText(least) + " to " + DurationText(most));
}

void CheckUrl(const WatchConfig& config, YamlReader* reader) {
  if (!config.ping_url.empty() && !config.ping_url_file.empty()) {
    reader->Fail("ping_url", "give either ping_url or ping_url_file (for a URL that is a secret)");
    return;
  }
  std::string url = config.ping_url;
  if (!config.ping_url_file.empty()) {
    const absl::StatusOr<std::string> read = ReadSecret(config.ping_url_file);
    if (!read.ok()) return reader->Fail("ping_url_file", Message(read.status()));
    url = *read;
  }
  if (url.empty()) return;
  const std::string problem = ChannelUrlProblem(url);
  if (!problem.empty()) {
    reader->Fail(config.ping_url.empty() ? "ping_url_file" : "ping_url", problem);
  }
}

}  // namespace

absl::StatusOr<WatchConfig> ReadWatchConfig(const YAML::Node& node, const std::string& file) {
  WatchConfig config;
  YamlReader reader(node, file, "watch");
  reader.Duration("every", &config.every);
  reader.Duration("grace", &config.grace);
  reader.Text("ping_url", &config.ping_url);
  reader.Text("ping_url_file", &config.ping_url_file);
  reader.Duration("interval", &config.interval);
  reader.Duration("timeout", &config.ping_timeout);
  reader.Text("ca_file", &config.ca_file);
  TM_RETURN_IF_ERROR(reader.Done());
  CheckRange("every", config.every, absl::Seconds(1), absl::Hours(1), &reader);
  CheckRange("grace", config.grace, absl::Seconds(1), absl::Hours(2), &reader);
  CheckRange("interval", config.interval, absl::Seconds(1), absl::Hours(1), &reader);
  CheckRange("timeout", config.ping_timeout, absl::Seconds(1), absl::Minutes(1), &reader);
  TM_RETURN_IF_ERROR(reader.Done());
  CheckUrl(config, &reader);
  TM_RETURN_IF_ERROR(reader.Done());
  return config;
}

}  // namespace tidemark
