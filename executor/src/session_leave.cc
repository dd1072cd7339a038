// Draining and the end of the process's session.
#include <algorithm>
#include <utility>

#include "executor/src/session_core.h"

namespace tidemark::exec {

void SessionCore::OnStop(Moment now) {
  if (left_) return;
  if (draining_) {
    cancel_all_at_ = std::min(cancel_all_at_, now.mono);
    give_up_at_ = std::min(give_up_at_, now.mono + options_.stop_grace);
    WatchLeaving(now);
    return;
  }
  draining_ = true;
  last_end_ = std::max(last_end_, now.mono);
  cancel_all_at_ = now.mono + options_.drain_timeout;
  give_up_at_ = cancel_all_at_ + options_.stop_grace;
  Note(NoteEffect::Kind::kDraining, 0, {}, "", std::to_string(runs_.size()) + " runs to end");
  RefuseQueued(v1::Refused::DRAINING, "the executor is leaving", now);
  HeartbeatAll(now);  // at once: no scheduler is to send anything more
}

void SessionCore::RefuseQueued(v1::Refused::Reason reason, std::string_view message, Moment now) {
  for (auto it = runs_.begin(); it != runs_.end();) {
    const auto current = it++;
    if (current->second.stage == Stage::kQueued) RefuseRun(current, reason, message, now);
  }
}

void SessionCore::CancelAll(CancelCause cause, const std::string& reason) {
  for (auto& [key, run] : runs_) CancelRun(key, run, cause, reason);
}

bool SessionCore::MayLeave(Moment now) const {
  if (!runs_.empty()) return false;
  // A rejected process has nobody to hand results to; they stay in the spool.
  if (rejected_) return true;
  const bool logs_left = !logs_.empty() && AnyWelcomed();
  if (outbox_.unacknowledged() == 0 && !logs_left) return true;
  return now.mono >= last_end_ + options_.ack_wait;
}

void SessionCore::WatchLeaving(Moment now) {
  if (!draining_ || left_) return;
  if (MayLeave(now)) {
    Leave(rejected_ ? kExitRejected : kExitDrained);
    return;
  }
  if (runs_.empty()) return;
  if (now.mono >= cancel_all_at_) {
    cancel_all_at_ = absl::InfiniteDuration();
    CancelAll(CancelCause::kDrain, "the executor is leaving");
  }
  if (now.mono < give_up_at_) return;
  if (rejected_) {
    effects_.push_back(AbortEffect{"runs did not end after a scheduler rejected this process"});
  }
  Leave(kExitHandlersStuck);
}

void SessionCore::Leave(int code) {
  left_ = true;
  const bool clean = code == kExitDrained && outbox_.unacknowledged() == 0;
  for (auto& [id, link] : links_) {
    FlushLink(id, link);
    if (!clean || link.state != Link::State::kWelcomed) continue;
    v1::ExecutorMessage message;
    message.mutable_goodbye();
    const size_t bytes = message.ByteSizeLong();
    effects_.push_back(SendEffect{id, std::move(message), bytes});
  }
  Note(NoteEffect::Kind::kLeft, 0, {}, "",
       outbox_.unacknowledged() == 0
           ? "nothing left to report"
           : std::to_string(outbox_.unacknowledged()) + " reports stay for the next start");
  effects_.push_back(LeaveEffect{code});
}

}  // namespace tidemark::exec
