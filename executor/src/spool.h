// Results on disk, until a scheduler has committed them.
#ifndef TIDEMARK_EXECUTOR_SRC_SPOOL_H_
#define TIDEMARK_EXECUTOR_SRC_SPOOL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/src/core_types.h"

namespace tidemark::exec {

// A folder with one file a result: "<run_id>.<attempt>.result", ".acked" once committed. A file is
// written beside, synced and renamed, so it is whole or not there; one that is not whole all the
// same (its SHA-256 is wrong) is moved aside as ".torn". Held by one process at a time (a lock
// file). Not thread-safe.
class Spool {
 public:
  struct Loaded {
    std::vector<SpooledResult> results;
    std::vector<std::string> torn;  // names of files that were moved aside
  };

  // Makes the folder when it is missing (mode 0700). FAILED_PRECONDITION: another process has it;
  // UNAVAILABLE: it cannot be made or written.
  static absl::StatusOr<std::unique_ptr<Spool>> Open(const std::string& dir);
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  absl::StatusOr<Loaded> Load();
  // Durable only after Sync. On failure nothing is left of the new file.
  absl::Status Write(const AttemptKey& key, const v1::RunReport& report);
  absl::Status MarkAcknowledged(const AttemptKey& key);
  void Delete(const AttemptKey& key);
  absl::Status Sync();

  const std::string& dir() const { return dir_; }

 private:
  Spool(std::string dir, int dir_fd, int lock_fd)
      : dir_(std::move(dir)), dir_fd_(dir_fd), lock_fd_(lock_fd) {}

  std::string dir_;
  int dir_fd_;
  int lock_fd_;
};

// Reads or makes a small file in `dir` that is stable over restarts; `made` is its content when it
// is missing. Whole or not there.
absl::StatusOr<std::string> StableText(const std::string& dir, const std::string& name,
                                       const std::string& made);

}  // namespace tidemark::exec

#endif  // TIDEMARK_EXECUTOR_SRC_SPOOL_H_
