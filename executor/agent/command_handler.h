// Makes a handler of a command.
#ifndef TIDEMARK_EXECUTOR_AGENT_COMMAND_HANDLER_H_
#define TIDEMARK_EXECUTOR_AGENT_COMMAND_HANDLER_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.h"
#include "executor/agent/agent_config.h"
#include "executor/agent/command_process.h"
#include "tidemark/executor.h"

namespace tidemark::agent {

// Runs the command once for a run and maps how it ended to an outcome. Called from many threads at
// once. Refers to guard, records and clock, which must outlive it.
class CommandHandler {
 public:
  CommandHandler(CommandConfig config, std::optional<UserIds> user,
                 std::map<std::string, std::string> base_environment, ProcessGuard& guard,
                 CommandRecords& records, const Clock& clock);

  Outcome Run(Context& run) const;

  // The environment of a command for `run`: the agent's, the file's `env`, then TIDEMARK_*.
  std::vector<std::string> EnvironmentFor(const Context& run) const;

 private:
  struct Ending;
  Ending Watch(CommandProcess& process, Context& run) const;
  Outcome OutcomeOf(int status, const Ending& ending) const;

  const CommandConfig config_;
  const std::optional<UserIds> user_;
  const std::map<std::string, std::string> base_environment_;
  ProcessGuard& guard_;
  CommandRecords& records_;
  const Clock& clock_;
};

// Name of the variable that carries a parameter: TIDEMARK_PARAM_ and the name in upper case, with
// everything but letters and digits as '_'.
std::string ParameterVariable(const std::string& parameter);

}  // namespace tidemark::agent

#endif  // TIDEMARK_EXECUTOR_AGENT_COMMAND_HANDLER_H_
