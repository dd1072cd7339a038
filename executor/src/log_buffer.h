// The part of a run's log that no scheduler has taken yet.
#ifndef TIDEMARK_EXECUTOR_SRC_LOG_BUFFER_H_
#define TIDEMARK_EXECUTOR_SRC_LOG_BUFFER_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark::exec {

// Bounded: while it is full, new bytes are counted and dropped, and a mark says how many. After
// `total_limit` bytes the log ends with a mark. Value type, one thread.
class LogBuffer {
 public:
  static constexpr size_t kPendingLimit = size_t{1024} * 1024;
  static constexpr uint64_t kTotalLimit = 16u << 20;

  void Append(std::string_view bytes);
  bool empty() const { return pending_.empty(); }
  size_t size() const { return pending_.size(); }
  // Offset in the log of the first pending byte.
  uint64_t offset() const { return offset_; }
  // Any byte was ever appended.
  bool used() const { return offset_ > 0 || !pending_.empty(); }
  // Takes up to `limit` bytes from the front.
  std::string Take(size_t limit);

 private:
  void MarkDropped();

  std::string pending_;
  uint64_t offset_ = 0;
  uint64_t dropped_ = 0;  // since the last mark
  bool ended_ = false;
};

}  // namespace tidemark::exec

#endif  // TIDEMARK_EXECUTOR_SRC_LOG_BUFFER_H_
