#include "scheduler/core/job_timeline.h"

#include <optional>
#include <utility>

namespace tidemark {
namespace {

// The versions that count: those from the last retroactive one on.
std::vector<const CalendarVersion*> Effective(const CalendarSet* calendars,
                                              const std::string& name) {
  std::vector<const CalendarVersion*> versions;
  if (calendars == nullptr || name.empty()) return versions;
  const auto found = calendars->find(name);
  if (found == calendars->end()) return versions;
  for (const CalendarVersion& version : found->second) {
    if (version.retroactive) versions.clear();
    versions.push_back(&version);
  }
  return versions;
}

// Adds one definition, split where its calendar changes before `until`. The status is that of the
// last piece.
absl::Status AddPieces(const DefinitionVersion& definition, absl::Time until,
                       const CalendarSet* calendars, std::vector<ScheduleVersion>* out) {
  const auto history = Effective(calendars, definition.schedule.calendar);
  // The calendar in force when the definition began; the first one reaches back for ever.
  size_t next = history.empty() ? 0 : 1;
  while (next < history.size() && history[next]->valid_from <= definition.valid_from) ++next;
  absl::Time from = definition.valid_from;
  absl::Status status;
  for (;;) {
    absl::StatusOr<Schedule> schedule =
        Schedule::Compile(definition.schedule, next == 0 ? nullptr : history[next - 1]->calendar);
    status = schedule.status();
    if (schedule.ok()) {
      out->push_back({from, std::make_shared<const Schedule>(*std::move(schedule))});
    }
    if (next >= history.size() || history[next]->valid_from >= until) return status;
    from = history[next++]->valid_from;
  }
}

void AddChange(const std::optional<Occurrence>& before, const std::optional<Occurrence>& after,
               absl::CivilDay date, absl::Time now, DueChanges* changes) {
  const bool was_due = before && before->fire_time <= now;
  const bool is_due = after && after->fire_time <= now;
  if (is_due && !was_due) changes->past_added.push_back(date);
  if (was_due && !is_due) changes->past_removed.push_back(date);
  const bool was_ahead = before && !was_due;
  const bool is_ahead = after && !is_due;
  if (is_ahead && !was_ahead) changes->added.push_back(date);
  if (was_ahead && !is_ahead) changes->removed.push_back(date);
  if (was_ahead && is_ahead && before->fire_time != after->fire_time) {
    changes->moved.push_back(date);
  }
}

}  // namespace

std::shared_ptr<const Calendar> NewestCalendar(const CalendarSet* calendars,
                                               const std::string& name) {
  const auto history = Effective(calendars, name);
  return history.empty() ? nullptr : history.back()->calendar;
}

absl::StatusOr<Timeline> BuildTimeline(const std::vector<DefinitionVersion>& versions,
                                       const CalendarSet* calendars) {
  if (versions.empty()) return absl::InternalError("the job has no version");
  std::vector<ScheduleVersion> pieces;
  for (size_t i = 0; i < versions.size(); ++i) {
    const bool newest = i + 1 == versions.size();
    const absl::Time until = newest ? absl::InfiniteFuture() : versions[i + 1].valid_from;
    const absl::Status status = AddPieces(versions[i], until, calendars, &pieces);
    if (newest && !status.ok()) return status;
  }
  return Timeline(std::move(pieces));
}

DueChanges CompareTimelines(const Timeline& before, const Timeline& after, absl::CivilDay first,
                            absl::CivilDay last, absl::Time now) {
  DueChanges changes;
  for (absl::CivilDay date = first; date <= last; ++date) {
    AddChange(before.OccurrenceOf(date), after.OccurrenceOf(date), date, now, &changes);
  }
  return changes;
}

}  // namespace tidemark
