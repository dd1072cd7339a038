#include "scheduler/core/catch_up.h"

#include <algorithm>

namespace tidemark {
namespace {

bool MayReopen(const UnsettledDate& date, TriggerPoint point) {
  // A person stopped it, or it may still be running: only a person's word opens it again.
  if (date.reason == "cancelled" || date.reason == "held") return false;
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
  return {date.occurrence, late ? TriggerType::kCatchUp : TriggerType::kSchedule,
          date.failed && input.point == TriggerPoint::kNewIncarnation};
}

void PlanStrict(const CatchUpInput& input, const std::vector<UnsettledDate>& dates,
                CatchUpPlan& plan) {
  if (dates.empty()) return;
  const UnsettledDate& head = dates.front();
  if (!head.live && (head.expired || (head.failed && !MayReopen(head, input.point)))) {
    plan.blocked_by = head.occurrence;
    return;
  }
  // One at a time over all trigger types; what is live is followed by kContinue.
  if (input.live_runs > 0 || !MayOpen(head, input)) return;
  plan.open.push_back(OpenOf(head, input));
}

void PlanIndependent(const CatchUpInput& input, const std::vector<UnsettledDate>& dates,
                     CatchUpPlan& plan) {
  int slots = input.policy.parallelism - input.live_runs;
  for (const UnsettledDate& date : dates) {
    if (slots <= 0) return;
    if (!MayOpen(date, input)) continue;
    plan.open.push_back(OpenOf(date, input));
    --slots;
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
      if (date.live || date.expired || date.occurrence.biz_date >= floor) continue;
      plan.expire.push_back(date.occurrence);
      date.expired = true;
    }
  }
  const bool strict = input.policy.order == CatchUpOrder::kStrict;
  if (!strict) {
    std::erase_if(dates, [](const UnsettledDate& date) { return date.expired; });
  }
  const auto oldest = std::find_if(dates.begin(), dates.end(), [](const UnsettledDate& date) {
    return !date.failed && !date.live && !date.expired;
  });
  if (oldest != dates.end() &&
      input.today - oldest->occurrence.biz_date > input.longest_gap_days + 1) {
    plan.held_from = oldest->occurrence;
    if (strict) return plan;
    const absl::CivilDay floor = input.today - input.longest_gap_days - 1;
    std::erase_if(dates, [&](const UnsettledDate& date) {
      return !date.failed && date.occurrence.biz_date < floor;
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
