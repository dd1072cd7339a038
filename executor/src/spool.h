// Results on disk, until a scheduler has committed them.
#ifndef TIDEMARK_EXECUTOR_SRC_SPOOL_H_
#define TIDEMARK_EXECUTOR_SRC_SPOOL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/src/core_types.h"
#include "executor/src/spool_files.h"
#include "executor/src/spool_record.h"

namespace tidemark::exec {

// A log in a folder: results and their acknowledgements are appended to segments
// ("<number>.segment", spool_record.h), a batch with one write and one fdatasync. Segments vanish
// from the front, once no result in them is needed; the few that are, when most of the log is not,
// are written again at its end. Each process begins a segment of its own, so that nothing is ever
// appended to what a crash has left. Held by one process at a time (a lock file). Not thread-safe.
class Spool {
 public:
  struct Loaded {
    std::vector<SpooledResult> results;  // by key
    // Names of files in which something is not as it was written. Moved aside, unless `problem`
    // says that it could not be; what could be read is among the results.
    std::vector<std::string> damaged;
    // Names of segments whose last write was cut short. It never counted; it is cut off.
    std::vector<std::string> torn;
    // Why damaged and old files are still where they were; the next start tries again.
    std::string problem;
  };

  static constexpr size_t kSegmentBytes = 8u << 20;

  // Makes the folder when it is missing (mode 0700). FAILED_PRECONDITION: another process has it;
  // UNAVAILABLE: it cannot be made or written.
  static absl::StatusOr<std::unique_ptr<Spool>> Open(const std::string& dir,
                                                     size_t segment_bytes = kSegmentBytes);
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  // Once, before anything else. Files of the format before segments become one.
  absl::StatusOr<Loaded> Load();

  // Collected, at most one of them a key, until Sync.
  void Write(const AttemptKey& key, const v1::RunReport& report);
  void MarkAcknowledged(const AttemptKey& key);
  // The result is not needed any longer.
  void Delete(const AttemptKey& key);
  // Writes what was collected; results are durable then. On failure nothing of it is there, and it
  // is forgotten, but for deletions.
  absl::Status Sync();

  const std::string& dir() const { return dir_; }

 private:
  struct Segment {
    size_t bytes = 0;
    size_t needed = 0;  // results in it that are not deleted
  };
  struct Place {
    uint64_t segment = 0;
    size_t offset = 0;
    size_t size = 0;
    bool acknowledged = false;
  };
  // Records to be appended in one go, and what is true once they are there.
  struct Batch {
    std::string bytes;
    std::vector<std::pair<AttemptKey, Place>> results;  // Place.segment is not yet known
    std::vector<AttemptKey> acknowledged;
    bool empty() const { return bytes.empty(); }
  };
  using Segments = std::map<uint64_t, Segment>;
  using Results = std::map<AttemptKey, SpooledResult>;

  Spool(std::string dir, int dir_fd, int lock_fd, size_t segment_bytes)
      : dir_(std::move(dir)), dir_fd_(dir_fd), lock_fd_(lock_fd), segment_bytes_(segment_bytes) {}

  // spool_load.cc
  absl::Status LoadSegment(const std::string& name, uint64_t number, Results* results,
                           Loaded* loaded, std::vector<uint64_t>* damaged);
  bool TakeRecord(uint64_t segment, const SpoolRecord& record, Results* results);
  absl::Status Renew(const std::vector<uint64_t>& damaged, const std::vector<std::string>& old,
                     const Results& results);

  // spool.cc
  absl::Status Append(Batch batch);
  absl::Status AppendBytes(std::string_view bytes, bool durable);
  absl::Status OpenSegment();
  void CloseSegment();
  void Put(const AttemptKey& key, const Place& place);
  void Forget(std::map<AttemptKey, Place>::iterator it);
  void DropFront();
  absl::Status Compact();
  // Adds the needed results of a segment to `batch`. False: not all of them could be read.
  bool Collect(uint64_t segment, Batch* batch) const;
  void MoveAside(uint64_t segment);
  bool IsOpen(uint64_t segment) const { return fd_ >= 0 && segment == segments_.rbegin()->first; }

  const std::string dir_;
  const int dir_fd_;
  const int lock_fd_;
  const size_t segment_bytes_;
  int fd_ = -1;  // of the last segment, while it is written to
  uint64_t next_segment_ = 1;
  Segments segments_;
  std::map<AttemptKey, Place> places_;
  size_t bytes_ = 0;         // of all segments
  size_t needed_bytes_ = 0;  // of results that are not deleted
  Batch collected_;
};

// "<number>.segment"; the digits make the names sort as the numbers do.
std::string SegmentName(uint64_t number);

}  // namespace tidemark::exec

#endif  // TIDEMARK_EXECUTOR_SRC_SPOOL_H_
