// Puts the agent together: configuration, guard, survivors, executor.
#ifndef TIDEMARK_EXECUTOR_AGENT_AGENT_H_
#define TIDEMARK_EXECUTOR_AGENT_AGENT_H_

#include <functional>
#include <map>
#include <string>

#include "common/clock.h"
#include "executor/agent/agent_config.h"

namespace tidemark::agent {

// Everything about `config` that can be checked without a scheduler: "" or what is wrong.
std::string CheckAgentConfig(const AgentConfig& config);

// Runs until SIGTERM; returns the exit code (Executor::Run's, or 2 when it cannot start). Call it
// before other threads start. `environment` is what commands inherit. `on_hangup` is called on
// SIGHUP, from another thread.
int RunAgent(const AgentConfig& config, const std::map<std::string, std::string>& environment,
             const Clock& clock, std::function<void()> on_hangup = nullptr);

}  // namespace tidemark::agent

#endif  // TIDEMARK_EXECUTOR_AGENT_AGENT_H_
