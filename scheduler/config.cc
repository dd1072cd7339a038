#include "scheduler/config.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "common/address.h"
#include "common/text.h"
#include "common/version.h"
#include "scheduler/config_file.h"

namespace tidemark {
namespace {

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
  app.add_flag("--insecure,!--secure", config.insecure,
               "Ask nobody who he is: no tokens, for trying out, on loopback alone [with --dev]")
      ->envname("TIDEMARK_INSECURE");
  app.add_option("--tls-cert", config.tls.cert,
                 "Certificate of this server (PEM); read again when it changes")
      ->envname("TIDEMARK_TLS_CERT");
  app.add_option("--tls-key", config.tls.key, "Its private key (PEM)")->envname("TIDEMARK_TLS_KEY");
  app.add_option("--tls-client-ca", config.tls.ca,
                 "Let in only who has a certificate of this authority (PEM), besides a token")
      ->envname("TIDEMARK_TLS_CLIENT_CA");
  app.add_flag("--require-approval", config.require_approval,
               "Waive, force-done and forced reruns and releases wait for a second operator "
               "(tidemark approval)")
      ->envname("TIDEMARK_REQUIRE_APPROVAL");
  app.add_option("--make-admin-token", config.make_admin_token,
                 "Make an admin's token of this name in the database, print it once, and leave: "
                 "the first token comes from here")
      ->configurable(false);
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
  if (!config.make_admin_token.empty() && config.dev) {
    return "--make-admin-token needs --database-url (that of --dev is in the file database.url of "
           "its data directory)";
  }
  if (config.require_approval && config.insecure) {
    return "--require-approval needs to know who is who: it does not go with --insecure or --dev";
  }
  if (!config.tls.ca.empty() && config.tls.cert.empty()) {
    return "--tls-client-ca needs --tls-cert and --tls-key: there is no TLS without a certificate "
           "of this server";
  }
  return ListenProblem(config);
}

}  // namespace

std::string ListenProblem(const SchedulerConfig& config) {
  const std::optional<HostPort> address = ParseAddress(config.listen);
  if (!address.has_value()) {
    return "--listen " + config.listen + " is not HOST:PORT, as 127.0.0.1:7400";
  }
  if (IsLoopback(address->host)) return "";
  const std::string off = "--listen " + config.listen + " is not a loopback address. ";
  if (config.insecure) {
    return off +
           (config.dev ? "With --dev nobody is asked who he is"
                       : "--insecure asks nobody who he is") +
           ", so whoever reaches it may do everything: listen on 127.0.0.1, or leave that out and "
           "make certificates (tidemark tls init --dir /etc/tidemark/tls --host NAME) and a first "
           "token (tidemark-scheduler --make-admin-token NAME --database-url …)" +
           (config.dev ? "; with --dev say --insecure=false" : "");
  }
  if (config.tls.cert.empty()) {
    return off +
           "Off loopback executors and operators need TLS and tokens. Make certificates: tidemark "
           "tls init --dir /etc/tidemark/tls --host NAME, and give --tls-cert and --tls-key; make "
           "the first token: tidemark-scheduler --make-admin-token NAME --database-url …";
  }
  return "";
}

std::optional<SchedulerConfig> ReadConfig(int argc, char** argv, int* exit_code) {
  SchedulerConfig config;
  CLI::App app("Tidemark scheduler: decides when and where jobs run, and accounts for every date.",
               "tidemark-scheduler");
  app.footer(
      "Examples:\n"
      "  tidemark-scheduler --dev                        try it out, with a database of its own\n"
      "  tidemark-scheduler --database-url postgresql://tidemark@db/tidemark\n"
      "  tidemark-scheduler --make-admin-token ann --database-url "
      "postgresql://tidemark@db/tidemark\n"
      "Every option is also a line of the file given by --config (log-level: warn) and an\n"
      "environment variable TIDEMARK_…; flags win over variables, variables over the file.");
  AddOptions(app, config);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    *exit_code = app.exit(error) == 0 ? 0 : 2;
    return std::nullopt;
  }
  const bool said = app.get_option("--insecure")->count() > 0;
  if (!said) config.insecure = config.dev;
  if (const std::string problem = Problem(config); !problem.empty()) {
    std::cerr << "tidemark-scheduler: " << problem << "\n";
    *exit_code = 2;
    return std::nullopt;
  }
  return config;
}

}  // namespace tidemark
