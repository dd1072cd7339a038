#include "scheduler/config_print.h"

#include <algorithm>

#include "common/text.h"
#include "scheduler/store/database.h"

namespace tidemark {
namespace {

// Text as one YAML scalar.
std::string Scalar(const std::string& text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("/._-:[]+").find(c) != std::string_view::npos;
  });
  if (plain && text.front() != '[' && text.front() != '-') return text;
  std::string quoted = "\"";
  for (const char c : EscapeControl(text)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string ValueOf(const CLI::Option& option, const SchedulerConfig& config) {
  const std::string name = option.get_lnames().front();
  if (option.count() == 0) {
    return option.get_items_expected_max() == 0 ? "false" : Scalar(option.get_default_str());
  }
  if (name == "database-url" || name == "database-listen-url") {
    DatabaseOptions database;
    database.url = name == "database-url" ? config.database_url : config.database_listen_url;
    database.schema = config.schema;
    return Scalar("(set) " + DescribeDatabase(database));
  }
  return Scalar(Join(option.reduced_results(), ","));
}

}  // namespace

std::vector<std::string> ConfigKeys(const CLI::App& app) {
  std::vector<std::string> keys;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_configurable() || option->get_lnames().empty()) continue;
    keys.push_back(option->get_lnames().front());
  }
  return keys;
}

std::string PrintConfig(const CLI::App& app, const SchedulerConfig& config) {
  std::string out;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_configurable() || option->get_lnames().empty()) continue;
    out += option->get_lnames().front() + ": " + ValueOf(*option, config) + "\n";
  }
  out += "# alerts: " + std::to_string(config.alerts.channels.size()) + " channels\n";
  for (const auto& channel : config.alerts.channels) {
    out += "#   " + Scalar(channel.name) + ", " + ChannelTypeName(channel.type) + "\n";
  }
  return out;
}

}  // namespace tidemark
