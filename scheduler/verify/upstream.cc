// What a date owes to other jobs' dates.
#include "common/time_text.h"
#include "scheduler/verify/context.h"

namespace tidemark::verify {
namespace {

// Whether the upstream's own date is open, or was until a moment ago.
bool HoldsBack(const Upstream& upstream, const DuePlan& plan, absl::CivilDay date, absl::Time now) {
  const History& history = upstream.history;
  // One that is gone, cannot be used, or was never launched tells nothing.
  if (plan.empty() || !history.error.empty()) return true;
  if (!plan.dated()) return false;
  if (!history.ledger_from.has_value()) return true;
  if (date < *history.ledger_from || !plan.DateOf(date).has_value()) return false;
  const auto mark = history.marks.find(date);
  if (mark == history.marks.end() || !Settles(mark->second)) return true;
  return mark->second.updated_at + kPatience > now;
}

}  // namespace

std::string WaitsFor(const Context& context, absl::CivilDay date) {
  for (const auto& [upstream, plan] : context.upstreams) {
    const absl::CivilDay other = date + upstream->offset;
    if (HoldsBack(*upstream, plan, other, context.history.now)) {
      return upstream->history.name + "@" + FormatDate(other);
    }
  }
  return "";
}

}  // namespace tidemark::verify
