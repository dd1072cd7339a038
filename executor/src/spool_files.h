// What the spool asks of the file system.
#ifndef TIDEMARK_EXECUTOR_SRC_SPOOL_FILES_H_
#define TIDEMARK_EXECUTOR_SRC_SPOOL_FILES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tidemark::exec {

// All errors are UNAVAILABLE: "<what>: <the system's words>".
absl::Status FileError(const std::string& what, int error);

// Names of all entries of the folder, sorted.
absl::StatusOr<std::vector<std::string>> FolderNames(const std::string& dir);

absl::StatusOr<std::string> ReadFileIn(int dir_fd, const std::string& name);

// Writes all of `bytes` at `offset`. On failure any beginning of it may be there.
absl::Status WriteAt(int fd, const std::string& name, std::string_view bytes, size_t offset);

// Cuts a file to its first `size` bytes, durably.
absl::Status CutFile(int dir_fd, const std::string& name, size_t size);

// Reads or makes a small file in `dir` that is stable over restarts; `made` is its content when it
// is missing. Whole or not there.
absl::StatusOr<std::string> StableText(const std::string& dir, const std::string& name,
                                       const std::string& made);

}  // namespace tidemark::exec

#endif  // TIDEMARK_EXECUTOR_SRC_SPOOL_FILES_H_
