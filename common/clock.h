// The only place that reads a clock. Everything else is handed a Clock, or a time.
#ifndef TIDEMARK_COMMON_CLOCK_H_
#define TIDEMARK_COMMON_CLOCK_H_

#include "absl/time/time.h"

namespace tidemark {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  // Wall clock of this machine. For display and logs only: due decisions use the database's clock.
  virtual absl::Time WallNow() const = 0;
  // Time since an arbitrary start; never goes back and counts suspended time (CLOCK_BOOTTIME).
  virtual absl::Duration Monotonic() const = 0;
};

// The machine's clocks. Lives for ever.
Clock& SystemClock();

// A clock that tests set. Not thread-safe unless said otherwise by its user.
class ManualClock : public Clock {
 public:
  explicit ManualClock(absl::Time wall) : wall_(wall) {}
  absl::Time WallNow() const override { return wall_; }
  absl::Duration Monotonic() const override { return monotonic_; }
  void Advance(absl::Duration d) {
    wall_ += d;
    monotonic_ += d;
  }
  // Moves the wall clock alone, as an administrator or NTP would.
  void StepWall(absl::Duration d) { wall_ += d; }

 private:
  absl::Time wall_;
  absl::Duration monotonic_ = absl::Seconds(1000);
};

}  // namespace tidemark

#endif  // TIDEMARK_COMMON_CLOCK_H_
