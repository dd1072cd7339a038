// What happens to attempts: triggered, started, watched, cancelled, finished.
#include <algorithm>
#include <utility>

#include "common/id.h"
#include "executor/src/proto_time.h"
#include "executor/src/reports.h"
#include "executor/src/session_core.h"

namespace tidemark::exec {
void SessionCore::OnOrder(LinkId id, Link& link, const v1::Order& order, Moment now) {
  switch (order.order_case()) {
    case v1::Order::kTrigger:
      OnTrigger(id, link, order.trigger(), now);
      return;
    case v1::Order::kCancel:
      OnCancel(id, link, order.cancel(), now);
      return;
    case v1::Order::kAcknowledged:
      OnAcknowledged(KeyOf(order.acknowledged().attempt()), now);
      return;
    case v1::Order::ORDER_NOT_SET:
      return;  // a newer scheduler's order; it will see that nothing comes of it
  }
}

bool SessionCore::EpochCounts(uint32_t shard, const v1::Epoch& epoch) {
  // Owners of a later timeline were told what is run here, and may open again what is not.
  if (epoch.timeline() < timeline_) return false;
  const std::pair<uint32_t, uint64_t> value{epoch.timeline(), epoch.number()};
  auto& highest = epochs_[shard];
  if (value < highest) return false;
  highest = value;
  return true;
}

void SessionCore::OnTrigger(LinkId id, Link& link, const v1::Trigger& trigger, Moment now) {
  const AttemptKey key = KeyOf(trigger.attempt());
  if (!EpochCounts(trigger.shard(), trigger.epoch())) {
    Note(NoteEffect::Kind::kStaleEpoch, id, key, trigger.handler(), "trigger of a former owner");
    // Of an attempt that is known here a former owner learns nothing: what it might pass on could
    // free a run that goes on.
    if (runs_.contains(key) || outbox_.Find(key) != nullptr) return;
    Refuse(key, link.node_id, link.registration, v1::Refused::STALE_EPOCH,
           "the shard has a newer owner", FromProto(trigger.lost_after()), now);
    return;
  }
  if (AnswerKnown(id, link, trigger, now)) return;
  std::string message;
  const v1::Refused::Reason reason = WhyNot(link, trigger, &message);
  if (reason == v1::Refused::REASON_UNSPECIFIED) {
    Accept(id, link, trigger, now);
    return;
  }
  Note(NoteEffect::Kind::kRefused, id, key, trigger.handler(),
       v1::Refused::Reason_Name(reason) + ": " + message);
  link.refused_for_room = link.refused_for_room || reason == v1::Refused::CAPACITY;
  Refuse(key, link.node_id, link.registration, reason, message, FromProto(trigger.lost_after()),
         now);
}

bool SessionCore::AnswerKnown(LinkId id, Link& link, const v1::Trigger& trigger, Moment now) {
  const AttemptKey key = KeyOf(trigger.attempt());
  if (const auto it = runs_.find(key); it != runs_.end()) {
    Run& run = it->second;
    run.owner_node = link.node_id;
    run.epoch = trigger.epoch();
    // The copy proves no more than the contact it came with.
    run.proven = std::max(run.proven, link.contact);
    if (run.stage == Stage::kEntered) {
      Post(id, link, StartedReport(key, run.trigger->registration(), run.entered_wall));
    } else {
      Post(id, link, AcceptedReport(key, run.trigger->registration()));
    }
    return true;
  }
  const Outbox::Record* record = outbox_.Find(key);
  if (record == nullptr) return false;
  if (record->refused()) {
    Post(id, link,
         RefusedReport(key, record->report.registration(), v1::Refused::TOMBSTONE,
                       "refused before: " + record->report.refused().message()));
  } else {
    Post(id, link, record->report);
  }
  outbox_.MarkSent(key, now.mono);
  return true;
}

const HandlerSpec* SessionCore::FindHandler(std::string_view name) const {
  for (const HandlerSpec& spec : options_.handlers) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

v1::Refused::Reason SessionCore::WhyNot(const Link& link, const v1::Trigger& trigger,
                                        std::string* message) const {
  if (trigger.registration() != link.registration) {
    *message = "it is for registration " + std::to_string(trigger.registration()) + ", this is " +
               std::to_string(link.registration);
    return v1::Refused::WRONG_REGISTRATION;
  }
  if (!IsUuid(trigger.attempt().run_id()) || trigger.attempt().attempt() == 0) {
    *message = "run_id must be a UUID and attempt at least 1";
    return v1::Refused::INVALID;
  }
  if (draining_) {
    *message = "the executor is leaving";
    return v1::Refused::DRAINING;
  }
  const HandlerSpec* handler = FindHandler(trigger.handler());
  if (handler == nullptr) {
    *message = "no handler of this name here";
    return v1::Refused::UNKNOWN_HANDLER;
  }
  if (trigger.on_lost() == v1::RETRY) {
    if (!handler->interruptible) {
      *message =
          "on_lost: retry needs a handler that can be stopped: declare it interruptible, "
          "or let the job say on_lost: wait";
      return v1::Refused::INVALID;
    }
    if (FromProto(trigger.lost_after()) <= FromProto(trigger.cancel_grace())) {
      *message = "lost_after must be longer than the cancel grace";
      return v1::Refused::INVALID;
    }
  }
  return WhyNoRoom(*handler, message);
}

v1::Refused::Reason SessionCore::WhyNoRoom(const HandlerSpec& handler, std::string* message) const {
  if (!spool_writable_) {
    *message = "results cannot be written to the spool: " + spool_problem_;
    return v1::Refused::SPOOL_FULL;
  }
  if (outbox_.unacknowledged_bytes() >= options_.spool_limit_bytes) {
    *message = std::to_string(outbox_.unacknowledged_bytes()) +
               " bytes of results wait for a scheduler to commit them";
    return v1::Refused::SPOOL_FULL;
  }
  if (runs_.size() >= options_.capacity) {
    *message = "all " + std::to_string(options_.capacity) + " slots are taken";
    return v1::Refused::CAPACITY;
  }
  const auto of = runs_of_.find(handler.name);
  const int same = of == runs_of_.end() ? 0 : of->second;
  if (handler.concurrency > 0 && same >= static_cast<int>(handler.concurrency)) {
    *message = "the handler runs " + std::to_string(same) + " times already";
    return v1::Refused::CAPACITY;
  }
  return v1::Refused::REASON_UNSPECIFIED;
}

void SessionCore::Accept(LinkId id, Link& link, const v1::Trigger& trigger, Moment now) {
  const AttemptKey key = KeyOf(trigger.attempt());
  Run run;
  run.trigger = std::make_shared<const v1::Trigger>(trigger);
  run.owner_node = link.node_id;
  run.epoch = trigger.epoch();
  run.interruptible = FindHandler(trigger.handler())->interruptible;
  run.received = now.mono;
  // Answers before this trigger in the stream were sent before it, so the scheduler's clock for the
  // attempt cannot have begun earlier than this one.
  run.proven = link.contact;
  run.lease = link.lease;
  run.lost_after = FromProto(trigger.lost_after());
  run.cancel_grace = FromProto(trigger.cancel_grace());
  const absl::Duration limit = FromProto(trigger.run_timeout());
  run.run_timeout = limit > absl::ZeroDuration() ? limit : absl::InfiniteDuration();
  run.progress.checkpoint = trigger.checkpoint();
  longest_lost_after_ = std::max(longest_lost_after_, run.lost_after);
  Log& log = logs_[key];
  log.owner_node = run.owner_node;
  log.registration = trigger.registration();
  const bool ready = MayStart(run, now);
  ++runs_of_[trigger.handler()];
  queued_.insert(key);
  runs_.emplace(key, std::move(run));
  Note(NoteEffect::Kind::kAccepted, id, key, trigger.handler(), "");
  accepted_.emplace_back(now.mono, key);
  // Contact is too old: ask the owner, whose answer names the attempt if it is still live here.
  if (!ready) SendHeartbeat(id, link, now);
}

absl::Duration SessionCore::LeaseEnd(const Run& run) const {
  absl::Duration end = run.proven + run.lease;
  if (run.trigger->on_lost() == v1::RETRY) {
    end = std::min(end, run.proven + run.lost_after - run.cancel_grace);
  }
  return end;
}

bool SessionCore::MayStart(const Run& run, Moment now) const { return now.mono < LeaseEnd(run); }

void SessionCore::StartOrGiveUpQueued(Moment now) {
  for (auto it = queued_.begin(); it != queued_.end();) {
    const auto current = runs_.find(*it++);
    Run& run = current->second;
    if (MayStart(run, now)) {
      run.stage = Stage::kStarting;
      queued_.erase(current->first);
      watch_at_ = std::min(watch_at_, WakeOfRun(run));
      effects_.push_back(StartEffect{current->first, run.trigger});
    } else if (now.mono >= std::max(run.proven, run.received) + run.lease) {
      RefuseRun(current, v1::Refused::LEASE_OVER, "the scheduler was not heard of for a lease",
                now);
    }
  }
}

void SessionCore::Refuse(const AttemptKey& key, const std::string& node, int64_t registration,
                         v1::Refused::Reason reason, std::string_view message,
                         absl::Duration lost_after, Moment now) {
  const absl::Duration keep = std::max({options_.min_tombstone, lost_after, longest_lost_after_});
  outbox_.AddRefusal(key, RefusedReport(key, registration, reason, message), node, now.mono,
                     now.mono + keep);
  SendRecord(key, now);
}

void SessionCore::RefuseRun(RunMap::iterator it, v1::Refused::Reason reason,
                            std::string_view message, Moment now) {
  const AttemptKey key = it->first;
  const Run run = Remove(it);
  logs_.erase(key);
  logs_to_send_.erase(key);
  last_end_ = now.mono;
  Note(NoteEffect::Kind::kRefused, 0, key, run.trigger->handler(),
       v1::Refused::Reason_Name(reason) + ": " + std::string(message));
  Refuse(key, run.owner_node, run.trigger->registration(), reason, message, run.lost_after, now);
  TellOfRoom(run.owner_node, now);
}

SessionCore::Run SessionCore::Remove(RunMap::iterator it) {
  Run run = std::move(it->second);
  if (--runs_of_[run.trigger->handler()] == 0) runs_of_.erase(run.trigger->handler());
  queued_.erase(it->first);
  progressed_.erase(it->first);
  runs_.erase(it);
  return run;
}

void SessionCore::SendRecord(const AttemptKey& key, Moment now) {
  const Outbox::Record* record = outbox_.Find(key);
  if (record == nullptr || !AnyWelcomed()) return;
  auto* link = LinkFor(record->owner_node, record->tries);
  Post(link->first, link->second, record->report);
  outbox_.MarkSent(key, now.mono);
}

void SessionCore::OnCancel(LinkId id, Link& link, const v1::Cancel& cancel, Moment now) {
  const AttemptKey key = KeyOf(cancel.attempt());
  if (!EpochCounts(cancel.shard(), cancel.epoch())) {
    Note(NoteEffect::Kind::kStaleEpoch, id, key, "", "cancel of a former owner");
    return;
  }
  const auto it = runs_.find(key);
  if (it == runs_.end()) {
    if (outbox_.Find(key) != nullptr) {
      Post(id, link, outbox_.Find(key)->report);
      outbox_.MarkSent(key, now.mono);
    } else {
      Refuse(key, link.node_id, link.registration, v1::Refused::TOMBSTONE,
             "cancelled before it was known here", absl::ZeroDuration(), now);
    }
    return;
  }
  it->second.owner_node = link.node_id;
  it->second.epoch = cancel.epoch();  // the one that spoke about it last
  if (it->second.stage == Stage::kQueued) {
    RefuseRun(it, v1::Refused::CANCELLED, cancel.reason(), now);
    return;
  }
  CancelRun(key, it->second, CancelCause::kOrder,
            cancel.reason().empty() ? "cancelled" : cancel.reason());
}

void SessionCore::CancelRun(const AttemptKey& key, Run& run, CancelCause cause,
                            std::string reason) {
  if (run.cause != CancelCause::kNone) {
    // The scheduler's word is the one that its answer is about.
    if (cause == CancelCause::kOrder) run.cause = cause;
    return;
  }
  run.cause = cause;
  run.cancel_reason = reason;
  Note(NoteEffect::Kind::kCancelled, 0, key, run.trigger->handler(), reason);
  effects_.push_back(CancelEffect{key, std::move(reason)});
}

void SessionCore::OnAcknowledged(const AttemptKey& key, Moment now) {
  const Outbox::Record* record = outbox_.Acknowledge(key, now.mono);
  if (record == nullptr || record->refused()) return;
  effects_.push_back(SpoolAckEffect{key});
  for (const AttemptKey& old : outbox_.Expire(now.mono)) {
    effects_.push_back(SpoolDeleteEffect{old});
  }
}

void SessionCore::OnEntered(const AttemptKey& key, Moment now) {
  const auto it = runs_.find(key);
  if (it == runs_.end()) return;
  Run& run = it->second;
  run.stage = Stage::kEntered;
  run.entered_at = now.mono;
  run.entered_wall = now.wall;
  watch_at_ = std::min(watch_at_, WakeOfRun(run));
  Note(NoteEffect::Kind::kStarted, 0, key, run.trigger->handler(), "");
  started_.push_back(key);
}

void SessionCore::OnNotEntered(const AttemptKey& key, bool locked_out, std::string_view message,
                               Moment now) {
  const auto it = runs_.find(key);
  if (it == runs_.end()) return;
  v1::Refused::Reason reason = locked_out ? v1::Refused::LOCK_REFUSED : v1::Refused::CANCELLED;
  if (!locked_out && it->second.cause == CancelCause::kDrain) reason = v1::Refused::DRAINING;
  RefuseRun(it, reason, message, now);
}

void SessionCore::OnProgress(const AttemptKey& key, const ProgressUpdate& update, Moment now) {
  const auto it = runs_.find(key);
  if (it == runs_.end()) return;
  Run& run = it->second;
  if (update.percent >= 0) run.progress.percent = update.percent;
  if (!update.checkpoint.empty()) run.progress.checkpoint = update.checkpoint;
  if (!update.message.empty()) run.progress.message = update.message;
  run.progress_pending = true;
  progressed_.insert(key);
  SendProgress(key, run, now);
}

void SessionCore::OnLog(const AttemptKey& key, std::string_view bytes) {
  const auto it = logs_.find(key);
  if (it == logs_.end()) return;
  it->second.buffer.Append(bytes);
  logs_to_send_.insert(key);
}

v1::Finished::Outcome SessionCore::OutcomeOf(const Run& run, const HandlerResult& result) const {
  if (result.kind == HandlerResult::Kind::kSucceeded) return v1::Finished::SUCCEEDED;
  if (result.kind == HandlerResult::Kind::kFailed) return v1::Finished::FAILED_PERMANENT;
  if (result.cancelled_itself) return v1::Finished::FAILED_RETRYABLE;
  switch (run.cause) {
    case CancelCause::kNone:
    case CancelCause::kTimeout:
      return v1::Finished::FAILED_RETRYABLE;
    case CancelCause::kDrain:
      return v1::Finished::DRAINED;
    case CancelCause::kOrder:
    case CancelCause::kLost:
    case CancelCause::kRejected:
      return v1::Finished::STOPPED;
  }
  return v1::Finished::FAILED_RETRYABLE;
}

void SessionCore::OnFinished(const AttemptKey& key, const HandlerResult& result, Moment now) {
  const auto it = runs_.find(key);
  if (it == runs_.end()) return;
  const Run run = Remove(it);
  last_end_ = now.mono;
  FinishedParts parts;
  parts.outcome = OutcomeOf(run, result);
  parts.message = result.message;
  if (parts.outcome != v1::Finished::SUCCEEDED && !run.cancel_reason.empty()) {
    parts.message =
        parts.message.empty() ? run.cancel_reason : run.cancel_reason + ": " + parts.message;
  }
  parts.result = &result;
  parts.checkpoint = run.progress.checkpoint;
  parts.started_at = run.entered_wall;
  parts.finished_at = now.wall;
  v1::RunReport report = FinishedReport(key, run.trigger->registration(), parts);
  Note(NoteEffect::Kind::kFinished, 0, key, run.trigger->handler(),
       v1::Finished::Outcome_Name(parts.outcome) +
           (parts.message.empty() ? "" : ": " + report.finished().message()));
  if (const auto log = logs_.find(key); log != logs_.end()) {
    log->second.ended = true;
    log->second.keep_until = now.mono + options_.keep_acknowledged;
    logs_to_send_.insert(key);
  }
  SendLogs();  // before Finished, as far as the window allows
  effects_.push_back(SpoolWriteEffect{key, report});
  outbox_.AddResult(key, std::move(report), run.owner_node, now.mono);
  SendRecord(key, now);
  TellOfRoom(run.owner_node, now);
}

}  // namespace tidemark::exec
