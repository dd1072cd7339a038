// tidemark-executor: runs the commands that its file lists.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/log.h"
#include "common/status.h"
#include "executor/agent/agent.h"

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
Other keys: executor_id, namespace, spool_dir, labels, drain_timeout; of a handler: workdir, user,
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

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Tidemark's agent: runs commands as handlers of jobs.", "tidemark-executor");
  app.footer(kFooter);
  std::string config_path, executor_id, spool_dir, log_level = "info";
  std::string token_file, tls_ca, tls_cert, tls_key;
  std::vector<std::string> schedulers;
  bool check = false;
  app.add_option("--config", config_path, "The agent's YAML file")->required();
  app.add_option("--scheduler", schedulers, "host:port; instead of the file's list; repeatable");
  app.add_option("--executor-id", executor_id, "Instead of the file's executor_id");
  app.add_option("--spool-dir", spool_dir, "Instead of the file's spool_dir");
  app.add_option("--token-file", token_file, "Instead of the file's token_file")
      ->envname("TIDEMARK_TOKEN_FILE");
  app.add_option("--tls-ca", tls_ca, "Instead of the file's tls.ca")->envname("TIDEMARK_TLS_CA");
  app.add_option("--tls-cert", tls_cert, "Instead of the file's tls.cert")
      ->envname("TIDEMARK_TLS_CERT");
  app.add_option("--tls-key", tls_key, "Instead of the file's tls.key")
      ->envname("TIDEMARK_TLS_KEY");
  app.add_option("--log-level", log_level, "debug, info, warn or error")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}));
  app.add_flag("--check-config", check, "Check the file and leave");
  app.set_version_flag("--version", TIDEMARK_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : kExitUsage;
  }
  auto config = tidemark::agent::ReadAgentConfig(config_path);
  if (!config.ok()) {
    std::fprintf(stderr, "tidemark-executor: %s\n", tidemark::Message(config.status()).c_str());
    return kExitUsage;
  }
  if (!schedulers.empty()) config->schedulers = schedulers;
  if (!executor_id.empty()) config->executor_id = executor_id;
  if (!spool_dir.empty()) config->spool_dir = spool_dir;
  if (!token_file.empty()) config->token_file = token_file;
  if (!tls_ca.empty()) config->tls_ca = tls_ca;
  if (!tls_cert.empty()) config->tls_cert = tls_cert;
  if (!tls_key.empty()) config->tls_key = tls_key;
  const std::string problem = tidemark::agent::CheckAgentConfig(*config);
  if (!problem.empty()) {
    std::fprintf(stderr, "tidemark-executor: %s: %s\n", config_path.c_str(), problem.c_str());
    return kExitUsage;
  }
  if (check) {
    std::printf("%s is valid: app %s, %zu handlers\n", config_path.c_str(), config->app.c_str(),
                config->handlers.size());
    return 0;
  }
  tidemark::InitLogging("tidemark-executor", log_level);
  return tidemark::agent::RunAgent(*config, Environment(), tidemark::SystemClock());
}
