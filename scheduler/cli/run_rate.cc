#include "scheduler/cli/run_rate.h"

#include <algorithm>
#include <cstddef>

namespace tidemark {
namespace {

constexpr absl::Duration kWindow = absl::Minutes(1);
constexpr absl::Duration kLeast = absl::Seconds(1);
// Many jobs report only now and then: less than this without a step forward says nothing.
constexpr absl::Duration kStalled = absl::Seconds(30);
// Beyond it a number says nothing but "very long".
constexpr absl::Duration kLongest = absl::Hours(24 * 99);

// The first sample that counts; samples.size() when none does.
size_t FirstOf(const std::vector<ProgressSample>& samples) {
  size_t first = samples.size();
  while (first > 0) {
    const ProgressSample& next = samples[first - 1];
    if (next.percent < 0 || samples.back().at - next.at > kWindow) break;
    if (first < samples.size() &&
        (next.attempt != samples[first].attempt || next.percent > samples[first].percent)) {
      break;
    }
    --first;
  }
  return first;
}

}  // namespace

std::optional<ProgressRate> RateOf(const std::vector<ProgressSample>& samples) {
  const size_t first = FirstOf(samples);
  if (first == samples.size()) return std::nullopt;
  const ProgressSample& last = samples.back();
  const absl::Duration span = last.at - samples[first].at;
  if (span < kLeast) return std::nullopt;
  const double gained = last.percent - samples[first].percent;
  ProgressRate rate;
  if (gained <= 0) return span < kStalled ? std::nullopt : std::make_optional(rate);
  rate.percent_per_minute = gained / absl::ToDoubleMinutes(span);
  rate.eta = std::min(span * (std::max(0.0, 100 - last.percent) / gained), kLongest);
  return rate;
}

void ForgetOldSamples(std::vector<ProgressSample>* samples) {
  samples->erase(samples->begin(),
                 samples->begin() + static_cast<std::ptrdiff_t>(FirstOf(*samples)));
}

}  // namespace tidemark
