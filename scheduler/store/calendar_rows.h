// Calendars as the database keeps them.
#ifndef TIDEMARK_SCHEDULER_STORE_CALENDAR_ROWS_H_
#define TIDEMARK_SCHEDULER_STORE_CALENDAR_ROWS_H_

#include <memory>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "scheduler/core/job_timeline.h"
#include "scheduler/store/database.h"

namespace tidemark {

// All versions of the calendars of those names that exist; null when there is none. A version that
// cannot be used is logged and left out: its jobs alone are in error then.
absl::StatusOr<std::shared_ptr<const CalendarSet>> LoadCalendars(
    SqlTransaction& transaction, const std::set<std::string>& names);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_CALENDAR_ROWS_H_
