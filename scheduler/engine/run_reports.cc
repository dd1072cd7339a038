// What executors report of attempts, and what follows.
#include <algorithm>
#include <utility>

#include "scheduler/engine/alerts.h"
#include "scheduler/engine/arming.h"
#include "scheduler/engine/backfills.h"
#include "scheduler/engine/cascades.h"
#include "scheduler/engine/commands.h"
#include "scheduler/engine/gaps.h"
#include "scheduler/engine/runs.h"
#include "scheduler/engine/sessions.h"

namespace tidemark {

void Runs::OnReport(StreamId stream, const RunReport& report, absl::Duration received) {
  LiveRun* run = s_.FindRun(report.attempt.run_id);
  const bool ours = run != nullptr && run->row.attempt == report.attempt.attempt &&
                    (report.registration == 0 || report.registration == run->row.registration) &&
                    !run->row.executor_id.empty();
  if (!ours) {
    NoteLate(stream, report);
    return;
  }
  if (stream != 0) Heard(*run, received);
  if (run->phase == RunPhase::kClosing) return;  // said before; acknowledged with the commit
  if (const auto* refused = std::get_if<RefusedReport>(&report.event)) {
    OnRefused(*run, *refused);
  } else if (std::holds_alternative<StartedReport>(report.event)) {
    OnStarted(*run);
  } else if (const auto* progress = std::get_if<ProgressReport>(&report.event)) {
    OnStarted(*run);
    OnProgress(*run, *progress);
  } else if (const auto* finished = std::get_if<FinishedReport>(&report.event)) {
    if (finished->result.outcome == Outcome::kRefused) return;  // not a way to finish
    OnStarted(*run);                                            // of a short run this is all
    EndAttempt(*run, {.sent = true, .ended = true}, finished->result.outcome, finished->result);
  }
}

void Runs::Heard(LiveRun& run, absl::Duration received) {
  run.contact = std::max(run.contact, received);
  if (run.row.held) HoldNoMore(run);
  if (!run.told_lost) return;
  run.told_lost = false;
  SetTimer(run);
}

void Runs::NoteLate(StreamId stream, const RunReport& report) {
  // Acknowledged, so that it leaves the spool; it never changes state.
  const bool final = std::holds_alternative<FinishedReport>(report.event) ||
                     std::holds_alternative<RefusedReport>(report.event);
  if (final) AcknowledgeLate(stream, report.attempt);
  const auto* finished = std::get_if<FinishedReport>(&report.event);
  if (finished == nullptr) return;
  s_.Say(LogLine::Level::kWarn, "late report noted",
         {{"run_id", report.attempt.run_id},
          {"attempt", std::to_string(report.attempt.attempt)},
          {"outcome", std::string(Name(finished->result.outcome))}});
  // Most late reports repeat what is committed already; one of an attempt that was given up is a
  // fact that a person must know.
  const auto given_up = s_.given_up.find(report.attempt);
  if (given_up != s_.given_up.end() && finished->result.outcome == Outcome::kSucceeded) {
    alerts::LateSuccess(s_, report, given_up->second);
  }
}

// The attempt may have ended a moment ago, by this report's first copy, and its row be on its way:
// nothing is acknowledged that a crash could still undo.
void Runs::AcknowledgeLate(StreamId stream, const AttemptRef& attempt) {
  if (stream == 0) return;  // done by the node that took it in
  if (!s_.flushing && s_.NothingToFlush()) {
    s_.Send(stream, AcknowledgedOrder{attempt});
    return;
  }
  s_.OnCommit(
      [this, stream, attempt](const FlushResult&) { s_.Send(stream, AcknowledgedOrder{attempt}); });
}

void Runs::OnHeld(LiveRun& run, const HeldRun& held, absl::Duration received) {
  Heard(run, received);
  if (held.started && run.phase == RunPhase::kSent) OnStarted(run);
}

void Runs::OnNotHeld(LiveRun& run, ExecutorSession& session) {
  if (run.phase == RunPhase::kSent) {
    // Never arrived, or its refusal is on the way: the same attempt again, to the same executor.
    JobState* job = s_.FindJob(run.row.occurrence.job_id);
    if (job == nullptr || run.send_due.has_value()) return;
    if (HeldBack(run)) {
      run.send_due = s_.now.lo;
      SetTimer(run);
      return;
    }
    run.sent_at = s_.now.mono;
    if (!run.row.cancel_by.empty()) {
      SendCancel(run, "cancelled by " + run.row.cancel_by);
    } else {
      Trigger(run, *job, session);
    }
    SetTimer(run);
  } else if (run.phase == RunPhase::kRunning) {
    AttemptResult result;
    result.message = "its executor no longer has it";
    EndAttempt(run, {.sent = true, .ended = true}, Outcome::kLost, result);
  }
}

void Runs::OnProcessGone(LiveRun& run) {
  if (run.phase != RunPhase::kSent && run.phase != RunPhase::kRunning) return;
  AttemptResult result;
  result.message = "the process " + run.row.executor_host + " that had it is gone";
  // Also when it never said that it began: it may have died of it, and a handler that takes its
  // process down at once must come to an end, too.
  EndAttempt(run, {.sent = true, .process_gone = true}, Outcome::kLost, result);
}

void Runs::OnRefused(LiveRun& run, const RefusedReport& refused) {
  if (run.phase == RunPhase::kRecorded) return;  // of a trigger that has not left: impossible
  AttemptResult result;
  result.message = refused.reason + (refused.message.empty() ? "" : ": " + refused.message);
  if (refused.reason == "LOCK_REFUSED") {
    OnLockRefused(run, result);
    return;
  }
  // What waits in a full or leaving executor should be asked of the others first.
  const absl::Duration pause = refused.reason == "CAPACITY" || refused.reason == "CANCELLED"
                                   ? absl::Seconds(1)
                                   : absl::Seconds(10);
  run.avoid[run.row.executor_id] = s_.now.mono + pause;
  if (refused.reason == "CAPACITY") RefusedForRoom(run);
  const bool was_running = run.phase == RunPhase::kRunning;
  EndAttempt(run, {.sent = true, .refused = true}, was_running ? Outcome::kLost : Outcome::kRefused,
             result);
}

// Other nodes' runs fill it. What else waits would be refused, too, until it says what it has.
void Runs::RefusedForRoom(const LiveRun& run) {
  if (ExecutorSession* session = s_.FindSession(run.row.executor_id, run.row.registration)) {
    session->full_for.insert(run.row.handler);
  }
}

// The lock is of the occurrence, so another executor would find it taken, too: the run waits.
void Runs::OnLockRefused(LiveRun& run, const AttemptResult& result) {
  constexpr absl::Duration kFirst = absl::Seconds(5);
  constexpr absl::Duration kMost = absl::Minutes(1);
  if (!run.locked_since.has_value()) run.locked_since = s_.now.mono;
  const int doublings = std::min(run.lock_refusals++, 10);
  const absl::Duration delay = std::min(kFirst * (1 << doublings), kMost);
  const absl::Duration since = s_.now.mono - *run.locked_since;
  EndAttempt(run, {.sent = true, .refused = true}, Outcome::kRefused, result, delay);
  if (run.phase != RunPhase::kWaiting || since < kTolerance) return;
  alerts::LockRefused(s_, run.row, since);
}

void Runs::OnStarted(LiveRun& run) {
  if (run.phase != RunPhase::kSent) return;
  run.send_due.reset();
  run.row.armed = false;
  run.locked_since.reset();
  run.lock_refusals = 0;
  alerts::LockTaken(s_, run.row);
  run.phase = RunPhase::kRunning;
  run.started_at = s_.now.mono;
  if (run.row.cancel_by.empty()) {  // it was taken back for not starting, and has started
    run.cancel_sent.reset();
    run.cancel_since.reset();
    run.cancel_cause.clear();
    run.told_held = false;
    alerts::AttemptOver(s_, run.row);
  }
  run.row.status = RunStatus::kRunning;
  run.row.attempt_started_at = s_.now.lo;
  if (!run.row.started_at.has_value()) run.row.started_at = s_.now.lo;
  s_.Update(run);
  SetTimer(run);
}

void Runs::OnProgress(LiveRun& run, const ProgressReport& progress) {
  if (progress.percent >= 0) run.row.progress_percent = std::min(progress.percent, 100.0);
  if (!progress.checkpoint.empty()) run.row.checkpoint = progress.checkpoint;
  if (!progress.message.empty()) run.row.message = progress.message;
  if (run.progress_dirty) return;
  run.progress_dirty = true;
  s_.progressed.push_back(run.row.run_id);
}

void Runs::RecordAttempt(const LiveRun& run, Outcome outcome, const std::string& message) {
  AttemptEnd end;
  end.attempt = {run.row.run_id, run.row.attempt};
  end.job_id = run.row.occurrence.job_id;
  end.executor_id = run.row.executor_id;
  end.registration = run.row.registration;
  end.executor_host = run.row.executor_host;
  end.sent_at = run.row.sent_at;
  end.started_at = run.row.attempt_started_at;
  end.ended_at = s_.now.lo;
  end.outcome = std::string(Name(outcome));
  end.message = message;
  s_.flush.attempts.push_back(std::move(end));
}

void Runs::GiveUp(const ActiveRun& run) {
  constexpr size_t kRemembered = 10000;
  if (s_.given_up.size() >= kRemembered) s_.given_up.erase(s_.given_up.begin());  // the oldest run
  s_.given_up[{run.run_id, run.attempt}] = run;
}

void Runs::AcknowledgeOnCommit(const LiveRun& run) {
  s_.OnCommit([this, ref = AttemptRef{run.row.run_id, run.row.attempt},
               executor = run.row.executor_id](const FlushResult&) {
    const auto it = s_.executors.find(executor);
    if (it == s_.executors.end() || !it->second.current || !it->second.current->connected) return;
    s_.Send(it->second.current->stream, AcknowledgedOrder{ref});
  });
}

// Its executor is heard of again, or its attempt is over: the date is on its way once more.
void Runs::HoldNoMore(LiveRun& run) {
  run.row.held = false;
  alerts::ReapedNoMore(s_, run.row);
  s_.Update(run);
  JobState* job = s_.FindJob(run.row.occurrence.job_id);
  if (job == nullptr || !run.row.biz_date.has_value()) return;
  WatermarkWrite write;
  write.job_id = run.row.occurrence.job_id;
  write.job_name = run.row.job_name;
  write.date = *run.row.biz_date;
  write.status = "RUNNING";
  s_.flush.watermarks.push_back(std::move(write));
  s_.gap_part->WriteUnderWay(*job);
}

void Runs::EndAttempt(LiveRun& run, const AttemptFacts& facts, Outcome outcome,
                      const AttemptResult& result, absl::Duration delay) {
  if (!Released(facts)) return;
  if (run.row.held) HoldNoMore(run);
  JobState* job = s_.FindJob(run.row.occurrence.job_id);
  RecordAttempt(run, outcome, result.message);
  ++s_.tally.apps[run.row.app].attempts[outcome];
  AcknowledgeOnCommit(run);
  FreeSlot(run);
  if (outcome == Outcome::kLost) GiveUp(run.row);
  alerts::AttemptOver(s_, run.row);
  alerts::ExecutorFreed(s_, run.row);
  TakeBack(run);
  if (outcome != Outcome::kSucceeded) {  // of that the run's end tells
    s_.Say(LogLine::Level::kInfo, "attempt ended",
           {{"run_id", run.row.run_id},
            {"attempt", std::to_string(run.row.attempt)},
            {"executor", run.row.executor_id},
            {"outcome", std::string(Name(outcome))},
            {"message", result.message}});
  }
  const RetryRule retry = job != nullptr ? job->spec().retry : RetryRule();
  const Verdict verdict = Judge(run.row, outcome, run.timed_out, retry, s_.random.Uniform());
  if (!result.checkpoint.empty()) run.row.checkpoint = result.checkpoint;
  if (!result.message.empty()) run.row.message = result.message;
  run.row.failed_attempts = verdict.failed_attempts;
  run.row.lost_attempts = verdict.lost_attempts;
  if (verdict.kind == Verdict::Kind::kClose) {
    Close(run, verdict, result);
    return;
  }
  const std::string app = run.row.app;
  run.row.status = RunStatus::kPending;
  run.row.executor_id.clear();
  run.row.registration = 0;
  delay = std::max(delay, verdict.delay);
  if (delay > absl::ZeroDuration()) run.row.retry_at = s_.now.lo + delay;
  Wait(run, delay);
  s_.Update(run);
  Advance(run);
  AdvanceApp(app);  // its slot is free for others
}

void Runs::Close(LiveRun& run, const Verdict& verdict, const AttemptResult& result) {
  JobState* job = s_.FindJob(run.row.occurrence.job_id);
  run.phase = RunPhase::kClosing;
  run.dirty = false;  // it is closed instead
  ++s_.tally.apps[run.row.app].ended[verdict.status];
  RunClose close;
  close.run_id = run.row.run_id;
  close.run = run.row;
  close.status = verdict.status;
  close.status_reason = verdict.reason;
  close.result = result;
  if (close.result.message.empty()) close.result.message = run.row.message;
  close.ended_at = s_.now.lo;
  if (verdict.status == RunStatus::kCompleted) close.run.progress_percent = 100;
  if (run.row.biz_date.has_value()) {
    close.watermark = verdict.status == RunStatus::kCompleted ? "DONE" : "FAILED";
    // In a flush these come after the closes: what was to be said before the end is said no more.
    std::erase_if(s_.flush.watermarks, [&](const WatermarkWrite& write) {
      return write.job_id == run.row.occurrence.job_id && write.date == *run.row.biz_date;
    });
    if (job != nullptr && verdict.status != RunStatus::kCompleted &&
        (job->asking || job->extra().ask_again.has_value())) {
      s_.Extra(*job).just_failed.insert(*run.row.biz_date);
    }
    if (job != nullptr) s_.gap_part->WriteUnderWay(*job);
  }
  alerts::RunOver(s_, run.row, verdict.status);
  if (job != nullptr && IsCascade(run.row)) ContinueCascade(run, *job, verdict.status);
  s_.backfill_part->OnClosing(run.row, verdict.status, verdict.reason);
  if (verdict.status == RunStatus::kFailed) {
    alerts::RunFailed(s_, close.run, verdict.reason, !run.row.rerun_of.empty());
  }
  s_.Say(verdict.status == RunStatus::kCompleted ? LogLine::Level::kInfo : LogLine::Level::kWarn,
         "run ended",
         {{"run_id", run.row.run_id},
          {"job", run.row.job_name},
          {"occurrence", run.row.occurrence.key},
          {"status", std::string(Name(verdict.status))},
          {"executor", run.row.executor_id},
          {"reason", verdict.reason}});
  s_.flush.closes.push_back(std::move(close));
  s_.OnCommit(
      [this, run_id = run.row.run_id](const FlushResult& result) { OnClosed(run_id, result); });
}

void Runs::OnClosed(const std::string& run_id, const FlushResult& result) {
  LiveRun* run = s_.FindRun(run_id);
  if (run == nullptr) return;
  if (!result.closed.contains(run_id)) {
    s_.Say(LogLine::Level::kError, "run was not in active_run when it ended",
           {{"run_id", run_id}, {"job", run->row.job_name}});
  }
  AnswerCancels(*run, /*confirmed=*/true);
  const int64_t job_id = run->row.occurrence.job_id;
  const std::string app = run->row.app;
  Drop(run_id);
  if (JobState* job = s_.FindJob(job_id)) {
    AdvanceJob(*job);
    s_.arm_part->Consider(*job);
    if (!job->extra().after_run.empty()) {
      const std::vector<Command> orders = std::exchange(s_.Extra(*job).after_run, {});
      for (const Command& order : orders) s_.command_part->Carry(order);
    }
    s_.gap_part->Evaluate(*job, TriggerPoint::kContinue);
  }
  AdvanceApp(app);
}

void Runs::AnswerCancels(LiveRun& run, bool confirmed) {
  for (const auto& [command_id, since] : run.cancel_commands) {
    CommandDone done;
    done.command_id = command_id;
    done.result = {{"was_terminal", "false"},
                   {"confirmed", confirmed ? "true" : "false"},
                   {"message", confirmed ? "it has ended"
                                         : "its executor was told; it has not confirmed yet"}};
    s_.flush.commands.push_back(std::move(done));
  }
  run.cancel_commands.clear();
}

}  // namespace tidemark
