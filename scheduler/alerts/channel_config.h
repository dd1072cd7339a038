// One channel of `alerts.channels`.
#ifndef TIDEMARK_SCHEDULER_ALERTS_CHANNEL_CONFIG_H_
#define TIDEMARK_SCHEDULER_ALERTS_CHANNEL_CONFIG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/yaml_reader.h"
#include "scheduler/alerts/alert_config.h"

namespace tidemark {

// `style`: what the file says for all. `others`: names that are taken.
absl::StatusOr<ChannelConfig> ReadChannel(const YAML::Node& node, const std::string& file,
                                          const std::string& place, const AlertStyle& style,
                                          const std::vector<std::string>& others);

// The keys `language` and `zone`.
void ReadStyle(YamlReader* reader, AlertStyle* style);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ALERTS_CHANNEL_CONFIG_H_
