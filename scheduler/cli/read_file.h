// Files that commands are given.
#ifndef TIDEMARK_SCHEDULER_CLI_READ_FILE_H_
#define TIDEMARK_SCHEDULER_CLI_READ_FILE_H_

#include <iosfwd>
#include <string>

#include "absl/status/statusor.h"

namespace tidemark {

// All of the file of that name; "-" reads `in` to its end. kNotFound: it cannot be read.
absl::StatusOr<std::string> ReadFile(std::istream& in, const std::string& name);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CLI_READ_FILE_H_
