#include "scheduler/engine/check_alerts.h"

#include <utility>

#include "common/safe_text.h"
#include "common/time_text.h"
#include "scheduler/core/catch_up.h"
#include "scheduler/engine/alert_parts.h"

namespace tidemark::alerts {
namespace {

// "2026-11-28 09:00 Asia/Shanghai"
std::string LocalText(absl::Time time, const absl::TimeZone& zone) {
  std::string text = FormatCivil(absl::ToCivilSecond(time, zone)).substr(0, 16);
  text[10] = ' ';
  return text + " " + zone.name();
}

std::string IfWaived(const JobState& job, const std::string& date) {
  return ". If it is not to run: tidemark watermark waive " + ShellWord(job.name()) + " " + date +
         " --reason WHY";
}

std::string Trigger(const JobState& job, const std::string& date) {
  return "tidemark job trigger " + ShellWord(job.name()) + " --biz-date " + date;
}

std::string WhenRunning(const State& state, const JobState& job, const std::string& date,
                        const std::string& run_id) {
  const auto run = state.runs.find(run_id);
  const std::string look = "Look: tidemark run get " + run_id;
  if (run != state.runs.end() && run->second.row.held) {
    return "Its executor gives no sign of life, so it may or may not run, and nothing opens it "
           "again by itself until that is known. " +
           look;
  }
  if (run != state.runs.end() && run->second.row.status == RunStatus::kPending) {
    return "A run of it waits for an executor, or for the back-off of a retry, and starts by "
           "itself. " +
           look + "; tidemark executor list" + IfWaived(job, date);
  }
  return "A run of it is under way and goes on by itself. " + look +
         "; to stop it: tidemark run cancel " + run_id;
}

std::string WhenFailed(const JobState& job, const std::string& date, const std::string& run_id) {
  return "It is opened again at the job's next fire, and when a new version of the app registers; "
         "not if it was cancelled. At once: " +
         (run_id.empty() ? Trigger(job, date) : "tidemark run rerun " + run_id) +
         IfWaived(job, date);
}

std::string WhenBlocked(const JobState& job, const std::string& date, const LedgerLine& line) {
  if (line.waits_for.has_value()) {
    return "It waits for " + Text(*line.waits_for) +
           " and opens by itself once that is DONE or WAIVED. Look: tidemark watermark list " +
           ShellWord(line.waits_for->job) + IfWaived(job, date);
  }
  const std::string first = line.blocked_by.has_value() ? FormatDate(*line.blocked_by) : "";
  return "It waits behind " + first +
         " (order strict) and follows by itself once that is settled. Look: tidemark watermark "
         "list " +
         ShellWord(job.name()) + "; to settle " + first + ": " + Trigger(job, first);
}

std::string WhenMissing(const JobState& job, absl::CivilDay date, const MissedGap& gap) {
  if (gap.held_from.has_value()) {
    const std::string from = FormatDate(*gap.held_from);
    return "The gap since " + from +
           " is too long and held: nothing of it runs by itself. Run it: tidemark backfill "
           "create " +
           ShellWord(job.name()) + " --from " + from + " --to " + FormatDate(date) +
           IfWaived(job, FormatDate(date));
  }
  const absl::CivilDay turn = gap.turn.value_or(date);
  return "Nobody has opened it so far. Catch-up opens it by itself within minutes, " +
         (turn < date ? "once those from " + FormatDate(turn) + " on are done"
                      : std::string("the oldest date first")) +
         ". Look: tidemark watermark list " + ShellWord(job.name()) +
         "; at once: " + Trigger(job, FormatDate(turn)) + IfWaived(job, FormatDate(date));
}

std::string WhatNext(const State& state, const JobState& job, const LedgerLine& line,
                     const std::string& run_id, const MissedGap& gap) {
  const std::string date = FormatDate(line.occurrence.biz_date);
  switch (line.state) {
    case LedgerState::kRunning:
      return WhenRunning(state, job, date, run_id);
    case LedgerState::kFailed:
      return WhenFailed(job, date, run_id);
    case LedgerState::kBlocked:
      return WhenBlocked(job, date, line);
    default:
      return WhenMissing(job, line.occurrence.biz_date, gap);
  }
}

}  // namespace

AlertRaise DateMissed(State& state, const JobState& job, const ExpectedDate& date,
                      const LedgerLine& line, const std::string& run_id, const MissedGap& gap) {
  const std::string day = FormatDate(date.due.biz_date);
  const absl::TimeZone zone = ZoneOf(job.timeline(), date.due);
  AlertRaise alert = AboutJob(state, "date_missed", "critical", job, day);
  alert.biz_date = date.due.biz_date;
  alert.run_id = run_id;
  alert.summary = job.name() + " " + day + " is not done: " + std::string(Name(line.state)) +
                  "; it was expected by " + LocalText(date.expected_at, zone);
  alert.detail = "Due since " + LocalText(date.due.fire_time, zone) + ". " +
                 WhatNext(state, job, line, run_id, gap);
  state.open_alerts.insert(alert.dedup_key);
  return alert;
}

std::vector<absl::CivilDay> MissedDates(const State& state, int64_t job_id) {
  std::vector<absl::CivilDay> dates;
  const std::string prefix = JobPrefix("date_missed", job_id);
  for (const std::string& key : OpenOnes(state, prefix)) {
    const absl::StatusOr<absl::CivilDay> date = ParseDate(key.substr(prefix.size()));
    if (date.ok()) dates.push_back(*date);
  }
  return dates;
}

void MissedNoMore(State& state, int64_t job_id, absl::CivilDay date) {
  Resolve(state, JobPrefix("date_missed", job_id) + FormatDate(date));
}

void StillPaused(State& state, const JobState& job) {
  if (ToldPaused(state, job.row.job_id)) return;
  const JobRow::Pause& pause = *job.extra().pause;
  const std::string since = FormatInstant(absl::FromUnixSeconds(absl::ToUnixSeconds(pause.since)));
  AlertRaise alert = AboutJob(state, "job_paused", "warning", job, since);
  alert.summary = job.name() + " is paused since " + since;
  alert.detail = "Paused by " + pause.by + ": " + pause.reason +
                 ". Nothing of it runs. To go on, with what was missed: tidemark job resume " +
                 ShellWord(job.name()) + "; without: tidemark job resume " + ShellWord(job.name()) +
                 " --skip-missed";
  Raise(state, std::move(alert));
}

bool ToldPaused(const State& state, int64_t job_id) {
  return !OpenOnes(state, JobPrefix("job_paused", job_id)).empty();
}

void NotPaused(State& state, int64_t job_id) { Resolve(state, JobPrefix("job_paused", job_id)); }

}  // namespace tidemark::alerts
