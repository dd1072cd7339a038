#include "scheduler/core/db_clock.h"

#include <algorithm>

namespace tidemark {

void DbClock::Believe(const ClockSample& sample) {
  known_ = true;
  at_ = sample.received_mono;
  lo_ = sample.db;
  hi_ = sample.db + (sample.received_mono - sample.sent_mono);
}

std::optional<absl::Duration> DbClock::Add(const ClockSample& sample) {
  if (!known_) {
    Believe(sample);
    return std::nullopt;
  }
  const TimeInterval before = At(sample.received_mono);
  const absl::Time lo = sample.db;
  const absl::Time hi = sample.db + (sample.received_mono - sample.sent_mono);
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
  const absl::Duration drift = since * kDrift;
  return {lo_ + since - drift, hi_ + since + drift};
}

}  // namespace tidemark
