// All mutable scheduling state of a node during one term, and the collector of effects. The parts
// of the engine (jobs, gaps, runs, sessions, commands) work on it; none keeps state of its own
// beside it, so that ending a term is throwing this away.
#ifndef TIDEMARK_SCHEDULER_ENGINE_STATE_H_
#define TIDEMARK_SCHEDULER_ENGINE_STATE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/id.h"
#include "scheduler/core/backfill.h"
#include "scheduler/core/catch_up.h"
#include "scheduler/core/catch_up_budget.h"
#include "scheduler/core/job.h"
#include "scheduler/core/time/timeline.h"
#include "scheduler/engine/definitions.h"
#include "scheduler/engine/effects.h"
#include "scheduler/engine/job_table.h"
#include "scheduler/engine/tally.h"
#include "scheduler/engine/timers.h"

namespace tidemark {

// Intervals of the executor session.
struct SessionTimes {
  absl::Duration beat = absl::Seconds(5);
  absl::Duration lease = absl::Seconds(17);  // two lost beats stay, four do not
};

enum class RunPhase {
  kOpening,   // its row is being made
  kWaiting,   // for its turn, an executor, or a back-off
  kRecorded,  // an executor is chosen; the trigger leaves when that is committed
  kSent,      // the trigger may have left
  kRunning,   // the handler was entered
  kClosing    // its end is being committed
};

struct LiveRun {
  ActiveRun row;
  RunPhase phase = RunPhase::kWaiting;
  absl::Duration waiting_since;
  absl::Duration not_before;  // kWaiting: end of the back-off
  absl::Duration sent_at;
  absl::Duration started_at;
  absl::Duration contact;  // last sign of life of this attempt
  std::optional<absl::Duration> cancel_sent;
  std::optional<absl::Duration> cancel_since;  // first of the cancels of this attempt
  std::string cancel_cause;                    // why the scheduler cancels it; "": it does not
  bool timed_out = false;                      // … for its run timeout
  bool told_long = false;
  bool told_lost = false;  // its executor, since it was last heard of
  bool told_held = false;
  bool told_waiting = false;
  bool progress_dirty = false;
  bool dirty = false;                           // its row is to be written
  bool waiting = false;                         // counted in AppQueue
  std::string ready_under;                      // its key in AppQueue::ready; "": it is not there
  std::map<std::string, absl::Duration> avoid;  // executors that refused it, until when
  std::optional<absl::Duration> locked_since;   // first of the refusals by its lock in a row
  int lock_refusals = 0;                        // … so many
  std::vector<std::pair<std::string, absl::Duration>> cancel_commands;  // id, since
  // Adopted before its instant: not to be sent (again) before that.
  std::optional<absl::Time> send_due;
  std::optional<absl::Duration> timer;  // what the timer queue waits for
};

// The run of an occurrence that is not due yet. See engine/arming.h.
struct ArmedRun {
  LiveRun run;
  uint64_t flush = 0;     // that records it …
  bool recorded = false;  // … and is committed
};

struct ExecutorSession {
  StreamId stream = 0;
  Hello hello;
  int64_t registration = 0;  // 0: not welcomed yet
  bool connected = true;
  bool draining = false;     // the process leaves
  bool drained = false;      // an operator said so
  bool registering = false;  // its row is being written
  bool lost = false;         // silent for a lease, and said so in its row
  bool left = false;         // said goodbye
  bool congested = false;    // more of its messages wait than is good: nothing new for it
  absl::Duration last_beat;
  uint64_t last_used = 0;
  std::unordered_set<std::string> runs;  // with an attempt here that is not released
  std::map<std::string, int> runs_of;    // of them by handler
  int armed = 0;                         // runs that are meant for it at their instant
  // What it had beside them when it last said what it has: other nodes' runs.
  int foreign = 0;
  std::set<std::string> full_for;  // handlers for which it had no slot left; until it says more

  int Load() const { return static_cast<int>(runs.size()) + foreign; }
  void Hold(const ActiveRun& run) {
    if (runs.insert(run.run_id).second) ++runs_of[run.handler];
  }
  void Release(const ActiveRun& run) {
    if (runs.erase(run.run_id) > 0) --runs_of[run.handler];
  }
};

// An executor_id's process that acts, and one that waits for it to go.
struct ExecutorEntry {
  std::unique_ptr<ExecutorSession> current;
  std::unique_ptr<ExecutorSession> waiting;
  std::string contender;  // incarnation that was seen to live beside the one that acts
};

// Runs of one app in kWaiting.
struct AppQueue {
  int regular = 0;  // those that are no catch-up …
  // … and of them those that found no executor when it was their turn, by what they need of one:
  // if one of them finds none, those after it under the same need look in vain.
  std::map<std::string, std::set<std::string>> ready;
  int catch_ups = 0;
  // By job_id, the oldest fire time first; and the jobs by their oldest.
  std::map<int64_t, std::set<std::pair<absl::Time, std::string>>> catch_up;
  std::set<std::pair<absl::Time, int64_t>> oldest;
};

struct PendingLedger {
  int64_t job_id = 0;
  uint64_t changes = 0;  // of the job, when it was asked
  std::function<void(const LedgerResult&)> then;
};

class Jobs;
class Gaps;
class Runs;
class Arming;
class Sessions;
class Commands;
class Backfills;
class Checks;
class FailOver;

// Not thread-safe: the engine's loop alone touches it.
struct State {
  State(Decoders d, Random& r, RunIdSource& i, Tally& t)
      : decoders(std::move(d)), random(r), ids(i), tally(t) {}

  Decoders decoders;
  Definitions definitions{decoders};
  Random& random;
  RunIdSource& ids;
  Tally& tally;
  SessionTimes times;
  CatchUpBudget budget;
  Moment now;

  bool active = false;             // in a term
  bool holding = false;            // the clock is not trusted: nothing fires
  absl::Duration eyes_good_since;  // X8
  uint32_t timeline = 1;           // of PostgreSQL
  std::map<int, Epoch> shards;     // owned
  // N2: executors that were up when the database failed over and have not said hello since, by app;
  // and since when they are waited for.
  std::map<std::string, std::set<std::string>> awaited;
  absl::Duration awaited_since;

  JobTable jobs;
  std::deque<int64_t> extras;                                     // jobs with a JobExtra
  std::unordered_map<std::string, std::set<int64_t>> dependents;  // by the upstream job's name
  std::unordered_map<std::string, LiveRun> runs;
  // By executor_id: runs with an attempt there that is not released, of whatever registration.
  std::unordered_map<std::string, std::unordered_set<std::string>> runs_at;
  std::vector<std::string> progressed;             // runs with progress that is not written yet
  std::map<std::string, ExecutorEntry> executors;  // by executor_id
  std::unordered_map<std::string, std::vector<ExecutorEntry*>> executors_of;  // by app: welcomed
  std::unordered_map<StreamId, std::string> streams;                          // to executor_id
  std::set<std::string> drained;  // executor_ids, by operators; of those without a session, too
  std::map<std::string, int> draining_orders;  // orders of this node that are not committed yet
  std::map<std::string, AppQueue> waiting;     // by app
  // Catch-up runs that hold a slot of the budget, by app, and how many there are.
  std::map<std::string, std::set<std::string>> slots;
  int slots_held = 0;
  bool ceiling_left = false;  // a slot came free while all of the node were held
  // Attempts that were judged lost: a success of one of them is a fact that a person must know.
  std::map<AttemptRef, ActiveRun> given_up;
  std::set<std::string> open_alerts;  // their dedup_keys, of earlier terms, too

  TimerQueue<CompactTime, int64_t> ahead;              // job_id, kArmAhead before its fire
  TimerQueue<CompactTime, int64_t> fires;              // job_id, those that have left `ahead`
  std::set<int64_t> armed;                             // jobs with JobExtra::armed
  TimerQueue<CompactTime, int64_t> checks;             // job_id
  TimerQueue<absl::Duration, std::string> run_timers;  // run_id
  absl::Duration next_scan;
  absl::Duration next_sweep;
  absl::Duration next_progress;
  std::set<std::string> apps_told;               // as down, by this node in this term
  std::map<std::string, absl::Duration> app_up;  // when an executor of the app was last seen up
  bool ids_checked = false;         // what earlier terms told of shared ids was looked at
  std::set<int64_t> cursors_ahead;  // jobs with JobState::told_cursor
  std::set<int64_t> late;           // jobs with JobState::late
  size_t scan_at = 0;               // slot of the job to be scanned next
  int scan_share = 0;               // of the 60 of a minute
  uint64_t uses = 0;

  // An attempt that its executor, under that registration, said hello without.
  struct Doubt {
    std::string executor_id;
    int64_t registration = 0;
    AttemptRef attempt;
    absl::Duration since;
    bool new_incarnation = false;  // that process was new here
  };
  std::vector<Doubt> doubts;
  absl::Duration inbox_read = -absl::InfiniteDuration();  // all that it had then has arrived

  // The flush being collected, and what its commit releases.
  Flush flush;
  std::set<AttemptRef> inboxed;  // in flush.inbox
  std::vector<std::function<void(const FlushResult&)>> on_commit;
  std::vector<std::function<void(const FlushResult&)>> in_flight;
  bool flushing = false;
  uint64_t next_seq = 1;
  // Nothing more is fired or armed: what waits to be recorded is enough for a transaction. What is
  // due meanwhile stays where it costs nothing, in the timers.
  bool FlushFull() const { return flushing && flush.opens.size() >= kFlushRuns; }
  static constexpr size_t kFlushRuns = 4096;
  std::vector<std::string> dirty;  // runs with LiveRun::dirty, some of which may have ended

  std::unordered_map<uint64_t, PendingLedger> ledger;
  uint64_t next_query = 1;

  Effects out;

  Jobs* job_part = nullptr;
  Gaps* gap_part = nullptr;
  Runs* run_part = nullptr;
  Arming* arm_part = nullptr;
  Sessions* session_part = nullptr;
  Commands* command_part = nullptr;
  Backfills* backfill_part = nullptr;
  Checks* check_part = nullptr;
  FailOver* fail_over_part = nullptr;

  bool OwnsAll() const { return shards.size() >= static_cast<size_t>(kShards); }
  // Whether it is this node that says of the executor that it is lost: one of those that listen.
  bool Watches(const std::string& executor_id) const {
    uint32_t hash = 2166136261u;  // FNV-1a: the same in every node
    for (const char c : executor_id) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    return shards.contains(static_cast<int>(hash % kShards));
  }
  // Of an owned shard; the lowest for any other.
  Epoch EpochOf(int shard) const {
    const auto it = shards.find(shard);
    return it == shards.end() ? Epoch() : it->second;
  }
  JobState* FindJob(int64_t job_id) { return jobs.Find(job_id); }
  // The job of that name, if this node owns it.
  JobState* FindJobNamed(const std::string& name) { return jobs.FindNamed(name); }
  // What few jobs have, to be changed. Once it is empty again, DropExtras drops it.
  JobExtra& Extra(JobState& job);
  // Looks at some of the extras that there are: at each within seconds.
  void DropExtras();
  LiveRun* FindRun(const std::string& run_id) {
    const auto it = runs.find(run_id);
    return it == runs.end() ? nullptr : &it->second;
  }
  // The welcomed session of that registration, connected or not.
  ExecutorSession* FindSession(const std::string& executor_id, int64_t registration) {
    const auto it = executors.find(executor_id);
    if (it == executors.end() || !it->second.current) return nullptr;
    ExecutorSession* session = it->second.current.get();
    return session->registration == registration && registration != 0 ? session : nullptr;
  }

  void Send(StreamId stream, decltype(Outbound::body) body) {
    out.messages.push_back({stream, std::move(body)});
  }
  void Say(LogLine::Level level, std::string event,
           std::vector<std::pair<std::string, std::string>> fields) {
    out.logs.push_back({level, std::move(event), std::move(fields)});
  }
  void OnCommit(std::function<void(const FlushResult&)> action) {
    on_commit.push_back(std::move(action));
  }
  // Writes the run's row, as it will be when the flush leaves.
  void Update(LiveRun& run) {
    if (run.dirty) return;
    run.dirty = true;
    dirty.push_back(run.row.run_id);
  }
  // Puts those rows into the flush.
  void CollectUpdates();
  bool NothingToFlush() const { return flush.empty() && dirty.empty(); }
  std::string NewId() { return ids.Next(now.lo); }
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_STATE_H_
