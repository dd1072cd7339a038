// Every fire of an interval job has a run, a skip, or a pause.
#include <algorithm>
#include <set>

#include "common/time_text.h"
#include "scheduler/verify/context.h"

namespace tidemark::verify {
namespace {

using Kind = Finding::Kind;

// An order takes effect in memory before its row says when.
constexpr absl::Duration kPauseSlack = absl::Seconds(10);

bool Paused(const History& history, absl::Time fire) {
  return std::any_of(history.pauses.begin(), history.pauses.end(), [&](const Pause& pause) {
    return pause.from - kPauseSlack <= fire &&
           fire <= pause.to.value_or(absl::InfiniteFuture()) + kSlack;
  });
}

bool Skipped(const History& history, absl::Time fire) {
  return std::any_of(history.skips.begin(), history.skips.end(), [&](const SkippedFires& skip) {
    return skip.from <= fire && fire <= skip.to;
  });
}

// The job cannot be dealt with now, or the fire is too young: it will be accounted for later.
bool MayWait(const Context& context, absl::Time fire, absl::Time cursor) {
  if (fire <= cursor) return false;
  return !context.Opens() || fire + kPatience > context.history.now;
}

void CheckSkips(Context& context, absl::Time from, absl::Time to) {
  const History& history = context.history;
  for (const SkippedFires& skip : history.skips) {
    if (skip.from < from || skip.to > to) continue;
    const DuePlan known(history, history.definitions.back().version, skip.recorded_at);
    const size_t limit = static_cast<size_t>(skip.fires) + 1;
    const size_t due = known.Fires(skip.from - absl::Nanoseconds(1), skip.to, limit).size();
    if (due == static_cast<size_t>(skip.fires)) continue;
    context.Add(Kind::kUnexplained, {}, skip.from, {},
                "a skip (" + skip.reason + ") up to " + FormatInstant(skip.to) + " says " +
                    std::to_string(skip.fires) + " fires, but " +
                    (due == limit ? "more" : std::to_string(due)) + " were due");
  }
}

}  // namespace

Range Narrow(const History& history, const Range& asked, int days) {
  const DuePlan plan(history);
  const absl::TimeZone zone = plan.empty() ? absl::UTCTimeZone() : plan.zone();
  Range range = asked;
  const absl::CivilDay last = asked.to.value_or(absl::ToCivilDay(history.now, zone));
  range.from = asked.from.value_or(last - days);
  if (plan.empty() || plan.dated()) return range;
  for (const int span : {days, 30, 7, 1, 0}) {
    const absl::Time from = absl::FromCivil(*range.from, zone);
    const absl::Time to = std::min(history.now, absl::FromCivil(last + 1, zone));
    if (plan.Fires(from, to, kMostFires).size() < kMostFires) return range;
    range.from = std::max(*range.from, last - span);
    range.narrowed = true;
  }
  return range;
}

void CheckFires(Context& context) {
  const History& history = context.history;
  if (context.plan.empty()) return;
  const absl::TimeZone zone = context.plan.zone();
  const absl::Time made = history.definitions.front().valid_from;
  absl::Time from = std::max(made, history.complete_from);
  absl::Time to = history.now;
  if (context.range.from.has_value()) {
    from = std::max(from, absl::FromCivil(*context.range.from, zone) - absl::Nanoseconds(1));
  }
  if (context.range.to.has_value()) {
    to = std::min(to, absl::FromCivil(*context.range.to + 1, zone) - absl::Nanoseconds(1));
  }
  const std::vector<absl::Time> fires = context.plan.Fires(from, to, kMostFires);
  if (fires.size() == kMostFires) {
    context.out.judged_until = fires.back();
    to = fires.back();
  }
  std::set<absl::Time> run;
  for (const Run& each : history.runs) {
    if (each.kind == 'F') run.insert(each.fire_time);
  }
  const absl::Time cursor = history.cursor.value_or(made);
  for (const absl::Time fire : fires) {
    ++context.out.judged;
    if (run.contains(fire) || Skipped(history, fire) || Paused(history, fire) ||
        MayWait(context, fire, cursor)) {
      continue;
    }
    context.Add(Kind::kMissed, {}, fire, {},
                "it fired then, and there is no run, no skip and no pause");
  }
  CheckSkips(context, from, to);
}

}  // namespace tidemark::verify
