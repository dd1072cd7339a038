#include "scheduler/engine/alerts.h"

#include "common/safe_text.h"
#include "common/time_text.h"

namespace tidemark::alerts {
namespace {

AlertRaise About(State& state, std::string kind, std::string severity, std::string key) {
  AlertRaise alert;
  alert.alert_id = state.NewId();
  alert.dedup_key = std::move(key);
  alert.kind = std::move(kind);
  alert.severity = std::move(severity);
  return alert;
}

AlertRaise AboutRun(State& state, const std::string& kind, std::string severity,
                    const ActiveRun& run) {
  AlertRaise alert = About(state, kind, std::move(severity), kind + "/" + run.run_id);
  alert.ns = run.ns;
  alert.job_name = run.job_name;
  alert.biz_date = run.biz_date;
  alert.run_id = run.run_id;
  return alert;
}

AlertRaise AboutJob(State& state, const std::string& kind, std::string severity,
                    const JobState& job, const std::string& episode) {
  AlertRaise alert = About(state, kind, std::move(severity),
                           kind + "/" + std::to_string(job.row.job_id) + "/" + episode);
  alert.ns = job.row.ns;
  alert.job_name = job.row.name;
  return alert;
}

// "recon 2026-11-27", or "recon at 2026-11-28T01:00:00Z" for an interval job.
std::string Subject(const ActiveRun& run) {
  if (run.biz_date.has_value()) return run.job_name + " " + FormatDate(*run.biz_date);
  return run.job_name + " at " + FormatInstant(run.fire_time);
}

bool HasPrefix(const std::string& key, const std::string& prefix) {
  return key.compare(0, prefix.size(), prefix) == 0;
}

void Raise(State& state, AlertRaise alert) {
  // In a flush the resolutions come last: what is told again after one stays open.
  std::erase_if(state.flush.resolves,
                [&](const AlertResolve& r) { return HasPrefix(alert.dedup_key, r.prefix); });
  state.open_alerts.insert(alert.dedup_key);
  state.flush.alerts.push_back(std::move(alert));
}

// Writes nothing when none is open, so it may be called wherever the cause is known to be gone.
void Resolve(State& state, std::string prefix) {
  const auto first = state.open_alerts.lower_bound(prefix);
  auto last = first;
  while (last != state.open_alerts.end() && HasPrefix(*last, prefix)) ++last;
  if (first == last) return;
  state.open_alerts.erase(first, last);
  state.flush.resolves.push_back({std::move(prefix)});
}

// "recon --from 2026-11-01 --to 2026-11-05"
std::string RangeOf(const JobState& job, absl::CivilDay from, absl::CivilDay to) {
  return ShellWord(job.row.name) + " --from " + FormatDate(from) + " --to " + FormatDate(to);
}

}  // namespace

void RunFailed(State& state, const ActiveRun& run, const std::string& why, bool keeps_done) {
  AlertRaise alert = AboutRun(state, "run_failed", "critical", run);
  alert.summary = Subject(run) + " FAILED (" + why + ") after " +
                  std::to_string(run.failed_attempts) + " failed and " +
                  std::to_string(run.lost_attempts) + " lost attempts";
  alert.detail = "Last message: " + (run.message.empty() ? "none" : run.message) + ". ";
  if (keeps_done) alert.detail += "It was a rerun: the date stays DONE with the earlier result. ";
  if (run.biz_date.has_value() && why != "cancelled") {
    alert.detail +=
        "It is opened again at the job's next fire, and when a new version of the app registers. "
        "At once: tidemark run rerun " +
        run.run_id;
  } else {
    alert.detail += "It stays as it is until: tidemark run rerun " + run.run_id;
  }
  Raise(state, std::move(alert));
}

void RunHeld(State& state, const ActiveRun& run, absl::Duration silent) {
  AlertRaise alert = AboutRun(state, "run_held", "critical", run);
  alert.summary = Subject(run) + " is held: no sign of life for " + DurationText(silent);
  alert.detail = "It may still be running in executor " + run.executor_id + " (" +
                 run.executor_host +
                 "), so nothing opens it again until that process reports or a new one of the same "
                 "executor id registers. Look there; to stop it: tidemark run cancel " +
                 run.run_id + "; if it is known not to run any more: tidemark run release " +
                 run.run_id + " --force --reason \"how you know\"";
  Raise(state, std::move(alert));
}

void RunLong(State& state, const ActiveRun& run, absl::Duration running) {
  AlertRaise alert = AboutRun(state, "run_long", "warning", run);
  alert.summary = Subject(run) + " has been running for " + DurationText(running);
  alert.detail = "It still sends heartbeats and is left alone. Look: tidemark run get " +
                 run.run_id + "; stop it: tidemark run cancel " + run.run_id;
  Raise(state, std::move(alert));
}

void NoExecutor(State& state, const ActiveRun& run, const std::string& why) {
  AlertRaise alert = AboutRun(state, "no_executor", "critical", run);
  alert.summary = Subject(run) + " waits: " + why;
  alert.detail = "It starts by itself within a second of a fitting executor of app " + run.app +
                 " coming up; no attempt is consumed. Look: tidemark executor list";
  Raise(state, std::move(alert));
}

void ExecutorsBack(State& state, const ActiveRun& run) {
  Resolve(state, "no_executor/" + run.run_id);
}

void LockRefused(State& state, const ActiveRun& run, absl::Duration since) {
  AlertRaise alert = AboutRun(state, "lock_refused", "critical", run);
  alert.summary = Subject(run) + " waits for its Redis lock for " + DurationText(since) + " by now";
  alert.detail = "Last word: " + run.message +
                 ". Something outside the scheduler does the same work, or left the key behind. It "
                 "is tried again by itself, at least once a minute, and no attempt is consumed. To "
                 "give it up: tidemark run cancel " +
                 run.run_id;
  Raise(state, std::move(alert));
}

void LockTaken(State& state, const ActiveRun& run) { Resolve(state, "lock_refused/" + run.run_id); }

void HeldNoMore(State& state, const ActiveRun& run) { Resolve(state, "run_held/" + run.run_id); }

void RunOver(State& state, const ActiveRun& run) {
  ExecutorsBack(state, run);
  LockTaken(state, run);
  HeldNoMore(state, run);
  Resolve(state, "run_long/" + run.run_id);
}

void GapBlocked(State& state, JobState& job, const Occurrence& by, size_t waiting) {
  const std::string date = FormatDate(by.biz_date);
  if (job.told_blocked == date) return;
  job.told_blocked = date;
  AlertRaise alert = AboutJob(state, "gap_blocked", "critical", job, date);
  alert.biz_date = by.biz_date;
  alert.summary = job.row.name + ": " + std::to_string(waiting) + " due dates wait behind " + date;
  alert.detail = date +
                 " did not succeed and the order is strict. Mend the cause, then: tidemark "
                 "job trigger " +
                 ShellWord(job.row.name) + " --biz-date " + date +
                 ". The rest follows by itself. To give the date up: tidemark watermark waive " +
                 ShellWord(job.row.name) + " " + date + " --reason WHY";
  Raise(state, std::move(alert));
}

void GapHeld(State& state, JobState& job, const Occurrence& from, absl::CivilDay to, size_t dates) {
  const std::string date = FormatDate(from.biz_date);
  if (job.told_held == date) return;
  job.told_held = date;
  AlertRaise alert = AboutJob(state, "gap_held", "critical", job, date);
  alert.biz_date = from.biz_date;
  alert.summary = job.row.name + ": the gap since " + date + " (" + std::to_string(dates) +
                  " dates) is longer than max_backfill_days";
  alert.detail = "Nothing of it is run until a person decides. Run it: tidemark backfill create " +
                 RangeOf(job, from.biz_date, to) + "; or give dates up: tidemark watermark waive " +
                 RangeOf(job, from.biz_date, to) + " --reason WHY";
  Raise(state, std::move(alert));
}

void GapClosed(State& state, JobState& job) {
  const std::string id = std::to_string(job.row.job_id);
  Resolve(state, "gap_blocked/" + id + "/");
  Resolve(state, "gap_held/" + id + "/");
  job.told_blocked.clear();
  job.told_held.clear();
}

void DatesExpired(State& state, const JobState& job, absl::CivilDay from, absl::CivilDay to,
                  size_t dates, bool first_launch) {
  AlertRaise alert = AboutJob(state, "gap_expired", first_launch ? "warning" : "critical", job,
                              FormatDate(from) + "/" + FormatDate(to));
  alert.biz_date = from;
  alert.summary = job.row.name + ": " + std::to_string(dates) + " dates from " + FormatDate(from) +
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
  Raise(state, std::move(alert));
}

void FiresSkipped(State& state, const JobState& job, const FirePlan& plan) {
  int64_t fires = 0;
  for (const FirePlan::Skip& skip : plan.skip) fires += skip.fires;
  const std::string from = FormatInstant(plan.skip.front().from);
  const std::string to = FormatInstant(plan.skip.back().to);
  AlertRaise alert = AboutJob(state, "fires_skipped", "warning", job, from);
  alert.summary = job.row.name + ": " + std::to_string(fires) + " fires from " + from + " to " +
                  to + " were missed and are not run; " + std::to_string(plan.launch.size()) +
                  " are";
  alert.detail =
      "That is its misfire policy (misfire in the job file); table skipped_range keeps "
      "the ranges. To run it once now: tidemark job trigger " +
      ShellWord(job.row.name);
  Raise(state, std::move(alert));
}

void CursorAhead(State& state, const JobState& job) {
  const std::string cursor = FormatInstant(*job.row.cursor);
  AlertRaise alert = AboutJob(state, "cursor_ahead", "critical", job, cursor);
  alert.summary = job.row.name + " does not fire before " + cursor +
                  ": so far its fires were dealt with, by a clock that was ahead";
  alert.detail = "Look at the database's clock. If it is right now: tidemark job reset-cursor " +
                 job.row.name + " --reason WHY; it then fires from now on";
  Raise(state, std::move(alert));
}

void BackfillFinished(State& state, const JobState& job, const OpenBackfill& backfill) {
  const Backfill& row = backfill.row;
  size_t done = 0;
  size_t failed = 0;
  for (const auto& [date, tried] : backfill.tried) {
    ++(tried == OpenBackfill::Tried::kDone ? done : failed);
  }
  AlertRaise alert = AboutJob(state, "backfill_finished", "info", job, row.backfill_id);
  alert.summary = job.row.name + ": the backfill from " + FormatDate(row.from) + " to " +
                  FormatDate(row.to) + " ended " + std::string(Name(row.state)) + ": " +
                  std::to_string(done) + " done, " + std::to_string(failed) + " failed, " +
                  std::to_string(row.dates.size() - done - failed) + " settled by others";
  alert.detail = "Date by date: tidemark backfill get " + row.backfill_id;
  Raise(state, std::move(alert));
}

void BackfillStopped(State& state, const JobState& job, const Backfill& backfill,
                     absl::CivilDay date) {
  AlertRaise alert = About(state, "backfill_stopped", "warning",
                           "backfill_stopped/" + backfill.backfill_id + "/" + FormatDate(date));
  alert.ns = job.row.ns;
  alert.job_name = job.row.name;
  alert.biz_date = date;
  alert.summary = job.row.name + ": the backfill stopped at " + FormatDate(date);
  alert.detail =
      "Order strict: nothing after a date that fails. Mend the cause, then: tidemark "
      "backfill resume " +
      backfill.backfill_id + "; or give it up: tidemark backfill cancel " + backfill.backfill_id;
  Raise(state, std::move(alert));
}

void JobInError(State& state, const JobState& job) {
  AlertRaise alert = AboutJob(state, "job_error", "critical", job, std::to_string(job.row.version));
  alert.summary = job.row.name + " cannot be scheduled: " + job.error;
  alert.detail = "Only this job is affected. Mend its definition: tidemark job apply -f FILE";
  Raise(state, std::move(alert));
}

void JobMended(State& state, const JobState& job) {
  Resolve(state, "job_error/" + std::to_string(job.row.job_id) + "/");
}

void ClockLeap(State& state, absl::Duration step) {
  const bool back = step < absl::ZeroDuration();
  AlertRaise alert = About(
      state, "clock_leap", "critical",
      "clock_leap/" + FormatInstant(absl::FromUnixSeconds(absl::ToUnixSeconds(state.now.lo))));
  alert.summary = "The database's clock leapt " + std::string(back ? "back" : "ahead") + " by " +
                  DurationText(absl::AbsDuration(step)) + ": nothing fires until it is trusted";
  alert.detail =
      "Firing goes on by itself once a second look at the clock says the same, within seconds. "
      "Look at the clock of the database's machine (timedatectl), and whether it failed over.";
  Raise(state, std::move(alert));
}

void ClockTrusted(State& state) { Resolve(state, "clock_leap/"); }

void ExecutorIdShared(State& state, const ExecutorSession& acting, const ExecutorSession& waiting) {
  AlertRaise alert =
      About(state, "executor_id_shared", "critical",
            "executor_id_shared/" + waiting.hello.executor_id + "/" + waiting.hello.incarnation);
  alert.ns = waiting.hello.ns;
  alert.summary = "Two processes have the executor id " + waiting.hello.executor_id + ": " +
                  acting.hello.host + " acts, " + waiting.hello.host + " waits";
  alert.detail = "Give each process an executor id of its own (--executor-id), or stop one.";
  Raise(state, std::move(alert));
}

void ExecutorIdUnique(State& state, const std::string& executor_id) {
  Resolve(state, "executor_id_shared/" + executor_id + "/");
}

void LateSuccess(State& state, const RunReport& report, const ActiveRun& run) {
  const std::string attempt = std::to_string(report.attempt.attempt);
  AlertRaise alert =
      About(state, "late_success", "warning", "late_success/" + run.run_id + "/" + attempt);
  alert.ns = run.ns;
  alert.job_name = run.job_name;
  alert.biz_date = run.biz_date;
  alert.run_id = run.run_id;
  alert.summary = Subject(run) + ": attempt " + attempt + " in " + run.executor_id +
                  " reports success after it was given up";
  alert.detail = "The report changes nothing: what came after it decides. Look: tidemark run get " +
                 run.run_id;
  Raise(state, std::move(alert));
}

}  // namespace tidemark::alerts
