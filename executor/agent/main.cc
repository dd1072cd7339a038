// tidemark-executor: runs the commands that its file lists.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "channel/grpc_log.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/log_control.h"
#include "common/mutex_checks.h"
#include "common/status.h"
#include "executor/agent/agent.h"

namespace tidemark::agent {
namespace {

constexpr int kExitUsage = 2;

std::map<std::string, std::string> Environment() {
  std::map<std::string, std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const size_t equals = text.find('=');
    if (equals != std::string::npos) out[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return out;
}

constexpr char kFooter[] = R"(
The file:
  app: ops                          # which jobs come here
  schedulers: [127.0.0.1:7400]
  capacity: 4                       # runs at once
  handlers:
    - name: backup
      command: [pg_dump, -Fc, -f, /backup/today.dump, recon]   # no shell
      timeout: 1h
  token_file: /etc/tidemark/ops.token     # tidemark token create --app ops; off loopback needed
  tls: {ca: /etc/tidemark/tls/ca.crt}     # also cert, key, server_name; "system": trusted by this
                                          # machine. Off loopback needed
Other keys: executor_id, namespace, spool_dir, labels, drain_timeout, log_level (SIGHUP reads it
again), log_format (text or json); of a handler: workdir, user,
env, kill_grace, concurrency, retry_on, no_retry_on (lists of exit codes), and lock, such as
  lock: {redis: 127.0.0.1:6379, ttl: 30s, on_unavailable: fail_open}     # or fail_closed
which holds the key job:<job>:<biz_date> in that Redis while the command runs, against the same work
started outside the scheduler. redis may also be unix:/path or redis://user:password@host:port/db.

A command finds TIDEMARK_BIZ_DATE, _FIRE_TIME, _NOMINAL_TIME, _ZONE, _JOB, _RUN_ID, _ATTEMPT,
_BATCH_ID, _CHECKPOINT, _FENCING_TOKEN and TIDEMARK_PARAM_<NAME> in its environment, and may write
lines to the descriptor TIDEMARK_PROGRESS_FD:
  PERCENT [CHECKPOINT [MESSAGE]]          "-" for what is not said
  result_rows=N result_digest=TEXT
  result=TEXT
Exit code 0 is success; others are retried unless the handler's lists say otherwise.
Exit codes of the agent: 0 drained, 1 rejected by a scheduler, 2 usage or invalid file.)";

struct Flags {
  std::string config_path, executor_id, spool_dir, token_file, tls_ca, tls_cert, tls_key;
  std::string log_level, log_format;
  std::vector<std::string> schedulers;
  bool check = false;
};

void AddOptions(CLI::App& app, Flags& flags) {
  const auto instead = [&app](const std::string& flag, std::string& value, const std::string& key,
                              const std::string& variable) {
    return app.add_option(flag, value, "Instead of the file's " + key)->envname(variable);
  };
  app.add_option("--config", flags.config_path, "The agent's YAML file")
      ->envname("TIDEMARK_AGENT_CONFIG")
      ->required();
  app.add_option("--scheduler", flags.schedulers, "host:port; instead of the file's; repeatable")
      ->envname("TIDEMARK_SCHEDULERS")
      ->delimiter(',');
  instead("--executor-id", flags.executor_id, "executor_id", "TIDEMARK_EXECUTOR_ID");
  instead("--spool-dir", flags.spool_dir, "spool_dir", "TIDEMARK_SPOOL_DIR");
  instead("--token-file", flags.token_file, "token_file", "TIDEMARK_TOKEN_FILE");
  instead("--tls-ca", flags.tls_ca, "tls.ca", "TIDEMARK_TLS_CA");
  instead("--tls-cert", flags.tls_cert, "tls.cert", "TIDEMARK_TLS_CERT");
  instead("--tls-key", flags.tls_key, "tls.key", "TIDEMARK_TLS_KEY");
  instead("--log-level", flags.log_level, "log_level", "TIDEMARK_LOG_LEVEL")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}));
  instead("--log-format", flags.log_format, "log_format", "TIDEMARK_LOG_FORMAT")
      ->check(CLI::IsMember({"text", "json"}));
  app.add_flag("--check-config", flags.check, "Check the file and leave");
  app.set_version_flag("--version", TIDEMARK_VERSION);
}

void Replace(const std::string& flag, std::string* value) {
  if (!flag.empty()) *value = flag;
}

// The file, with what flags and variables say instead; checked.
absl::StatusOr<AgentConfig> ReadConfig(const Flags& flags) {
  TM_ASSIGN_OR_RETURN(AgentConfig config, ReadAgentConfig(flags.config_path));
  if (!flags.schedulers.empty()) config.schedulers = flags.schedulers;
  Replace(flags.executor_id, &config.executor_id);
  Replace(flags.spool_dir, &config.spool_dir);
  Replace(flags.token_file, &config.token_file);
  Replace(flags.tls_ca, &config.tls_ca);
  Replace(flags.tls_cert, &config.tls_cert);
  Replace(flags.tls_key, &config.tls_key);
  Replace(flags.log_level, &config.log_level);
  Replace(flags.log_format, &config.log_format);
  const std::string problem = CheckAgentConfig(config);
  if (!problem.empty()) return absl::InvalidArgumentError(flags.config_path + ": " + problem);
  return config;
}

void TakeLogLevel(const Flags& flags) {
  const absl::StatusOr<AgentConfig> config = ReadConfig(flags);
  if (!config.ok()) {
    LogError("the file cannot be used; the log level stays as it was",
             {{"why", Message(config.status())}});
    return;
  }
  SetLogLevel(config->log_level);
  LogWarn("log level read again", {{"level", config->log_level}});
}

}  // namespace
}  // namespace tidemark::agent

int main(int argc, char** argv) {
  using namespace tidemark;  // NOLINT(google-build-using-namespace): main lives outside of it
  ForgoMutexChecks();
  CLI::App app("Tidemark's agent: runs commands as handlers of jobs.", "tidemark-executor");
  app.footer(agent::kFooter);
  agent::Flags flags;
  agent::AddOptions(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : agent::kExitUsage;
  }
  const absl::StatusOr<agent::AgentConfig> config = agent::ReadConfig(flags);
  if (!config.ok()) {
    std::fprintf(stderr, "tidemark-executor: %s\n", Message(config.status()).c_str());
    return agent::kExitUsage;
  }
  if (flags.check) {
    std::printf("%s is valid: app %s, %zu handlers\n", flags.config_path.c_str(),
                config->app.c_str(), config->handlers.size());
    return 0;
  }
  InitLogging("tidemark-executor", config->log_level, config->log_format);
  SendGrpcLogToOurs();
  return agent::RunAgent(*config, agent::Environment(), SystemClock(),
                         [&flags] { agent::TakeLogLevel(flags); });
}
