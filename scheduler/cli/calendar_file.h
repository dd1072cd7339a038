// Files of calendars: ours in YAML, others' as iCalendar.
#ifndef TIDEMARK_SCHEDULER_CLI_CALENDAR_FILE_H_
#define TIDEMARK_SCHEDULER_CLI_CALENDAR_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/civil_time.h"
#include "tidemark/v1/operator.pb.h"

namespace tidemark {

// A YAML file with the keys name, mode, dates and weekend; `weekend: []` says that every weekday is
// a business day. `file` is its name for messages. kInvalidArgument lists every problem with its
// line.
absl::StatusOr<v1::CalendarSpec> ParseCalendarFile(std::string_view yaml, const std::string& file);

// The days of an iCalendar text (BEGIN:VCALENDAR), events that recur unrolled up to `last`; without
// a name.
absl::StatusOr<v1::CalendarSpec> ParseICalendarFile(std::string_view text, const std::string& file,
                                                    absl::CivilDay last);

// Whether a text is iCalendar: by its first line, whatever the file's name.
bool IsICalendar(std::string_view text);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CLI_CALENDAR_FILE_H_
