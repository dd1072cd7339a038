// By when a due date is expected to be done (A1). Pure.
#ifndef TIDEMARK_SCHEDULER_CORE_EXPECTED_H_
#define TIDEMARK_SCHEDULER_CORE_EXPECTED_H_

#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "scheduler/core/time/timeline.h"

namespace tidemark {

// `expected_by`: the job's own, after local midnight: the first time after the fire at which the
// local clock shows it, be it on the next day. Without one: 09:00 of the nominal day, but never
// less than two hours after the fire. A time inside a gap is the first instant after it, one that
// comes twice its first pass.
absl::Time ExpectedAt(const Occurrence& due, const absl::TimeZone& zone,
                      std::optional<absl::Duration> expected_by);
// In the zone of the version that makes the date due.
absl::Time ExpectedAt(const Timeline& timeline, const Occurrence& due,
                      std::optional<absl::Duration> expected_by);
absl::TimeZone ZoneOf(const Timeline& timeline, const Occurrence& due);

struct ExpectedDate {
  Occurrence due;
  absl::Time expected_at;
};

// The due dates of a dated timeline that are expected in (after, until], by fire time. Costs what
// lies between, whatever came before.
std::vector<ExpectedDate> ExpectedBetween(const Timeline& timeline,
                                          std::optional<absl::Duration> expected_by,
                                          absl::Time after, absl::Time until);
// The first time after `after` at which a date is expected; empty: never.
std::optional<absl::Time> NextExpected(const Timeline& timeline,
                                       std::optional<absl::Duration> expected_by, absl::Time after);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CORE_EXPECTED_H_
