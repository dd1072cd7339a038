// A queue of (time, key) entries. Entries are not removed when a key's time changes: the owner
// compares what it gets with what it wants, and ignores what is stale.
#ifndef TIDEMARK_SCHEDULER_ENGINE_TIMERS_H_
#define TIDEMARK_SCHEDULER_ENGINE_TIMERS_H_

#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

namespace tidemark {

// Not thread-safe.
template <typename Time, typename Key>
class TimerQueue {
 public:
  void Add(Time at, Key key) { entries_.emplace(at, std::move(key)); }

  // The first entry that is due at `now`, taken out.
  std::optional<std::pair<Time, Key>> TakeDue(Time now) {
    if (entries_.empty() || entries_.top().first > now) return std::nullopt;
    std::pair<Time, Key> entry = entries_.top();
    entries_.pop();
    return entry;
  }

  std::optional<Time> NextTime() const {
    if (entries_.empty()) return std::nullopt;
    return entries_.top().first;
  }

  void Clear() { entries_ = {}; }

 private:
  using Entry = std::pair<Time, Key>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> entries_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_TIMERS_H_
