#include "executor/agent/agent.h"

#include <unistd.h>

#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "common/id.h"
#include "common/log.h"
#include "common/status.h"
#include "executor/agent/command_handler.h"
#include "executor/agent/command_process.h"
#include "executor/agent/process_guard.h"
#include "executor/agent/survivors.h"
#include "executor/src/options_check.h"
#include "tidemark/executor.h"
#include "tidemark/redis_lock.h"

namespace tidemark::agent {
namespace {

constexpr int kExitUsage = 2;
constexpr absl::Duration kSurvivorTimeout = absl::Seconds(10);

ExecutorOptions OptionsOf(const AgentConfig& config) {
  ExecutorOptions options;
  options.schedulers = config.schedulers;
  options.app = config.app;
  options.executor_id = config.executor_id;
  options.capacity = config.capacity;
  options.labels = config.labels;
  options.token_file = config.token_file;
  options.tls_ca = config.tls_ca;
  options.tls_cert = config.tls_cert;
  options.tls_key = config.tls_key;
  options.tls_server_name = config.tls_server_name;
  options.spool_dir = config.spool_dir;
  options.spool_dir = exec::SpoolDir(options);
  options.version = "agent " TIDEMARK_VERSION;
  options.name_space = config.name_space;
  options.drain_timeout = absl::ToChronoMilliseconds(config.drain_timeout);
  return options;
}

absl::StatusOr<std::optional<UserIds>> UserOf(const CommandConfig& handler) {
  if (handler.user.empty()) return std::optional<UserIds>();
  TM_ASSIGN_OR_RETURN(UserIds ids, LookUpUser(handler.user));
  if (geteuid() != 0 && ids.uid != geteuid()) {
    return absl::PermissionDeniedError(
        "user: only an agent that runs as root can run commands as " + handler.user);
  }
  if (geteuid() != 0) return std::optional<UserIds>();
  return std::optional<UserIds>(std::move(ids));
}

// The locks of the handlers: one RedisLock for each Redis, named by the executor's id.
absl::Status AddGuard(const CommandConfig& command, const ExecutorOptions& options,
                      const Clock& clock, std::map<std::string, RedisLock>* locks,
                      HandlerOptions* handler) {
  if (!command.lock) return absl::OkStatus();
  // The id that the executor will have, also when the file gives none.
  TM_ASSIGN_OR_RETURN(const exec::CoreOptions core,
                      exec::MakeCoreOptions(options, options.spool_dir, clock, SystemRandom()));
  RedisLockOptions lock;
  lock.redis = command.lock->redis;
  lock.holder = core.executor_id;
  const auto it = locks->try_emplace(lock.redis, lock).first;
  handler->guard = it->second.Guard(GuardOptionsOf(*command.lock));
  return absl::OkStatus();
}

int Refuse(const std::string& problem) {
  LogError("agent cannot start", {{"problem", problem}});
  return kExitUsage;
}

}  // namespace

std::string CheckAgentConfig(const AgentConfig& config) {
  const std::vector<std::string> problems = exec::OptionProblems(OptionsOf(config));
  if (!problems.empty()) return problems.front();
  for (const CommandConfig& handler : config.handlers) {
    const auto user = UserOf(handler);
    if (!user.ok()) return "handler " + handler.name + ": " + Message(user.status());
  }
  return "";
}

int RunAgent(const AgentConfig& config, const std::map<std::string, std::string>& environment,
             const Clock& clock, std::function<void()> on_hangup) {
  const std::string problem = CheckAgentConfig(config);
  if (!problem.empty()) return Refuse(problem);
  ExecutorOptions options = OptionsOf(config);
  options.on_hangup = std::move(on_hangup);
  auto guard = ProcessGuard::Start();
  if (!guard.ok()) return Refuse(Message(guard.status()));
  auto records = CommandRecords::Open(options.spool_dir + "/commands");
  if (!records.ok()) return Refuse(Message(records.status()));
  // Before any hello: once this process registers, the runs of the earlier one count as ended.
  const auto killed = (*records)->KillSurvivors(clock, kSurvivorTimeout);
  if (!killed.ok()) return Refuse(Message(killed.status()));
  if (*killed > 0) {
    LogWarn("commands of an earlier agent were still running and were killed",
            {{"processes", std::to_string(*killed)}});
  }
  std::list<CommandHandler> handlers;
  std::map<std::string, RedisLock> locks;
  Executor executor(options);
  for (const CommandConfig& command : config.handlers) {
    auto user = UserOf(command);
    if (!user.ok()) return Refuse(Message(user.status()));
    CommandHandler& handler =
        handlers.emplace_back(command, *std::move(user), environment, **guard, **records, clock);
    HandlerOptions handler_options;
    handler_options.interruptible = true;
    handler_options.concurrency = command.concurrency;
    const absl::Status guarded = AddGuard(command, options, clock, &locks, &handler_options);
    if (!guarded.ok()) return Refuse(Message(guarded));
    executor.Handle(command.name, std::move(handler_options),
                    [&handler](Context& run) { return handler.Run(run); });
  }
  const int code = executor.Run();
  // Handlers that did not end still use what lives here; the guard ends their commands.
  if (code == 3) _exit(code);
  return code;
}

}  // namespace tidemark::agent
