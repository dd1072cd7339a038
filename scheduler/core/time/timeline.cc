#include "scheduler/core/time/timeline.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

namespace tidemark {
namespace {

// More days than lie between a fire and its biz_date.
int Reach(const Schedule& schedule) {
  const int offset = std::abs(schedule.spec().biz_offset);
  return schedule.spec().biz_unit == ScheduleSpec::Unit::kDay ? offset + 3 : offset * 3 + 40;
}

int Reach(const std::vector<ScheduleVersion>& versions) {
  int reach = 0;
  for (const ScheduleVersion& version : versions) {
    reach = std::max(reach, Reach(*version.schedule));
  }
  return reach;
}

// What becomes of one biz_date by an edit at `edit`: `before` under the versions up to it, `after`
// under the new one. `was_due`: at some time before the edit, even if another edit moved it since.
std::optional<Occurrence> Switch(const std::optional<Occurrence>& before,
                                 const std::optional<Occurrence>& after, bool was_due,
                                 absl::Time edit) {
  if (after && after->fire_time >= edit) {
    // Only the same day's time moves; a date that another day has handled stays there.
    const bool other_day =
        before && absl::CivilDay(before->nominal) != absl::CivilDay(after->nominal);
    return was_due && other_day ? before : after;
  }
  // The new time has passed, or there is none. A due date stays due; an old time ahead holds if
  // the date goes on to be due at all.
  return was_due || after ? before : std::nullopt;
}

// The last biz_date that could be due by `until`.
absl::CivilDay LastDate(const std::vector<ScheduleVersion>& versions, absl::Time until) {
  return absl::ToCivilDay(until, absl::UTCTimeZone()) + 2 + Reach(versions);
}

// Whether both stand for the same version of the same calendar (or for none).
bool SameCalendar(const Schedule& a, const Schedule& b) {
  if (!a.calendar() || !b.calendar()) return a.calendar() == b.calendar();
  return a.calendar()->name() == b.calendar()->name() &&
         a.calendar()->version() == b.calendar()->version();
}

}  // namespace

Timeline::Timeline(std::vector<ScheduleVersion> versions) {
  versions_.reserve(versions.size());
  for (ScheduleVersion& version : versions) {
    const auto later = std::upper_bound(
        versions_.begin(), versions_.end(), version.valid_from,
        [](absl::Time time, const ScheduleVersion& other) { return time < other.valid_from; });
    versions_.insert(later, std::move(version));
  }
}

std::optional<Occurrence> Timeline::OccurrenceOf(absl::CivilDay biz_date) const {
  if (!dated()) return std::nullopt;
  std::optional<Occurrence> due = versions_[0].schedule->OccurrenceOf(biz_date);
  bool was_due = false;
  for (size_t i = 1; i < versions_.size(); ++i) {
    const absl::Time edit = versions_[i].valid_from;
    was_due = was_due || (due && due->fire_time < edit);
    due = Switch(due, versions_[i].schedule->OccurrenceOf(biz_date), was_due, edit);
  }
  return due;
}

std::optional<Occurrence> Timeline::Next(absl::Time after) const {
  if (empty()) return std::nullopt;
  if (versions_.size() == 1) return versions_[0].schedule->Next(after);
  return dated() ? NextDated(after) : NextInterval(after);
}

std::optional<Occurrence> Timeline::NextDated(absl::Time after) const {
  const absl::Duration reach = absl::Hours(24) * (2 * Reach(versions_));
  std::optional<Occurrence> best;
  for (size_t i = 0; i < versions_.size(); ++i) {
    const Schedule& schedule = *versions_[i].schedule;
    if (!schedule.dated()) continue;
    const bool last = i + 1 == versions_.size();
    const absl::Time end = last ? absl::InfiniteFuture() : versions_[i + 1].valid_from + reach;
    absl::Time cursor = after;
    if (i > 0) cursor = std::max(cursor, versions_[i].valid_from - absl::Nanoseconds(1));
    while (const std::optional<Occurrence> next = schedule.Next(cursor)) {
      if (next->fire_time > end || (best && next->fire_time >= best->fire_time)) break;
      cursor = next->fire_time;
      if (OccurrenceOf(next->biz_date) != next) continue;
      best = next;
      break;
    }
  }
  return best;
}

std::vector<Occurrence> Timeline::DueAt(absl::Time fire_time) const {
  std::map<absl::CivilDay, Occurrence> due;
  for (const ScheduleVersion& version : versions_) {
    const Schedule& schedule = *version.schedule;
    if (!schedule.dated()) continue;
    std::optional<Occurrence> at = schedule.Next(fire_time - absl::Nanoseconds(1));
    while (at && at->fire_time == fire_time) {
      if (OccurrenceOf(at->biz_date) == at) due.emplace(at->biz_date, *at);
      at = schedule.OccurrenceOf(at->biz_date + 1);
    }
  }
  std::vector<Occurrence> all;
  all.reserve(due.size());
  for (const auto& [date, occurrence] : due) all.push_back(occurrence);
  return all;
}

std::optional<Occurrence> Timeline::NextInterval(absl::Time after) const {
  for (size_t i = 0; i < versions_.size(); ++i) {
    const Schedule& schedule = *versions_[i].schedule;
    if (schedule.dated()) continue;
    absl::Time cursor = after;
    if (i > 0) cursor = std::max(cursor, versions_[i].valid_from - absl::Nanoseconds(1));
    const std::optional<Occurrence> next = schedule.Next(cursor);
    const bool last = i + 1 == versions_.size();
    if (next && (last || next->fire_time < versions_[i + 1].valid_from)) return next;
  }
  return std::nullopt;
}

std::vector<Occurrence> Timeline::Due(absl::CivilDay first_date, absl::Time until,
                                      size_t limit) const {
  std::vector<Occurrence> due;
  if (!dated()) return due;
  const absl::CivilDay last = LastDate(versions_, until);
  for (absl::CivilDay date = first_date; date <= last && due.size() < limit; ++date) {
    const std::optional<Occurrence> occurrence = OccurrenceOf(date);
    if (occurrence && occurrence->fire_time <= until) due.push_back(*occurrence);
  }
  return due;
}

std::optional<Occurrence> Timeline::LatestDue(absl::CivilDay first_date, absl::Time until) const {
  if (!dated()) return std::nullopt;
  for (absl::CivilDay date = LastDate(versions_, until); date >= first_date; --date) {
    const std::optional<Occurrence> occurrence = OccurrenceOf(date);
    if (occurrence && occurrence->fire_time <= until) return occurrence;
  }
  return std::nullopt;
}

std::optional<absl::CivilDay> Timeline::OldestAhead(absl::CivilDay last, absl::Time time) const {
  const int reach = 2 * Reach(versions_);
  std::optional<absl::CivilDay> oldest;
  if (versions_.size() < 2 || versions_.back().valid_from < time - absl::Hours(24 * reach)) {
    return oldest;
  }
  for (absl::CivilDay date = last; date > last - reach; --date) {
    const std::optional<Occurrence> due = OccurrenceOf(date);
    if (due && due->fire_time > time) oldest = date;
  }
  return oldest;
}

std::vector<Occurrence> Timeline::DueFires(absl::Time after, absl::Time until, size_t limit) const {
  std::vector<Occurrence> due;
  if (empty() || dated()) return due;
  while (due.size() < limit) {
    const std::optional<Occurrence> next = Next(after);
    if (!next || next->fire_time > until) break;
    due.push_back(*next);
    after = next->fire_time;
  }
  return due;
}

EditVerdict JudgeEdit(const Schedule& before, const Schedule& after, absl::Time when) {
  EditVerdict verdict;
  if (!before.dated() || !after.dated()) return verdict;
  const ScheduleSpec& a = before.spec();
  const ScheduleSpec& b = after.spec();
  const bool same_dates = a.zone == b.zone && a.biz_offset == b.biz_offset &&
                          a.biz_unit == b.biz_unit && SameCalendar(before, after);
  if (same_dates) return verdict;
  const int reach = std::max(Reach(before), Reach(after)) + 2;
  const absl::CivilDay today = absl::ToCivilDay(when, absl::UTCTimeZone());
  for (absl::CivilDay date = today - reach; date <= today + reach; ++date) {
    const std::optional<Occurrence> old_run = before.OccurrenceOf(date);
    const std::optional<Occurrence> new_run = after.OccurrenceOf(date);
    if (!old_run || !new_run) continue;
    const bool in_old = old_run->fire_time < when;
    const bool in_new = new_run->fire_time >= when;
    if (in_old && in_new) verdict.repeated.push_back(date);
    if (!in_old && !in_new) verdict.lost.push_back(date);
  }
  return verdict;
}

}  // namespace tidemark
