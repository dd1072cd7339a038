// The executor's side of the session protocol, as a state machine without I/O.
#ifndef TIDEMARK_EXECUTOR_SRC_SESSION_CORE_H_
#define TIDEMARK_EXECUTOR_SRC_SESSION_CORE_H_

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/src/core_types.h"
#include "executor/src/log_buffer.h"
#include "executor/src/outbox.h"

namespace tidemark::exec {

// Decides everything that keeps a run from being carried out twice on this side: fencing by epoch
// and registration, tombstones, de-duplication, the lease that governs starting, the lost-clock,
// results that are repeated until committed, draining.
//
// Events go in by the On… methods, effects come out of TakeEffects. No threads, clocks, randomness
// or I/O: the driver runs it over gRPC, the simulation in virtual time. One thread. Time must not
// go back from call to call; Moment.mono must count suspended time.
class SessionCore {
 public:
  // `spooled`: results of earlier processes, found in the spool.
  SessionCore(CoreOptions options, std::vector<SpooledResult> spooled, Moment now);

  // ---- events
  void OnLinkOpened(LinkId id, Moment now);  // the stream can be written: says hello
  void OnLinkClosed(LinkId id, Moment now);
  void OnMessage(LinkId id, const v1::SchedulerMessage& message, Moment now);
  // The transport took `bytes` of what was sent on the link.
  void OnWritten(LinkId id, size_t bytes);

  void OnEntered(const AttemptKey& key, Moment now);
  // The handler was not called: `locked_out` when its guard refused, else it was cancelled before.
  void OnNotEntered(const AttemptKey& key, bool locked_out, std::string_view message, Moment now);
  void OnProgress(const AttemptKey& key, const ProgressUpdate& update, Moment now);
  void OnLog(const AttemptKey& key, std::string_view bytes);
  void OnFinished(const AttemptKey& key, const HandlerResult& result, Moment now);

  // Whether results can be written to disk. While not, new triggers are refused.
  void OnSpoolHealth(bool writable, std::string_view problem);
  // Drain and leave. A second call cancels what still runs at once.
  void OnStop(Moment now);
  void OnTick(Moment now);

  // ---- results of the events
  std::vector<Effect> TakeEffects(Moment now);
  // Moment.mono at which OnTick has something to do; InfiniteDuration when never.
  absl::Duration NextWake() const;

  // ---- for display and tests
  size_t running() const { return runs_.size(); }
  int64_t registration() const { return registration_; }
  bool draining() const { return draining_; }
  const Outbox& outbox() const { return outbox_; }

 private:
  struct Link {
    enum class State { kHello, kWaiting, kWelcomed };
    State state = State::kHello;
    bool waited = false;
    bool hold = false;  // the node has more than it handles: progress and logs wait
    std::string node_id;
    int64_t registration = 0;
    absl::Duration beat = absl::Seconds(5);
    absl::Duration lease = absl::Seconds(17);
    uint64_t sequence = 0;
    std::deque<std::pair<uint64_t, absl::Duration>> beats;  // sent, not yet answered
    // When the last message was sent that the node answered: Hello or a heartbeat.
    absl::Duration contact = -absl::InfiniteDuration();
    absl::Duration next_beat = absl::InfiniteDuration();
    absl::Duration last_beat = -absl::InfiniteDuration();
    bool told_full = false;         // by the last heartbeat
    bool refused_for_room = false;  // a trigger, since then
    v1::ExecutorMessage pending;    // reports of this turn
    size_t pending_bytes = 0;
    size_t outstanding = 0;  // bytes that the transport has not taken
  };

  enum class Stage { kQueued, kStarting, kEntered };
  enum class CancelCause { kNone, kOrder, kLost, kTimeout, kDrain, kRejected };

  struct Run {
    std::shared_ptr<const v1::Trigger> trigger;
    std::string owner_node;
    v1::Epoch epoch;
    Stage stage = Stage::kQueued;
    bool interruptible = false;
    absl::Duration received;
    // Sending time of the last message that proves the owner knows this attempt to be live here.
    absl::Duration proven;
    absl::Duration lease;
    absl::Duration lost_after;
    absl::Duration cancel_grace;
    absl::Duration run_timeout;  // Infinite: none
    absl::Duration entered_at;
    absl::Time entered_wall;
    CancelCause cause = CancelCause::kNone;
    std::string cancel_reason;
    ProgressUpdate progress;  // last values
    bool progress_pending = false;
    absl::Duration next_progress = -absl::InfiniteDuration();
  };

  // Log bytes outlive the run until they are sent, or for keep_acknowledged.
  struct Log {
    LogBuffer buffer;
    std::string owner_node;
    int64_t registration = 0;
    bool ended = false;  // the handler has returned
    absl::Duration keep_until = absl::InfiniteDuration();
  };

  using RunMap = std::map<AttemptKey, Run>;

  // session_core.cc: links, messages, time
  void OnWelcome(LinkId id, Link& link, const v1::Welcome& welcome, Moment now);
  void OnRejected(LinkId id, const v1::Rejected& rejected, Moment now);
  void OnHeartbeatAck(Link& link, const v1::HeartbeatAck& ack, Moment now);
  void SendHello(LinkId id, Moment now);
  void SendHeartbeat(LinkId id, Link& link, Moment now);
  void HeartbeatAll(Moment now);
  void FlushLink(LinkId id, Link& link);
  void Post(LinkId id, Link& link, v1::RunReport report);
  void SendDue(Moment now);
  void SendLogs();
  void SendStarted();
  void SendAccepted(Moment now);
  void SendProgress(const AttemptKey& key, Run& run, Moment now);
  v1::HeldRun HeldOf(const AttemptKey& key, const Run& run) const;
  void Note(NoteEffect::Kind kind, LinkId link, const AttemptKey& key, std::string handler,
            std::string detail);

  // session_nodes.cc: which node hears what
  void TellOfRoom(const std::string& owner, Moment now);
  using Addresses = google::protobuf::RepeatedPtrField<std::string>;
  void LearnNodes(const Addresses& addresses);
  void LearnTimeline(uint32_t timeline, Moment now);
  void PostTo(const std::string& node, v1::RunReport report);  // dropped when not connected
  std::pair<const LinkId, Link>* FindNode(const std::string& node);
  std::pair<const LinkId, Link>* LinkFor(const std::string& node, uint32_t tries);
  bool Connected(const std::string& node) const;
  bool AnyWelcomed() const;

  // session_runs.cc: what happens to attempts
  void OnOrder(LinkId id, Link& link, const v1::Order& order, Moment now);
  void OnTrigger(LinkId id, Link& link, const v1::Trigger& trigger, Moment now);
  void OnCancel(LinkId id, Link& link, const v1::Cancel& cancel, Moment now);
  void OnAcknowledged(const AttemptKey& key, Moment now);
  // Takes the epoch in; false when it is lower than one seen before for the shard, or of a timeline
  // before the one that a node has spoken of.
  bool EpochCounts(uint32_t shard, const v1::Epoch& epoch);
  bool AnswerKnown(LinkId id, Link& link, const v1::Trigger& trigger, Moment now);
  // The reason to refuse a new attempt, or REASON_UNSPECIFIED; `message` says more.
  v1::Refused::Reason WhyNot(const Link& link, const v1::Trigger& trigger,
                             std::string* message) const;
  v1::Refused::Reason WhyNoRoom(const HandlerSpec& handler, std::string* message) const;
  void Accept(LinkId id, Link& link, const v1::Trigger& trigger, Moment now);
  void Refuse(const AttemptKey& key, const std::string& node, int64_t registration,
              v1::Refused::Reason reason, std::string_view message, absl::Duration lost_after,
              Moment now);
  void RefuseRun(RunMap::iterator it, v1::Refused::Reason reason, std::string_view message,
                 Moment now);
  void SendRecord(const AttemptKey& key, Moment now);
  void CancelRun(const AttemptKey& key, Run& run, CancelCause cause, std::string reason);
  bool MayStart(const Run& run, Moment now) const;
  absl::Duration LeaseEnd(const Run& run) const;
  void StartOrGiveUpQueued(Moment now);
  // Takes the run out of everything that knows of it.
  Run Remove(RunMap::iterator it);
  const HandlerSpec* FindHandler(std::string_view name) const;
  v1::Finished::Outcome OutcomeOf(const Run& run, const HandlerResult& result) const;

  // session_watch.cc: the deadlines of attempts
  void WatchRunning(Moment now);
  void WatchRun(const AttemptKey& key, Run& run, Moment now);
  void SendProgresses(Moment now);
  absl::Duration WakeOfRun(const Run& run) const;

  // session_leave.cc: draining and the end
  void CancelAll(CancelCause cause, const std::string& reason);
  void RefuseQueued(v1::Refused::Reason reason, std::string_view message, Moment now);
  void WatchLeaving(Moment now);
  bool MayLeave(Moment now) const;
  void Leave(int code);

  CoreOptions options_;
  Outbox outbox_;
  std::map<LinkId, Link> links_;
  // What happens to one run must not cost a look at all of them: the loops are over these.
  RunMap runs_;
  std::set<AttemptKey> queued_;  // runs in Stage::kQueued
  // Attempts of which Accepted, a while after that moment, or Started, at the end of this turn, is
  // to be said, unless a later report says more.
  std::deque<std::pair<absl::Duration, AttemptKey>> accepted_;
  std::vector<AttemptKey> started_;
  std::set<AttemptKey> progressed_;                     // runs with progress_pending
  absl::Duration watch_at_ = absl::InfiniteDuration();  // no run has a deadline before it
  std::map<std::string, int, std::less<>> runs_of_;     // by handler
  std::map<AttemptKey, Log> logs_;
  std::set<AttemptKey> logs_to_send_;  // those with bytes, or an end, to be sent
  std::map<uint32_t, std::pair<uint32_t, uint64_t>> epochs_;  // highest seen, by shard
  int64_t registration_ = 0;
  uint32_t timeline_ = 1;  // highest of PostgreSQL's that a node spoke of
  absl::Duration longest_lost_after_ = absl::ZeroDuration();
  bool spool_writable_ = true;
  std::string spool_problem_;

  bool draining_ = false;
  bool rejected_ = false;
  bool left_ = false;
  absl::Duration cancel_all_at_ = absl::InfiniteDuration();
  absl::Duration give_up_at_ = absl::InfiniteDuration();
  absl::Duration last_end_ = -absl::InfiniteDuration();  // last handler's end, or OnStop

  std::vector<Effect> effects_;
};

}  // namespace tidemark::exec

#endif  // TIDEMARK_EXECUTOR_SRC_SESSION_CORE_H_
