// `watch:` of the scheduler's file: the look at the daily check, and the ping.
#ifndef TIDEMARK_SCHEDULER_WATCH_WATCH_CONFIG_H_
#define TIDEMARK_SCHEDULER_WATCH_WATCH_CONFIG_H_

#include <yaml-cpp/yaml.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace tidemark {

struct WatchConfig {
  absl::Duration every = absl::Minutes(10);  // between looks
  // A verdict may be so late: the check itself needs its time.
  absl::Duration grace = absl::Minutes(5);
  // Of the dead man's switch: one of the two, or neither (no ping).
  std::string ping_url;
  std::string ping_url_file;
  absl::Duration interval = absl::Minutes(1);  // between pings
  absl::Duration ping_timeout = absl::Seconds(10);
  std::string ca_file;

  bool pings() const { return !ping_url.empty() || !ping_url_file.empty(); }
};

// Reads the mapping below `watch:`. INVALID_ARGUMENT: "file:line: watch: …: what is wrong". Files
// that it names must be readable.
absl::StatusOr<WatchConfig> ReadWatchConfig(const YAML::Node& node, const std::string& file);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_WATCH_WATCH_CONFIG_H_
