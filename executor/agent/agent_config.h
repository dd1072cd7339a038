// The agent's file: which commands it runs as handlers.
#ifndef TIDEMARK_EXECUTOR_AGENT_AGENT_CONFIG_H_
#define TIDEMARK_EXECUTOR_AGENT_AGENT_CONFIG_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tidemark/redis_lock.h"

namespace tidemark::agent {

// `lock:` of a handler: a lock in Redis around its command.
struct LockConfig {
  std::string redis;  // as RedisLockOptions::redis; may hold a password
  absl::Duration ttl = absl::Seconds(30);
  bool fail_open = true;  // on_unavailable
};

struct CommandConfig {
  std::string name;
  std::vector<std::string> command;  // program and arguments; no shell
  std::string workdir;               // "": the agent's own
  std::string user;                  // "": the agent's own
  std::map<std::string, std::string> env;
  absl::Duration timeout = absl::InfiniteDuration();
  // Between TERM and KILL to the process group. Shorter than the jobs' cancel grace (30 s); with a
  // lock at most, and by default, a sixth of its ttl.
  absl::Duration kill_grace = absl::Seconds(10);
  uint32_t concurrency = 0;  // 0: only the capacity limits
  // Exit codes but 0. With retry_on only these are retried; those of no_retry_on never.
  std::set<int> retry_on;
  std::set<int> no_retry_on;
  std::optional<LockConfig> lock;
};

struct AgentConfig {
  std::string app;
  std::vector<std::string> schedulers;
  std::string executor_id;
  std::string name_space = "default";
  std::string token_file;
  std::string tls_ca;
  std::string tls_cert;
  std::string tls_key;
  std::string tls_server_name;
  std::string spool_dir;
  uint32_t capacity = 4;
  std::map<std::string, std::string> labels;
  absl::Duration drain_timeout = absl::Seconds(60);
  std::string log_level = "info";   // debug, info, warn, error
  std::string log_format = "text";  // or json
  std::vector<CommandConfig> handlers;
};

RedisLock::GuardOptions GuardOptionsOf(const LockConfig& lock);

// `name` is what errors call the file. INVALID_ARGUMENT: "name:line: what is wrong", with the key
// that was probably meant when one is unknown.
absl::StatusOr<AgentConfig> ParseAgentConfig(std::string_view yaml, const std::string& name);
absl::StatusOr<AgentConfig> ReadAgentConfig(const std::string& path);

}  // namespace tidemark::agent

#endif  // TIDEMARK_EXECUTOR_AGENT_AGENT_CONFIG_H_
