// The store as the scheduler's app wires it: terms, flushes, reads and the command feed.
#ifndef TIDEMARK_SCHEDULER_STORE_SCHEDULER_STORE_H_
#define TIDEMARK_SCHEDULER_STORE_SCHEDULER_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/clock.h"
#include "common/id.h"
#include "scheduler/core/db_clock.h"
#include "scheduler/engine/ports.h"
#include "scheduler/store/database.h"
#include "scheduler/store/retention.h"

namespace tidemark {

// What a node tells of itself with each renewal of its lease; unset: not known.
struct NodeVitals {
  std::optional<absl::Duration> clock_offset;       // the database's time less our wall clock
  std::optional<absl::Duration> clock_uncertainty;  // width of what we know of the database's time
  std::optional<absl::Duration> lag;                // how late the loop came to its last events
};

struct StoreOptions {
  DatabaseOptions database;
  // Where LISTEN goes when database.url leads through a transaction-pooling proxy; "": the same.
  std::string listen_url;
  // Identity of this node: the same after a restart, never shared. ≤ 64 bytes.
  std::string node_id;
  std::string address;  // that executors and operators are told
  std::string version;
  Retention retention;
  bool migrate = true;  // false: the schema must be there (a role without DDL)

  absl::Duration lease = absl::Seconds(10);       // in the database's time
  absl::Duration renew_every = absl::Seconds(3);  // in ours, as all below
  absl::Duration stop_after = absl::Seconds(8);   // without a renewal the term ends itself
  absl::Duration command_poll = absl::Milliseconds(500);
  absl::Duration partition_check = absl::Hours(12);
  absl::Duration retention_check = absl::Hours(1);
  absl::Duration first_backoff = absl::Milliseconds(200);  // doubles up to max_backoff
  absl::Duration max_backoff = absl::Seconds(5);
  std::function<NodeVitals()> vitals;  // called from a thread of the store; may be empty
};

// A time of owning: one (node_id, incarnation). A new one starts from the database alone.
struct TermInfo {
  uint64_t term = 0;  // 1, 2, … in this process
  std::string node_id;
  std::string incarnation;  // UUID
  uint32_t timeline = 1;    // of PostgreSQL; 1 when the role may not ask
};

// Where the store stands, for health checks and metrics.
struct StoreHealth {
  bool owns = false;          // a term is on
  std::string problem;        // why not, or what fails; "": nothing
  absl::Duration lease_left;  // until the term ends itself unless it is renewed
  absl::Duration term_age;    // both zero without a term
};

// What the store tells. Called from its threads, one call at a time, each as soon as it is known;
// must return soon (hand over to a queue) and may call Submit, Query and PokeCommands, not Stop.
// Within a term the order is OnTermStarted, everything else, OnTermEnded; nothing of a term comes
// after its OnTermEnded: a flush that was not answered then may or may not be committed, and the
// next snapshot says.
class StoreListener {
 public:
  virtual ~StoreListener() = default;
  virtual void OnTermStarted(const TermInfo& info, Snapshot snapshot) = 0;
  // `why` is for the log. The store starts over by itself.
  virtual void OnTermEnded(const std::string& why) = 0;
  virtual void OnFlushed(FlushResult result) = 0;  // status is OK
  virtual void OnLedger(LedgerResult result) = 0;
  virtual void OnCommands(std::vector<Command> commands) = 0;  // each once a term, oldest first
  virtual void OnClockSample(const ClockSample& sample) = 0;   // also between terms
  // More shards in the middle of the term, with all that belongs to them.
  virtual void OnShardsGained(Snapshot gained) = 0;
  // Reports that other nodes took in for this one's runs, each once a term, oldest first.
  // After every look into the inbox, also an empty one: all that was there at `read`
  // (Clock::Monotonic) has been told by now.
  virtual void OnInbox(std::vector<InboxItem> items, absl::Duration read) = 0;
  // Addresses of all live nodes: at the term's start and when they change.
  virtual void OnNodes(std::vector<std::string> addresses) = 0;
  // All executors that operators drained: at the term's start if there are any, and when they
  // change. The order's own node knows it before.
  virtual void OnDrained(std::set<std::string> executor_ids) = 0;
  // Dates of these jobs of other nodes, for which jobs of this one wait, were settled (Flush.news);
  // none named: of any, perhaps, while nobody listened. Word of it may be lost.
  virtual void OnUpstreams(std::vector<std::string> jobs) = 0;
};

// Owns the node's part of the database. While it has a term, it renews the lease, writes flushes,
// reads, feeds commands, and takes what shards are free up to a fair share, each on a thread and a
// connection of its own; when the term is lost, or shards are to be given to another node, it says
// so and acquires another, for ever. Thread-safe. Listener, clock and random must outlive it
// and be thread-safe.
class SchedulerStore {
 public:
  SchedulerStore(StoreOptions options, StoreListener* listener, Clock& clock, Random& random);
  ~SchedulerStore();  // stops
  SchedulerStore(const SchedulerStore&) = delete;
  SchedulerStore& operator=(const SchedulerStore&) = delete;

  // Returns at once; the database need not be there yet.
  void Start();
  // `term` is TermInfo::term for which the flush was made: dropped when that term is over. The
  // first flush of a term has seq 1. Flushes are committed in order.
  void Submit(uint64_t term, Flush flush);
  void Query(uint64_t term, LedgerQuery query);
  StoreHealth Health() const;
  // False: the time of the term that was told is over; it is ended. For whoever was stopped for
  // long and is about to act, which OnTermEnded would reach too late.
  bool TermGoesOn();
  // A command was written by this process: looks at once.
  void PokeCommands();
  // Commits what was submitted (while the term lasts), frees shards and lease, ends all threads.
  // OnTermEnded comes before it returns, if a term was on.
  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_SCHEDULER_STORE_H_
