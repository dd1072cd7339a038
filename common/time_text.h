// Times, dates and durations as text: one reading and one writing for files, flags and tables.
#ifndef TIDEMARK_COMMON_TIME_TEXT_H_
#define TIDEMARK_COMMON_TIME_TEXT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"

namespace tidemark {

// "2026-11-28". Years 1900–2399; anything else, and dates that no calendar has, are refused.
absl::StatusOr<absl::CivilDay> ParseDate(std::string_view text);
std::string FormatDate(absl::CivilDay day);

// "2026-11-28T01:00:00": a local time without a zone.
std::string FormatCivil(absl::CivilSecond time);
absl::StatusOr<absl::CivilSecond> ParseCivil(std::string_view text);

// RFC 3339 with an offset ("Z" or ±hh:mm), up to nanoseconds.
absl::StatusOr<absl::Time> ParseInstant(std::string_view text);
// RFC 3339 in `zone`, with its offset; fractions only when there are any.
std::string FormatInstant(absl::Time time, absl::TimeZone zone = absl::UTCTimeZone());

// "90s", "5m", "2h", "7d", "1h30m", "250ms", "0s". Not negative.
absl::StatusOr<absl::Duration> ParseDuration(std::string_view text);
// The shortest such text: "5m", "1h30m", "7d"; what is less than a millisecond is left out.
// "unlimited" for an infinite one.
std::string DurationText(absl::Duration d);

}  // namespace tidemark

#endif  // TIDEMARK_COMMON_TIME_TEXT_H_
