#include "scheduler/config.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "absl/strings/numbers.h"
#include "common/text.h"
#include "common/version.h"
#include "scheduler/config_file.h"

namespace tidemark {
namespace {

bool IsLoopback(const std::string& host) {
  return host == "localhost" || host == "[::1]" || host.rfind("127.", 0) == 0;
}

void AddOptions(CLI::App& app, SchedulerConfig& config) {
  app.set_version_flag("--version", kVersion);
  app.set_config(
      "--config", "",
      "Read settings from this YAML file: any of these options, as log-level: warn, and "
      "alerts: (channels, routes; see the README, Alert channels) and watch: (the watch of the "
      "daily check and its ping; see the README, The watch)");
  app.config_formatter(std::make_shared<ConfigFile>(app, &config.alerts, &config.watch));
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.add_option("--database-url", config.database_url,
                 "PostgreSQL: a URL or key=value text as libpq takes it, several hosts allowed")
      ->envname("TIDEMARK_DATABASE_URL");
  app.add_option("--schema", config.schema, "Schema of the scheduler's tables")
      ->envname("TIDEMARK_SCHEMA")
      ->capture_default_str();
  app.add_flag("--dev", config.dev,
               "Make and run a private PostgreSQL in the data directory (for trying out and tests)")
      ->envname("TIDEMARK_DEV");
  app.add_option("--data-dir", config.data_dir,
                 "With --dev: where the private PostgreSQL keeps its data; scheduler.addr and "
                 "database.url are written there [/var/lib/tidemark as root, else "
                 "~/.local/share/tidemark]")
      ->envname("TIDEMARK_DATA_DIR");
  app.add_option("--listen", config.listen, "Address for executors and operators; port 0: any free")
      ->envname("TIDEMARK_LISTEN")
      ->capture_default_str();
  app.add_option("--address-file", config.address_file,
                 "Write the address that it listens on to this file (useful with port 0)")
      ->envname("TIDEMARK_ADDRESS_FILE");
  app.add_option("--node-id", config.node_id,
                 "Identity of this node, kept over restarts, never shared [host name and port]")
      ->envname("TIDEMARK_NODE_ID");
  app.add_option("--log-level", config.log_level, "debug, info, warn or error")
      ->envname("TIDEMARK_LOG_LEVEL")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}))
      ->capture_default_str();
  app.add_option(
         "--catch-up-per-app", config.catch_up_per_app,
         "Missed dates of one app in executors' hands at once; what is due now comes on top")
      ->envname("TIDEMARK_CATCH_UP_PER_APP")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--catch-up-per-node", config.catch_up_per_node, "… of all apps together")
      ->envname("TIDEMARK_CATCH_UP_PER_NODE")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--keep-history-days", config.keep_history_days,
                 "Runs that ended are kept so long, then dropped a month at a time; 0: for ever. "
                 "Watermarks are always kept")
      ->envname("TIDEMARK_KEEP_HISTORY_DAYS")
      ->check(CLI::Range(0, 36500))
      ->capture_default_str();
  app.add_option("--keep-log-days", config.keep_log_days, "… and their logs")
      ->envname("TIDEMARK_KEEP_LOG_DAYS")
      ->check(CLI::Range(0, 36500))
      ->capture_default_str();
}

std::string Problem(const SchedulerConfig& config) {
  if (config.dev && !config.database_url.empty()) {
    return "--dev and --database-url exclude each other: --dev makes a database of its own";
  }
  if (!config.dev && config.database_url.empty()) {
    return "no database: give --database-url (or TIDEMARK_DATABASE_URL), or --dev to try it out";
  }
  if (!config.dev && !config.data_dir.empty()) {
    return "--data-dir is for --dev alone: with --database-url nothing is kept on this machine";
  }
  if (const std::string p = NameProblem(config.schema); !p.empty()) return "--schema " + p;
  if (!config.node_id.empty()) {
    if (const std::string p = NameProblem(config.node_id); !p.empty()) return "--node-id " + p;
  }
  return ListenProblem(config.listen);
}

}  // namespace

std::string ListenProblem(const std::string& listen) {
  const size_t colon = listen.rfind(':');
  int port = -1;
  if (colon == std::string::npos || colon == 0 ||
      !absl::SimpleAtoi(ToAbsl(std::string_view(listen).substr(colon + 1)), &port) || port < 0 ||
      port > 65535) {
    return "--listen " + listen + " is not HOST:PORT, as 127.0.0.1:7400";
  }
  if (IsLoopback(listen.substr(0, colon))) return "";
  return "--listen " + listen +
         " is not a loopback address. Off loopback executors and operators need TLS and tokens, "
         "which this version does not have: listen on 127.0.0.1 and let an authenticated tunnel "
         "or proxy on this machine face the network";
}

std::optional<SchedulerConfig> ReadConfig(int argc, char** argv, int* exit_code) {
  SchedulerConfig config;
  CLI::App app("Tidemark scheduler: decides when and where jobs run, and accounts for every date.",
               "tidemark-scheduler");
  app.footer(
      "Examples:\n"
      "  tidemark-scheduler --dev                        try it out, with a database of its own\n"
      "  tidemark-scheduler --database-url postgresql://tidemark@db/tidemark\n"
      "Every option is also a line of the file given by --config (log-level: warn) and an\n"
      "environment variable TIDEMARK_…; flags win over variables, variables over the file.");
  AddOptions(app, config);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    *exit_code = app.exit(error) == 0 ? 0 : 2;
    return std::nullopt;
  }
  if (const std::string problem = Problem(config); !problem.empty()) {
    std::cerr << "tidemark-scheduler: " << problem << "\n";
    *exit_code = 2;
    return std::nullopt;
  }
  return config;
}

}  // namespace tidemark
