// The deadlines of runs.
#include <algorithm>

#include "executor/src/session_core.h"

namespace tidemark::exec {

void SessionCore::WatchRunning(Moment now) {
  SendProgresses(now);
  if (now.mono < watch_at_) return;
  watch_at_ = absl::InfiniteDuration();
  for (auto& [key, run] : runs_) {
    if (run.stage == Stage::kQueued) continue;
    WatchRun(key, run, now);
    watch_at_ = std::min(watch_at_, WakeOfRun(run));
  }
}

void SessionCore::SendProgresses(Moment now) {
  for (auto it = progressed_.begin(); it != progressed_.end();) {
    const AttemptKey key = *it++;
    SendProgress(key, runs_.at(key), now);
  }
}

void SessionCore::WatchRun(const AttemptKey& key, Run& run, Moment now) {
  if (run.stage == Stage::kEntered && now.mono >= run.entered_at + run.run_timeout) {
    CancelRun(key, run, CancelCause::kTimeout, "over its run time limit");
  }
  if (run.trigger->on_lost() != v1::RETRY) return;
  const absl::Duration lost = run.proven + run.lost_after;
  if (now.mono >= lost - run.cancel_grace && run.cause == CancelCause::kNone) {
    Note(NoteEffect::Kind::kOutOfContact, 0, key, run.trigger->handler(),
         "stopped before another attempt may open");
    CancelRun(key, run, CancelCause::kLost, "out of contact with the scheduler for too long");
  }
  if (now.mono < lost) return;
  left_ = true;
  effects_.push_back(AbortEffect{"run " + key.run_id + " of handler " + run.trigger->handler() +
                                 " did not end within the cancel grace while out of contact; "
                                 "another attempt may start"});
}

absl::Duration SessionCore::WakeOfRun(const Run& run) const {
  if (run.stage == Stage::kQueued) return std::max(run.proven, run.received) + run.lease;
  absl::Duration wake = absl::InfiniteDuration();
  if (run.stage == Stage::kEntered && run.cause == CancelCause::kNone) {
    wake = std::min(wake, run.entered_at + run.run_timeout);
  }
  if (run.trigger->on_lost() == v1::RETRY) {
    const absl::Duration lost = run.proven + run.lost_after;
    wake = std::min(wake, run.cause == CancelCause::kNone ? lost - run.cancel_grace : lost);
  }
  return wake;
}

}  // namespace tidemark::exec
