#include "scheduler/core/backfill.h"

#include <algorithm>

#include "scheduler/core/catch_up.h"

namespace tidemark {
namespace {

constexpr std::string_view kReprocess[] = {"missing", "failed", "all"};
constexpr std::string_view kStates[] = {"RUNNING", "PAUSED", "DONE", "FAILED", "CANCELLED"};

bool Takes(Reprocess reprocess, std::string_view status) {
  if (status == "WAIVED") return false;
  if (status == "DONE") return reprocess == Reprocess::kAll;
  if (status == "FAILED") return reprocess != Reprocess::kMissing;
  return true;  // no verdict, or EXPIRED
}

}  // namespace

std::string_view Name(Reprocess reprocess) { return kReprocess[static_cast<int>(reprocess)]; }
std::string_view Name(BackfillState state) { return kStates[static_cast<int>(state)]; }

std::optional<Reprocess> ParseReprocess(std::string_view name) {
  for (int i = 0; i < 3; ++i) {
    if (kReprocess[i] == name) return static_cast<Reprocess>(i);
  }
  return std::nullopt;
}

std::optional<BackfillState> ParseBackfillState(std::string_view name) {
  for (int i = 0; i < 5; ++i) {
    if (kStates[i] == name) return static_cast<BackfillState>(i);
  }
  return std::nullopt;
}

BackfillPlan PlanBackfill(const Backfill& backfill, const std::vector<DateStanding>& standings) {
  BackfillPlan plan;
  for (const DateStanding& standing : standings) {
    if (standing.date < backfill.from || standing.date > backfill.to) continue;
    if (!standing.live_run.empty()) {
      plan.left.emplace_back(standing.date, "live in run " + standing.live_run);
    } else if (Takes(backfill.reprocess, standing.status)) {
      plan.dates.push_back(standing.date);
    } else {
      plan.left.emplace_back(standing.date, standing.status);
    }
  }
  return plan;
}

std::optional<DateStanding> InTheWay(const BackfillPlan& plan,
                                     const std::vector<DateStanding>& standings,
                                     absl::CivilDay held_before) {
  const auto planned = [&](absl::CivilDay date) {
    return std::binary_search(plan.dates.begin(), plan.dates.end(), date);
  };
  std::optional<DateStanding> in_the_way;
  for (const DateStanding& s : standings) {
    if (planned(s.date)) {
      // One that is settled is no part of the gap: its place in the order is free.
      if (in_the_way.has_value() && !IsSettled(s.status, s.reason)) return in_the_way;
      continue;
    }
    if (in_the_way.has_value() || !s.live_run.empty() || IsSettled(s.status, s.reason)) continue;
    const bool opens_by_itself =
        s.status != "FAILED" && s.status != "EXPIRED" && s.date >= held_before;
    if (!opens_by_itself) in_the_way = s;
  }
  return std::nullopt;
}

std::string BackfillProblem(const Backfill& backfill, const CatchUpPolicy& policy) {
  if (backfill.parallel < 1) return "--parallel must be at least 1";
  const bool strict = policy.order == CatchUpOrder::kStrict;
  if (strict && backfill.reverse) {
    return "--reverse needs a job whose dates do not build on each other (catch_up.order: "
           "independent); this one has order strict: oldest first";
  }
  if (strict && backfill.parallel > 1) {
    return "--parallel " + std::to_string(backfill.parallel) +
           " needs a job whose dates do not build on each other (catch_up.order: independent); "
           "this one has order strict: one date at a time";
  }
  if (!strict && backfill.parallel > policy.parallelism) {
    return "--parallel " + std::to_string(backfill.parallel) +
           " is more than the job allows at "
           "once (catch_up.parallelism: " +
           std::to_string(policy.parallelism) + ")";
  }
  return "";
}

bool StillWanted(const OpenBackfill& backfill, absl::CivilDay date, std::string_view status) {
  const Backfill& row = backfill.row;
  if (!std::binary_search(row.dates.begin(), row.dates.end(), date)) return false;
  const auto tried = backfill.tried.find(date);
  if (tried == backfill.tried.end()) return Takes(row.reprocess, status);
  // Its own failure is the reason to try again, whatever it was to take at first.
  return tried->second == OpenBackfill::Tried::kAgain &&
         Takes(std::max(row.reprocess, Reprocess::kFailed), status);
}

BackfillState Ended(const OpenBackfill& backfill) {
  for (const auto& [date, tried] : backfill.tried) {
    if (tried == OpenBackfill::Tried::kFailed) return BackfillState::kFailed;
  }
  return BackfillState::kDone;
}

std::vector<absl::CivilDay> InOrder(const Backfill& backfill, std::vector<absl::CivilDay> dates) {
  std::sort(dates.begin(), dates.end());
  if (backfill.reverse) std::reverse(dates.begin(), dates.end());
  return dates;
}

}  // namespace tidemark
