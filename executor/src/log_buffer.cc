#include "executor/src/log_buffer.h"

#include <algorithm>

namespace tidemark::exec {

void LogBuffer::Append(std::string_view bytes) {
  if (ended_) return;
  if (offset_ + pending_.size() + bytes.size() > kTotalLimit) {
    MarkDropped();
    pending_ += "\n[log ends here: it is over " + std::to_string(kTotalLimit >> 20) + " MiB]\n";
    ended_ = true;
    return;
  }
  const size_t room = kPendingLimit - std::min(kPendingLimit, pending_.size());
  if (dropped_ > 0 && room > 0) MarkDropped();
  const size_t taken = std::min(room, bytes.size());
  pending_.append(bytes.substr(0, taken));
  dropped_ += bytes.size() - taken;
}

void LogBuffer::MarkDropped() {
  if (dropped_ == 0) return;
  pending_ += "\n[" + std::to_string(dropped_) + " bytes of log dropped: the scheduler was slow]\n";
  dropped_ = 0;
}

std::string LogBuffer::Take(size_t limit) {
  std::string out = pending_.substr(0, limit);
  pending_.erase(0, out.size());
  offset_ += out.size();
  if (pending_.empty()) MarkDropped();
  return out;
}

}  // namespace tidemark::exec
