#include "scheduler/verify/due_plan.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace tidemark::verify {
namespace {

// The editions of that calendar that count: from the last retroactive one on.
std::vector<Edition> Effective(const History& history, const std::string& name, absl::Time until) {
  std::vector<Edition> effective;
  const auto found = history.calendars.find(name);
  if (found == history.calendars.end()) return effective;
  for (const Edition& edition : found->second) {
    if (edition.valid_from > until && !effective.empty()) break;
    if (edition.retroactive) effective.clear();
    effective.push_back(edition);
  }
  return effective;
}

// More days than lie between a fire and its date.
int ReachOf(const Schedule& schedule) {
  const int offset = std::abs(schedule.spec().biz_offset);
  return schedule.spec().biz_unit == ScheduleSpec::Unit::kDay ? offset + 3 : offset * 3 + 40;
}

}  // namespace

DuePlan::DuePlan(const History& history)
    : DuePlan(history, std::numeric_limits<int>::max(), absl::InfiniteFuture()) {}

DuePlan::DuePlan(const History& history, int version, absl::Time calendars_until) {
  for (size_t i = 0; i < history.definitions.size(); ++i) {
    const Definition& definition = history.definitions[i];
    if (definition.version > version) break;
    const bool newest =
        i + 1 == history.definitions.size() || history.definitions[i + 1].version > version;
    const absl::Time until =
        newest ? absl::InfiniteFuture() : history.definitions[i + 1].valid_from;
    const auto editions = Effective(history, definition.schedule.calendar, calendars_until);
    AddPiece(definition, editions, definition.valid_from);
    for (const Edition& edition : editions) {
      const bool inside = edition.valid_from > definition.valid_from && edition.valid_from < until;
      if (inside && &edition != &editions.front()) {
        AddPiece(definition, editions, edition.valid_from);
      }
    }
  }
}

void DuePlan::AddPiece(const Definition& definition, const std::vector<Edition>& editions,
                       absl::Time from) {
  std::shared_ptr<const Calendar> calendar;
  for (const Edition& edition : editions) {
    if (!calendar || edition.valid_from <= from) calendar = edition.calendar;
  }
  absl::StatusOr<Schedule> schedule = Schedule::Compile(definition.schedule, std::move(calendar));
  if (!schedule.ok()) return;
  pieces_.push_back({from, std::make_shared<const Schedule>(*std::move(schedule))});
}

std::optional<DueDate> DuePlan::DateOf(absl::CivilDay date) const {
  std::optional<DueDate> due;
  absl::CivilDay local;
  for (const Piece& piece : pieces_) {
    const std::optional<Occurrence> fire = piece.schedule->OccurrenceOf(date);
    const bool first_piece = &piece == &pieces_.front();
    const bool past = due && due->first < piece.from;
    if (fire && (first_piece || fire->fire_time >= piece.from)) {
      // The new time is ahead. A date whose day has been keeps that day.
      if (!past) {
        due = {date, fire->fire_time, fire->fire_time};
        local = absl::CivilDay(fire->nominal);
      } else if (local == absl::CivilDay(fire->nominal)) {
        due->last = fire->fire_time;
      }
    } else if (!fire && !past) {
      due.reset();  // its old time was ahead, and the date is no longer due at all
    }
  }
  return due;
}

std::vector<DueDate> DuePlan::Dates(absl::CivilDay from, absl::Time until) const {
  std::vector<DueDate> dates;
  int reach = 0;
  for (const Piece& piece : pieces_) reach = std::max(reach, ReachOf(*piece.schedule));
  const absl::CivilDay end = absl::ToCivilDay(until, absl::UTCTimeZone()) + 2 + reach;
  for (absl::CivilDay date = from; date <= end; ++date) {
    const std::optional<DueDate> due = DateOf(date);
    if (due && due->first <= until) dates.push_back(*due);
  }
  return dates;
}

std::vector<absl::Time> DuePlan::Fires(absl::Time after, absl::Time until, size_t limit) const {
  std::vector<absl::Time> fires;
  for (size_t i = 0; i < pieces_.size() && fires.size() < limit; ++i) {
    const Schedule& schedule = *pieces_[i].schedule;
    if (schedule.dated()) continue;
    const absl::Time end = i + 1 == pieces_.size() ? absl::InfiniteFuture() : pieces_[i + 1].from;
    absl::Time cursor = after;
    if (i > 0) cursor = std::max(cursor, pieces_[i].from - absl::Nanoseconds(1));
    while (fires.size() < limit) {
      const std::optional<Occurrence> next = schedule.Next(cursor);
      if (!next || next->fire_time >= end || next->fire_time > until) break;
      fires.push_back(next->fire_time);
      cursor = next->fire_time;
    }
  }
  return fires;
}

bool DuePlan::IsFire(absl::Time instant) const {
  return !Fires(instant - absl::Nanoseconds(1), instant, 1).empty();
}

}  // namespace tidemark::verify
