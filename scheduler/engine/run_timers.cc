// The deadlines of runs: start, run, lost, reaped, long-running, waiting too long.
#include <algorithm>
#include <utility>
#include <vector>

#include "common/time_text.h"
#include "scheduler/engine/alerts.h"
#include "scheduler/engine/fail_over.h"
#include "scheduler/engine/gaps.h"
#include "scheduler/engine/runs.h"
#include "scheduler/engine/sessions.h"

namespace tidemark {
namespace {

constexpr absl::Duration kCancelResend = absl::Seconds(5);
// The inbox is looked into about so often.
constexpr absl::Duration kInboxLook = absl::Milliseconds(500);
// A deployment that replaces an executor is over by then.
constexpr absl::Duration kTellLost = absl::Minutes(1);

bool Sent(const LiveRun& run) {
  return run.phase == RunPhase::kSent || run.phase == RunPhase::kRunning;
}

}  // namespace

absl::Duration Runs::NextDeadline(const LiveRun& run, const JobState* job) const {
  const Timeouts timeouts = job != nullptr ? job->spec().timeouts : Timeouts();
  absl::Duration next = absl::InfiniteDuration();
  const auto consider = [&](absl::Duration at) { next = std::min(next, at); };
  if (run.phase == RunPhase::kWaiting) {
    if (run.not_before > s_.now.mono) consider(run.not_before);
    for (const auto& [executor, until] : run.avoid) {
      if (until > s_.now.mono) consider(until);
    }
    if (job != nullptr && s_.fail_over_part->Holds(*job)) consider(s_.fail_over_part->Until(*job));
    if (!run.told_waiting) consider(std::max(run.not_before, run.waiting_since) + kTolerance);
  }
  if (Sent(run)) {
    if (run.send_due.has_value() && !s_.holding) {
      const absl::Duration at =
          s_.now.mono + std::max(*run.send_due - s_.now.lo, absl::ZeroDuration());
      consider(HeldBack(run) ? std::max(at, s_.fail_over_part->Until(*job)) : at);
    }
    if (run.cancel_sent.has_value()) consider(*run.cancel_sent + kCancelResend);
    if (run.cancel_since.has_value() && !run.told_held) consider(*run.cancel_since + kTolerance);
    const bool may_start = run.phase == RunPhase::kSent && !run.cancel_sent && !run.send_due;
    if (may_start) consider(StartDeadline(run, timeouts));
    if (run.phase == RunPhase::kRunning) {
      if (!run.timed_out) consider(run.started_at + timeouts.run);
      if (!run.told_long) consider(run.started_at + timeouts.long_running);
    }
    const absl::Duration patience = std::max(run.contact, s_.eyes_good_since);
    if (!run.told_lost) consider(ExecutorHeard(run) + kTellLost);
    if (run.row.on_lost == OnLost::kRetry) {
      const absl::Duration lost = patience + timeouts.lost_after;
      consider(lost > s_.now.mono ? lost : s_.now.mono + kInboxLook);
    }
    if (run.row.on_lost != OnLost::kRetry && !run.row.held) {
      consider(patience + timeouts.reap_after);
    }
  }
  return next;
}

absl::Duration Runs::ExecutorHeard(const LiveRun& run) const {
  const absl::Duration heard = std::max(run.contact, s_.eyes_good_since);
  const ExecutorSession* session = s_.FindSession(run.row.executor_id, run.row.registration);
  return session == nullptr ? heard : std::max(heard, session->last_beat);
}

// That it has started may lie unread for as long as we are behind.
absl::Duration Runs::StartDeadline(const LiveRun& run, const Timeouts& timeouts) const {
  return std::max(run.sent_at, s_.eyes_good_since) + timeouts.start;
}

void Runs::SetTimer(LiveRun& run) {
  const absl::Duration next = NextDeadline(run, s_.FindJob(run.row.occurrence.job_id));
  if (next == absl::InfiniteDuration()) {
    run.timer.reset();
    return;
  }
  // An earlier entry in the queue will look again by itself.
  if (run.timer.has_value() && *run.timer <= next && *run.timer > s_.now.mono) return;
  run.timer = next;
  s_.run_timers.Add(next, run.row.run_id);
}

void Runs::TimersDue() {
  while (const auto due = s_.run_timers.TakeDue(s_.now.mono)) {
    LiveRun* run = s_.FindRun(due->second);
    if (run == nullptr || !run->timer.has_value() || *run->timer != due->first) continue;
    run->timer.reset();
    OnTimer(*run);
    if (LiveRun* again = s_.FindRun(due->second)) {
      if (!again->timer.has_value()) SetTimer(*again);
    }
  }
}

void Runs::OnTimer(LiveRun& run) {
  JobState* job = s_.FindJob(run.row.occurrence.job_id);
  if (job == nullptr) return;
  const absl::Duration now = s_.now.mono;
  if (run.phase == RunPhase::kWaiting) {
    Advance(run);
    const absl::Duration since = std::max(run.not_before, run.waiting_since);
    if (run.phase != RunPhase::kWaiting || run.told_waiting || now < since + kTolerance) return;
    // Behind others of its job, or of its app's catch-up: that is no lack of executors.
    const bool for_others = !ItsTurn(run, *job) || (!WithinBudget(run, *job) &&
                                                    s_.session_part->Capacity(run.row.app) > 0);
    if (for_others) {
      run.waiting_since = now;
    } else {
      run.told_waiting = true;
      alerts::NoExecutor(s_, run.row, s_.session_part->WhyNone(run, *job));
    }
    return;
  }
  if (!Sent(run)) return;
  if (run.send_due.has_value() && !s_.holding && *run.send_due <= s_.now.lo && !HeldBack(run)) {
    SendAtLast(run);
  }
  const Timeouts& timeouts = job->spec().timeouts;
  const bool may_start = run.phase == RunPhase::kSent && !run.cancel_sent && !run.send_due;
  if (may_start && now >= StartDeadline(run, timeouts)) {
    SendCancel(run, "not started within " + DurationText(timeouts.start));
  }
  if (run.phase == RunPhase::kRunning && !run.timed_out && now >= run.started_at + timeouts.run) {
    run.timed_out = true;
    SendCancel(run, "run timeout of " + DurationText(timeouts.run));
  }
  if (run.phase == RunPhase::kRunning && !run.told_long &&
      now >= run.started_at + timeouts.long_running) {
    run.told_long = true;
    alerts::RunLong(s_, run.row, now - run.started_at);
  }
  if (run.cancel_sent.has_value() && now >= *run.cancel_sent + kCancelResend) {
    AnswerCancels(run, /*confirmed=*/false);
    SendCancel(run, run.cancel_cause);
  }
  if (run.cancel_since.has_value() && !run.told_held && now >= *run.cancel_since + kTolerance) {
    run.told_held = true;
    alerts::RunHeld(s_, run.row, run.cancel_cause, now - *run.cancel_since);
  }
  WatchContact(run, *job);
}

bool Runs::HeldBack(const LiveRun& run) const {
  const JobState* job = s_.FindJob(run.row.occurrence.job_id);
  return job != nullptr && s_.fail_over_part->Holds(*job);
}

void Runs::SendHeldBack(const std::string& app) {
  for (auto& [run_id, run] : s_.runs) {
    if (run.row.app == app && run.send_due.has_value()) SetTimer(run);
  }
}

// Whether an earlier owner has sent it is not known: an executor that has it ignores the copy.
void Runs::SendAtLast(LiveRun& run) {
  run.send_due.reset();
  ExecutorSession* session = s_.FindSession(run.row.executor_id, run.row.registration);
  if (session != nullptr && session->connected) OnNotHeld(run, *session);
}

void Runs::WatchContact(LiveRun& run, const JobState& job) {
  // Judgement needs good eyes: after a pause of our own everybody gets the full time again.
  const absl::Duration silent = s_.now.mono - std::max(run.contact, s_.eyes_good_since);
  const absl::Duration unheard = s_.now.mono - ExecutorHeard(run);
  if (unheard < kTellLost) run.told_lost = false;
  if (unheard >= kTellLost && !run.told_lost) {
    run.told_lost = true;
    alerts::ExecutorLost(s_, run.row, unheard);
  }
  AttemptFacts facts;
  facts.sent = true;
  facts.on_lost = run.row.on_lost;
  // X3: a result may wait in the inbox.
  const absl::Duration lost_after = job.spec().timeouts.lost_after;
  facts.lost_after_over =
      silent >= lost_after && s_.inbox_read >= s_.now.mono - silent + lost_after;
  if (Released(facts)) {
    AttemptResult result;
    result.message = "no sign of life for " + DurationText(s_.now.mono - run.contact);
    EndAttempt(run, facts, Outcome::kLost, result);
    return;
  }
  if (run.row.on_lost == OnLost::kRetry || run.row.held ||
      silent < job.spec().timeouts.reap_after) {
    return;
  }
  run.row.held = true;
  s_.Update(run);
  alerts::RunReaped(s_, run.row, s_.now.mono - run.contact);
  if (!run.row.biz_date.has_value()) return;
  WatermarkWrite write;
  write.job_id = run.row.occurrence.job_id;
  write.job_name = run.row.job_name;
  write.date = *run.row.biz_date;
  write.status = "FAILED";
  write.reason = "held";
  write.note = "no sign of life; it may still be running in " + run.row.executor_id;
  s_.flush.watermarks.push_back(std::move(write));
  s_.gap_part->WriteUnderWay(*s_.FindJob(run.row.occurrence.job_id));
}

void Runs::WriteProgress() {
  for (const std::string& run_id : std::exchange(s_.progressed, {})) {
    LiveRun* run = s_.FindRun(run_id);
    if (run == nullptr) continue;
    run->progress_dirty = false;
    if (run->phase == RunPhase::kRunning) s_.Update(*run);
  }
}

}  // namespace tidemark
