// The scheduler's settings: file, environment, flags, in rising order.
#ifndef TIDEMARK_SCHEDULER_CONFIG_H_
#define TIDEMARK_SCHEDULER_CONFIG_H_

#include <optional>
#include <string>

#include "common/tls_files.h"
#include "scheduler/alerts/alert_config.h"
#include "scheduler/watch/watch_config.h"

namespace tidemark {

struct SchedulerConfig {
  std::string database_url;  // any libpq form; empty with dev
  std::string schema = "tidemark";
  bool dev = false;
  std::string data_dir;  // dev
  std::string listen = "127.0.0.1:7400";
  // Nobody is asked who he is; loopback alone. Default: with dev.
  bool insecure = false;
  TlsFiles tls;  // ca: that clients' certificates must come from
  bool require_approval = false;
  std::string make_admin_token;  // not "": make that person's token, print it, and leave
  std::string address_file;      // "": not written
  std::string node_id;           // default: host name and port
  std::string log_level = "info";
  int catch_up_per_app = 3;
  int catch_up_per_node = 50;
  int keep_history_days = 400;  // 0: for ever, as below
  int keep_log_days = 90;
  AlertsConfig alerts;  // from the file alone, as the next one
  WatchConfig watch;
};

// Reads the command line, the environment (TIDEMARK_*) and the file given by --config. Empty when
// the process should end with `exit_code`: --help, --version, or an error (told on stderr).
std::optional<SchedulerConfig> ReadConfig(int argc, char** argv, int* exit_code);

// What is wrong with the listen address and the way it is protected, or "". Off loopback it takes
// TLS and tokens, on loopback tokens unless --insecure; the text says how to make both.
std::string ListenProblem(const SchedulerConfig& config);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CONFIG_H_
