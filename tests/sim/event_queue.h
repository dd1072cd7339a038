// Virtual time: what happens next, in one order for one seed.
#ifndef TIDEMARK_TESTS_SIM_EVENT_QUEUE_H_
#define TIDEMARK_TESTS_SIM_EVENT_QUEUE_H_

#include <functional>
#include <map>
#include <utility>

#include "absl/time/time.h"

namespace tidemark::sim {

// Not thread-safe. Events of one moment happen in the order in which they were planned.
class EventQueue {
 public:
  void At(absl::Duration when, std::function<void()> what) {
    events_.emplace(std::max(when, now_), std::move(what));
  }
  void After(absl::Duration delay, std::function<void()> what) {
    At(now_ + delay, std::move(what));
  }

  // Lets everything happen up to `end`.
  void RunUntil(absl::Duration end) {
    while (!events_.empty() && events_.begin()->first <= end) {
      auto node = events_.extract(events_.begin());
      now_ = node.key();
      node.mapped()();
      ++happened_;
    }
    now_ = std::max(now_, end);
  }

  absl::Duration now() const { return now_; }
  size_t happened() const { return happened_; }

 private:
  std::multimap<absl::Duration, std::function<void()>> events_;
  absl::Duration now_ = absl::Hours(1);
  size_t happened_ = 0;
};

}  // namespace tidemark::sim

#endif  // TIDEMARK_TESTS_SIM_EVENT_QUEUE_H_
