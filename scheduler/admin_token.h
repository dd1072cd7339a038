// The first token, made beside the service: whoever may write the database may give out access.
#ifndef TIDEMARK_SCHEDULER_ADMIN_TOKEN_H_
#define TIDEMARK_SCHEDULER_ADMIN_TOKEN_H_

#include <string>

#include "absl/status/statusor.h"
#include "scheduler/config.h"

namespace tidemark {

// Makes a token with the role admin, for all namespaces, in the database of `config` (whose tables
// are made when they are missing). Returns its text, which is kept nowhere.
absl::StatusOr<std::string> MakeAdminToken(const SchedulerConfig& config);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ADMIN_TOKEN_H_
