// Recurrence rules of iCalendar (RFC 5545, RRULE) over whole days. Internal to the import.
#ifndef TIDEMARK_SCHEDULER_CORE_TIME_RECURRENCE_H_
#define TIDEMARK_SCHEDULER_CORE_TIME_RECURRENCE_H_

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/civil_time.h"

namespace tidemark {

// "YYYYMMDD", alone or before a time of day that is midnight.
absl::StatusOr<absl::CivilDay> ParseICalDate(std::string_view text);

// One RRULE. A value.
class Recurrence {
 public:
  // kInvalidArgument names the part that is not understood. Understood: FREQ (DAILY, WEEKLY,
  // MONTHLY, YEARLY), INTERVAL, COUNT, UNTIL, BYMONTH, BYMONTHDAY, BYDAY, WKST.
  static absl::StatusOr<Recurrence> Parse(std::string_view rule);

  // The days of the rule from `start` (always the first) up to `last`, ascending.
  std::vector<absl::CivilDay> Days(absl::CivilDay start, absl::CivilDay last) const;

 private:
  enum class Frequency { kDaily, kWeekly, kMonthly, kYearly };

  absl::Status ParsePart(std::string_view key, std::string_view value);
  absl::Status ParseFrequency(std::string_view value);
  absl::Status ParseDays(std::string_view value);
  bool InPeriod(absl::CivilDay start, absl::CivilDay day) const;
  bool Fits(absl::CivilDay start, absl::CivilDay day) const;
  bool FitsWeekday(absl::CivilDay day) const;
  bool FitsMonthDay(absl::CivilDay day) const;

  std::optional<Frequency> frequency_;
  int interval_ = 1;
  std::optional<int> count_;
  std::optional<absl::CivilDay> until_;
  std::vector<int> months_, month_days_;
  std::vector<std::pair<int, absl::Weekday>> days_;  // ordinal (0: every), weekday
  absl::Weekday week_start_ = absl::Weekday::monday;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CORE_TIME_RECURRENCE_H_
