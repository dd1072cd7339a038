#include "scheduler/engine/alert_parts.h"

#include <algorithm>
#include <utility>

#include "common/safe_text.h"
#include "common/time_text.h"

namespace tidemark::alerts {
namespace {

bool HasPrefix(const std::string& key, const std::string& prefix) {
  return key.compare(0, prefix.size(), prefix) == 0;
}

}  // namespace

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
  AlertRaise alert =
      About(state, kind, std::move(severity), JobPrefix(kind, job.row.job_id) + episode);
  alert.ns = job.ns();
  alert.job_name = job.name();
  return alert;
}

void Raise(State& state, AlertRaise alert) {
  // In a flush the resolutions come last: what is told again after one stays open.
  std::erase_if(state.flush.resolves,
                [&](const AlertResolve& r) { return HasPrefix(alert.dedup_key, r.prefix); });
  state.open_alerts.insert(alert.dedup_key);
  state.flush.alerts.push_back(std::move(alert));
}

void Tell(State& state, AlertRaise alert) {
  alert.event = true;
  state.flush.alerts.push_back(std::move(alert));
}

void Resolve(State& state, std::string prefix) {
  const auto first = state.open_alerts.lower_bound(prefix);
  auto last = first;
  while (last != state.open_alerts.end() && HasPrefix(*last, prefix)) ++last;
  if (first == last) return;
  state.open_alerts.erase(first, last);
  state.flush.resolves.push_back({std::move(prefix)});
}

std::vector<std::string> OpenOnes(const State& state, const std::string& prefix) {
  std::vector<std::string> keys;
  for (auto it = state.open_alerts.lower_bound(prefix);
       it != state.open_alerts.end() && HasPrefix(*it, prefix); ++it) {
    keys.push_back(*it);
  }
  return keys;
}

std::string JobPrefix(const std::string& kind, int64_t job_id) {
  return kind + "/" + std::to_string(job_id) + "/";
}

std::string Subject(const ActiveRun& run) {
  if (run.biz_date.has_value()) return run.job_name + " " + FormatDate(*run.biz_date);
  return run.job_name + " at " + FormatInstant(run.fire_time);
}

std::string RangeOf(const JobState& job, absl::CivilDay from, absl::CivilDay to) {
  return ShellWord(job.name()) + " --from " + FormatDate(from) + " --to " + FormatDate(to);
}

}  // namespace tidemark::alerts
