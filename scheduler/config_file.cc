#include "scheduler/config_file.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "absl/status/status.h"
#include "common/status.h"
#include "common/yaml_reader.h"

namespace tidemark {
namespace {

void Must(const absl::Status& status) {
  if (!status.ok()) throw CLI::ConfigError(Message(status), CLI::ExitCodes::ConfigError);
}

// tls: {cert, key, client_ca} says the same as the options.
void AddTls(const YAML::Node& node, const std::string& file, std::vector<CLI::ConfigItem>* items) {
  YamlReader reader(node, file, "tls");
  for (const auto& [key, option] : {std::pair("cert", "tls-cert"), std::pair("key", "tls-key"),
                                    std::pair("client_ca", "tls-client-ca")}) {
    if (!reader.Has(key)) continue;
    CLI::ConfigItem item;
    item.name = option;
    item.inputs.emplace_back();
    reader.Text(key, &item.inputs.back());
    items->push_back(std::move(item));
  }
  Must(reader.Done());
}

// CLI11 takes the environment last, and only for what nothing else has set: what a variable says
// the file must not.
bool SetByEnvironment(const CLI::Option& option) {
  const std::string variable = option.get_envname();
  const char* value = variable.empty() ? nullptr : std::getenv(variable.c_str());
  return value != nullptr && *value != '\0';
}

std::vector<CLI::ConfigItem> ReadYaml(const YAML::Node& root, const std::string& file,
                                      const CLI::App& app, AlertsConfig* alerts,
                                      WatchConfig* watch_config) {
  YamlReader reader(root, file, "");
  std::vector<CLI::ConfigItem> items;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_configurable() || option->get_lnames().empty()) continue;
    const std::string name = option->get_lnames().front();
    std::string key = name;
    if (!reader.Has(key)) std::replace(key.begin(), key.end(), '-', '_');
    if (!reader.Has(key)) continue;
    std::string value;
    reader.Text(key, &value);
    if (SetByEnvironment(*option)) continue;
    CLI::ConfigItem item;
    item.name = name;
    item.inputs = {value};
    items.push_back(std::move(item));
  }
  const std::optional<YAML::Node> tls = reader.Item("tls");
  const std::optional<YAML::Node> section = reader.Item("alerts");
  const std::optional<YAML::Node> watch = reader.Item("watch");
  Must(reader.Done());
  if (tls.has_value()) AddTls(*tls, file, &items);
  if (section.has_value()) {
    absl::StatusOr<AlertsConfig> config = ReadAlertsConfig(*section, file);
    Must(config.status());
    *alerts = *std::move(config);
  }
  if (watch.has_value()) {
    absl::StatusOr<WatchConfig> config = ReadWatchConfig(*watch, file);
    Must(config.status());
    *watch_config = *std::move(config);
  }
  return items;
}

}  // namespace

std::vector<CLI::ConfigItem> ConfigFile::from_config(std::istream& input) const {
  const std::string text(std::istreambuf_iterator<char>(input), {});
  const std::vector<std::string> given = app_.get_config_ptr()->results();
  const std::string file = given.empty() ? "--config" : given.back();
  YAML::Node root;
  try {
    root = YAML::Load(text);
  } catch (const YAML::Exception& e) {  // yaml-cpp has no other way to say it
    // A line such as [section] or a="b" "c" is none of YAML.
    throw CLI::ConfigError(file + ":" + std::to_string(e.mark.line + 1) + ": " + e.msg,
                           CLI::ExitCodes::ConfigError);
  }
  if (root.IsMap()) return ReadYaml(root, file, app_, alerts_, watch_);
  std::istringstream lines(text);
  std::vector<CLI::ConfigItem> items = CLI::ConfigBase::from_config(lines);
  std::erase_if(items, [this](const CLI::ConfigItem& item) {
    const CLI::Option* option = app_.get_option_no_throw("--" + item.name);
    return option != nullptr && SetByEnvironment(*option);
  });
  return items;
}

}  // namespace tidemark
