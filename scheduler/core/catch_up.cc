#include "scheduler/core/catch_up.h"

#include <algorithm>
#include <iterator>

namespace tidemark {
namespace {

bool MayReopen(const UnsettledDate& date, TriggerPoint point) {
  // A person stopped it, or it may still be running: only a person's word opens it again.
  if (date.reason == "cancelled" || date.reason == "held" || date.just_failed) return false;
  if (point == TriggerPoint::kFire) return true;
  return point == TriggerPoint::kNewIncarnation && date.reopened_today < kReopeningsPerDay;
}

bool MayOpen(const UnsettledDate& date, const CatchUpInput& input) {
  if (date.live || date.expired || date.waits_for.has_value()) return false;
  if (date.failed) return MayReopen(date, input.point);
  return input.point != TriggerPoint::kScan || input.now - date.occurrence.fire_time > kTolerance;
}

CatchUpPlan::Open OpenOf(const UnsettledDate& date, const CatchUpInput& input) {
  const bool late = input.now - date.occurrence.fire_time > kTolerance;
  return {date.occurrence,
          late ? TriggerType::kCatchUp : TriggerType::kSchedule,
          date.failed && input.point == TriggerPoint::kNewIncarnation,
          "",
          "",
          date.drill};
}

// What running backfills want, oldest first.
std::vector<UnsettledDate> Wanted(const CatchUpInput& input) {
  std::vector<UnsettledDate> wanted;
  for (const auto* dates : {&input.dates, &input.redo}) {
    std::copy_if(dates->begin(), dates->end(), std::back_inserter(wanted),
                 [](const UnsettledDate& date) { return !date.backfill.empty() && !date.live; });
  }
  std::sort(wanted.begin(), wanted.end(), [](const UnsettledDate& a, const UnsettledDate& b) {
    return a.occurrence.biz_date < b.occurrence.biz_date;
  });
  return wanted;
}

CatchUpPlan::Open OpenFor(const UnsettledDate& date) {
  return {date.occurrence, TriggerType::kBackfill, false, date.backfill, date.run_id, date.drill};
}

bool IsRedo(const CatchUpInput& input, const UnsettledDate& date) {
  return std::any_of(input.redo.begin(), input.redo.end(), [&](const UnsettledDate& each) {
    return each.occurrence.biz_date == date.occurrence.biz_date;
  });
}

// The oldest date that is wanted, unless one of the gap must come before it.
void PlanStrictBackfill(const CatchUpInput& input, const UnsettledDate* head, CatchUpPlan& plan) {
  const std::vector<UnsettledDate> wanted = Wanted(input);
  if (wanted.empty()) return;
  const UnsettledDate& next = wanted.front();
  const bool behind = head != nullptr && head->backfill.empty() && !IsRedo(input, next) &&
                      head->occurrence.biz_date < next.occurrence.biz_date;
  // Passing one that waits for another job would break the order.
  if (!behind && !next.waits_for.has_value()) plan.open.push_back(OpenFor(next));
}

void PlanStrict(const CatchUpInput& input, const std::vector<UnsettledDate>& dates,
                CatchUpPlan& plan) {
  const UnsettledDate* head = dates.empty() ? nullptr : &dates.front();
  bool stands = head == nullptr || !head->backfill.empty() || plan.held_from.has_value();
  if (!stands && !head->live &&
      (head->expired || (head->failed && !MayReopen(*head, input.point)))) {
    plan.blocked_by = head->occurrence;
    stands = true;
  }
  // One at a time over all trigger types; what is live is followed by kContinue.
  if (input.live_runs > 0) return;
  // A due date goes first between two of a backfill.
  if (stands) return PlanStrictBackfill(input, head, plan);
  if (MayOpen(*head, input)) plan.open.push_back(OpenOf(*head, input));
}

void PlanIndependent(const CatchUpInput& input, const std::vector<UnsettledDate>& dates,
                     CatchUpPlan& plan) {
  int slots = input.policy.parallelism - input.live_runs;
  for (const UnsettledDate& date : dates) {
    if (slots <= 0) return;
    if (!date.backfill.empty() || !MayOpen(date, input)) continue;
    plan.open.push_back(OpenOf(date, input));
    --slots;
  }
  std::vector<UnsettledDate> wanted = Wanted(input);
  for (const BackfillPace& pace : input.backfills) {
    if (pace.reverse) std::reverse(wanted.begin(), wanted.end());
    int free = std::min(slots, pace.parallel - pace.live);
    for (const UnsettledDate& date : wanted) {
      if (free <= 0) break;
      if (date.backfill != pace.backfill_id || date.waits_for.has_value()) continue;
      plan.open.push_back(OpenFor(date));
      --free;
      --slots;
    }
    if (pace.reverse) std::reverse(wanted.begin(), wanted.end());
  }
}

}  // namespace

bool IsSettled(std::string_view status, std::string_view reason) {
  return status == "DONE" || status == "WAIVED" ||
         (status == "EXPIRED" && reason == "first_launch");
}

CatchUpPlan PlanCatchUp(const CatchUpInput& input) {
  CatchUpPlan plan;
  std::vector<UnsettledDate> dates = input.dates;
  if (input.oldest_source_days > 0) {
    const absl::CivilDay floor = input.today - input.oldest_source_days;
    for (UnsettledDate& date : dates) {
      if (date.live || date.expired || !date.backfill.empty()) continue;
      if (date.occurrence.biz_date >= floor) continue;
      plan.expire.push_back(date.occurrence);
      date.expired = true;
    }
  }
  const bool strict = input.policy.order == CatchUpOrder::kStrict;
  if (!strict) {
    std::erase_if(dates,
                  [](const UnsettledDate& date) { return date.expired && date.backfill.empty(); });
  }
  const auto oldest = std::find_if(dates.begin(), dates.end(), [](const UnsettledDate& date) {
    return !date.failed && !date.live && !date.expired && date.backfill.empty();
  });
  if (oldest != dates.end() &&
      input.today - oldest->occurrence.biz_date > input.longest_gap_days + 1) {
    plan.held_from = oldest->occurrence;
    const absl::CivilDay floor = input.today - input.longest_gap_days - 1;
    std::erase_if(dates, [&](const UnsettledDate& date) {
      return !strict && !date.failed && date.backfill.empty() && date.occurrence.biz_date < floor;
    });
  }
  if (strict) {
    PlanStrict(input, dates, plan);
  } else {
    PlanIndependent(input, dates, plan);
  }
  return plan;
}

int TwoPeriodsInDays(const Timeline& timeline, absl::Time now) {
  const absl::TimeZone zone = timeline.current().zone();
  const absl::CivilDay today = absl::ToCivilDay(now, zone);
  // Fires are found forwards only: look back over growing spans until two are seen.
  for (const int days : {3, 32, 370, 3660}) {
    const std::vector<Occurrence> due = timeline.Due(today - days, now, /*limit=*/100000);
    if (due.size() >= 2) {
      return static_cast<int>(today - due[due.size() - 2].biz_date);
    }
  }
  return 0;
}

FirstLaunch PlanFirstLaunch(const Timeline& timeline, std::optional<absl::CivilDay> start_date,
                            const CatchUpPolicy& policy, absl::Time created_at, absl::Time now) {
  const absl::CivilDay today = absl::ToCivilDay(now, timeline.current().zone());
  FirstLaunch launch;
  if (start_date.has_value()) {
    launch.first = *start_date;
  } else {
    const std::optional<Occurrence> next = timeline.Next(created_at);
    launch.first = next.has_value() ? next->biz_date : today;
  }
  int days = policy.max_backfill_days;
  if (policy.source_retention_days > 0) days = std::min(days, policy.source_retention_days);
  days = std::max(days, TwoPeriodsInDays(timeline, now));
  launch.from = std::max(launch.first, today - days);
  return launch;
}

}  // namespace tidemark
