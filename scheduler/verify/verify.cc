#include "scheduler/verify/verify.h"

#include <algorithm>
#include <tuple>

#include "common/time_text.h"
#include "scheduler/verify/context.h"

namespace tidemark::verify {

std::string_view Name(Finding::Kind kind) {
  switch (kind) {
    case Finding::Kind::kMissed:
      return "missed";
    case Finding::Kind::kDuplicate:
      return "duplicate";
    case Finding::Kind::kOverlapping:
      return "overlapping";
    case Finding::Kind::kOutOfOrder:
      return "out_of_order";
    case Finding::Kind::kUnexplained:
      return "unexplained";
  }
  return "unexplained";
}

std::optional<absl::Time> FirstSent(const Run& run) {
  for (const Attempt& attempt : run.attempts) {
    if (attempt.sent_at.has_value()) return attempt.sent_at;
  }
  return std::nullopt;
}

bool Settles(const Mark& mark) {
  return mark.status == "DONE" || mark.status == "WAIVED" ||
         (mark.status == "EXPIRED" && mark.reason == "first_launch");
}

Context::Context(const History& h, const Range& r) : history(h), range(r), plan(h) {
  for (const Upstream& upstream : history.upstreams) {
    upstreams.emplace_back(&upstream, DuePlan(upstream.history));
  }
  for (const Run& run : history.runs) {
    run_by_id[run.run_id] = &run;
    if (run.biz_date.has_value()) runs_of_date[*run.biz_date].push_back(&run);
  }
  for (auto& [date, runs] : runs_of_date) {
    std::sort(runs.begin(), runs.end(),
              [](const Run* a, const Run* b) { return a->created_at < b->created_at; });
  }
}

bool Context::InRange(absl::CivilDay date) const {
  return (!range.from.has_value() || *range.from <= date) &&
         (!range.to.has_value() || date <= *range.to);
}

bool Context::InRange(const Run& run) const {
  if (run.biz_date.has_value()) return InRange(*run.biz_date);
  const absl::TimeZone zone = plan.empty() ? absl::UTCTimeZone() : plan.zone();
  return InRange(absl::ToCivilDay(run.fire_time, zone));
}

const DuePlan& Context::PlanOf(const Run& run) {
  // Only the calendars' editions tell moments apart: one plan for each of them.
  absl::Time until = absl::InfinitePast();
  for (const auto& [name, editions] : history.calendars) {
    for (const Edition& edition : editions) {
      if (edition.valid_from <= run.created_at) until = std::max(until, edition.valid_from);
    }
  }
  auto& slot = plans_[{run.job_version, until}];
  if (!slot) slot = std::make_unique<const DuePlan>(history, run.job_version, until);
  return *slot;
}

const Definition& Context::DefinitionAt(absl::Time at) const {
  const Definition* found = &history.definitions.front();
  for (const Definition& definition : history.definitions) {
    if (definition.valid_from <= at) found = &definition;
  }
  return *found;
}

const Definition& Context::DefinitionOf(const Run& run) const {
  const Definition* found = &history.definitions.front();
  for (const Definition& definition : history.definitions) {
    if (definition.version <= run.job_version) found = &definition;
  }
  return *found;
}

bool Context::Opens() const {
  return !history.paused && history.error.empty() && history.definitions.back().enabled;
}

void Context::Add(Finding::Kind kind, std::optional<absl::CivilDay> date,
                  std::optional<absl::Time> fire, std::vector<std::string> run_ids,
                  std::string text) {
  out.findings.push_back({kind, date, fire, std::move(run_ids), std::move(text)});
}

void Context::Blame(Finding::Kind kind, const Run& run, std::vector<std::string> run_ids,
                    std::string text) {
  const std::optional<absl::Time> fire =
      run.biz_date.has_value() ? std::nullopt : std::optional<absl::Time>(run.fire_time);
  Add(kind, run.biz_date, fire, std::move(run_ids), std::move(text));
}

Verdict VerifyJob(const History& history, const Range& range) {
  if (history.definitions.empty()) return {};
  Context context(history, range);
  CheckDates(context);
  CheckFires(context);
  CheckRuns(context);
  CheckAtOnce(context);
  CheckOrder(context);
  std::sort(context.out.findings.begin(), context.out.findings.end(),
            [](const Finding& a, const Finding& b) {
              return std::tie(a.date, a.fire_time, a.kind, a.run_ids, a.text) <
                     std::tie(b.date, b.fire_time, b.kind, b.run_ids, b.text);
            });
  return std::move(context.out);
}

}  // namespace tidemark::verify
