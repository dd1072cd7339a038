// When a job is due over all versions of its schedule: the one function that the next fire,
// catch-up and the daily check ask.
#ifndef TIDEMARK_SCHEDULER_CORE_TIME_TIMELINE_H_
#define TIDEMARK_SCHEDULER_CORE_TIME_TIMELINE_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "scheduler/core/time/schedule.h"

namespace tidemark {

struct ScheduleVersion {
  absl::Time valid_from;  // the instant of the edit; the first version reaches back for ever
  std::shared_ptr<const Schedule> schedule;
};

// A job's due dates. An edit at instant E switches a dated job date by date: the new fire time if
// it is not before E; else the old one (due, or already missed); past times of the new version
// never fire, and a date that was due on another day before E stays as it was. A small value
// (copies share the schedules); const calls are thread-safe. The empty timeline is never due.
class Timeline {
 public:
  Timeline() = default;
  // Versions in any order; they are sorted by valid_from (ties keep their order).
  explicit Timeline(std::vector<ScheduleVersion> versions);

  bool empty() const { return versions_.empty(); }
  const std::vector<ScheduleVersion>& versions() const { return versions_; }
  // Of the newest version. The timeline must not be empty.
  const Schedule& current() const { return *versions_.back().schedule; }
  bool dated() const { return !empty() && current().dated(); }

  // The first occurrence with fire_time strictly after `after`.
  std::optional<Occurrence> Next(absl::Time after) const;
  // Dated jobs: the occurrence of that biz_date; empty when it is not due.
  std::optional<Occurrence> OccurrenceOf(absl::CivilDay biz_date) const;
  // Dated jobs: the occurrences that fire at exactly that time, oldest biz_date first. Usually one:
  // where a gap crosses midnight, or an edit moved dates, several have the same.
  std::vector<Occurrence> DueAt(absl::Time fire_time) const;
  // Dated jobs: all occurrences with biz_date ≥ first_date and fire_time ≤ until, oldest biz_date
  // first. At most `limit`.
  std::vector<Occurrence> Due(absl::CivilDay first_date, absl::Time until,
                              size_t limit = 100000) const;
  // Dated jobs: the newest biz_date with fire_time ≤ until, not before first_date.
  std::optional<Occurrence> LatestDue(absl::CivilDay first_date, absl::Time until) const;
  // Dated jobs: the oldest biz_date ≤ last that fires after `time` only. Usually empty: edits alone
  // put dates in another order than their fires.
  std::optional<absl::CivilDay> OldestAhead(absl::CivilDay last, absl::Time time) const;
  // Interval jobs: the first `limit` fires in (after, until], oldest first.
  std::vector<Occurrence> DueFires(absl::Time after, absl::Time until, size_t limit) const;

 private:
  std::optional<Occurrence> NextDated(absl::Time after) const;
  std::optional<Occurrence> NextInterval(absl::Time after) const;

  std::vector<ScheduleVersion> versions_;
};

// What an edit at `when` would do to dates around it. Both empty: nothing is lost or repeated.
struct EditVerdict {
  std::vector<absl::CivilDay> lost;      // due in neither version's own time
  std::vector<absl::CivilDay> repeated;  // due in both
  bool ok() const { return lost.empty() && repeated.empty(); }
};

// Judges an edit of zone, offset, unit or calendar of a dated job (other edits, and edits from or
// to an interval job, lose nothing). The caller refuses it, or is told to waive or fill the gap:
// the timeline itself keeps a lost date due at its old time (fill), so waiving it means writing
// its watermark.
EditVerdict JudgeEdit(const Schedule& before, const Schedule& after, absl::Time when);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CORE_TIME_TIMELINE_H_
