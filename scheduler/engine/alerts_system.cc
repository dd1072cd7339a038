// Alerts about executors and the clock.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "common/time_text.h"
#include "scheduler/engine/alert_parts.h"
#include "scheduler/engine/alerts.h"

namespace tidemark::alerts {

namespace {

// At most so many runs or jobs are named one by one.
constexpr size_t kNamed = 5;

std::string Named(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < kNamed; ++i) {
    text += (text.empty() ? "" : ", ") + names[i];
  }
  if (names.size() > kNamed) text += " and " + std::to_string(names.size() - kNamed) + " more";
  return text;
}

}  // namespace

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

namespace {

std::string LostKey(const ActiveRun& run) {
  return "executor_lost/" + run.executor_id + "/" + std::to_string(run.registration) + "/";
}

bool SameProcess(const ActiveRun& a, const ActiveRun& b) {
  return a.executor_id == b.executor_id && a.registration == b.registration;
}

}  // namespace

void ExecutorLost(State& state, const ActiveRun& run, absl::Duration silent) {
  const std::string key = LostKey(run);
  if (state.open_alerts.contains(key)) return;
  std::vector<std::string> subjects;
  bool retried = false;
  bool waits = false;
  for (const auto& [run_id, live] : state.runs) {
    if (!SameProcess(live.row, run)) continue;
    subjects.push_back(Subject(live.row));
    (live.row.on_lost == OnLost::kRetry ? retried : waits) = true;
  }
  std::sort(subjects.begin(), subjects.end());
  AlertRaise alert = About(state, "executor_lost", "warning", key);
  alert.ns = run.ns;
  alert.job_name = run.job_name;
  alert.biz_date = run.biz_date;
  alert.run_id = run.run_id;
  alert.summary = "Executor " + run.executor_id + " of app " + run.app + " is lost: no sign of " +
                  "life for " + DurationText(silent) + "; it has " + Named(subjects);
  alert.detail = "Its host is " + run.executor_host + ". ";
  if (retried) {
    alert.detail +=
        "What can be stopped is tried again elsewhere by itself once timeouts.lost_after is over. ";
  }
  if (waits) {
    alert.detail +=
        "What cannot be stopped waits until that process reports or is started again with the "
        "same executor id. ";
  }
  alert.detail += "Look: tidemark executor list; tidemark run get " + run.run_id;
  Raise(state, std::move(alert));
}

void ExecutorFound(State& state, const std::string& executor_id, const std::string& app) {
  Resolve(state, "executor_lost/" + executor_id + "/");
  Resolve(state, "app_down/" + app + "/");
}

void ExecutorFreed(State& state, const ActiveRun& run) {
  const std::string key = LostKey(run);
  if (!state.open_alerts.contains(key)) return;
  for (const auto& [run_id, live] : state.runs) {
    if (run_id != run.run_id && SameProcess(live.row, run)) return;
  }
  Resolve(state, key);
}

void AppDown(State& state, const std::string& app, const std::vector<const JobState*>& jobs,
             absl::Duration down) {
  const std::string key = "app_down/" + app + "/";
  if (state.open_alerts.contains(key)) return;
  std::vector<std::string> names;
  const JobState* first = nullptr;
  for (const JobState* job : jobs) {
    names.push_back(job->name());
    if (!job->next_fire.has_value()) continue;
    if (first == nullptr || job->next_fire < first->next_fire) first = job;
  }
  std::sort(names.begin(), names.end());
  AlertRaise alert = About(state, "app_down", "warning", key);
  alert.ns = jobs.front()->ns();
  alert.summary = "No executor of app " + app + " is up for " + DurationText(down) +
                  "; its jobs: " + Named(names);
  alert.detail =
      "Nothing of it is lost: what comes due waits, and starts within a second of an "
      "executor coming up. ";
  if (first != nullptr) {
    alert.detail += "Next due: " + first->name() + " at " +
                    FormatInstant(*first->next_fire, first->timeline().current().zone()) + ". ";
  }
  alert.detail += "Start one; look: tidemark executor list";
  state.apps_told.insert(app);
  Raise(state, std::move(alert));
}

void OnlyAppsDown(State& state, const std::set<std::string>& wanted) {
  for (const std::string& key : OpenOnes(state, "app_down/")) {
    const std::string app = key.substr(9, key.size() - 10);
    // Its jobs may be another node's, which told it and knows when it is over.
    const bool ours = state.shards.size() == kShards || state.apps_told.contains(app);
    if (!wanted.contains(app) && ours) Resolve(state, key);
  }
}

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

void OnlyIdsShared(State& state, const std::set<std::string>& shared) {
  const std::string prefix = "executor_id_shared/";
  for (const std::string& key : OpenOnes(state, prefix)) {
    if (!shared.contains(key.substr(prefix.size()))) Resolve(state, key);
  }
}

}  // namespace tidemark::alerts
