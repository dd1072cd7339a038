#include "scheduler/config.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "common/address.h"
#include "common/clock.h"
#include "common/status.h"
#include "common/text.h"
#include "common/tls_files.h"
#include "common/version.h"
#include "scheduler/advertise.h"
#include "scheduler/config_file.h"
#include "scheduler/config_limits.h"
#include "scheduler/config_print.h"

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
  app.add_option("--database-url-file", config.database_url_file,
                 "File with that URL in one line, so that its password is seen nowhere else")
      ->envname("TIDEMARK_DATABASE_URL_FILE");
  app.add_option("--database-listen-url", config.database_listen_url,
                 "PostgreSQL itself, when --database-url leads through a transaction-pooling proxy "
                 "such as pgbouncer: LISTEN goes there [the same]")
      ->envname("TIDEMARK_DATABASE_LISTEN_URL");
  app.add_option("--database-listen-url-file", config.database_listen_url_file,
                 "File with that URL in one line")
      ->envname("TIDEMARK_DATABASE_LISTEN_URL_FILE");
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
  app.add_option("--advertise", config.advertise,
                 "HOST:PORT by which executors, operators and other nodes reach this node; with "
                 "TLS the host must be in its certificate. Port 0: the one that it listens on "
                 "[--listen, or the host's name when that is 0.0.0.0 or [::]]")
      ->envname("TIDEMARK_ADVERTISE");
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
  app.add_flag(
         "--require-approval", config.require_approval,
         "Waive, force-done, forced reruns and releases, and backfills of DONE dates wait for "
         "a second operator (tidemark approval)")
      ->envname("TIDEMARK_REQUIRE_APPROVAL");
  app.add_option("--make-admin-token", config.make_admin_token,
                 "Make an admin's token of this name in the database, print it once, and leave: "
                 "the first token comes from here")
      ->configurable(false);
  app.add_option("--address-file", config.address_file,
                 "Write the address that it listens on to this file (useful with port 0)")
      ->envname("TIDEMARK_ADDRESS_FILE");
  app.add_option("--http-listen", config.http_listen,
                 "Address for HTTP: /healthz, /readyz, /metrics, and the operators' services as "
                 "JSON, such as 127.0.0.1:7480; port 0: any free [no HTTP]")
      ->envname("TIDEMARK_HTTP_LISTEN");
  app.add_option("--http-address-file", config.http_address_file,
                 "Write the address that HTTP listens on to this file")
      ->envname("TIDEMARK_HTTP_ADDRESS_FILE");
  app.add_option("--node-id", config.node_id,
                 "Identity of this node, kept over restarts, never shared [host name and port]")
      ->envname("TIDEMARK_NODE_ID");
  app.add_option("--log-level", config.log_level,
                 "debug, info, warn or error; SIGHUP reads it from the --config file again")
      ->envname("TIDEMARK_LOG_LEVEL")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}))
      ->capture_default_str();
  app.add_option("--log-format", config.log_format, "text or json")
      ->envname("TIDEMARK_LOG_FORMAT")
      ->check(CLI::IsMember({"text", "json"}))
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
  AddLimitOptions(app, config);
}

// Takes the URL that a file holds. Returns what is wrong, or "".
std::string ReadUrl(const std::string& option, const std::string& file, std::string* url) {
  if (file.empty()) return "";
  if (!url->empty()) return option + " and " + option + "-file exclude each other";
  absl::StatusOr<std::string> text = ReadSecret(file);
  if (!text.ok()) return option + "-file: " + Message(text.status());
  *url = *std::move(text);
  return "";
}

// Takes the secrets that files hold. Returns what is wrong, or "".
std::string ReadSecrets(SchedulerConfig& config) {
  std::string p = ReadUrl("--database-url", config.database_url_file, &config.database_url);
  if (!p.empty()) return p;
  return ReadUrl("--database-listen-url", config.database_listen_url_file,
                 &config.database_listen_url);
}

std::string Problem(const SchedulerConfig& config) {
  if (config.dev && !config.database_url.empty()) {
    return "--dev and --database-url exclude each other: --dev makes a database of its own";
  }
  if (!config.dev && config.database_url.empty()) {
    return "no database: give --database-url (or TIDEMARK_DATABASE_URL), --database-url-file, or "
           "--dev to try it out";
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
  if (std::string p = ListenProblem(config, config.listen); !p.empty()) return p;
  if (std::string p = AdvertiseProblem(config.advertise); !p.empty()) return p;
  return config.http_listen.empty() ? ""
                                    : ListenProblem(config, config.http_listen, "--http-listen");
}

}  // namespace

std::string ListenProblem(const SchedulerConfig& config, const std::string& listen,
                          const std::string& option) {
  const std::optional<HostPort> address = ParseAddress(listen);
  if (!address.has_value()) {
    return option + " " + listen + " is not HOST:PORT, as 127.0.0.1:7400";
  }
  if (IsLoopback(address->host)) return "";
  const std::string off = option + " " + listen + " is not a loopback address. ";
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

std::string SchedulerOptionLines() {
  SchedulerConfig config;
  CLI::App app;
  AddOptions(app, config);
  std::string lines;
  for (const std::string& key : ConfigKeys(app)) lines += key + ":\n";
  return lines;
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
  bool check = false;
  app.add_flag("--check-config", check,
               "Check everything, print the settings in use without secrets, and leave")
      ->configurable(false);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    *exit_code = app.exit(error) == 0 ? 0 : 2;
    return std::nullopt;
  }
  const bool said = app.get_option("--insecure")->count() > 0;
  if (!said) config.insecure = config.dev;
  if (!app.get_config_ptr()->results().empty()) {
    config.config_file = app.get_config_ptr()->results().back();
  }
  std::string problem = ReadSecrets(config);
  if (problem.empty()) problem = Problem(config);
  if (problem.empty() && check) {
    // The start looks for itself: by then the files may be others.
    problem = Message(CheckTlsFiles(config.tls, SystemClock().WallNow()));
  }
  if (!problem.empty()) {
    std::cerr << "tidemark-scheduler: " << problem << "\n";
    *exit_code = 2;
    return std::nullopt;
  }
  if (check) {
    std::cout << PrintConfig(app, config);
    *exit_code = 0;
    return std::nullopt;
  }
  return config;
}

}  // namespace tidemark
