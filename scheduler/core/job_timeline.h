// When a job is due over all versions of its definition and of the calendars that it names.
#ifndef TIDEMARK_SCHEDULER_CORE_JOB_TIMELINE_H_
#define TIDEMARK_SCHEDULER_CORE_JOB_TIMELINE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "scheduler/core/time/calendar.h"
#include "scheduler/core/time/timeline.h"

namespace tidemark {

struct CalendarVersion {
  absl::Time valid_from;  // the instant of the edit; the first version reaches back for ever
  // Replaces all earlier versions, for past dates, too. Without it past dates stay as they were.
  bool retroactive = false;
  std::shared_ptr<const Calendar> calendar;
};
using CalendarHistory = std::vector<CalendarVersion>;        // of one calendar, oldest first
using CalendarSet = std::map<std::string, CalendarHistory>;  // by name

// The newest version of that calendar; null: there is none (or no name).
std::shared_ptr<const Calendar> NewestCalendar(const CalendarSet* calendars,
                                               const std::string& name);

struct DefinitionVersion {
  absl::Time valid_from;
  ScheduleSpec schedule;
};

// The one function that engine, listings and checks ask: versions of the definition (oldest first)
// and of its calendars, merged by valid_from. A version that cannot be used (its zone vanished, its
// calendar is unknown) is left out, unless it is the newest: then that is the error, and the job
// can do nothing until it is mended. `calendars` may be null when no version names one.
absl::StatusOr<Timeline> BuildTimeline(const std::vector<DefinitionVersion>& versions,
                                       const CalendarSet* calendars);

// What another timeline of the same job changes for biz_dates from `first` to `last`.
struct DueChanges {
  std::vector<absl::CivilDay> past_added;    // would have been due by `now`
  std::vector<absl::CivilDay> past_removed;  // would not have been
  std::vector<absl::CivilDay> added;         // will be due
  std::vector<absl::CivilDay> removed;       // will not be
  std::vector<absl::CivilDay> moved;         // will be due, at another time

  bool past() const { return !past_added.empty() || !past_removed.empty(); }
  bool any() const { return past() || !added.empty() || !removed.empty() || !moved.empty(); }
};
DueChanges CompareTimelines(const Timeline& before, const Timeline& after, absl::CivilDay first,
                            absl::CivilDay last, absl::Time now);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CORE_JOB_TIMELINE_H_
