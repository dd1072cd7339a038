// Alerts about jobs as a whole: their schedule, definition and backfills.
#include "common/safe_text.h"
#include "common/time_text.h"
#include "scheduler/engine/alert_kinds.h"
#include "scheduler/engine/alert_parts.h"
#include "scheduler/engine/alerts.h"

namespace tidemark::alerts {

void FiresSkipped(State& state, const JobState& job, const FirePlan& plan) {
  int64_t fires = 0;
  for (const FirePlan::Skip& skip : plan.skip) fires += skip.fires;
  const std::string from = FormatInstant(plan.skip.front().from);
  const std::string to = FormatInstant(plan.skip.back().to);
  AlertRaise alert = AboutJob(state, "fires_skipped", "warning", job, from);
  alert.summary = job.name() + ": " + std::to_string(fires) + " fires from " + from + " to " + to +
                  " were missed and are not run; " + std::to_string(plan.launch.size()) + " are";
  alert.detail =
      "That is its misfire policy (misfire in the job file); table skipped_range keeps "
      "the ranges. To run it once now: tidemark job trigger " +
      ShellWord(job.name());
  Tell(state, std::move(alert));
}

void CursorAhead(State& state, const JobState& job) {
  const std::string cursor = FormatInstant(*job.row.cursor);
  AlertRaise alert = AboutJob(state, "cursor_ahead", "critical", job, cursor);
  alert.summary = job.name() + " does not fire before " + cursor +
                  ": so far its fires were dealt with, by a clock that was ahead";
  alert.detail = "Look at the database's clock. If it is right now: tidemark job reset-cursor " +
                 ShellWord(job.name()) + " --reason WHY; it then fires from now on";
  Raise(state, std::move(alert));
}

void CursorFine(State& state, const JobState& job) {
  Resolve(state, JobPrefix("cursor_ahead", job.row.job_id));
}

void CalendarEnded(State& state, const JobState& job, const Calendar& calendar) {
  AlertRaise alert =
      AboutJob(state, "calendar_ended", "critical", job, std::to_string(calendar.version()));
  alert.summary = job.name() + " is never due again: its calendar " + calendar.name() +
                  " has no date left for it";
  alert.detail =
      "Import the next dates: tidemark calendar import FILE; or apply the job without "
      "the calendar: tidemark job apply -f FILE";
  Raise(state, std::move(alert));
}

void CalendarGoesOn(State& state, const JobState& job) {
  Resolve(state, JobPrefix("calendar_ended", job.row.job_id));
}

void BackfillFinished(State& state, const JobState& job, const OpenBackfill& backfill) {
  const Backfill& row = backfill.row;
  size_t done = 0;
  size_t failed = 0;
  for (const auto& [date, tried] : backfill.tried) {
    ++(tried == OpenBackfill::Tried::kDone ? done : failed);
  }
  AlertRaise alert = AboutJob(state, "backfill_finished", "info", job, row.backfill_id);
  alert.summary = job.name() + ": the backfill from " + FormatDate(row.from) + " to " +
                  FormatDate(row.to) + " ended " + std::string(Name(row.state)) + ": " +
                  std::to_string(done) + " done, " + std::to_string(failed) + " failed, " +
                  std::to_string(row.dates.size() - done - failed) + " settled by others";
  alert.detail = "Date by date: tidemark backfill get " + row.backfill_id;
  Tell(state, std::move(alert));
}

void BackfillStopped(State& state, const JobState& job, const Backfill& backfill,
                     absl::CivilDay date) {
  AlertRaise alert = About(state, "backfill_stopped", "warning",
                           "backfill_stopped/" + backfill.backfill_id + "/" + FormatDate(date));
  alert.ns = job.ns();
  alert.job_name = job.name();
  alert.biz_date = date;
  alert.summary = job.name() + ": the backfill stopped at " + FormatDate(date);
  alert.detail =
      "Order strict: nothing after a date that fails. Mend the cause, then: tidemark "
      "backfill resume " +
      backfill.backfill_id + "; or give it up: tidemark backfill cancel " + backfill.backfill_id;
  Raise(state, std::move(alert));
}

void BackfillGoesOn(State& state, const std::string& backfill_id) {
  Resolve(state, "backfill_stopped/" + backfill_id + "/");
}

void JobInError(State& state, const JobState& job) {
  AlertRaise alert = AboutJob(state, "job_error", "critical", job, std::to_string(job.row.version));
  alert.summary = job.name() + " cannot be scheduled: " + job.error();
  alert.detail = "Only this job is affected. Mend its definition: tidemark job apply -f FILE";
  Raise(state, std::move(alert));
}

void JobMended(State& state, const JobState& job) {
  Resolve(state, "job_error/" + std::to_string(job.row.job_id) + "/");
}

std::set<int64_t> JobsTold(const State& state) {
  std::set<int64_t> jobs;
  for (const std::string& key : state.open_alerts) {
    const size_t id = key.find('/') + 1;  // "gap_held/12/2026-11-27": see JobPrefix
    const size_t end = key.find_first_not_of("0123456789", id);
    if (id > 0 && end != std::string::npos && end > id && end < id + 19 && key[end] == '/') {
      jobs.insert(std::stoll(key.substr(id, end - id)));
    }
  }
  return jobs;
}

void JobGone(State& state, const JobState& job) {
  for (const AlertKind& kind : kAlertKinds) {
    if (kind.of_job) Resolve(state, JobPrefix(std::string(kind.name), job.row.job_id));
  }
  for (const OpenBackfill& open : job.extra().backfills)
    BackfillGoesOn(state, open.row.backfill_id);
}

}  // namespace tidemark::alerts
