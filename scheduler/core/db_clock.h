// The database's time as a node knows it: an interval, from round trips (T2).
#ifndef TIDEMARK_SCHEDULER_CORE_DB_CLOCK_H_
#define TIDEMARK_SCHEDULER_CORE_DB_CLOCK_H_

#include <optional>

#include "absl/time/time.h"

namespace tidemark {

// One round trip: the database said `db` at some moment between sent_mono and received_mono
// of this node's monotonic clock.
struct ClockSample {
  absl::Time db;
  absl::Duration sent_mono;
  absl::Duration received_mono;
};

// What time it is in the database: not before lo, not after hi.
struct TimeInterval {
  absl::Time lo = absl::InfinitePast();
  absl::Time hi = absl::InfiniteFuture();
};

// Keeps the best estimate of (database time − monotonic time). Not thread-safe.
class DbClock {
 public:
  // How fast the two clocks may drift apart.
  static constexpr double kDrift = 200e-6;
  // A larger change than this is a step, not drift.
  static constexpr absl::Duration kStep = absl::Seconds(5);

  // Takes a sample. Returns the step when the sample contradicts what was known by more than
  // kStep: the estimate then stays as it was until Accept().
  std::optional<absl::Duration> Add(const ClockSample& sample);
  // Believes the last refused sample: two sources agree, or an operator said so.
  void Accept();
  // True between a step and its acceptance: nothing may fire.
  bool holding() const { return refused_.has_value(); }

  TimeInterval At(absl::Duration monotonic) const;
  bool known() const { return known_; }

 private:
  void Believe(const ClockSample& sample);

  bool known_ = false;
  absl::Time lo_;  // bounds at monotonic `at_`
  absl::Time hi_;
  absl::Duration at_;
  std::optional<ClockSample> refused_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CORE_DB_CLOCK_H_
