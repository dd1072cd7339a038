// The file of --config.
#ifndef TIDEMARK_SCHEDULER_CONFIG_FILE_H_
#define TIDEMARK_SCHEDULER_CONFIG_FILE_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "scheduler/alerts/alert_config.h"
#include "scheduler/watch/watch_config.h"

namespace tidemark {

// Reads YAML: the program's options by their long names (with _ or -), `alerts:` and `watch:`,
// which go to where these point. Lines of `key = value` are taken, too. Unknown keys are errors
// that name the line. Used by CLI11 while it parses; all that it is given must outlive it.
class ConfigFile : public CLI::ConfigBase {
 public:
  ConfigFile(const CLI::App& app, AlertsConfig* alerts, WatchConfig* watch)
      : app_(app), alerts_(alerts), watch_(watch) {}

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override;

 private:
  const CLI::App& app_;
  AlertsConfig* const alerts_;
  WatchConfig* const watch_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CONFIG_FILE_H_
