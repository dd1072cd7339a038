// What the user's options mean, and what is wrong with them.
#ifndef TIDEMARK_EXECUTOR_SRC_OPTIONS_CHECK_H_
#define TIDEMARK_EXECUTOR_SRC_OPTIONS_CHECK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "channel/secure_channel.h"
#include "common/clock.h"
#include "common/id.h"
#include "executor/src/core_types.h"
#include "tidemark/executor.h"

namespace tidemark::exec {

// Everything that is wrong, one sentence each; empty when nothing is.
std::vector<std::string> OptionProblems(const ExecutorOptions& options);

// How schedulers are reached: the options, and the environment for what they leave empty.
ClientSecurity SecurityOf(const ExecutorOptions& options);

// The folder to use: the option, or the default.
std::string SpoolDir(const ExecutorOptions& options);

// Without handlers. Makes the executor id, kept in `spool_dir`, when the options give none.
absl::StatusOr<CoreOptions> MakeCoreOptions(const ExecutorOptions& options,
                                            const std::string& spool_dir, const Clock& clock,
                                            Random& random);

}  // namespace tidemark::exec

#endif  // TIDEMARK_EXECUTOR_SRC_OPTIONS_CHECK_H_
