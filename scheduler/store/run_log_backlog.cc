#include "scheduler/store/run_log_backlog.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace tidemark {
namespace {

// Far beyond any log; keeps sums of offsets within the database's integers.
constexpr uint64_t kMaxOffset = uint64_t{1} << 62;

}  // namespace

void RunLogBacklog::Add(const RunLogChunk& chunk) {
  if (chunk.offset > kMaxOffset) return;
  auto found = pending_.find(chunk.key);
  if (found == pending_.end()) {
    if (bytes_ + kEntryBytes > limit_) {
      dropped_ += chunk.data.size();
      return;
    }
    found = pending_.try_emplace(chunk.key).first;
    bytes_ += kEntryBytes;
  }
  PendingRunLog& log = found->second;
  log.ended = log.ended || chunk.end;
  const uint64_t end = chunk.offset + chunk.data.size();
  if (end <= log.reached) return;
  const uint64_t begin = std::max(chunk.offset, log.reached);
  log.reached = end;
  if (begin >= kRunLogLimit) return;
  std::string_view data = std::string_view(chunk.data).substr(begin - chunk.offset);
  data = data.substr(0, kRunLogLimit - begin);
  const size_t room = limit_ - std::min(limit_, bytes_);
  if (data.size() > room) {
    dropped_ += data.size() - room;
    data = data.substr(0, room);
  }
  Append(log, begin, data);
}

void RunLogBacklog::Append(PendingRunLog& log, uint64_t start, std::string_view data) {
  bytes_ += data.size();
  if (!log.pieces.empty() && log.pieces.back().end() == start) {
    std::string& last = log.pieces.back().data;
    const size_t taken = std::min(data.size(), kRunLogPiece - last.size());
    last.append(data.substr(0, taken));
    start += taken;
    data.remove_prefix(taken);
  }
  while (!data.empty()) {
    const size_t taken = std::min(data.size(), kRunLogPiece);
    log.pieces.push_back({start, std::string(data.substr(0, taken))});
    start += taken;
    data.remove_prefix(taken);
  }
}

RunLogBacklog::Batch RunLogBacklog::Take(size_t bytes) {
  Batch batch;
  size_t taken = 0;
  auto next = pending_.upper_bound(last_taken_);
  while (!pending_.empty() && taken < bytes) {
    if (next == pending_.end()) next = pending_.begin();
    size_t size = kEntryBytes;
    for (const RunLogPiece& piece : next->second.pieces) size += piece.data.size();
    taken += size;
    bytes_ -= size;
    last_taken_ = next->first;
    const auto after = std::next(next);
    batch.insert(pending_.extract(next));
    next = after;
  }
  return batch;
}

uint64_t RunLogBacklog::TakeDropped() { return std::exchange(dropped_, 0); }

}  // namespace tidemark
