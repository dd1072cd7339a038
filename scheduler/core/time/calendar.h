// Named sets of dates: holidays, trading days.
#ifndef TIDEMARK_SCHEDULER_CORE_TIME_CALENDAR_H_
#define TIDEMARK_SCHEDULER_CORE_TIME_CALENDAR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/civil_time.h"

namespace tidemark {

// One version of a calendar. Immutable: share it by shared_ptr<const Calendar>; thread-safe.
class Calendar {
 public:
  enum class Mode {
    kInclude,  // the listed dates alone are open (trading days)
    kExclude,  // the listed dates are closed, all others open (holidays)
  };
  struct Spec {
    std::string name;
    int version = 1;
    Mode mode = Mode::kExclude;
    std::vector<absl::CivilDay> dates;  // any order, duplicates allowed
    // Weekdays that are no business days, bit 0 = SUN … 6 = SAT. An include calendar ignores it.
    uint8_t weekend = 0b1000001;
  };

  // kInvalidArgument: no name, no dates in an include calendar, a weekend of seven days, more than
  // 100,000 dates, or years outside 1900–2200.
  static absl::StatusOr<Calendar> Make(Spec spec);

  // Whether the set lets `date` through: the filter of biz_dates. Weekends do not count here.
  bool IsOpen(absl::CivilDay date) const;
  // IsOpen and, for an exclude calendar, no weekend.
  bool IsBusinessDay(absl::CivilDay date) const;
  // The n-th business day after (n > 0) or before (n < 0) `date`, which need be none; n = 0: `date`
  // itself if it is one. Empty when the calendar has none within reach (ten years a step).
  std::optional<absl::CivilDay> AddBusinessDays(absl::CivilDay date, int n) const;

  const std::string& name() const { return name_; }
  int version() const { return version_; }
  Mode mode() const { return mode_; }
  uint8_t weekend() const { return weekend_; }
  // Ascending, without duplicates. Beyond the last date an include calendar knows nothing: warn
  // before it is reached.
  const std::vector<absl::CivilDay>& dates() const { return dates_; }

 private:
  Calendar() = default;
  std::string name_;
  int version_ = 1;
  Mode mode_ = Mode::kExclude;
  std::vector<absl::CivilDay> dates_;
  uint8_t weekend_ = 0;
};

// The dates of an iCalendar text (RFC 5545): each VEVENT's days from DTSTART to DTEND, with RRULE
// (FREQ YEARLY, MONTHLY, WEEKLY or DAILY; INTERVAL, COUNT, UNTIL, BYMONTH, BYMONTHDAY, BYDAY),
// RDATE and EXDATE, unrolled up to `last`. kInvalidArgument names the line and what is not
// understood; a rule part outside this list is refused, never ignored. Cancelled events are left
// out.
absl::StatusOr<std::vector<absl::CivilDay>> DatesFromICalendar(std::string_view text,
                                                               absl::CivilDay last);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CORE_TIME_CALENDAR_H_
