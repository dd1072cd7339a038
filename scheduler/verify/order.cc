// What runs of one job owe each other: not too many at once, and strict order.
#include <algorithm>

#include "common/time_text.h"
#include "scheduler/verify/context.h"

namespace tidemark::verify {
namespace {

using Kind = Finding::Kind;

// How many runs might be in hand together when `run` was sent: an edit counts from its instant, and
// what was made before it keeps its old right.
int Allowed(const Context& context, const Run& run, const std::vector<const Run*>& in_hand,
            absl::Time sent) {
  int oldest = run.job_version;
  for (const Run* other : in_hand) oldest = std::min(oldest, other->job_version);
  int allowed = 1;
  for (const Definition& definition : context.history.definitions) {
    if (definition.version >= oldest && definition.valid_from <= sent + kSlack) {
      allowed = std::max(allowed, definition.AtOnce(run.biz_date.has_value()));
    }
  }
  return allowed;
}

// The first moment at which the date was known to be settled; the future: never.
absl::Time SettledSince(const Context& context, absl::CivilDay date) {
  absl::Time since = absl::InfiniteFuture();
  if (const auto runs = context.runs_of_date.find(date); runs != context.runs_of_date.end()) {
    for (const Run* run : runs->second) {
      if (run->status == "COMPLETED" && run->ended_at) since = std::min(since, *run->ended_at);
    }
  }
  for (const Undone& verdict : context.history.undone) {
    if (verdict.date == date) since = std::min(since, verdict.settled_at);
  }
  const auto mark = context.history.marks.find(date);
  if (mark == context.history.marks.end() || !Settles(mark->second)) return since;
  if (mark->second.status == "EXPIRED") return absl::InfinitePast();
  if (mark->second.updated_at < context.history.complete_from) return absl::InfinitePast();
  return std::min(since, mark->second.updated_at);
}

struct Earlier {
  DueDate due;
  absl::Time settled;
};

void CheckRun(Context& context, const Run& run, const std::vector<Earlier>& dates) {
  for (const Earlier& earlier : dates) {
    if (earlier.due.date >= *run.biz_date) return;
    if (earlier.settled <= run.created_at + kSlack) continue;
    const std::optional<DueDate> known = context.PlanOf(run).DateOf(earlier.due.date);
    if (!known.has_value() || known->first > run.created_at) continue;
    context.Blame(Kind::kOutOfOrder, run, {run.run_id},
                  "it was opened at " + FormatInstant(run.created_at) + ", when " +
                      FormatDate(earlier.due.date) + " was due and not settled");
    return;
  }
}

}  // namespace

void CheckAtOnce(Context& context) {
  std::vector<std::pair<absl::Time, const Run*>> sent;
  for (const Run& run : context.history.runs) {
    const std::optional<absl::Time> first = FirstSent(run);
    if (first.has_value() && run.status != "SKIPPED") sent.emplace_back(*first, &run);
  }
  std::sort(sent.begin(), sent.end());
  std::vector<const Run*> in_hand;
  for (const auto& [at, run] : sent) {
    std::erase_if(in_hand, [at = at](const Run* other) {
      return other->ended_at.has_value() && *other->ended_at <= at + kSlack;
    });
    const int allowed = Allowed(context, *run, in_hand, at);
    if (static_cast<int>(in_hand.size()) >= allowed && context.InRange(*run)) {
      context.Blame(Kind::kOverlapping, *run, {in_hand.back()->run_id, run->run_id},
                    "it was sent at " + FormatInstant(at) + ", when " +
                        std::to_string(in_hand.size()) +
                        " other runs of the job were in executors' hands; allowed at once: " +
                        std::to_string(allowed));
    }
    in_hand.push_back(run);
  }
}

void CheckOrder(Context& context) {
  const History& history = context.history;
  if (!context.plan.dated() || !history.ledger_from.has_value()) return;
  std::vector<Earlier> dates;
  absl::CivilDay first = *history.ledger_from;
  if (context.range.from.has_value()) first = std::max(first, *context.range.from);
  for (const DueDate& due : context.plan.Dates(first, history.now)) {
    dates.push_back({due, SettledSince(context, due.date)});
  }
  for (const Run& run : history.runs) {
    // What a person opens by hand may be a settled date, anywhere in the order.
    const bool by_itself = run.trigger != "MANUAL" && run.rerun_of.empty() && run.tag.empty();
    if (!by_itself || !run.biz_date.has_value() || !context.InRange(run)) continue;
    if (run.created_at < history.complete_from || run.status == "SKIPPED") continue;
    // So may a backfill that reprocesses; what was DONE by a person's word has no run to name.
    const bool again =
        run.trigger == "BACKFILL" && SettledSince(context, *run.biz_date) <= run.created_at;
    if (again) continue;
    const bool strict =
        context.DefinitionOf(run).strict && context.DefinitionAt(run.created_at).strict;
    if (strict) CheckRun(context, run, dates);
  }
}

}  // namespace tidemark::verify
