#include "executor/agent/agent_config.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"
#include "common/yaml_reader.h"

namespace tidemark::agent {
namespace {

bool IsVariableName(const std::string& name) {
  return !name.empty() && name.find_first_of("=\n") == std::string::npos;
}

void CheckHandler(const CommandConfig& handler, YamlReader* reader) {
  const std::string problem = NameProblem(handler.name);
  if (!problem.empty()) reader->Fail("name", problem);
  if (handler.command.empty() || handler.command.front().empty()) {
    reader->Fail("command", "needs at least a program, such as [pg_dump, -Fc]");
  }
  if (!handler.workdir.empty() && handler.workdir.front() != '/') {
    reader->Fail("workdir", "must be an absolute path");
  }
  if (handler.timeout <= absl::ZeroDuration()) reader->Fail("timeout", "must be longer than 0s");
  for (const auto& [name, value] : handler.env) {
    if (!IsVariableName(name)) reader->Fail("env", "\"" + name + "\" is no variable's name");
    if (name.starts_with("TIDEMARK_")) reader->Fail("env", name + " is set by the agent itself");
  }
  for (const int code : handler.retry_on) {
    if (handler.no_retry_on.contains(code)) {
      reader->Fail("no_retry_on", std::to_string(code) + " is in retry_on too");
    }
  }
}

absl::StatusOr<LockConfig> ParseLock(const YAML::Node& node, const std::string& file,
                                     const std::string& place) {
  LockConfig lock;
  YamlReader reader(node, file, place);
  reader.Require("redis");
  reader.Text("redis", &lock.redis);
  reader.Duration("ttl", &lock.ttl);
  std::string on_unavailable = "fail_open";
  reader.Text("on_unavailable", &on_unavailable);
  TM_RETURN_IF_ERROR(reader.Done());
  lock.fail_open = on_unavailable == "fail_open";
  if (!lock.fail_open && on_unavailable != "fail_closed") {
    reader.Fail("on_unavailable", "must be fail_open or fail_closed");
  }
  RedisLockOptions options;
  options.redis = lock.redis;
  if (const std::string problem = RedisLock::Problem(options); !problem.empty()) {
    reader.Fail("redis", problem);
  }
  const std::string problem = RedisLock::Problem(GuardOptionsOf(lock));
  if (!problem.empty()) reader.Fail("ttl", problem);
  TM_RETURN_IF_ERROR(reader.Done());
  return lock;
}

// A command whose lock is lost must be gone before the key can be another's; the lock is given up a
// fifth of the ttl before that.
void FitKillGrace(bool is_given, CommandConfig* handler, YamlReader* reader) {
  if (!handler->lock) return;
  const absl::Duration most = absl::Floor(handler->lock->ttl / 6, absl::Milliseconds(1));
  if (!is_given) handler->kill_grace = std::min(handler->kill_grace, most);
  if (handler->kill_grace <= most) return;
  reader->Fail("kill_grace", "must be at most a sixth of lock.ttl (" + DurationText(most) +
                                 "), so that a command that lost its lock is gone before "
                                 "another may hold it");
}

absl::StatusOr<CommandConfig> ParseHandler(const YAML::Node& node, const std::string& file,
                                           const std::string& place) {
  CommandConfig handler;
  YamlReader reader(node, file, place);
  reader.Require("name");
  reader.Text("name", &handler.name);
  reader.Require("command");
  reader.Texts("command", &handler.command);
  reader.Text("workdir", &handler.workdir);
  reader.Text("user", &handler.user);
  reader.TextMap("env", &handler.env);
  reader.Duration("timeout", &handler.timeout);
  reader.Duration("kill_grace", &handler.kill_grace);
  int64_t concurrency = 0;
  reader.Number("concurrency", 0, 100000, &concurrency);
  handler.concurrency = static_cast<uint32_t>(concurrency);
  reader.Numbers("retry_on", 1, 255, &handler.retry_on);
  reader.Numbers("no_retry_on", 1, 255, &handler.no_retry_on);
  const std::optional<YAML::Node> lock = reader.Item("lock");
  TM_RETURN_IF_ERROR(reader.Done());
  if (lock) {
    TM_ASSIGN_OR_RETURN(handler.lock, ParseLock(*lock, file, place + ".lock"));
  }
  FitKillGrace(reader.Has("kill_grace"), &handler, &reader);
  CheckHandler(handler, &reader);
  TM_RETURN_IF_ERROR(reader.Done());
  return handler;
}

absl::Status ParseTls(const YAML::Node& node, const std::string& file, AgentConfig* config) {
  YamlReader reader(node, file, "tls");
  reader.Text("ca", &config->tls_ca);
  reader.Text("cert", &config->tls_cert);
  reader.Text("key", &config->tls_key);
  reader.Text("server_name", &config->tls_server_name);
  return reader.Done();
}

void ReadLogging(YamlReader* reader, AgentConfig* config) {
  reader->Text("log_level", &config->log_level);
  reader->Text("log_format", &config->log_format);
  const std::set<std::string> levels = {"debug", "info", "warn", "error"};
  if (levels.count(config->log_level) == 0) {
    reader->Fail("log_level", "must be debug, info, warn or error");
  }
  if (config->log_format != "text" && config->log_format != "json") {
    reader->Fail("log_format", "must be text or json");
  }
}

absl::StatusOr<AgentConfig> ParseRoot(const YAML::Node& root, const std::string& file) {
  AgentConfig config;
  YamlReader reader(root, file, "");
  reader.Require("app");
  reader.Text("app", &config.app);
  reader.Texts("schedulers", &config.schedulers);
  reader.Text("executor_id", &config.executor_id);
  reader.Text("namespace", &config.name_space);
  reader.Text("token_file", &config.token_file);
  const std::optional<YAML::Node> tls = reader.Item("tls");
  reader.Text("spool_dir", &config.spool_dir);
  int64_t capacity = config.capacity;
  reader.Number("capacity", 1, 100000, &capacity);
  config.capacity = static_cast<uint32_t>(capacity);
  reader.TextMap("labels", &config.labels);
  reader.Duration("drain_timeout", &config.drain_timeout);
  ReadLogging(&reader, &config);
  reader.Require("handlers");
  const std::vector<YAML::Node> items = reader.Items("handlers");
  TM_RETURN_IF_ERROR(reader.Done());
  if (tls) TM_RETURN_IF_ERROR(ParseTls(*tls, file, &config));
  if (items.empty()) reader.Fail("handlers", "lists no handler");
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string place = "handlers[" + std::to_string(i) + "]";
    TM_ASSIGN_OR_RETURN(CommandConfig handler, ParseHandler(items[i], file, place));
    for (const CommandConfig& other : config.handlers) {
      if (other.name == handler.name) reader.Fail("handlers", handler.name + " is there twice");
    }
    config.handlers.push_back(std::move(handler));
  }
  TM_RETURN_IF_ERROR(reader.Done());
  return config;
}

}  // namespace

RedisLock::GuardOptions GuardOptionsOf(const LockConfig& lock) {
  using OnUnavailable = RedisLock::GuardOptions::OnUnavailable;
  RedisLock::GuardOptions options;
  options.ttl = absl::ToChronoMilliseconds(lock.ttl);
  options.on_unavailable = lock.fail_open ? OnUnavailable::kFailOpen : OnUnavailable::kFailClosed;
  return options;
}

absl::StatusOr<AgentConfig> ParseAgentConfig(std::string_view yaml, const std::string& name) {
  try {
    const YAML::Node root = YAML::Load(std::string(yaml));
    if (!root.IsDefined() || root.IsNull()) {
      return absl::InvalidArgumentError(name + ": the file is empty");
    }
    return ParseRoot(root, name);
  } catch (const YAML::Exception& e) {  // yaml-cpp has no other way to say it
    return absl::InvalidArgumentError(name + ":" + std::to_string(e.mark.line + 1) + ": " + e.msg);
  }
}

absl::StatusOr<AgentConfig> ReadAgentConfig(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    return absl::InvalidArgumentError("cannot read " + path +
                                      ": it is missing, empty or not readable for this user");
  }
  return ParseAgentConfig(text.str(), path);
}

}  // namespace tidemark::agent
