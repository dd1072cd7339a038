#include "scheduler/engine/checks.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/status.h"
#include "scheduler/core/catch_up.h"
#include "scheduler/engine/check_alerts.h"
#include "scheduler/engine/gaps.h"

namespace tidemark {
namespace {

// After a question that could not be answered.
constexpr absl::Duration kAskAgain = absl::Minutes(1);

// Since when the job's dates are checked.
absl::Time Floor(const JobState& job) { return std::max(*job.row.check_from, *job.row.created_at); }

absl::Time CheckedUntil(const JobState& job) {
  return std::max(job.row.checked_until.value_or(Floor(job)), Floor(job));
}

// DONE and WAIVED; and EXPIRED, of which a person has been told in its own words.
bool IsSettledFor(LedgerState state) {
  return state == LedgerState::kDone || state == LedgerState::kWaived ||
         state == LedgerState::kExpired;
}
bool IsSettledFor(const LedgerEntry& entry) {
  return IsSettled(entry.status, entry.reason) || entry.status == "EXPIRED";
}

// Order strict: the first date that is not settled.
std::optional<absl::CivilDay> TurnOf(const JobState& job, const Ledger& ledger) {
  if (job.spec().catch_up.order != CatchUpOrder::kStrict) return std::nullopt;
  for (const LedgerLine& line : ledger.lines) {
    if (!IsSettledFor(line.state)) return line.occurrence.biz_date;
  }
  return std::nullopt;
}

}  // namespace

void Checks::Plan(JobState& job) {
  const int64_t id = job.row.job_id;
  if (!job.row.paused) alerts::NotPaused(s_, id);
  if (!job.error().empty()) return;
  for (const absl::CivilDay date : alerts::MissedDates(s_, id)) {
    // After an edit it may not be due any more.
    if (!job.timeline().OccurrenceOf(date).has_value()) alerts::MissedNoMore(s_, id, date);
  }
  if (job.checking) return;  // planned again when that is answered
  std::optional<absl::Time> at =
      NextExpected(job.timeline(), job.spec().expected_by, CheckedUntil(job));
  if (job.extra().pause != nullptr && !alerts::ToldPaused(s_, id)) {
    const absl::Time remind = job.extra().pause->since + alerts::kPauseReminder;
    at = std::min(at.value_or(remind), remind);
  }
  const CompactTime check_at = at.has_value() ? CompactTime::NotBefore(*at) : CompactTime();
  if (check_at == job.check_at) return;
  job.check_at = check_at;
  if (check_at.has_value()) s_.checks.Add(check_at, id);
}

void Checks::RunDue() {
  if (s_.holding) return;
  while (const auto due = s_.checks.TakeDue(s_.now.lo)) {
    JobState* job = s_.FindJob(due->second);
    // Entries of edited or forgotten jobs are stale.
    if (job == nullptr || job->check_at != due->first) continue;
    job->check_at.reset();
    Look(*job);
  }
}

void Checks::Look(JobState& job) {
  if (!job.error().empty() || job.checking) return;
  if (job.extra().pause != nullptr &&
      s_.now.lo >= job.extra().pause->since + alerts::kPauseReminder) {
    alerts::StillPaused(s_, job);
  }
  Ask(job, CheckedUntil(job), s_.now.lo);
}

void Checks::CheckAll(JobState& job) {
  if (!job.dated() || s_.holding) return;
  Review(job);
  if (!job.check_all || job.checking) return;
  job.check_all = false;
  Ask(job, Floor(job), s_.now.lo);
}

void Checks::Ask(JobState& job, absl::Time after, absl::Time until) {
  const std::vector<ExpectedDate> expected =
      ExpectedBetween(job.timeline(), job.spec().expected_by, after, until);
  if (expected.empty()) return Plan(job);
  const absl::CivilDay first = s_.gap_part->FirstDate(job);
  std::vector<absl::CivilDay> dates;
  for (const ExpectedDate& date : expected) {
    if (date.due.biz_date >= first) dates.push_back(date.due.biz_date);
  }
  std::sort(dates.begin(), dates.end());
  if (dates.empty()) {  // none that the job accounts for
    for (const ExpectedDate& date : expected) Pass(job, date.expected_at);
    return Plan(job);
  }
  job.checking = true;
  s_.gap_part->AskWhenQuiet(
      job, dates,
      [this, dates, after, until](JobState* job, const LedgerResult& result) {
        if (job == nullptr) return;
        job->checking = false;
        if (job->error().empty()) Answered(*job, dates, after, until, result);
      },
      /*check=*/true);
}

void Checks::Answered(JobState& job, const std::vector<absl::CivilDay>& asked, absl::Time after,
                      absl::Time until, const LedgerResult& result) {
  if (!result.status.ok()) {
    s_.Say(LogLine::Level::kWarn, "check not made",
           {{"job", job.name()}, {"error", Message(result.status)}});
    job.check_at = s_.now.lo + kAskAgain;
    return s_.checks.Add(job.check_at, job.row.job_id);
  }
  const std::vector<ExpectedDate> dates =
      ExpectedBetween(job.timeline(), job.spec().expected_by, after, until);
  // An edit that came meanwhile may have made others due, or due at other times.
  const absl::CivilDay first = s_.gap_part->FirstDate(job);
  const bool all = std::all_of(dates.begin(), dates.end(), [&](const ExpectedDate& date) {
    return date.due.biz_date < first ||
           std::binary_search(asked.begin(), asked.end(), date.due.biz_date);
  });
  if (!all) return Ask(job, after, until);
  Judge(job, dates, result);
  absl::Time checked = CheckedUntil(job);
  for (const ExpectedDate& date : dates) checked = std::max(checked, date.expected_at);
  if (checked > CheckedUntil(job)) {
    Pass(job, checked);
    JobUpdate update;
    update.job_id = job.row.job_id;
    update.checked_until = checked;
    s_.flush.jobs.push_back(std::move(update));
  }
  Plan(job);
}

void Checks::Pass(JobState& job, absl::Time until) {
  job.row.checked_until = std::max(CheckedUntil(job), until);
}

std::map<absl::CivilDay, std::string> Checks::LiveRuns(const JobState& job) const {
  std::map<absl::CivilDay, std::string> runs;
  for (const std::string& run_id : job.runs()) {
    const LiveRun* run = s_.FindRun(run_id);
    if (run != nullptr && run->row.biz_date.has_value()) runs[*run->row.biz_date] = run_id;
  }
  return runs;
}

Ledger Checks::LedgerOf(const JobState& job, const LedgerResult& result) {
  LedgerInput input;
  input.paused = !job.opens();
  input.strict = job.spec().catch_up.order == CatchUpOrder::kStrict;
  for (const auto& [date, run_id] : LiveRuns(job)) input.live.insert(date);
  for (const LedgerEntry& entry : result.entries) {
    const std::optional<Occurrence> due = job.timeline().OccurrenceOf(entry.date);
    if (!due.has_value()) continue;
    input.due.push_back(*due);
    if (!entry.status.empty()) input.rows[entry.date] = entry.status;
    if (entry.status == "EXPIRED" && IsSettled(entry.status, entry.reason)) {
      input.passed.insert(entry.date);
    }
    const std::optional<UpstreamDate> upstream = s_.gap_part->WaitsFor(entry.date, result);
    if (upstream.has_value()) input.waits[entry.date] = *upstream;
  }
  return BuildLedger(input);
}

void Checks::Judge(JobState& job, const std::vector<ExpectedDate>& dates,
                   const LedgerResult& result) {
  const Ledger ledger = LedgerOf(job, result);
  const alerts::MissedGap gap = {s_.gap_part->HeldFrom(job, result), TurnOf(job, ledger)};
  const std::map<absl::CivilDay, std::string> live = LiveRuns(job);
  std::map<absl::CivilDay, const LedgerEntry*> entries;
  for (const LedgerEntry& entry : result.entries) entries[entry.date] = &entry;
  std::map<absl::CivilDay, const LedgerLine*> lines;
  for (const LedgerLine& line : ledger.lines) lines[line.occurrence.biz_date] = &line;
  for (const ExpectedDate& date : dates) {
    const auto entry = entries.find(date.due.biz_date);
    const auto line = lines.find(date.due.biz_date);
    if (entry == entries.end() || line == lines.end() || entry->second->checked) continue;
    VerdictWrite verdict;
    verdict.job_id = job.row.job_id;
    verdict.job_name = job.name();
    verdict.ns = job.ns();
    verdict.date = date.due.biz_date;
    verdict.expected_at = date.expected_at;
    verdict.state = Name(line->second->state);
    const auto run = live.find(date.due.biz_date);
    verdict.run_id = run != live.end() ? run->second : entry->second->run_id;
    verdict.verdict = "ON_TIME";
    if (!IsSettledFor(line->second->state)) verdict.verdict = job.opens() ? "LATE" : "PAUSED";
    if (verdict.verdict == "LATE") {
      verdict.alert = alerts::DateMissed(s_, job, date, *line->second, verdict.run_id, gap);
    }
    s_.flush.verdicts.push_back(std::move(verdict));
  }
}

void Checks::Review(JobState& job) {
  const std::vector<absl::CivilDay> told = alerts::MissedDates(s_, job.row.job_id);
  if (told.empty() || !job.dated()) return;
  if (!job.quiet()) {
    // By then it may be known.
    s_.Extra(job).when_quiet.push_back([this](JobState* job) {
      if (job != nullptr) Review(*job);
    });
    return;
  }
  s_.gap_part->AskWhenQuiet(job, told, [this](JobState* job, const LedgerResult& result) {
    if (job == nullptr || !result.status.ok()) return;
    const std::vector<absl::CivilDay> told = alerts::MissedDates(s_, job->row.job_id);
    for (const LedgerEntry& entry : result.entries) {
      const bool still = std::count(told.begin(), told.end(), entry.date) > 0;
      if (still && IsSettledFor(entry)) Settle(*job, entry.date);
    }
  });
}

void Checks::Compare(JobState& job, const LedgerResult& unsettled) {
  const std::vector<absl::CivilDay> told = alerts::MissedDates(s_, job.row.job_id);
  if (told.empty()) return;
  std::set<absl::CivilDay> open;
  for (const LedgerEntry& entry : unsettled.entries) {
    if (!IsSettledFor(entry)) open.insert(entry.date);
  }
  for (const absl::CivilDay date : told) {
    if (!open.contains(date)) Settle(job, date);
  }
}

void Checks::Settle(JobState& job, absl::CivilDay date) {
  alerts::MissedNoMore(s_, job.row.job_id, date);
  s_.flush.verdicts_settled.push_back({job.row.job_id, date});
}

void Checks::Forget(const JobState& job) {
  for (const absl::CivilDay date : alerts::MissedDates(s_, job.row.job_id)) {
    alerts::MissedNoMore(s_, job.row.job_id, date);
  }
  alerts::NotPaused(s_, job.row.job_id);
}

}  // namespace tidemark
