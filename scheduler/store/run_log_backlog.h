// Log bytes that wait to be written.
#ifndef TIDEMARK_SCHEDULER_STORE_RUN_LOG_BACKLOG_H_
#define TIDEMARK_SCHEDULER_STORE_RUN_LOG_BACKLOG_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scheduler/engine/run_log.h"

namespace tidemark {

// Rows of run_log hold at most so many bytes each.
inline constexpr size_t kRunLogPiece = 65536;

struct RunLogPiece {
  uint64_t start = 0;
  std::string data;
  uint64_t end() const { return start + data.size(); }
};

// What waits of one attempt.
struct PendingRunLog {
  std::vector<RunLogPiece> pieces;  // ascending, without overlaps, each at most kRunLogPiece
  uint64_t reached = 0;             // the highest offset that was seen, kept or not
  bool ended = false;
};

// Bounded: what goes over `limit` bytes, or over an attempt's kRunLogLimit, is dropped, and
// `reached` tells that it existed. Of overlapping chunks the first one's bytes stand. A value of
// one thread.
class RunLogBacklog {
 public:
  using Batch = std::map<RunLogKey, PendingRunLog>;

  explicit RunLogBacklog(size_t limit) : limit_(limit) {}

  void Add(const RunLogChunk& chunk);
  bool empty() const { return pending_.empty(); }
  size_t bytes() const { return bytes_; }
  // Takes whole attempts out until they are `bytes` together, at least one; in rotation, so that a
  // chatty one does not starve the others.
  Batch Take(size_t bytes);
  // Bytes dropped for lack of room since the last call.
  uint64_t TakeDropped();

 private:
  // Of the map's entry, so that many short logs are bounded, too.
  static constexpr size_t kEntryBytes = 512;

  void Append(PendingRunLog& log, uint64_t start, std::string_view data);

  const size_t limit_;
  size_t bytes_ = 0;
  uint64_t dropped_ = 0;
  Batch pending_;
  RunLogKey last_taken_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_RUN_LOG_BACKLOG_H_
