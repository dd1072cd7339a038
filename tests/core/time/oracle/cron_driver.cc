// Prints our answers for the oracle to compare. Reads lines of tab-separated fields:
// rule (written|fixed), dialect, expression, then any number of zone, from (Unix seconds), count.
// Prints, for each line, "REJECT" or the fires of each triple as Unix seconds, joined by commas
// (a trailing "never" where the chain ends), triples joined by blanks.
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "scheduler/core/time/cron.h"
#include "scheduler/core/time/zone.h"

namespace tidemark {
namespace {

std::string Fires(const Cron& cron, Cron::Rule rule, const absl::TimeZone& zone, int64_t from,
                  int count) {
  std::string text;
  absl::Time after = absl::FromUnixSeconds(from);
  for (int i = 0; i < count; ++i) {
    const std::optional<Fire> fire = cron.Next(after, zone, rule);
    if (i > 0) text += ",";
    if (!fire) return text + "never";
    after = fire->instant;
    text += std::to_string(absl::ToUnixSeconds(after));
  }
  return text;
}

std::string Answer(const std::string& line) {
  std::vector<std::string> parts;
  std::stringstream stream(line);
  for (std::string part; std::getline(stream, part, '\t');) parts.push_back(part);
  if (parts.size() < 6) return "BAD LINE";
  const Cron::Rule rule = parts[0] == "fixed" ? Cron::Rule::kFixed : Cron::Rule::kAsWritten;
  const absl::StatusOr<Dialect> dialect = ParseDialect(parts[1]);
  const absl::StatusOr<Cron> cron = Cron::Parse(parts[2], dialect.value_or(Dialect::kAuto));
  if (!cron.ok()) return "REJECT";
  std::string answer;
  for (size_t i = 3; i + 2 < parts.size(); i += 3) {
    const absl::StatusOr<absl::TimeZone> zone = LoadZone(parts[i]);
    if (!zone.ok()) return "BAD ZONE";
    answer += (i > 3 ? " " : "") + Fires(*cron, rule, *zone, std::atoll(parts[i + 1].c_str()),
                                         std::atoi(parts[i + 2].c_str()));
  }
  return answer;
}

}  // namespace
}  // namespace tidemark

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << tidemark::Answer(line) << std::endl;
  }
}
