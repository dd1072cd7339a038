#include "scheduler/core/expected.h"

#include <algorithm>

#include "scheduler/core/time/zone.h"

namespace tidemark {
namespace {

constexpr absl::Duration kDefaultBy = absl::Hours(9);
constexpr absl::Duration kLeast = absl::Hours(2);
// More local days than a zone ever left out in a row.
constexpr int kDaysAhead = 3;

// No date is expected later than so long after its fire time: a local day and a clock that is set
// back (a day that the zone leaves out takes no time); without a time of its own nine hours.
absl::Duration Longest(std::optional<absl::Duration> expected_by) {
  return expected_by.has_value() ? absl::Hours(30) : absl::Hours(12);
}

std::optional<absl::Time> At(absl::CivilDay day, absl::Duration after_midnight,
                             const absl::TimeZone& zone) {
  const absl::CivilSecond local = absl::CivilSecond(day) + absl::ToInt64Seconds(after_midnight);
  const std::optional<FixedInstant> fixed = ResolveFixed(local, zone);
  if (!fixed.has_value()) return std::nullopt;
  return fixed->instant;
}

// Calls `visit` with the due dates from `from` on, by fire time, until it returns false.
template <typename Visit>
void WalkDue(const Timeline& timeline, absl::Time from, const Visit& visit) {
  for (absl::Time after = from - absl::Nanoseconds(1);;) {
    const std::optional<Occurrence> next = timeline.Next(after);
    if (!next.has_value()) return;
    after = next->fire_time;
    for (const Occurrence& due : timeline.DueAt(next->fire_time)) {
      if (!visit(due)) return;
    }
  }
}

}  // namespace

absl::Time ExpectedAt(const Occurrence& due, const absl::TimeZone& zone,
                      std::optional<absl::Duration> expected_by) {
  const absl::CivilDay day(due.nominal);
  if (!expected_by.has_value()) {
    const absl::Time least = due.fire_time + kLeast;
    return std::max(At(day, kDefaultBy, zone).value_or(least), least);
  }
  for (int ahead = 0; ahead < kDaysAhead; ++ahead) {
    const std::optional<absl::Time> at = At(day + ahead, *expected_by, zone);
    if (at.has_value() && *at > due.fire_time) return *at;
  }
  return due.fire_time + kLeast;  // no zone leaves so many days out
}

absl::TimeZone ZoneOf(const Timeline& timeline, const Occurrence& due) {
  const auto& versions = timeline.versions();
  if (versions.size() == 1) return versions.front().schedule->zone();
  for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
    if (version->schedule->OccurrenceOf(due.biz_date) == due) return version->schedule->zone();
  }
  return timeline.current().zone();
}

absl::Time ExpectedAt(const Timeline& timeline, const Occurrence& due,
                      std::optional<absl::Duration> expected_by) {
  return ExpectedAt(due, ZoneOf(timeline, due), expected_by);
}

std::vector<ExpectedDate> ExpectedBetween(const Timeline& timeline,
                                          std::optional<absl::Duration> expected_by,
                                          absl::Time after, absl::Time until) {
  std::vector<ExpectedDate> dates;
  if (!timeline.dated()) return dates;
  WalkDue(timeline, after - Longest(expected_by), [&](const Occurrence& due) {
    if (due.fire_time > until) return false;
    const absl::Time at = ExpectedAt(timeline, due, expected_by);
    if (at > after && at <= until) dates.push_back({due, at});
    return true;
  });
  return dates;
}

std::optional<absl::Time> NextExpected(const Timeline& timeline,
                                       std::optional<absl::Duration> expected_by,
                                       absl::Time after) {
  std::optional<absl::Time> next;
  if (!timeline.dated()) return next;
  WalkDue(timeline, after - Longest(expected_by), [&](const Occurrence& due) {
    // Nothing is expected before it fires.
    if (next.has_value() && due.fire_time >= *next) return false;
    const absl::Time at = ExpectedAt(timeline, due, expected_by);
    if (at > after && (!next.has_value() || at < *next)) next = at;
    return true;
  });
  return next;
}

}  // namespace tidemark
