// Every due date has a verdict or a reason, and every verdict has what it rests on.
#include <algorithm>

#include "common/time_text.h"
#include "scheduler/verify/context.h"

namespace tidemark::verify {
namespace {

using Kind = Finding::Kind;

bool IsLive(const Context& context, absl::CivilDay date) {
  const auto runs = context.runs_of_date.find(date);
  if (runs == context.runs_of_date.end()) return false;
  return std::any_of(runs->second.begin(), runs->second.end(),
                     [](const Run* run) { return !run->ended_at.has_value(); });
}

const Run* NewestEnded(const Context& context, absl::CivilDay date) {
  const auto runs = context.runs_of_date.find(date);
  if (runs == context.runs_of_date.end()) return nullptr;
  const Run* newest = nullptr;
  for (const Run* run : runs->second) {
    if (run->ended_at.has_value() && run->status != "SKIPPED") newest = run;
  }
  return newest;
}

bool Told(const Context& context, const std::string& kind, bool open) {
  return std::any_of(
      context.history.notices.begin(), context.history.notices.end(),
      [&](const Notice& notice) { return notice.kind == kind && (notice.open || !open); });
}

// Why nobody opens a date without a verdict, although it is due; "": there is no reason.
std::string ReasonToWait(const Context& context, absl::CivilDay date, bool earlier_open) {
  const History& history = context.history;
  if (!context.Opens()) return "paused, disabled or in error";
  const Definition& now = history.definitions.back();
  if (now.strict && earlier_open) return "behind an earlier date";
  const auto live = std::count_if(history.runs.begin(), history.runs.end(),
                                  [](const Run& run) { return !run.ended_at.has_value(); });
  if (live >= now.AtOnce(/*dated=*/true)) return "behind live runs";
  if (Told(context, "gap_held", /*open=*/true)) return "held: the gap is too long";
  return WaitsFor(context, date);
}

void CheckDone(Context& context, absl::CivilDay date, const Mark& mark) {
  if (!mark.actor.empty()) return;  // a person's word
  if (mark.updated_at < context.history.complete_from) return;
  const std::string done = "marked DONE, but ";
  if (mark.run_id.empty()) {
    context.Add(Kind::kMissed, date, {}, {}, done + "by no run and by no person");
    return;
  }
  const auto run = context.run_by_id.find(mark.run_id);
  if (run == context.run_by_id.end()) {
    context.Add(Kind::kMissed, date, {}, {mark.run_id},
                done + "its run " + mark.run_id + " is not in the history");
  } else if (run->second->biz_date != date) {
    context.Add(Kind::kMissed, date, {}, {mark.run_id},
                done + "its run " + mark.run_id + " is one of another date");
  } else if (run->second->status != "COMPLETED") {
    context.Add(Kind::kMissed, date, {}, {mark.run_id},
                done + "its run " + mark.run_id + " is " + run->second->status);
  }
}

void CheckFailed(Context& context, absl::CivilDay date, const Mark& mark) {
  if (mark.updated_at < context.history.complete_from || IsLive(context, date)) return;
  const Run* newest = NewestEnded(context, date);
  if (newest == nullptr) {
    context.Add(Kind::kUnexplained, date, {}, {}, "marked FAILED, but no run of it has ended");
  } else if (newest->status == "COMPLETED") {
    context.Add(Kind::kUnexplained, date, {}, {newest->run_id},
                "marked FAILED, but its newest run COMPLETED");
  }
}

void CheckMark(Context& context, absl::CivilDay date, const Mark& mark) {
  if (mark.status == "DONE") {
    CheckDone(context, date, mark);
  } else if (mark.status == "FAILED") {
    CheckFailed(context, date, mark);
  } else if (mark.status == "WAIVED" && mark.actor.empty()) {
    context.Add(Kind::kUnexplained, date, {}, {}, "WAIVED, but nobody's name is on it");
  } else if (mark.status == "EXPIRED" && !Told(context, "gap_expired", /*open=*/false)) {
    context.Add(Kind::kUnexplained, date, {}, {}, "EXPIRED, but nobody was told");
  }
}

}  // namespace

void CheckDates(Context& context) {
  const History& history = context.history;
  for (const auto& [date, mark] : history.marks) {
    if (context.InRange(date)) CheckMark(context, date, mark);
  }
  if (!context.plan.dated()) return;
  // Never launched: what was due since it was made.
  const absl::Time made = history.definitions.front().valid_from;
  const absl::CivilDay first =
      history.ledger_from.value_or(absl::ToCivilDay(made, context.plan.zone()) - 400);
  bool earlier_open = false;
  for (const DueDate& due : context.plan.Dates(first, history.now)) {
    if (!history.ledger_from.has_value() && due.first <= made) continue;
    const auto mark = history.marks.find(due.date);
    const std::string status = mark == history.marks.end() ? "" : mark->second.status;
    const bool verdict = !status.empty() && status != "RUNNING";
    const bool timely = due.last + kPatience > history.now;
    if (context.InRange(due.date) && !timely) {
      ++context.out.judged;
      if (!verdict && !IsLive(context, due.date) &&
          ReasonToWait(context, due.date, earlier_open).empty()) {
        context.Add(Kind::kMissed, due.date, {}, {},
                    "due since " + FormatInstant(due.last) +
                        ", and there is no run on its way, no verdict and no reason" +
                        (status.empty() ? "" : " (its row says " + status + ")"));
      }
    }
    if (!verdict || !Settles(mark->second)) earlier_open = true;
  }
}

}  // namespace tidemark::verify
