// Alerts about runs.
#include "common/safe_text.h"
#include "common/time_text.h"
#include "scheduler/engine/alert_parts.h"
#include "scheduler/engine/alerts.h"

namespace tidemark::alerts {

namespace {

// The occurrence is part of the key: a later success of it ends all of them.
std::string FailedKey(const ActiveRun& run) {
  return JobPrefix("run_failed", run.occurrence.job_id) + run.occurrence.key + "/" + run.run_id;
}

// "executor e1 (host)"
std::string Where(const ActiveRun& run) {
  return "executor " + run.executor_id +
         (run.executor_host.empty() ? "" : " (" + run.executor_host + ")");
}

}  // namespace

void RunFailed(State& state, const ActiveRun& run, const std::string& why, bool keeps_done) {
  AlertRaise alert = AboutRun(state, "run_failed", keeps_done ? "warning" : "critical", run);
  alert.dedup_key = FailedKey(run);
  alert.summary = Subject(run) + " FAILED (" + why + ") after " +
                  std::to_string(run.failed_attempts) + " failed and " +
                  std::to_string(run.lost_attempts) + " lost attempts";
  alert.detail = "Last message: " + (run.message.empty() ? "none" : run.message) + ". ";
  if (keeps_done) {
    alert.detail +=
        "It was a rerun: the date stays DONE with the earlier result, and nothing opens it again. "
        "To try once more: tidemark run rerun " +
        run.run_id + " --force";
    Tell(state, std::move(alert));
    return;
  }
  if (run.biz_date.has_value()) {
    alert.detail +=
        "It is opened again at the job's next fire, and when a new version of the app registers. "
        "At once: tidemark run rerun " +
        run.run_id;
  } else {
    alert.detail +=
        "It stays as it is; the job goes on with its next fire. To run it again: tidemark run "
        "rerun " +
        run.run_id;
  }
  Raise(state, std::move(alert));
}

void RunReaped(State& state, const ActiveRun& run, absl::Duration silent) {
  AlertRaise alert = AboutRun(state, "run_reaped", "critical", run);
  alert.summary = Subject(run) + " is FAILED (held): no sign of life for " + DurationText(silent);
  alert.detail = "It may still be running in " + Where(run) +
                 ", so nothing opens it again until that process reports or a new one of the same "
                 "executor id registers. Look there; to stop it: tidemark run cancel " +
                 run.run_id + "; if it is known not to run any more: tidemark run release " +
                 run.run_id + " --force --reason \"how you know\"";
  Raise(state, std::move(alert));
}

void RunHeld(State& state, const ActiveRun& run, const std::string& cause, absl::Duration since) {
  AlertRaise alert = AboutRun(state, "run_held", "critical", run);
  alert.summary =
      Subject(run) + " does not end: told to stop " + DurationText(since) + " ago (" + cause + ")";
  alert.detail = "It may still be running in " + Where(run) +
                 ", so nothing opens it again before that executor says that it has ended; it is "
                 "told again by itself. Look there, and end the process if the handler hangs; if "
                 "it is known not to run any more: tidemark run release " +
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

void ReapedNoMore(State& state, const ActiveRun& run) {
  Resolve(state, "run_reaped/" + run.run_id);
}

void AttemptOver(State& state, const ActiveRun& run) {
  Resolve(state, "run_held/" + run.run_id);
  Resolve(state, "run_long/" + run.run_id);
}

void RunOver(State& state, const ActiveRun& run, RunStatus status) {
  ExecutorsBack(state, run);
  LockTaken(state, run);
  ReapedNoMore(state, run);
  AttemptOver(state, run);
  if (status != RunStatus::kCompleted) return;
  // Of an interval job the next success says that it works again.
  const std::string prefix = JobPrefix("run_failed", run.occurrence.job_id);
  Resolve(state, run.biz_date.has_value() ? prefix + run.occurrence.key + "/" : prefix);
}

void CommitsLost(State& state, const ActiveRun& run, const std::string& what) {
  AlertRaise alert = About(state, "commits_lost", "critical",
                           "commits_lost/" + run.run_id + "/" + std::to_string(run.attempt));
  alert.ns = run.ns;
  alert.job_name = run.job_name;
  alert.biz_date = run.biz_date;
  alert.run_id = run.run_id;
  alert.summary = Subject(run) + ": the database lost " + what + " in its fail-over; " +
                  run.executor_id + " still has it, and it is followed again";
  alert.detail =
      "The new primary lacks the last commits of the old one. What runs was put back from what "
      "executors say; orders, waivers and edits of the last seconds before the fail-over are gone: "
      "look whether yours are there, and give them again. Look: tidemark run get " +
      run.run_id + "; synchronous replication (see the README) loses nothing.";
  Tell(state, std::move(alert));
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
  Tell(state, std::move(alert));
}

}  // namespace tidemark::alerts
