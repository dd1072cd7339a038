#include "scheduler/core/time/calendar.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace tidemark {
namespace {

constexpr size_t kMaxDates = 100000;
constexpr int kReachDays = 3660;  // between two business days

}  // namespace

absl::StatusOr<Calendar> Calendar::Make(Spec spec) {
  const std::string which = "calendar \"" + spec.name + "\": ";
  if (spec.name.empty()) return absl::InvalidArgumentError("a calendar needs a name");
  if (spec.mode == Mode::kInclude && spec.dates.empty()) {
    return absl::InvalidArgumentError(which + "an include calendar without dates lets nothing due");
  }
  if (spec.mode == Mode::kExclude && (spec.weekend & 0x7f) == 0x7f) {
    return absl::InvalidArgumentError(which + "a weekend of seven days leaves no business day");
  }
  if (spec.dates.size() > kMaxDates) {
    return absl::InvalidArgumentError(which + "more than 100000 dates");
  }
  for (const absl::CivilDay date : spec.dates) {
    if (date.year() >= 1900 && date.year() <= 2200) continue;
    return absl::InvalidArgumentError(which + "a date of the year " + std::to_string(date.year()) +
                                      "; the years 1900 to 2200 are possible");
  }
  Calendar calendar;
  calendar.name_ = std::move(spec.name);
  calendar.version_ = spec.version;
  calendar.mode_ = spec.mode;
  calendar.weekend_ = spec.weekend & 0x7f;
  calendar.dates_ = std::move(spec.dates);
  std::sort(calendar.dates_.begin(), calendar.dates_.end());
  calendar.dates_.erase(std::unique(calendar.dates_.begin(), calendar.dates_.end()),
                        calendar.dates_.end());
  return calendar;
}

bool Calendar::IsOpen(absl::CivilDay date) const {
  const bool listed = std::binary_search(dates_.begin(), dates_.end(), date);
  return listed == (mode_ == Mode::kInclude);
}

bool Calendar::IsBusinessDay(absl::CivilDay date) const {
  if (!IsOpen(date)) return false;
  if (mode_ == Mode::kInclude) return true;
  const int weekday = (static_cast<int>(absl::GetWeekday(date)) + 1) % 7;
  return (weekend_ >> weekday & 1) == 0;
}

std::optional<absl::CivilDay> Calendar::AddBusinessDays(absl::CivilDay date, int n) const {
  if (n == 0) return IsBusinessDay(date) ? std::optional(date) : std::nullopt;
  const int direction = n > 0 ? 1 : -1;
  for (int left = std::abs(n); left > 0; --left) {
    int reach = kReachDays;
    do {
      date += direction;
      if (--reach == 0) return std::nullopt;
    } while (!IsBusinessDay(date));
  }
  return date;
}

}  // namespace tidemark
