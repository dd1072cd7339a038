// Optional values and texts in few bytes, for what there is a million times of.
#ifndef TIDEMARK_SCHEDULER_ENGINE_COMPACT_H_
#define TIDEMARK_SCHEDULER_ENGINE_COMPACT_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/civil_time.h"
#include "absl/time/time.h"

namespace tidemark {

// An instant or none, in 8 bytes, to the microsecond below (as the database keeps it). Used like a
// std::optional<absl::Time>.
class CompactTime {
 public:
  CompactTime() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): it stands for the value
  CompactTime(absl::Time time) : micros_(MicrosOf(time)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  CompactTime(const std::optional<absl::Time>& time) {
    if (time.has_value()) micros_ = MicrosOf(*time);
  }
  // To the microsecond above: what waits for it is not early.
  static CompactTime NotBefore(absl::Time time) {
    const CompactTime below(time);
    return *below < time ? CompactTime(*below + absl::Microseconds(1)) : below;
  }

  bool has_value() const { return micros_ != kNone; }
  absl::Time operator*() const {
    if (micros_ == kForever) return absl::InfiniteFuture();
    if (micros_ == kNone + 1) return absl::InfinitePast();
    return absl::FromUnixMicros(micros_);
  }
  absl::Time value_or(absl::Time otherwise) const { return has_value() ? **this : otherwise; }
  void reset() { micros_ = kNone; }

  friend bool operator==(CompactTime a, CompactTime b) { return a.micros_ == b.micros_; }
  friend bool operator!=(CompactTime a, CompactTime b) { return a.micros_ != b.micros_; }
  // None comes first.
  friend bool operator<(CompactTime a, CompactTime b) { return a.micros_ < b.micros_; }
  friend bool operator>(CompactTime a, CompactTime b) { return a.micros_ > b.micros_; }

 private:
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

  static int64_t MicrosOf(absl::Time time) {
    return std::max(absl::ToUnixMicros(time), kNone + 1);  // infinite ones are at the ends
  }

  int64_t micros_ = kNone;
};

// A day or none, in 4 bytes. Used like a std::optional<absl::CivilDay>.
class CompactDay {
 public:
  CompactDay() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): it stands for the value
  CompactDay(absl::CivilDay day) : days_(DaysOf(day)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  CompactDay(const std::optional<absl::CivilDay>& day) {
    if (day.has_value()) days_ = DaysOf(*day);
  }

  bool has_value() const { return days_ != kNone; }
  absl::CivilDay operator*() const { return absl::CivilDay() + days_; }
  void reset() { days_ = kNone; }

 private:
  static constexpr int32_t kNone = std::numeric_limits<int32_t>::min();

  static int32_t DaysOf(absl::CivilDay day) {
    const int64_t days = day - absl::CivilDay();
    return static_cast<int32_t>(
        std::clamp<int64_t>(days, kNone + 1, std::numeric_limits<int32_t>::max()));
  }

  int32_t days_ = kNone;
};

// A short text without NUL that does not change, in 8 bytes and those of the text.
class CompactText {
 public:
  CompactText() = default;
  explicit CompactText(std::string_view text) : text_(std::make_unique<char[]>(text.size() + 1)) {
    std::memcpy(text_.get(), text.data(), text.size());
  }

  std::string_view view() const { return text_ == nullptr ? "" : text_.get(); }
  std::string str() const { return std::string(view()); }

 private:
  std::unique_ptr<char[]> text_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_COMPACT_H_
