#include "common/log_repeats.h"

#include <utility>

namespace tidemark {
namespace {

constexpr absl::Duration kSweepEvery = absl::Seconds(1);

}  // namespace

bool LogRepeats::Count(std::string_view event, int64_t most, absl::Duration now,
                       std::vector<Suppressed>* suppressed) {
  const MutexLock lock(&mutex_);
  if (now >= next_sweep_) Sweep(now, suppressed);
  auto it = events_.find(event);
  if (it == events_.end()) {
    if (events_.size() >= kMostEvents) event = "(others)";
    it = events_.try_emplace(std::string(event), Event{now, 0, 0}).first;
  }
  if (++it->second.lines <= most) return true;
  ++it->second.suppressed;
  ++total_;
  return false;
}

void LogRepeats::Sweep(absl::Duration now, std::vector<Suppressed>* out) {
  next_sweep_ = now + kSweepEvery;
  for (auto it = events_.begin(); it != events_.end();) {
    if (now - it->second.since < kWindow) {
      ++it;
      continue;
    }
    if (it->second.suppressed > 0) out->push_back({it->first, it->second.suppressed});
    it = events_.erase(it);
  }
}

std::vector<LogRepeats::Suppressed> LogRepeats::Over(absl::Duration now) {
  std::vector<Suppressed> out;
  const MutexLock lock(&mutex_);
  Sweep(now, &out);
  return out;
}

int64_t LogRepeats::total() const {
  const MutexLock lock(&mutex_);
  return total_;
}

}  // namespace tidemark
