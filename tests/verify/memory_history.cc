#include "tests/verify/memory_history.h"

#include <algorithm>
#include <map>

#include "scheduler/rpc/verify_codec.h"

namespace tidemark {
namespace {

verify::Run RunOf(const ActiveRun& row) {
  verify::Run run;
  run.run_id = row.run_id;
  run.kind = row.occurrence.kind;
  run.occurrence = row.occurrence.key;
  run.biz_date = row.biz_date;
  run.fire_time = row.fire_time;
  run.job_version = row.job_version;
  run.trigger = std::string(Name(row.trigger));
  run.tag = row.tag;
  run.requested_by = row.requested_by;
  run.rerun_of = row.rerun_of;
  run.created_at = row.created_at;
  run.status = std::string(Name(row.status));
  return run;
}

void AddRuns(const MemoryStore& store, verify::History& history) {
  std::map<std::string, std::vector<verify::Attempt>> attempts;
  for (const AttemptEnd& end : store.attempts) {
    attempts[end.attempt.run_id].push_back(
        {end.attempt.attempt, end.sent_at, end.ended_at, end.outcome});
  }
  for (const MemoryStore::Ended& ended : store.history) {
    if (ended.run.occurrence.job_id != history.job_id) continue;
    verify::Run run = RunOf(ended.run);
    run.status = std::string(Name(ended.status));
    run.ended_at = ended.ended_at;
    run.attempts = attempts[run.run_id];
    history.runs.push_back(std::move(run));
  }
  for (const auto& [key, row] : store.active) {
    if (key.job_id != history.job_id || (row.armed && row.fire_time > history.now)) continue;
    verify::Run run = RunOf(row);
    run.attempts = attempts[run.run_id];
    if (!row.executor_id.empty()) run.attempts.push_back({row.attempt, row.sent_at, {}, ""});
    history.runs.push_back(std::move(run));
  }
}

void AddMarks(const MemoryStore& store, verify::History& history) {
  for (const auto& [key, mark] : store.watermarks) {
    if (key.first != history.job_id) continue;
    history.marks[key.second] = {mark.status, mark.reason, "", mark.actor, mark.run_id, mark.at};
  }
}

void AddDefinitions(const JobRow& job, const std::function<JobSpec(const std::string&)>& spec_of,
                    verify::History& history) {
  history.name = job.name;
  history.error = job.error;
  history.ledger_from = job.ledger_from;
  for (const JobRow::Version& version : job.versions) {
    history.definitions.push_back(
        ToVerify(version.version, version.valid_from, spec_of(version.spec)));
  }
  history.calendars = ToVerify(job.calendars.get());
}

void AddUpstreams(const MemoryStore& store,
                  const std::function<JobSpec(const std::string&)>& spec_of,
                  verify::History& history) {
  const JobSpec newest = spec_of(store.jobs.at(history.job_id).versions.back().spec);
  for (const Dependency& d : newest.after) {
    verify::Upstream upstream;
    upstream.offset = d.offset;
    upstream.history.name = d.job;
    for (const auto& [id, job] : store.jobs) {
      if (job.name != d.job) continue;
      upstream.history.job_id = id;
      AddDefinitions(job, spec_of, upstream.history);
      AddMarks(store, upstream.history);
    }
    history.upstreams.push_back(std::move(upstream));
  }
}

}  // namespace

verify::History HistoryOf(const MemoryStore& store, int64_t job_id, absl::Time now,
                          const std::function<JobSpec(const std::string&)>& spec_of) {
  const JobRow& job = store.jobs.at(job_id);
  verify::History history;
  history.job_id = job_id;
  history.paused = job.paused;
  history.cursor = job.cursor;
  history.now = now;
  AddDefinitions(job, spec_of, history);
  AddMarks(store, history);
  AddUpstreams(store, spec_of, history);
  AddRuns(store, history);
  if (const auto spans = store.pauses.find(job_id); spans != store.pauses.end()) {
    for (const MemoryStore::Pause& pause : spans->second) {
      history.pauses.push_back({pause.from, pause.to});
    }
  }
  for (size_t i = 0; i < store.skipped.size(); ++i) {
    const SkippedRange& range = store.skipped[i];
    if (range.job_id != job_id) continue;
    history.skips.push_back({range.from, range.to, range.fires, range.reason, store.skipped_at[i]});
  }
  for (const MemoryStore::Undone& undone : store.undone) {
    if (undone.job_id != job_id) continue;
    history.undone.push_back({undone.date, undone.mark.status, undone.mark.at, undone.at});
  }
  for (const AlertRaise& alert : store.all_alerts) {
    if (alert.job_name != job.name) continue;
    history.notices.push_back(
        {alert.kind, alert.biz_date, now, store.alerts.contains(alert.dedup_key)});
  }
  return history;
}

}  // namespace tidemark
