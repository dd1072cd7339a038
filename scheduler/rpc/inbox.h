// How much of what an executor sent waits to be handled, and what follows.
#ifndef TIDEMARK_SCHEDULER_RPC_INBOX_H_
#define TIDEMARK_SCHEDULER_RPC_INBOX_H_

#include <atomic>
#include <cstddef>
#include <optional>

#include "scheduler/rpc/limits.h"

namespace tidemark {

// The messages of one stream between wire and engine, in bytes. Not thread-safe, but for `total`,
// which all streams share. The bytes of a stream that has ended still count in `total` until they
// are handled (Forgotten): nobody gets more room by coming again.
class Inbox {
 public:
  struct Verdict {
    bool read = false;         // start the next read now
    std::optional<bool> hold;  // tell the executor so
  };

  Inbox(const RpcLimits& limits, std::atomic<size_t>& total) : limits_(limits), total_(total) {}

  // A message was read and handed over.
  Verdict Took(size_t bytes) {
    bytes_ += bytes;
    total_ += bytes;
    Verdict verdict;
    if (!held_ && bytes_ > limits_.max_inbox / 2) verdict.hold = held_ = true;
    paused_ = bytes_ > limits_.max_inbox || total_ > limits_.max_inboxes;
    verdict.read = !paused_;
    return verdict;
  }

  // A message was handled.
  Verdict Handled(size_t bytes) {
    bytes_ -= bytes;
    Forgotten(total_, bytes);
    Verdict verdict;
    if (held_ && bytes_ <= limits_.max_inbox / 4) {
      held_ = false;
      verdict.hold = false;
    }
    // A stream without anything that waits reads on whatever the others do: it cannot be stuck.
    const bool room = bytes_ <= limits_.max_inbox / 2 && total_ <= limits_.max_inboxes;
    if (paused_ && (room || bytes_ == 0)) {
      paused_ = false;
      verdict.read = true;
    }
    return verdict;
  }
  // The same when the stream has ended meanwhile.
  static void Forgotten(std::atomic<size_t>& total, size_t bytes) { total -= bytes; }

 private:
  const RpcLimits& limits_;
  std::atomic<size_t>& total_;
  size_t bytes_ = 0;
  bool held_ = false;    // its executor was told to hold
  bool paused_ = false;  // its stream is not read
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_INBOX_H_
