// The clocks of one machine: a monotonic one that runs a little too fast or too slow, and a wall
// clock that is minutes off.
#ifndef TIDEMARK_TESTS_SIM_SIM_CLOCK_H_
#define TIDEMARK_TESTS_SIM_SIM_CLOCK_H_

#include "common/clock.h"
#include "tests/sim/event_queue.h"

namespace tidemark::sim {

// Not thread-safe.
class SimClock : public Clock {
 public:
  // `rate`: seconds of this clock in a true second. `wall`: how far the wall clock is off.
  SimClock(const EventQueue& queue, double rate, absl::Duration wall)
      : queue_(queue), rate_(rate), wall_(wall) {}

  absl::Time WallNow() const override { return absl::UnixEpoch() + Monotonic() + wall_; }
  absl::Duration Monotonic() const override { return Times(queue_.now(), rate_); }
  // The queue's time at which Monotonic() is `mono` for sure.
  absl::Duration QueueTime(absl::Duration mono) const {
    if (mono == absl::InfiniteDuration()) return mono;
    return Times(mono, 1 / rate_) + absl::Microseconds(1);
  }

 private:
  // To the nanosecond: absl's own product is a tenth of a run's time.
  static absl::Duration Times(absl::Duration d, double factor) {
    return absl::Nanoseconds(
        static_cast<int64_t>(static_cast<double>(absl::ToInt64Nanoseconds(d)) * factor));
  }

  const EventQueue& queue_;
  const double rate_;
  const absl::Duration wall_;
};

}  // namespace tidemark::sim

#endif  // TIDEMARK_TESTS_SIM_SIM_CLOCK_H_
