// Alerts about business dates and gaps.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "common/safe_text.h"
#include "common/time_text.h"
#include "scheduler/engine/alert_parts.h"
#include "scheduler/engine/alerts.h"

namespace tidemark::alerts {

namespace {

// "12/2026-11-27/…" after its kind: the date.
std::optional<absl::CivilDay> DateIn(const std::string& key, size_t at) {
  if (key.size() < at + 10) return std::nullopt;
  const absl::StatusOr<absl::CivilDay> date = ParseDate(std::string_view(key).substr(at, 10));
  return date.ok() ? std::optional<absl::CivilDay>(*date) : std::nullopt;
}

void ResolveAllBut(State& state, const std::string& prefix, const std::string& episode) {
  for (const std::string& key : OpenOnes(state, prefix)) {
    if (key != prefix + episode) Resolve(state, key);
  }
}

// At most so many dates are listed one by one.
constexpr size_t kListed = 20;

}  // namespace

void GapBlocked(State& state, JobState& job, const Occurrence& by, size_t waiting) {
  const std::string date = FormatDate(by.biz_date);
  if (job.extra().told_blocked == date) return;
  state.Extra(job).told_blocked = date;
  ResolveAllBut(state, JobPrefix("gap_blocked", job.row.job_id), date);
  AlertRaise alert = AboutJob(state, "gap_blocked", "critical", job, date);
  alert.biz_date = by.biz_date;
  alert.summary = job.name() + ": " + std::to_string(waiting) + " due dates wait behind " + date;
  alert.detail = date +
                 " did not succeed and the order is strict. Mend the cause, then: tidemark "
                 "job trigger " +
                 ShellWord(job.name()) + " --biz-date " + date +
                 ". The rest follows by itself. To give the date up: tidemark watermark waive " +
                 ShellWord(job.name()) + " " + date + " --reason WHY";
  Raise(state, std::move(alert));
}

void GapHeld(State& state, JobState& job, const Occurrence& from, absl::CivilDay to, size_t dates) {
  const std::string date = FormatDate(from.biz_date);
  if (job.extra().told_held == date) return;
  state.Extra(job).told_held = date;
  ResolveAllBut(state, JobPrefix("gap_held", job.row.job_id), date);
  AlertRaise alert = AboutJob(state, "gap_held", "critical", job, date);
  alert.biz_date = from.biz_date;
  alert.summary = job.name() + ": the gap since " + date + " (" + std::to_string(dates) +
                  " dates) is longer than max_backfill_days";
  alert.detail = "Nothing of it is run until a person decides. Run it: tidemark backfill create " +
                 RangeOf(job, from.biz_date, to) + "; or give dates up: tidemark watermark waive " +
                 RangeOf(job, from.biz_date, to) + " --reason WHY";
  Raise(state, std::move(alert));
}

void GapNotHeld(State& state, JobState& job) {
  Resolve(state, JobPrefix("gap_held", job.row.job_id));
  if (!job.extra().told_held.empty()) state.Extra(job).told_held.clear();
}

void GapNotBlocked(State& state, JobState& job) {
  Resolve(state, JobPrefix("gap_blocked", job.row.job_id));
  if (!job.extra().told_blocked.empty()) state.Extra(job).told_blocked.clear();
}

void DatesExpired(State& state, const JobState& job, absl::CivilDay from, absl::CivilDay to,
                  size_t dates, bool first_launch) {
  AlertRaise alert = AboutJob(state, "gap_expired", first_launch ? "warning" : "critical", job,
                              FormatDate(from) + "/" + FormatDate(to));
  alert.biz_date = from;
  alert.summary = job.name() + ": " + std::to_string(dates) + " dates from " + FormatDate(from) +
                  " to " + FormatDate(to) + " are EXPIRED and will not run by themselves";
  alert.detail =
      first_launch ? "They lie before the limit of the first launch (catch_up.max_backfill_days, "
                     "source_retention_days) and are passed. To run them all the same: "
                   : "They are older than catch_up.source_retention_days, and later dates wait in "
                     "strict order. If the source still has the data: ";
  alert.detail += "tidemark backfill create " + RangeOf(job, from, to);
  if (!first_launch) {
    alert.detail +=
        "; else give them up: tidemark watermark waive " + RangeOf(job, from, to) + " --reason WHY";
  }
  // What lies before the first launch is passed: nothing waits for it.
  if (first_launch) {
    Tell(state, std::move(alert));
  } else {
    Raise(state, std::move(alert));
  }
}

void CaughtUp(State& state, const JobState& job,
              const std::map<absl::CivilDay, std::string>& status_of) {
  if (status_of.empty()) return;
  const absl::CivilDay from = status_of.begin()->first;
  const absl::CivilDay to = status_of.rbegin()->first;
  std::map<std::string, size_t> counts;
  std::string list;
  size_t listed = 0;
  for (const auto& [date, status] : status_of) {
    ++counts[status];
    if (listed++ < kListed) list += (list.empty() ? "" : ", ") + FormatDate(date) + " " + status;
  }
  if (listed > kListed) list += " and " + std::to_string(listed - kListed) + " more";
  std::string outcome;
  for (const auto& [status, count] : counts) {
    outcome += (outcome.empty() ? "" : ", ") + std::to_string(count) + " " + status;
  }
  // The same dates may be missed again: an episode is told by the time of its end.
  AlertRaise alert = AboutJob(state, "catch_up_done", "info", job,
                              FormatDate(from) + "/" + FormatDate(to) + "/" +
                                  std::to_string(absl::ToUnixMillis(state.now.lo)));
  alert.biz_date = from;
  alert.summary = job.name() + ": the gap from " + FormatDate(from) + " to " + FormatDate(to) +
                  " is closed: " + outcome;
  alert.detail =
      list + ". Nothing has to be done. Look: tidemark watermark list " + RangeOf(job, from, to);
  Tell(state, std::move(alert));
}

void DateSettled(State& state, const JobState& job, absl::CivilDay date) {
  Resolve(state, JobPrefix("run_failed", job.row.job_id) + FormatDate(date) + "/");
}

void DatesSettled(State& state, const JobState& job, const std::set<absl::CivilDay>& unsettled) {
  const std::string failed = JobPrefix("run_failed", job.row.job_id);
  for (const std::string& key : OpenOnes(state, failed)) {
    const std::optional<absl::CivilDay> date = DateIn(key, failed.size());
    // The ledger tells of dates that were due by then; what was run beside them it does not know.
    const bool known = date.has_value() && job.row.due_until.has_value() &&
                       *date <= *job.row.due_until && job.row.ledger_from.has_value() &&
                       *date >= *job.row.ledger_from && job.timeline().OccurrenceOf(*date);
    if (known && !unsettled.contains(*date)) Resolve(state, key);
  }
  const std::string expired = JobPrefix("gap_expired", job.row.job_id);
  for (const std::string& key : OpenOnes(state, expired)) {
    const std::optional<absl::CivilDay> from = DateIn(key, expired.size());
    const std::optional<absl::CivilDay> to = DateIn(key, expired.size() + 11);
    if (!from.has_value() || !to.has_value()) continue;
    const auto open = unsettled.lower_bound(*from);
    if (open == unsettled.end() || *open > *to) Resolve(state, key);
  }
}

}  // namespace tidemark::alerts
