// IANA zones by name, and what a zone does with a local time.
#ifndef TIDEMARK_SCHEDULER_CORE_TIME_ZONE_H_
#define TIDEMARK_SCHEDULER_CORE_TIME_ZONE_H_

#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"

namespace tidemark {

// The zone named `name`: one that the zone data (TZDIR, else /usr/share/zoneinfo) has a file for
// and, where the data carries its list tzdata.zi, that is listed there. Names only: paths,
// `localtime`, `Factory`, `Fixed/…`, `posix/…`, `right/…` and POSIX TZ texts are refused with
// kInvalidArgument and, where one is near, the name that was probably meant. Thread-safe. Reads
// files: call it where a schedule is compiled, not where it is evaluated.
absl::StatusOr<absl::TimeZone> LoadZone(std::string_view name);

// How a local time relates to a zone's instants.
enum class CivilKind {
  kUnique,    // exactly one instant
  kSkipped,   // none: inside a gap
  kRepeated,  // two: inside a fold
};

// Resolution of a local time by the rule of fixed times: the instant itself, the first pass of a
// fold, the first instant after a gap. Empty when the whole local date has no instant.
struct FixedInstant {
  absl::Time instant;
  CivilKind kind;
};
std::optional<FixedInstant> ResolveFixed(absl::CivilSecond local, const absl::TimeZone& zone);

// False for a date that no instant of the zone has (Pacific/Apia 2011-12-30).
bool DateExists(absl::CivilDay date, const absl::TimeZone& zone);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CORE_TIME_ZONE_H_
