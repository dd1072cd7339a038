// Each run has a reason to be, and runs of one occurrence keep out of each other's way.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "common/time_text.h"
#include "scheduler/verify/context.h"

namespace tidemark::verify {
namespace {

using Kind = Finding::Kind;

bool Asked(const Run& run) {
  return run.trigger == "MANUAL" || run.trigger == "BACKFILL" || !run.rerun_of.empty() ||
         !run.tag.empty();
}

// Whether the date lost its verdict between the two runs, so that it was to be filled again.
bool UnsettledBetween(const Context& context, const Run& earlier, const Run& later) {
  if (!later.biz_date.has_value()) return false;
  const auto& undone = context.history.undone;
  return std::any_of(undone.begin(), undone.end(), [&](const Undone& verdict) {
    return verdict.date == *later.biz_date && verdict.at + kSlack >= earlier.created_at &&
           verdict.at <= later.created_at + kSlack;
  });
}

bool DueUnder(const DuePlan& plan, const Run& run) {
  if (run.kind == 'F') return plan.IsFire(run.fire_time);
  const std::optional<DueDate> due = plan.DateOf(*run.biz_date);
  return due.has_value() && due->first <= run.created_at + kSlack;
}

void CheckReason(Context& context, const Run& run) {
  if (run.kind == 'M') {
    if (run.requested_by.empty()) {
      context.Blame(Kind::kUnexplained, run, {run.run_id}, "a manual run that nobody asked for");
    }
    return;
  }
  if (run.kind == 'D' && !run.biz_date.has_value()) {
    context.Blame(Kind::kUnexplained, run, {run.run_id}, "a run of a date that has none");
    return;
  }
  if (!DueUnder(context.plan, run) && !DueUnder(context.PlanOf(run), run)) {
    context.Blame(Kind::kUnexplained, run, {run.run_id},
                  "it ran at " + FormatInstant(run.created_at) + ", but was not due");
    return;
  }
  const std::optional<absl::CivilDay> first = context.history.ledger_from;
  if (run.biz_date.has_value() && first.has_value() && *run.biz_date < *first) {
    context.Blame(Kind::kUnexplained, run, {run.run_id},
                  "it lies before the job's first date " + FormatDate(*first));
  }
}

void CheckAttempts(Context& context, const Run& run) {
  for (size_t i = 0; i + 1 < run.attempts.size(); ++i) {
    const Attempt& earlier = run.attempts[i];
    const Attempt& later = run.attempts[i + 1];
    if (!later.sent_at.has_value()) continue;
    if (earlier.ended_at.has_value() && *earlier.ended_at <= *later.sent_at + kSlack) continue;
    context.Blame(Kind::kOverlapping, run, {run.run_id},
                  "attempt " + std::to_string(later.number) + " was sent at " +
                      FormatInstant(*later.sent_at) + ", before attempt " +
                      std::to_string(earlier.number) + " had ended");
  }
}

// `runs`: all of one occurrence, by created_at.
void CheckOccurrence(Context& context, const std::vector<const Run*>& runs) {
  const Run* open = nullptr;  // of those so far the one that ends last
  const Run* completed = nullptr;
  for (const Run* run : runs) {
    if (run->status == "SKIPPED") continue;
    const absl::Time ended = run->ended_at.value_or(absl::InfiniteFuture());
    if (open != nullptr &&
        open->ended_at.value_or(absl::InfiniteFuture()) > run->created_at + kSlack) {
      context.Blame(Kind::kOverlapping, *run, {open->run_id, run->run_id},
                    "two runs of it were live together");
    }
    if (open == nullptr || ended > open->ended_at.value_or(absl::InfiniteFuture())) open = run;
    if (run->status != "COMPLETED") continue;
    if (completed != nullptr && !Asked(*run) && !UnsettledBetween(context, *completed, *run)) {
      context.Blame(Kind::kDuplicate, *run, {completed->run_id, run->run_id},
                    "it COMPLETED again, and nobody had asked for that");
    }
    completed = run;
  }
}

}  // namespace

void CheckRuns(Context& context) {
  std::map<std::pair<char, std::string>, std::vector<const Run*>> occurrences;
  for (const Run& run : context.history.runs) {
    if (!context.InRange(run)) continue;
    CheckReason(context, run);
    CheckAttempts(context, run);
    occurrences[{run.kind, run.occurrence}].push_back(&run);
  }
  for (auto& [occurrence, runs] : occurrences) {
    std::sort(runs.begin(), runs.end(), [](const Run* a, const Run* b) {
      return std::tie(a->created_at, a->run_id) < std::tie(b->created_at, b->run_id);
    });
    CheckOccurrence(context, runs);
  }
}

}  // namespace tidemark::verify
