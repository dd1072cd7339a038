#include "scheduler/rpc/verify_codec.h"

namespace tidemark {

verify::Definition ToVerify(int version, absl::Time valid_from, const JobSpec& spec) {
  verify::Definition definition;
  definition.version = version;
  definition.valid_from = valid_from;
  definition.schedule = spec.schedule;
  definition.strict = spec.catch_up.order == CatchUpOrder::kStrict;
  definition.parallelism = spec.catch_up.parallelism;
  if (spec.blocking.policy == BlockingPolicy::kConcurrent) {
    definition.concurrent = spec.blocking.concurrent;
  }
  definition.enabled = spec.enabled;
  return definition;
}

std::map<std::string, std::vector<verify::Edition>> ToVerify(const CalendarSet* calendars) {
  std::map<std::string, std::vector<verify::Edition>> editions;
  if (calendars == nullptr) return editions;
  for (const auto& [name, history] : *calendars) {
    for (const CalendarVersion& version : history) {
      editions[name].push_back({version.valid_from, version.retroactive, version.calendar});
    }
  }
  return editions;
}

}  // namespace tidemark
