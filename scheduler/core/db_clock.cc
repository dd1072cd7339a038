#include "scheduler/core/db_clock.h"

#include <algorithm>

namespace tidemark {

namespace {

// What a round trip alone says of the database's time when its answer arrived.
TimeInterval Measured(const ClockSample& sample) {
  const absl::Duration trip = sample.received_mono - sample.sent_mono;
  return {sample.db, sample.db + trip + trip * DbClock::kDrift};
}

}  // namespace

void DbClock::Believe(const ClockSample& sample) {
  const TimeInterval measured = Measured(sample);
  known_ = true;
  at_ = sample.received_mono;
  lo_ = measured.lo;
  hi_ = measured.hi;
}

std::optional<absl::Duration> DbClock::Add(const ClockSample& sample) {
  if (!known_) {
    Believe(sample);
    return std::nullopt;
  }
  const TimeInterval before = At(sample.received_mono);
  const auto [lo, hi] = Measured(sample);
  absl::Duration step = absl::ZeroDuration();
  if (lo > before.hi) step = lo - before.hi;
  if (hi < before.lo) step = hi - before.lo;
  if (step > kStep || step < -kStep) {
    refused_ = sample;
    return step;
  }
  refused_.reset();
  if (step != absl::ZeroDuration()) {
    Believe(sample);
    return std::nullopt;
  }
  at_ = sample.received_mono;
  lo_ = std::max(lo, before.lo);
  hi_ = std::min(hi, before.hi);
  return std::nullopt;
}

void DbClock::Accept() {
  if (!refused_.has_value()) return;
  Believe(*refused_);
  refused_.reset();
}

TimeInterval DbClock::At(absl::Duration monotonic) const {
  if (!known_) return {};
  const absl::Duration since = monotonic - at_;
  // Before `at_`, too, the clocks may have drifted apart: answers can overtake each other.
  const absl::Duration drift = absl::AbsDuration(since) * kDrift;
  return {lo_ + since - drift, hi_ + since + drift};
}

}  // namespace tidemark
