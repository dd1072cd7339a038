// Links, messages and time; the choice among nodes is in session_nodes.cc, attempts are in
// session_runs.cc, leaving in session_leave.cc.
#include "executor/src/session_core.h"

#include <algorithm>
#include <utility>

#include "executor/src/proto_time.h"
#include "executor/src/reports.h"

namespace tidemark::exec {
namespace {

// Reports of one turn are split into messages of about this size, far below the contract's 16 MiB.
constexpr size_t kMessageBytes = 1u << 20;
// Logs wait while so much is on its way: they must not hold up results and heartbeats.
constexpr size_t kLogWindow = 1u << 20;
// Bytes of a Hello for the orders that its runs came from.
constexpr size_t kHelloTriggerBytes = 4u << 20;
constexpr size_t kUnansweredBeats = 1000;
constexpr absl::Duration kProgressEvery = absl::Seconds(1);
// A handler is mostly entered sooner, and Started says it all.
constexpr absl::Duration kSayAcceptedAfter = absl::Milliseconds(50);

}  // namespace

SessionCore::SessionCore(CoreOptions options, std::vector<SpooledResult> spooled, Moment now)
    : options_(std::move(options)),
      outbox_(options_.resend_every, options_.keep_acknowledged, options_.spool_limit_bytes) {
  for (SpooledResult& result : spooled) {
    const AttemptKey key = KeyOf(result.report.attempt());
    outbox_.AddResult(key, std::move(result.report), "", now.mono);
    if (result.acknowledged) outbox_.Acknowledge(key, now.mono);
  }
}

void SessionCore::OnLinkOpened(LinkId id, Moment now) {
  if (left_) return;
  links_.try_emplace(id);
  SendHello(id, now);
}

void SessionCore::OnLinkClosed(LinkId id, Moment now) {
  const auto it = links_.find(id);
  if (it == links_.end()) return;
  const Link closed = std::move(it->second);
  links_.erase(it);
  // What was on its way there goes through another node at once.
  if (closed.state != Link::State::kWelcomed || Connected(closed.node_id)) return;
  outbox_.Hurry(closed.node_id, now.mono);
}

void SessionCore::OnWritten(LinkId id, size_t bytes) {
  const auto it = links_.find(id);
  if (it == links_.end()) return;
  it->second.outstanding -= std::min(bytes, it->second.outstanding);
}

void SessionCore::OnSpoolHealth(bool writable, std::string_view problem) {
  spool_writable_ = writable;
  spool_problem_ = problem;
}

void SessionCore::OnMessage(LinkId id, const v1::SchedulerMessage& message, Moment now) {
  const auto it = links_.find(id);
  // Bytes of a stream that is closed count no more: an order is valid on its stream alone.
  if (it == links_.end() || left_) return;
  Link& link = it->second;
  if (message.has_welcome()) OnWelcome(id, link, message.welcome(), now);
  if (message.has_wait()) {
    link.state = Link::State::kWaiting;
    link.waited = true;
    Note(NoteEffect::Kind::kWaiting, id, {}, "", message.wait().message());
  }
  if (message.has_rejected()) {
    OnRejected(id, message.rejected(), now);
    return;
  }
  for (const std::string& notice : message.notices()) {
    Note(NoteEffect::Kind::kNotice, id, {}, "", notice);
  }
  if (message.has_hold()) link.hold = message.hold();
  if (link.state != Link::State::kWelcomed) return;
  if (message.has_nodes()) LearnNodes(message.nodes().addresses());
  for (const v1::Order& order : message.orders()) OnOrder(id, link, order, now);
  if (message.has_heartbeat_ack()) OnHeartbeatAck(link, message.heartbeat_ack(), now);
  StartOrGiveUpQueued(now);
}

void SessionCore::OnWelcome(LinkId id, Link& link, const v1::Welcome& welcome, Moment now) {
  // The same node over another address: keep the newer stream, which is the one the node knows.
  for (auto it = links_.begin(); it != links_.end();) {
    if (it->first != id && it->second.state == Link::State::kWelcomed &&
        it->second.node_id == welcome.node_id()) {
      effects_.push_back(CloseEffect{it->first, id});
      it = links_.erase(it);
    } else {
      ++it;
    }
  }
  link.state = Link::State::kWelcomed;
  // After a Wait the Hello is old: only an answer to a heartbeat proves contact.
  if (link.waited) link.contact = -absl::InfiniteDuration();
  link.node_id = welcome.node_id();
  link.registration = welcome.registration();
  registration_ = std::max(registration_, welcome.registration());
  const absl::Duration beat = FromProto(welcome.beat());
  const absl::Duration lease = FromProto(welcome.lease());
  if (beat >= absl::Milliseconds(50)) link.beat = beat;
  if (lease > absl::ZeroDuration()) link.lease = lease;
  Note(NoteEffect::Kind::kWelcomed, id, {}, "",
       welcome.node_id() + " registration " + std::to_string(welcome.registration()));
  LearnNodes(welcome.nodes());
  LearnTimeline(welcome.timeline(), now);
  SendHeartbeat(id, link, now);
  for (const AttemptKey& key : outbox_.Due(absl::InfiniteDuration())) {
    if (outbox_.Find(key)->refused()) SendRecord(key, now);
  }
  for (auto& [key, run] : runs_) {
    if (run.owner_node == link.node_id && run.progress_pending) SendProgress(key, run, now);
  }
}

void SessionCore::OnRejected(LinkId id, const v1::Rejected& rejected, Moment now) {
  Note(NoteEffect::Kind::kRejected, id, {}, "",
       v1::Rejected::Reason_Name(rejected.reason()) + ": " + rejected.message());
  links_.erase(id);
  effects_.push_back(CloseEffect{id, std::nullopt});
  rejected_ = true;
  draining_ = true;
  RefuseQueued(v1::Refused::DRAINING, "the executor was rejected", now);
  // Another process may have this one's runs by now: end them at once.
  CancelAll(CancelCause::kRejected, "a scheduler rejected this executor process");
  cancel_all_at_ = absl::InfiniteDuration();
  give_up_at_ = std::min(give_up_at_, now.mono + options_.stop_grace);
  WatchLeaving(now);
}

void SessionCore::OnHeartbeatAck(Link& link, const v1::HeartbeatAck& ack, Moment) {
  absl::Duration sent = -absl::InfiniteDuration();
  while (!link.beats.empty() && link.beats.front().first <= ack.sequence()) {
    if (link.beats.front().first == ack.sequence()) sent = link.beats.front().second;
    link.beats.pop_front();
  }
  if (sent == -absl::InfiniteDuration()) return;  // answered before, or never sent
  link.contact = std::max(link.contact, sent);
  for (const v1::AttemptRef& ref : ack.renewed()) {
    const auto it = runs_.find(KeyOf(ref));
    if (it == runs_.end()) continue;
    it->second.proven = std::max(it->second.proven, sent);
    it->second.lease = link.lease;
    it->second.owner_node = link.node_id;
  }
}

v1::HeldRun SessionCore::HeldOf(const AttemptKey& key, const Run& run) const {
  v1::HeldRun held;
  SetRef(key, held.mutable_attempt());
  held.set_shard(run.trigger->shard());
  *held.mutable_epoch() = run.epoch;
  held.set_started(run.stage == Stage::kEntered);
  return held;
}

void SessionCore::SendHello(LinkId id, Moment now) {
  Link& link = links_.at(id);
  v1::ExecutorMessage message;
  v1::Hello& hello = *message.mutable_hello();
  hello.set_executor_id(options_.executor_id);
  hello.set_app(options_.app);
  hello.set_incarnation(options_.incarnation);
  hello.set_registration(registration_);
  for (const HandlerSpec& spec : options_.handlers) {
    v1::Handler& handler = *hello.add_handlers();
    handler.set_name(spec.name);
    handler.set_interruptible(spec.interruptible);
    handler.set_concurrency(spec.concurrency);
  }
  hello.set_capacity(options_.capacity);
  for (const auto& [name, value] : options_.labels) (*hello.mutable_labels())[name] = value;
  hello.set_version(options_.version);
  hello.set_host(options_.host);
  size_t said = 0;
  for (const auto& [key, run] : runs_) {
    v1::HeldRun& held = *hello.add_held();
    held = HeldOf(key, run);
    said += run.trigger->ByteSizeLong();
    if (said > kHelloTriggerBytes) continue;
    *held.mutable_trigger() = *run.trigger;
    held.mutable_trigger()->set_checkpoint(run.progress.checkpoint);
  }
  for (const Outbox::Record* record : outbox_.UnacknowledgedResults()) {
    *hello.add_results() = record->report;
  }
  for (const v1::RunReport& report : hello.results()) {
    outbox_.MarkSent(KeyOf(report.attempt()), now.mono);
  }
  hello.set_draining(draining_);
  hello.set_namespace_(options_.name_space);
  link.contact = now.mono;
  const size_t bytes = message.ByteSizeLong();
  link.outstanding += bytes;
  effects_.push_back(SendEffect{id, std::move(message), bytes});
}

void SessionCore::SendHeartbeat(LinkId id, Link& link, Moment now) {
  FlushLink(id, link);
  v1::ExecutorMessage message;
  v1::Heartbeat& heartbeat = *message.mutable_heartbeat();
  heartbeat.set_sequence(++link.sequence);
  for (const auto& [key, run] : runs_) *heartbeat.add_held() = HeldOf(key, run);
  const bool open =
      !draining_ && spool_writable_ && outbox_.unacknowledged_bytes() < options_.spool_limit_bytes;
  const size_t used = std::min<size_t>(runs_.size(), options_.capacity);
  heartbeat.set_free_slots(open ? options_.capacity - static_cast<uint32_t>(used) : 0);
  heartbeat.set_draining(draining_);
  link.told_full = used >= options_.capacity;
  link.refused_for_room = false;
  link.last_beat = now.mono;
  link.beats.emplace_back(link.sequence, now.mono);
  if (link.beats.size() > kUnansweredBeats) link.beats.pop_front();
  link.next_beat = now.mono + link.beat;
  const size_t bytes = message.ByteSizeLong();
  link.outstanding += bytes;
  effects_.push_back(SendEffect{id, std::move(message), bytes});
}

void SessionCore::HeartbeatAll(Moment now) {
  for (auto& [id, link] : links_) {
    if (link.state == Link::State::kWelcomed) SendHeartbeat(id, link, now);
  }
}

void SessionCore::Post(LinkId id, Link& link, v1::RunReport report) {
  link.pending_bytes += report.ByteSizeLong();
  *link.pending.add_reports() = std::move(report);
  if (link.pending_bytes >= kMessageBytes) FlushLink(id, link);
}

void SessionCore::FlushLink(LinkId id, Link& link) {
  if (link.pending.reports_size() == 0) return;
  const size_t bytes = link.pending.ByteSizeLong();
  link.outstanding += bytes;
  effects_.push_back(SendEffect{id, std::move(link.pending), bytes});
  link.pending = {};
  link.pending_bytes = 0;
}

void SessionCore::SendDue(Moment now) {
  if (!AnyWelcomed()) return;
  for (const AttemptKey& key : outbox_.Due(now.mono)) SendRecord(key, now);
}

void SessionCore::SendProgress(const AttemptKey& key, Run& run, Moment now) {
  auto* entry = FindNode(run.owner_node);
  if (entry == nullptr || now.mono < run.next_progress) return;
  if (entry->second.hold) {  // the last values go out once it may
    run.next_progress = now.mono + kProgressEvery;
    return;
  }
  Post(entry->first, entry->second, ProgressReport(key, run.trigger->registration(), run.progress));
  run.progress_pending = false;
  progressed_.erase(key);
  run.next_progress = now.mono + kProgressEvery;
}

// Every report costs both sides; of a handler that is over at once its end says all.
void SessionCore::SendStarted() {
  for (const AttemptKey& key : started_) {
    const auto it = runs_.find(key);
    if (it == runs_.end()) continue;  // Finished is on its way
    const Run& run = it->second;
    PostTo(run.owner_node, StartedReport(key, run.trigger->registration(), run.entered_wall));
  }
  started_.clear();
}

void SessionCore::SendAccepted(Moment now) {
  while (!accepted_.empty()) {
    const auto& [received, key] = accepted_.front();
    const auto it = runs_.find(key);
    if (it != runs_.end() && it->second.stage != Stage::kEntered) {
      if (received + kSayAcceptedAfter > now.mono) return;
      PostTo(it->second.owner_node, AcceptedReport(key, it->second.trigger->registration()));
    }
    accepted_.pop_front();
  }
}

void SessionCore::SendLogs() {
  for (auto next = logs_to_send_.begin(); next != logs_to_send_.end();) {
    const auto current = next++;
    const auto it = logs_.find(*current);
    Log& log = it->second;
    // Every node takes logs; one stream at a time keeps the order.
    auto* entry = LinkFor(log.owner_node, 0);
    bool end_to_say = log.ended && log.buffer.used();
    while (entry != nullptr && !entry->second.hold && (!log.buffer.empty() || end_to_say) &&
           entry->second.outstanding + entry->second.pending_bytes < kLogWindow) {
      const uint64_t offset = log.buffer.offset();
      std::string data = log.buffer.Take(kMaxLogChunk);
      const bool end = log.ended && log.buffer.empty();
      if (end) end_to_say = false;
      Post(entry->first, entry->second,
           LogReport(it->first, log.registration, offset, std::move(data), end));
    }
    if (!log.buffer.empty() || end_to_say) continue;
    if (log.ended) logs_.erase(it);
    logs_to_send_.erase(current);
  }
}

void SessionCore::OnTick(Moment now) {
  if (left_) return;
  for (auto& [id, link] : links_) {
    if (link.state == Link::State::kWelcomed && link.next_beat <= now.mono) {
      SendHeartbeat(id, link, now);
    }
  }
  StartOrGiveUpQueued(now);
  WatchRunning(now);
  SendDue(now);
  for (const AttemptKey& key : outbox_.Expire(now.mono)) {
    effects_.push_back(SpoolDeleteEffect{key});
  }
  std::erase_if(logs_to_send_, [&](const AttemptKey& key) {
    if (logs_.at(key).keep_until > now.mono) return false;
    logs_.erase(key);
    return true;
  });
  WatchLeaving(now);
}

std::vector<Effect> SessionCore::TakeEffects(Moment now) {
  if (!left_) {
    SendStarted();
    SendAccepted(now);
    SendLogs();
    WatchLeaving(now);
  }
  for (auto& [id, link] : links_) FlushLink(id, link);
  return std::exchange(effects_, {});
}

absl::Duration SessionCore::NextWake() const {
  if (left_) return absl::InfiniteDuration();
  absl::Duration wake = outbox_.NextExpiry();
  if (AnyWelcomed()) wake = std::min(wake, outbox_.NextSend());
  for (const auto& [id, link] : links_) {
    if (link.state == Link::State::kWelcomed) wake = std::min(wake, link.next_beat);
  }
  wake = std::min(wake, watch_at_);
  if (!accepted_.empty()) wake = std::min(wake, accepted_.front().first + kSayAcceptedAfter);
  for (const AttemptKey& key : queued_) wake = std::min(wake, WakeOfRun(runs_.at(key)));
  for (const AttemptKey& key : progressed_) {
    const Run& run = runs_.at(key);
    if (Connected(run.owner_node)) wake = std::min(wake, run.next_progress);
  }
  for (const AttemptKey& key : logs_to_send_) wake = std::min(wake, logs_.at(key).keep_until);
  if (!draining_) return wake;
  if (runs_.empty()) return std::min(wake, last_end_ + options_.ack_wait);
  return std::min({wake, cancel_all_at_, give_up_at_});
}

void SessionCore::Note(NoteEffect::Kind kind, LinkId link, const AttemptKey& key,
                       std::string handler, std::string detail) {
  effects_.push_back(NoteEffect{kind, link, key, std::move(handler), std::move(detail)});
}

}  // namespace tidemark::exec
