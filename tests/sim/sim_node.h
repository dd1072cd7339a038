// A scheduler node in the simulation: the real engine, clock estimate and term on a store whose
// threads and connections are played.
#ifndef TIDEMARK_TESTS_SIM_SIM_NODE_H_
#define TIDEMARK_TESTS_SIM_SIM_NODE_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/id.h"
#include "scheduler/core/db_clock.h"
#include "scheduler/engine/engine.h"
#include "scheduler/store/scheduler_store.h"
#include "scheduler/store/term.h"
#include "tests/sim/event_queue.h"
#include "tests/sim/sim_clock.h"
#include "tests/sim/sim_database.h"

namespace tidemark::sim {

// What SchedulerStore, BatchWriter, LeaseRenewer and EngineLoop do with threads, step by step in
// virtual time: the process may die or pause between any two of them.
class SimNode : public StoreListener {
 public:
  struct Outside {
    // The server that a new connection of this node reaches; null: none.
    std::function<std::shared_ptr<SimServer>()> server;
    std::function<void(const Outbound&)> send;
    std::function<void(StreamId)> close;
    std::function<void()> left;                    // the process ended by itself, as asked
    std::function<void(const std::string&)> told;  // for the trace
    std::function<void()> nodes;                   // the live ones changed
    // The server tells whoever listens there that these jobs' dates were settled.
    std::function<void(const SimServer&, const std::vector<std::string>&)> notify;
    // The engine decided to send a trigger, which has not left yet.
    std::function<void()> about_to_send;
    // A COMMIT was sent: it takes so much longer.
    std::function<absl::Duration(const Flush&)> committing;
  };

  // `rate`: of its monotonic clock.
  SimNode(std::string name, double rate, EventQueue& queue, Random& random, Decoders decoders,
          Outside outside);

  void Start();  // a new process
  void Kill();   // what was on its way to the database may still get there
  void Stop();   // SIGTERM: hands over and leaves
  // The process does nothing for a while.
  void Suspend(absl::Duration d) { suspended_until_ = queue_.now() + d; }
  // No way to the database for that long (zero: the connections break, that is all).
  void CutDatabase(absl::Duration d);
  bool alive() const { return alive_; }
  bool suspended() const { return queue_.now() < suspended_until_; }
  bool reaches_database() const { return queue_.now() >= cut_until_; }
  bool owns() const { return term_ != nullptr && term_->started; }
  const std::string& name() const { return name_; }
  const std::vector<std::string>& nodes() const { return nodes_; }

  // From the network, in order.
  void Receive(StreamId stream, const ExecutorMessage& message);
  void Closed(StreamId stream);
  // A notification of that server, which may get lost.
  void Notified(const SimServer& server, const std::vector<std::string>& upstreams);

  void OnTermStarted(const TermInfo& info, Snapshot snapshot) override;
  void OnTermEnded(const std::string& why) override;
  void OnFlushed(FlushResult result) override;
  void OnLedger(LedgerResult result) override;
  void OnCommands(std::vector<Command> commands) override;
  void OnClockSample(const ClockSample& sample) override;
  void OnShardsGained(Snapshot gained) override;
  void OnInbox(std::vector<InboxItem> items, absl::Duration read) override;
  void OnNodes(std::vector<std::string> addresses) override;
  void OnDrained(std::set<std::string> /*executor_ids*/) override {}  // nobody does
  void OnUpstreams(std::vector<std::string> jobs) override;

  double slow = 0.003;       // share of trips and commits that take long
  double slow_reads = 0.03;  // share of ledger answers that are on their way for long
  double deaf = 0.1;         // share of notifications that get lost

 private:
  struct Transaction {
    std::shared_ptr<SimServer> server;
    Flush flush;
    uint64_t connection = 0;
    uint64_t process = 0;
    bool sent = false;                  // COMMIT is on its way
    bool lost = false;                  // … and does not arrive
    bool answered = false;              // the client knows what became of it, or asks
    std::optional<FlushResult> result;  // committed
  };
  struct TermState {
    TermInfo info;
    std::unique_ptr<Term> term;
    bool started = false;
    bool leaving = false;  // ends after its last flush
    std::set<int> shards;
    std::set<std::string> known_orders;
    std::set<AttemptRef> known_inbox;
    std::deque<Flush> flushes;  // the first is being written
    std::shared_ptr<Transaction> open;

    Owner owner() const { return {info.node_id, info.incarnation}; }
  };
  using TermPointer = std::shared_ptr<TermState>;
  using ServerPointer = std::shared_ptr<SimServer>;

  // sim_node.cc: the process and its loop
  // Once that time is over, and the process is not suspended; never if it died.
  void Later(absl::Duration d, std::function<void()> what);
  void WhenAwake(std::function<void()> what);
  void Post(std::function<void()> event);  // to the loop
  Moment Now() const;
  void Pump();
  void Carry(Effects effects);
  void Write(std::function<void()> out);  // to the network, in order
  void PlanTick();
  void TakeSample(const ClockSample& sample);
  absl::Duration Trip();
  // Null: the database is out of reach.
  ServerPointer Connect() const;
  bool Current(const TermPointer& t) const { return t == term_ && t != nullptr; }

  // sim_term.cc: terms
  void Acquire();
  void Registered(const ServerPointer& server, const std::string& incarnation, absl::Time now,
                  absl::Duration sent);
  void PlanRenewal(const TermPointer& t, absl::Duration after);
  void Renew(const TermPointer& t);
  void FenceAll(const TermPointer& t, std::vector<Owner> owners, std::function<void()> then);
  void Take(const TermPointer& t);
  void Claim(const TermPointer& t);
  void Loaded(const TermPointer& t, Snapshot snapshot);
  void Watch(const TermPointer& t);
  void Look(const TermPointer& t, SimServer& server);
  void Poll(const TermPointer& t, const SimServer& server);
  void TellNodes(const SimServer& server);
  // By value: `t` may be term_, which they take away.
  void EndTerm(TermPointer t, const std::string& why);
  void Finish(TermPointer t);
  void LeaveIfWritten(TermPointer t);

  // sim_writer.cc: flushes and reads
  void Submit(Flush flush);
  void Attempt(const TermPointer& t);
  void Begin(const TermPointer& t, const std::shared_ptr<Transaction>& tx);
  void SendCommit(const TermPointer& t, const std::shared_ptr<Transaction>& tx);
  void Commit(const TermPointer& t, const std::shared_ptr<Transaction>& tx);
  void Committed(const TermPointer& t, const FlushResult& result);
  void Broken(const TermPointer& t, const std::shared_ptr<Transaction>& tx);
  void Settle(const TermPointer& t, const std::shared_ptr<Transaction>& tx);
  void Query(LedgerQuery query);
  void Read(const TermPointer& t, const LedgerQuery& query);

  const std::string name_;
  EventQueue& queue_;
  Random& random_;
  SimClock clock_;
  const Decoders decoders_;
  const Outside outside_;

  bool alive_ = false;
  bool stopping_ = false;
  uint64_t process_ = 0;
  uint64_t connection_ = 0;  // those of before are broken
  absl::Duration suspended_until_;
  absl::Duration cut_until_;
  absl::Duration loop_at_;   // when the last posted event is handled
  absl::Duration write_at_;  // when the last message is written
  absl::Duration tick_at_ = absl::InfiniteDuration();

  std::unique_ptr<Engine> engine_;
  DbClock db_clock_;
  std::optional<absl::Duration> step_;
  std::vector<std::string> nodes_;

  ListenerGate gate_{this};
  Signal wake_;
  uint64_t terms_ = 0;
  uint64_t loop_term_ = 0;
  std::string last_incarnation_;
  TermPointer term_;
};

}  // namespace tidemark::sim

#endif  // TIDEMARK_TESTS_SIM_SIM_NODE_H_
