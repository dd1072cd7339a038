// Child processes as another user.
#ifndef TIDEMARK_SCHEDULER_DEV_RUN_AS_H_
#define TIDEMARK_SCHEDULER_DEV_RUN_AS_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tidemark {

struct UserIds {
  uid_t uid = 0;
  gid_t gid = 0;
  std::string name;
};

// Whom a server that refuses root should run as: this user, or as root `postgres`, else `nobody`.
absl::StatusOr<UserIds> UnprivilegedUser();

// Starts `argv` as `user` in a session of its own, output appended to `log_file`. Returns its pid.
absl::StatusOr<pid_t> Spawn(const UserIds& user, const std::vector<std::string>& argv,
                            const std::string& log_file);
// Spawn, and wait for its end. An error has the last lines of its output.
absl::Status RunToEnd(const UserIds& user, const std::vector<std::string>& argv,
                      const std::string& log_file);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_DEV_RUN_AS_H_
