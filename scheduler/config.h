// The scheduler's settings: file, environment, flags, in rising order.
#ifndef TIDEMARK_SCHEDULER_CONFIG_H_
#define TIDEMARK_SCHEDULER_CONFIG_H_

#include <optional>
#include <string>

#include "common/tls_files.h"
#include "scheduler/alerts/alert_config.h"
#include "scheduler/rpc/limits.h"
#include "scheduler/watch/watch_config.h"

namespace tidemark {

struct SchedulerConfig {
  std::string config_file;        // "": none
  std::string database_url;       // any libpq form; empty with dev
  std::string database_url_file;  // holds database_url, in one line; "": none
  // Where LISTEN goes when database_url leads through a transaction-pooling proxy; "": the same.
  std::string database_listen_url;
  std::string database_listen_url_file;  // holds it, in one line; "": none
  std::string schema = "tidemark";
  bool dev = false;
  std::string data_dir;  // dev
  std::string listen = "127.0.0.1:7400";
  std::string advertise;  // host:port that others are told; "": see AdvertisedAddress
  // Nobody is asked who he is; loopback alone. Default: with dev.
  bool insecure = false;
  TlsFiles tls;  // ca: that clients' certificates must come from
  bool require_approval = false;
  std::string make_admin_token;   // not "": make that person's token, print it, and leave
  std::string address_file;       // "": not written
  std::string http_listen;        // "": no HTTP
  std::string http_address_file;  // "": not written
  std::string node_id;            // default: host name and port
  std::string log_level = "info";
  std::string log_format = "text";  // or json
  RpcLimits limits;
  size_t http_max_body = size_t{4} * 1024 * 1024;  // bytes
  int http_max_connections = 256;
  int catch_up_per_app = 3;
  int catch_up_per_node = 50;
  int keep_history_days = 400;  // 0: for ever, as below
  int keep_log_days = 90;
  AlertsConfig alerts;  // from the file alone, as the next one
  WatchConfig watch;
};

// Reads the command line, the environment (TIDEMARK_*) and the file given by --config. Empty when
// the process should end with `exit_code`: --help, --version, --check-config (which prints what it
// would use, without secrets), or an error (told on stderr).
std::optional<SchedulerConfig> ReadConfig(int argc, char** argv, int* exit_code);

// "key:" of every option that file, environment or flag can set, one a line.
std::string SchedulerOptionLines();

// What is wrong with an address to listen on (`option` names it) and the way it is protected, or
// "". Off loopback it takes TLS and tokens, on loopback tokens unless --insecure; the text says how
// to make both.
std::string ListenProblem(const SchedulerConfig& config, const std::string& listen,
                          const std::string& option = "--listen");

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CONFIG_H_
