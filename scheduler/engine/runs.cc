// Opening and dispatching. Reports are in run_reports.cc, deadlines in run_timers.cc.
#include "scheduler/engine/runs.h"

#include <algorithm>
#include <utility>

#include "common/time_text.h"
#include "scheduler/core/blocking.h"
#include "scheduler/engine/alerts.h"
#include "scheduler/engine/arming.h"
#include "scheduler/engine/gaps.h"
#include "scheduler/engine/sessions.h"

namespace tidemark {

ActiveRun Runs::NewRow(const JobState& job, const RunRequest& request, std::string run_id,
                       absl::Time created_at) {
  ActiveRun row;
  row.occurrence = request.key;
  row.run_id = std::move(run_id);
  row.shard = job.row.shard;
  row.ns = job.ns();
  row.job_name = job.name();
  row.app = job.spec().app;
  row.handler = job.spec().handler;
  row.job_version = job.row.version;
  if (job.timeline().dated()) row.biz_date = request.occurrence.biz_date;
  row.nominal = request.occurrence.nominal;
  row.fire_time = request.occurrence.fire_time;
  row.trigger = request.trigger;
  row.tag = request.tag;
  row.request_id = request.request_id;
  row.requested_by = request.requested_by;
  row.reason = request.reason;
  row.rerun_of = request.rerun_of;
  row.wanted_executor = request.wanted_executor;
  row.params = request.params;
  row.backfill_id = request.backfill_id;
  row.created_at = created_at;
  return row;
}

std::string Runs::Launch(JobState& job, const RunRequest& request) {
  const BlockingDecision decision =
      DecideBlocking(job.spec().blocking, static_cast<int>(job.runs().size()));
  if (decision.kind == BlockingDecision::Kind::kSkip) return Skip(job, request, decision.reason);
  std::set<std::string> earlier;
  if (decision.kind == BlockingDecision::Kind::kCover) earlier = job.runs();
  const std::string run_id = Open(job, request);
  for (const std::string& covered : earlier) {
    if (LiveRun* run = s_.FindRun(covered)) CancelForLater(*run);
  }
  return run_id;
}

std::string Runs::Skip(JobState& job, const RunRequest& request, const std::string& reason) {
  RunSkip skip;
  skip.run = NewRow(job, request, s_.NewId(), s_.now.lo);
  skip.status_reason = reason;
  skip.ended_at = s_.now.lo;
  const std::string run_id = skip.run.run_id;
  ++s_.tally.apps[skip.run.app].ended[RunStatus::kSkipped];
  s_.Say(LogLine::Level::kWarn, "run skipped",
         {{"run_id", run_id},
          {"job", job.name()},
          {"occurrence", request.key.key},
          {"reason", reason}});
  s_.flush.skips.push_back(std::move(skip));
  return run_id;
}

// cover_early: the later run starts when this one is released, which the order of runs sees to.
void Runs::CancelForLater(LiveRun& run) {
  if (!run.row.cancel_by.empty()) return;
  Cancel(run, "cover_early", "a later run of the job covers it", "");
}

std::string Runs::Open(JobState& job, const RunRequest& request) {
  s_.arm_part->Disarm(job);  // a run made now goes before one that is not due yet
  const std::string run_id = s_.NewId();
  LiveRun& run = s_.runs[run_id];
  run.row = NewRow(job, request, run_id, s_.now.lo);
  run.phase = RunPhase::kOpening;
  run.waiting_since = s_.now.mono;
  run.not_before = s_.now.mono;
  s_.Extra(job).runs.insert(run_id);
  if (run.row.biz_date.has_value()) s_.gap_part->WriteUnderWay(job, /*verdict=*/false);

  if (ItsTurn(run, job) && WithinBudget(run, job)) {
    if (ExecutorSession* session = s_.session_part->Choose(run, job)) Assign(run, job, *session);
  }
  RunOpen open;
  open.run = run.row;
  if (request.counts_reopening) {
    open.count_reopening_on = FormatDate(absl::ToCivilDay(s_.now.lo, absl::UTCTimeZone()));
  }
  s_.flush.opens.push_back(std::move(open));
  s_.OnCommit([this, run_id](const FlushResult& result) { OnOpened(run_id, result); });
  return run_id;
}

void Runs::OnOpened(const std::string& run_id, const FlushResult& result) {
  LiveRun* run = s_.FindRun(run_id);
  if (run == nullptr) return;
  if (!result.opened.contains(run_id)) {
    s_.Say(LogLine::Level::kError, "occurrence is live already",
           {{"job", run->row.job_name}, {"occurrence", run->row.occurrence.key}});
    const int64_t job_id = run->row.occurrence.job_id;
    Drop(run_id);
    if (JobState* job = s_.FindJob(job_id)) AdvanceJob(*job);
    return;
  }
  GoOn(*run);
}

void Runs::GoOn(LiveRun& run) {
  s_.Say(LogLine::Level::kInfo, "run opened",
         {{"run_id", run.row.run_id},
          {"job", run.row.job_name},
          {"occurrence", run.row.occurrence.key},
          {"trigger", std::string(Name(run.row.trigger))}});
  if (!run.row.executor_id.empty()) {
    SendTrigger(run.row.run_id, run.row.attempt);
  } else if (!run.row.cancel_by.empty()) {
    Wait(run, absl::ZeroDuration());
    Cancel(run, run.row.cancel_by, run.row.cancel_reason, "");
  } else {
    Wait(run, absl::ZeroDuration());
    Advance(run);
  }
}

void Runs::Adopt(ActiveRun row) {
  const std::string run_id = row.run_id;
  LiveRun& run = s_.runs[run_id];
  run.row = std::move(row);
  run.contact = s_.now.mono;
  run.waiting_since = s_.now.mono;
  run.not_before = s_.now.mono;
  if (JobState* job = s_.FindJob(run.row.occurrence.job_id)) s_.Extra(*job).runs.insert(run_id);
  if (run.row.executor_id.empty()) {
    absl::Duration delay = absl::ZeroDuration();
    if (run.row.retry_at.has_value()) delay = *run.row.retry_at - s_.now.lo;
    Wait(run, std::max(delay, absl::ZeroDuration()));
    if (const JobState* job = s_.FindJob(run.row.occurrence.job_id)) LetBeReady(run, *job);
    return;
  }
  s_.runs_at[run.row.executor_id].insert(run_id);
  TakeSlot(run);
  // The trigger may have left: only its executor's word, or time, says what became of it.
  run.phase = run.row.status == RunStatus::kRunning ? RunPhase::kRunning : RunPhase::kSent;
  run.sent_at = s_.now.mono;
  run.started_at = s_.now.mono;
  if (run.row.armed && run.row.fire_time > s_.now.lo) run.send_due = run.row.fire_time;
  if (run.row.attempt_started_at.has_value()) {
    run.started_at -= std::max(s_.now.lo - *run.row.attempt_started_at, absl::ZeroDuration());
  }
  SetTimer(run);
}

void Runs::Wait(LiveRun& run, absl::Duration delay) {
  run.phase = RunPhase::kWaiting;
  run.waiting_since = s_.now.mono;
  run.not_before = s_.now.mono + delay;
  run.told_waiting = false;
  run.cancel_sent.reset();
  run.cancel_since.reset();
  run.cancel_cause.clear();
  run.told_lost = false;
  run.told_held = false;
  run.timed_out = false;
  run.told_long = false;
  EnterWaiting(run);
  SetTimer(run);
}

std::vector<std::string> Runs::InTurn(const JobState& job) const {
  std::vector<std::string> first;
  const auto count = static_cast<size_t>(RunsAtOnce(job.spec(), job.timeline().dated()));
  for (auto it = job.runs().begin(); it != job.runs().end() && first.size() < count; ++it) {
    first.push_back(*it);
  }
  return first;
}

bool Runs::ItsTurn(const LiveRun& run, const JobState& job) const {
  if (!job.error().empty()) return false;
  // An order runs whatever the job's state, but only the order: a job that was stopped retries
  // nothing.
  const bool ordered = run.row.trigger == TriggerType::kManual && run.row.failed_attempts == 0;
  if (!job.opens() && !ordered) return false;
  const auto count = static_cast<size_t>(RunsAtOnce(job.spec(), job.timeline().dated()));
  return job.runs().size() <= count ||
         run.row.run_id < *std::next(job.runs().begin(), static_cast<std::ptrdiff_t>(count));
}

void Runs::Advance(LiveRun& run) {
  if (run.phase != RunPhase::kWaiting) return;
  JobState* job = s_.FindJob(run.row.occurrence.job_id);
  if (job == nullptr || !Ready(run, *job) || !WithinBudget(run, *job)) return;
  ExecutorSession* session = s_.session_part->Choose(run, *job);
  if (session == nullptr) return LetBeReady(run, *job);
  Assign(run, *job, *session);
  s_.Update(run);
  s_.OnCommit(
      [this, run_id = run.row.run_id, attempt = run.row.attempt](const FlushResult& result) {
        if (result.updated.contains(run_id)) SendTrigger(run_id, attempt);
      });
}

void Runs::AdvanceJob(JobState& job) {
  for (const std::string& run_id : InTurn(job)) {
    if (LiveRun* run = s_.FindRun(run_id)) Advance(*run);
  }
}

void Runs::Assign(LiveRun& run, JobState& job, ExecutorSession& session) {
  LeaveWaiting(run);
  TakeSlot(run);
  alerts::ExecutorsBack(s_, run.row);
  WriteDown(run.row, job, session);
  Hand(run, job, session);
}

void Runs::WriteDown(ActiveRun& row, const JobState& job, const ExecutorSession& session) {
  ++row.attempt;
  row.status = RunStatus::kPending;
  row.executor_id = session.hello.executor_id;
  row.registration = session.registration;
  row.executor_host = session.hello.host;
  row.on_lost = s_.session_part->OnLostFor(session, job.spec());
  row.epoch = s_.EpochOf(row.shard);
  row.retry_at.reset();
  row.sent_at = s_.now.lo;
  row.attempt_started_at.reset();
}

void Runs::Hand(LiveRun& run, JobState& job, ExecutorSession& session) {
  run.phase = RunPhase::kRecorded;
  run.contact = s_.now.mono;
  if (job.spec().routing.strategy == RoutingStrategy::kSticky) {
    s_.Extra(job).last_executor = run.row.executor_id;
  }
  session.last_used = ++s_.uses;
  session.Hold(run.row);
  s_.runs_at[run.row.executor_id].insert(run.row.run_id);
}

void Runs::Unassign(LiveRun& run) {
  TakeBack(run);
  FreeSlot(run);
  run.row.executor_id.clear();
  run.row.registration = 0;
}

void Runs::Launch(JobState& job, LiveRun armed, bool recorded) {
  const std::string run_id = armed.row.run_id;
  LiveRun& run = s_.runs[run_id];
  run = std::move(armed);
  run.waiting_since = s_.now.mono;
  run.not_before = s_.now.mono;
  run.row.sent_at = s_.now.lo;
  s_.Extra(job).runs.insert(run_id);
  if (run.row.biz_date.has_value()) {
    s_.flush.launches.push_back({job.row.job_id, run_id});
    s_.gap_part->WriteUnderWay(job, /*verdict=*/false);
  }
  run.phase = RunPhase::kOpening;
  ExecutorSession* session = s_.FindSession(run.row.executor_id, run.row.registration);
  if (session != nullptr && s_.session_part->Takes(*session, run)) {
    Hand(run, job, *session);
  } else {
    Unassign(run);
    s_.Update(run);  // nobody is to take its trigger for sent
  }
  if (recorded) GoOn(run);
}

void Runs::TakeBack(const LiveRun& run) {
  const ActiveRun& row = run.row;
  if (row.executor_id.empty()) return;
  if (ExecutorSession* session = s_.FindSession(row.executor_id, row.registration)) {
    session->Release(row);
  }
  const auto at = s_.runs_at.find(row.executor_id);
  if (at == s_.runs_at.end()) return;
  at->second.erase(row.run_id);
  if (at->second.empty()) s_.runs_at.erase(at);
}

void Runs::SendTrigger(const std::string& run_id, int attempt) {
  LiveRun* run = s_.FindRun(run_id);
  if (run == nullptr || run->phase != RunPhase::kRecorded || run->row.attempt != attempt) return;
  JobState* job = s_.FindJob(run->row.occurrence.job_id);
  ExecutorSession* session = s_.FindSession(run->row.executor_id, run->row.registration);
  if (!run->row.cancel_by.empty()) {
    EndAttempt(*run, {.sent = false}, Outcome::kRefused, {});
    return;
  }
  if (job == nullptr || session == nullptr || !session->connected) {
    // It never left: free for another executor at once.
    Unassign(*run);
    s_.Update(*run);
    Wait(*run, absl::ZeroDuration());
    Advance(*run);
    return;
  }
  run->phase = RunPhase::kSent;
  run->sent_at = s_.now.mono;
  run->contact = s_.now.mono;
  Trigger(*run, *job, *session);
  CountTrigger(*run);
  SetTimer(*run);
}

void Runs::CountTrigger(const LiveRun& run) {
  AppTally& app = s_.tally.apps[run.row.app];
  if (run.row.failed_attempts + run.row.lost_attempts > 0) {
    ++app.retries;
    return;
  }
  ++app.fired;
  if (run.row.trigger != TriggerType::kSchedule) return;
  s_.tally.lateness.Add(std::max(absl::ToDoubleSeconds(s_.now.lo - run.row.fire_time), 0.0));
}

void Runs::Trigger(LiveRun& run, const JobState& job, const ExecutorSession& session) {
  const ActiveRun& row = run.row;
  TriggerOrder order;
  order.attempt = {row.run_id, row.attempt};
  order.registration = row.registration;
  order.shard = row.shard;
  order.epoch = s_.EpochOf(row.shard);
  order.job = row.job_name;
  order.handler = row.handler;
  if (row.biz_date.has_value()) order.biz_date = FormatDate(*row.biz_date);
  order.fire_time = row.fire_time;
  order.nominal_time = FormatCivil(row.nominal);
  order.zone = job.spec().schedule.zone;
  order.trigger = row.trigger;
  order.params = job.spec().params;
  if (!row.params.empty()) {
    if (auto overrides = s_.decoders.params(row.params); overrides.ok()) {
      for (auto& [key, value] : *overrides) order.params[key] = value;
    }
  }
  order.checkpoint = row.checkpoint;
  order.batch_id = row.job_name + "/" + row.occurrence.key;
  order.on_lost = row.on_lost;
  const Timeouts& timeouts = job.spec().timeouts;
  if (timeouts.run != absl::InfiniteDuration()) order.run_timeout = timeouts.run;
  order.lost_after = timeouts.lost_after;
  order.cancel_grace = timeouts.cancel_grace;
  s_.Send(session.stream, std::move(order));
}

void Runs::SendCancel(LiveRun& run, const std::string& cause) {
  if (run.cancel_cause.empty()) run.cancel_cause = cause;
  run.cancel_sent = s_.now.mono;
  if (!run.cancel_since.has_value()) run.cancel_since = s_.now.mono;
  ExecutorSession* session = s_.FindSession(run.row.executor_id, run.row.registration);
  if (session != nullptr && session->connected) {
    s_.Send(session->stream, CancelOrder{{run.row.run_id, run.row.attempt},
                                         run.row.shard,
                                         s_.EpochOf(run.row.shard),
                                         run.cancel_cause});
  }
  SetTimer(run);
}

void Runs::Cancel(LiveRun& run, const std::string& actor, const std::string& reason,
                  const std::string& command_id) {
  run.row.cancel_by = actor.empty() ? "operator" : actor;
  run.row.cancel_reason = reason;
  if (!command_id.empty()) run.cancel_commands.emplace_back(command_id, s_.now.mono);
  if (run.phase == RunPhase::kClosing) return;
  if (run.phase == RunPhase::kWaiting) {
    AttemptResult result;
    result.message = "cancelled by " + run.row.cancel_by + (reason.empty() ? "" : ": " + reason);
    Verdict verdict;
    verdict.status = RunStatus::kCancelled;
    verdict.reason = "cancelled";
    verdict.failed_attempts = run.row.failed_attempts;
    verdict.lost_attempts = run.row.lost_attempts;
    LeaveWaiting(run);
    Close(run, verdict, result);
    return;
  }
  s_.Update(run);
  if (run.phase == RunPhase::kSent || run.phase == RunPhase::kRunning) {
    SendCancel(run, "cancelled by " + run.row.cancel_by);
  }
}

bool Runs::Release(LiveRun& run, const std::string& actor, const std::string& reason) {
  if (run.phase != RunPhase::kSent && run.phase != RunPhase::kRunning) return false;
  AttemptResult result;
  result.message = "released by " + actor + (reason.empty() ? "" : ": " + reason);
  EndAttempt(run, {.sent = true, .forced = true}, Outcome::kLost, result);
  return true;
}

void Runs::Drop(const std::string& run_id) {
  LiveRun* run = s_.FindRun(run_id);
  if (run == nullptr) return;
  LeaveWaiting(*run);
  FreeSlot(*run);
  TakeBack(*run);
  if (JobState* job = s_.FindJob(run->row.occurrence.job_id)) s_.Extra(*job).runs.erase(run_id);
  s_.runs.erase(run_id);
}

}  // namespace tidemark
