// The database URL: read, completed with our defaults, and described without its secrets.
#ifndef TIDEMARK_SCHEDULER_STORE_CONNINFO_H_
#define TIDEMARK_SCHEDULER_STORE_CONNINFO_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/store/database.h"

namespace tidemark {

struct ConnInfo {
  std::string text;                  // "key='value' …" for libpq, with our defaults
  std::string where;                 // "database NAME at HOST:PORT"
  std::vector<std::string> secrets;  // what no message may show
};

// INVALID_ARGUMENT when the URL cannot be read; the message does not repeat it.
absl::StatusOr<ConnInfo> MakeConnInfo(const DatabaseOptions& options);
// `message` with every secret replaced by "***".
std::string Redact(std::string message, const std::vector<std::string>& secrets);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_CONNINFO_H_
