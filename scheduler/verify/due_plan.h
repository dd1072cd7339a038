// When a job was to be run, replayed edit by edit: the oracle's own reading of what an edit means.
#ifndef TIDEMARK_SCHEDULER_VERIFY_DUE_PLAN_H_
#define TIDEMARK_SCHEDULER_VERIFY_DUE_PLAN_H_

#include <memory>
#include <optional>
#include <vector>

#include "scheduler/verify/history.h"

namespace tidemark::verify {

// The time or times at which a date was due. They differ when an edit moved the time of a day on
// which it had been due already.
struct DueDate {
  absl::CivilDay date;
  absl::Time first;
  absl::Time last;
};

// Immutable; const calls are thread-safe.
class DuePlan {
 public:
  // What was known: definitions up to `version`, and calendars of before `calendars_until`.
  // Versions that cannot be evaluated are left out.
  DuePlan(const History& history, int version, absl::Time calendars_until);
  // All that is known now.
  explicit DuePlan(const History& history);

  bool empty() const { return pieces_.empty(); }
  bool dated() const { return !empty() && pieces_.back().schedule->dated(); }
  const absl::TimeZone& zone() const { return pieces_.back().schedule->zone(); }

  // Empty: not due, ever.
  std::optional<DueDate> DateOf(absl::CivilDay date) const;
  // Dates from `from` on, due at `until` or before, oldest first.
  std::vector<DueDate> Dates(absl::CivilDay from, absl::Time until) const;
  // Fires of interval jobs in (after, until], oldest first; at most `limit`.
  std::vector<absl::Time> Fires(absl::Time after, absl::Time until, size_t limit) const;
  bool IsFire(absl::Time instant) const;

 private:
  struct Piece {
    absl::Time from;
    std::shared_ptr<const Schedule> schedule;
  };

  void AddPiece(const Definition& definition, const std::vector<Edition>& editions,
                absl::Time from);

  std::vector<Piece> pieces_;  // ascending
};

}  // namespace tidemark::verify

#endif  // TIDEMARK_SCHEDULER_VERIFY_DUE_PLAN_H_
