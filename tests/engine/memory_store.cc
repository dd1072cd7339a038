#include <algorithm>

#include "common/time_text.h"
#include "tests/engine/harness.h"

namespace tidemark {

FlushResult MemoryStore::Apply(const Flush& flush) {
  FlushResult result;
  result.seq = flush.seq;
  for (const ExecutorRegister& row : flush.registers) result.registered.push_back(Register(row));
  std::vector<const RunClose*> opened_here;
  for (const RunClose& close : flush.closes) {
    if (!Close(close, result)) opened_here.push_back(&close);
  }
  for (const Disarm& disarm : flush.disarms) {
    std::erase_if(active, [&](const auto& entry) {
      return entry.second.run_id == disarm.run_id && entry.second.armed;
    });
  }
  for (const RunSkip& skip : flush.skips) {
    history.push_back({skip.run, RunStatus::kSkipped, skip.status_reason, {}, skip.ended_at});
  }
  for (const RunOpen& open : flush.opens) Open(open, result);
  for (const RunClose* close : opened_here) Close(*close, result);
  for (const RunLaunch& launch : flush.launches) {
    for (const auto& [key, run] : active) {
      if (run.run_id == launch.run_id) MarkRunning(run);
    }
  }
  for (const RunUpdate& update : flush.updates) {
    const auto it = active.find(update.run.occurrence);
    if (it == active.end() || it->second.run_id != update.run.run_id) continue;
    it->second = update.run;
    it->second.armed = false;
    result.updated.insert(update.run.run_id);
  }
  for (const AttemptEnd& attempt : flush.attempts) attempts.push_back(attempt);
  for (const WatermarkWrite& write : flush.watermarks) {
    Watermark& mark = watermarks[{write.job_id, write.date}];
    const bool settled =
        mark.status == "DONE" || mark.status == "WAIVED" || mark.status == "EXPIRED";
    if (write.only_if_unsettled && settled) continue;
    if (write.status.empty()) {
      DeleteWatermark(write.job_id, write.date);
      continue;
    }
    if (mark.status != write.status) NoteUndone(write.job_id, write.date);
    mark.status = write.status;
    mark.reason = write.reason;
    mark.note = write.note;
    mark.actor = write.actor;
    mark.at = now;
  }
  for (const DueNote& note : flush.notes) {
    if (note.anew) due[note.job_id].clear();
    for (const auto& [date, fire_time] : note.dates) due[note.job_id].insert(date);
    jobs[note.job_id].due_until = note.until;
  }
  for (const CursorWrite& write : flush.cursors) {
    std::optional<absl::Time>& cursor = jobs[write.job_id].cursor;
    cursor =
        write.reset ? write.last_fire : std::max(cursor.value_or(write.last_fire), write.last_fire);
  }
  for (const SkippedRange& range : flush.skipped) {
    skipped.push_back(range);
    skipped_at.push_back(now);
  }
  for (const JobUpdate& update : flush.jobs) UpdateJob(update);
  for (const ExecutorState& row : flush.executors) {
    if (!row.drained.has_value()) continue;
    if (*row.drained) drained.insert(row.executor_id);
    if (!*row.drained) drained.erase(row.executor_id);
  }
  for (const VerdictWrite& verdict : flush.verdicts) {
    const bool fresh =
        verdicts.try_emplace({verdict.job_id, verdict.date}, Verdict{verdict, {}, now}).second;
    if (fresh && verdict.alert.has_value()) Raise(*verdict.alert);
  }
  for (const VerdictSettled& settled : flush.verdicts_settled) {
    const auto it = verdicts.find({settled.job_id, settled.date});
    if (it != verdicts.end() && !it->second.settled_at) it->second.settled_at = now;
  }
  for (const AlertRaise& alert : flush.alerts) Raise(alert);
  for (const AlertResolve& resolve : flush.resolves) {
    std::erase_if(alerts, [&](const auto& entry) {
      const bool over = entry.first.compare(0, resolve.prefix.size(), resolve.prefix) == 0;
      if (over) ended.push_back(entry.first);
      return over;
    });
  }
  for (const Audit& audit : flush.audits) audits.push_back(audit);
  for (const CascadeOrder& cascade : flush.cascades) Cascade(cascade);
  for (const UpstreamNews& told : flush.news) {
    if (after.contains(told.job_name)) news.push_back(told.job_name);
  }
  for (const DrillWrite& drill : flush.drills) {
    drills.push_back(drill);
    for (const absl::CivilDay date : drill.dates) {
      NoteUndone(drill.job_id, date);
      watermarks.erase({drill.job_id, date});
    }
  }
  for (const BackfillWrite& write : flush.backfills) {
    Backfill& row = backfills[write.row.backfill_id];
    if (!row.ended_at.has_value()) row = write.row;
  }
  for (const CommandDone& done : flush.commands) commands[done.command_id] = done;
  for (const InboxWrite& write : flush.inbox) TakeIn(write);
  for (const AttemptRef& taken : flush.inbox_taken) {
    std::erase_if(inbox, [&](const auto& row) { return row.second.attempt == taken; });
  }
  return result;
}

void MemoryStore::Raise(const AlertRaise& alert) {
  const bool fresh = alert.event ? told.insert(alert.dedup_key).second
                                 : alerts.try_emplace(alert.dedup_key, alert).second;
  if (fresh) all_alerts.push_back(alert);
}

void MemoryStore::TakeIn(const InboxWrite& write) {
  const InboxItem& item = write.item;
  const bool known = std::any_of(inbox.begin(), inbox.end(), [&](const auto& row) {
    return row.second.attempt == item.attempt;
  });
  if (known) return;
  for (const auto& [key, run] : active) {
    const bool live = run.run_id == item.attempt.run_id && run.attempt == item.attempt.attempt &&
                      run.app == write.app && run.ns == write.ns &&
                      (item.registration == 0 || item.registration == run.registration);
    if (live) inbox.emplace_back(run.shard, item);
  }
}

bool MemoryStore::Close(const RunClose& close, FlushResult& result) {
  const auto it = active.find(close.run.occurrence);
  if (it == active.end() || it->second.run_id != close.run_id) return false;
  active.erase(it);
  history.push_back({close.run, close.status, close.status_reason, close.result, close.ended_at});
  result.closed.insert(close.run_id);
  if (close.watermark.empty()) return true;
  Watermark& mark = watermarks[{close.run.occurrence.job_id, *close.run.biz_date}];
  if (close.watermark == "FAILED" && mark.status == "DONE") return true;
  if (!mark.actor.empty()) NoteUndone(close.run.occurrence.job_id, *close.run.biz_date);
  mark.status = close.watermark;
  mark.reason = close.status_reason;
  mark.run_id = close.run_id;
  mark.digest = close.result.result_digest;
  mark.actor.clear();
  mark.at = now;
  return true;
}

void MemoryStore::NoteUndone(int64_t job_id, absl::CivilDay date) {
  const Watermark& mark = watermarks[{job_id, date}];
  if (mark.status != "DONE" && mark.status != "WAIVED" && mark.status != "EXPIRED") return;
  undone.push_back({job_id, date, mark, now});
}

void MemoryStore::DeleteWatermark(int64_t job_id, absl::CivilDay date) {
  NoteUndone(job_id, date);
  watermarks.erase({job_id, date});
}

void MemoryStore::Open(const RunOpen& open, FlushResult& result) {
  if (!active.try_emplace(open.run.occurrence, open.run).second) return;
  result.opened.insert(open.run.run_id);
  if (!open.run.biz_date.has_value() || open.run.armed || !MarkRunning(open.run)) return;
  if (open.count_reopening_on.empty()) return;
  Watermark& mark = watermarks[{open.run.occurrence.job_id, *open.run.biz_date}];
  mark.reopened = mark.reopened_on == open.count_reopening_on ? mark.reopened + 1 : 1;
  mark.reopened_on = open.count_reopening_on;
}

bool MemoryStore::MarkRunning(const ActiveRun& run) {
  Watermark& mark = watermarks[{run.occurrence.job_id, *run.biz_date}];
  if (mark.status == "DONE") return false;
  NoteUndone(run.occurrence.job_id, *run.biz_date);
  mark.status = "RUNNING";
  mark.reason.clear();
  mark.actor.clear();
  mark.at = now;
  mark.run_id = run.run_id;
  return true;
}

ExecutorRegistered MemoryStore::Register(const ExecutorRegister& row) {
  ExecutorRegistered answer;
  answer.session = row.session;
  auto& [registration, incarnation] = executors[row.executor_id];
  const std::string key = row.executor_id + "/" + row.incarnation;
  if (row.claimed > registration) {  // lost with a fail-over
    registration = row.claimed;
    incarnation = row.incarnation;
    incarnations[key] = registration;
  }
  if (incarnation == row.incarnation) {
    answer.kind = ExecutorRegistered::Kind::kSame;
  } else if (incarnations.contains(key) || (row.claimed != 0 && row.claimed < registration)) {
    answer.kind = ExecutorRegistered::Kind::kSuperseded;
  } else {
    ++registration;
    incarnation = row.incarnation;
    incarnations[key] = registration;
  }
  answer.registration = registration;
  answer.drained = drained.contains(row.executor_id);
  return answer;
}

void MemoryStore::Cascade(const CascadeOrder& cascade) {
  const auto [begin, end] = after.equal_range(cascade.job_name);
  for (auto it = begin; it != end; ++it) {
    const auto [job_id, offset] = it->second;
    Command order;
    order.command_id = "cascade" + std::to_string(++cascades);
    order.job_id = job_id;
    order.kind = "rerun";
    order.args = {{"from", FormatDate(cascade.from - offset)},
                  {"to", FormatDate(cascade.to - offset)},
                  {"force", "true"},
                  {"cascade", "true"},
                  {"reason", cascade.reason}};
    order.actor = cascade.actor;
    orders.push_back(std::move(order));
  }
}

void MemoryStore::UpdateJob(const JobUpdate& update) {
  JobRow& job = jobs[update.job_id];
  if (update.paused.has_value()) {
    job.paused = *update.paused;
    job.pause = nullptr;
    if (job.paused) {
      job.pause = std::make_shared<const JobRow::Pause>(
          JobRow::Pause{now, update.pause_reason, update.paused_by});
    }
    std::vector<Pause>& spans = pauses[update.job_id];
    if (!*update.paused && !spans.empty() && !spans.back().to) spans.back().to = now;
    if (*update.paused && (spans.empty() || spans.back().to)) spans.push_back({now, {}});
  }
  if (update.ledger_from.has_value()) job.ledger_from = update.ledger_from;
  if (update.error.has_value()) job.error = *update.error;
  if (update.checked_until.has_value()) {
    job.checked_until =
        std::max(job.checked_until.value_or(*update.checked_until), *update.checked_until);
  }
  if (update.finished.has_value()) job.finished = *update.finished;
  if (update.deleted) jobs.erase(update.job_id);
}

LedgerResult MemoryStore::Answer(const LedgerQuery& query) const {
  LedgerResult result;
  result.query_id = query.query_id;
  result.job_id = query.job_id;
  const std::set<absl::CivilDay> asked(query.dates.begin(), query.dates.end());
  std::set<absl::CivilDay> dates = asked;
  if (const auto noted = due.find(query.job_id); query.noted && noted != due.end()) {
    dates.insert(noted->second.begin(), noted->second.end());
  }
  for (const absl::CivilDay date : dates) {
    LedgerEntry entry;
    entry.date = date;
    const auto it = watermarks.find({query.job_id, date});
    if (it != watermarks.end()) {
      const Watermark& mark = it->second;
      entry.status = mark.status;
      entry.reason = mark.reason;
      entry.run_id = mark.run_id;
      entry.reopened = mark.reopened;
      entry.reopened_on = mark.reopened_on;
      entry.fingerprint = !mark.digest.empty();
    }
    entry.checked = query.check && verdicts.contains({query.job_id, date});
    entry.drill = entry.status != "DONE" && InDrill(query.job_id, date);
    const bool settled = IsSettled(entry.status, entry.reason);
    if ((query.all && asked.contains(date)) || !settled) result.entries.push_back(entry);
    if (entry.status != "DONE") AddUpstream(query, date, result);
  }
  for (const auto& [id, job] : jobs) {
    if (std::count(query.foreign.begin(), query.foreign.end(), job.name) > 0) {
      result.foreign.push_back(job);
    }
  }
  return result;
}

void MemoryStore::AddUpstream(const LedgerQuery& query, absl::CivilDay date,
                              LedgerResult& result) const {
  for (const Dependency& d : query.after) {
    UpstreamEntry entry;
    entry.for_date = date;
    entry.job = d.job;
    entry.date = date + d.offset;
    for (const auto& [id, job] : jobs) {
      const auto it = watermarks.find({id, entry.date});
      if (job.name != d.job || it == watermarks.end()) continue;
      entry.status = it->second.status;
      entry.reason = it->second.reason;
    }
    result.upstream.push_back(std::move(entry));
  }
}

bool MemoryStore::InDrill(int64_t job_id, absl::CivilDay date) const {
  for (const DrillWrite& drill : drills) {
    if (drill.job_id != job_id || std::count(drill.dates.begin(), drill.dates.end(), date) == 0) {
      continue;
    }
    const bool filled = std::any_of(history.begin(), history.end(), [&](const Ended& ended) {
      return ended.run.occurrence.job_id == job_id && ended.run.biz_date == date &&
             ended.status == RunStatus::kCompleted && ended.run.created_at >= drill.started_at;
    });
    if (!filled) return true;
  }
  return false;
}

Snapshot MemoryStore::Load(const std::set<int>* only) const {
  Snapshot snapshot;
  const auto wanted = [&](int shard) { return only == nullptr || only->contains(shard); };
  for (const auto& [id, job] : jobs) {
    if (wanted(job.shard)) snapshot.jobs.push_back(job);
  }
  for (const auto& [key, run] : active) {
    if (wanted(run.shard)) snapshot.runs.push_back(run);
  }
  for (const auto& [key, alert] : alerts) snapshot.open_alerts.insert(key);
  LoadBackfills(snapshot);
  std::erase_if(snapshot.backfills, [&](const OpenBackfill& backfill) {
    return !wanted(jobs.at(backfill.row.job_id).shard);
  });
  snapshot.unsettled = Unsettled();
  return snapshot;
}

std::vector<int64_t> MemoryStore::Unsettled() const {
  std::vector<int64_t> unsettled;
  for (const auto& [job_id, dates] : due) {
    const bool all = std::all_of(dates.begin(), dates.end(), [&](absl::CivilDay date) {
      const auto it = watermarks.find({job_id, date});
      return it != watermarks.end() && IsSettled(it->second.status, it->second.reason);
    });
    if (!all) unsettled.push_back(job_id);
  }
  return unsettled;
}

void MemoryStore::LoadBackfills(Snapshot& snapshot) const {
  for (const auto& [id, row] : backfills) {
    if (row.ended_at.has_value() || !jobs.contains(row.job_id)) continue;
    OpenBackfill open{row, {}};
    for (const Ended& ended : history) {
      if (ended.run.backfill_id != id) continue;
      const bool again = row.resumed_at.has_value() && ended.ended_at <= *row.resumed_at;
      open.tried[*ended.run.biz_date] = ended.status == RunStatus::kCompleted
                                            ? OpenBackfill::Tried::kDone
                                        : again ? OpenBackfill::Tried::kAgain
                                                : OpenBackfill::Tried::kFailed;
    }
    snapshot.backfills.push_back(std::move(open));
  }
}

}  // namespace tidemark
