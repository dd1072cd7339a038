// Drives the engine in virtual time against a store in memory and executors that tests script.
#ifndef TIDEMARK_TESTS_ENGINE_HARNESS_H_
#define TIDEMARK_TESTS_ENGINE_HARNESS_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/id.h"
#include "scheduler/engine/engine.h"

namespace tidemark {

// What the database would keep. Applies flushes as the batch writer does.
struct MemoryStore {
  struct Watermark {
    std::string status;
    std::string reason;
    std::string run_id;
    std::string digest;
    std::string note;
    std::string actor;
    std::string reopened_on;
    int reopened = 0;
    absl::Time at;
  };
  struct Ended {
    ActiveRun run;
    RunStatus status;
    std::string reason;
    AttemptResult result;
    absl::Time ended_at;
  };
  struct Pause {
    absl::Time from;
    std::optional<absl::Time> to;
  };

  absl::Time now;  // of the database, set by whoever commits
  std::map<int64_t, JobRow> jobs;
  std::map<OccurrenceKey, ActiveRun> active;
  std::vector<Ended> history;
  std::vector<AttemptEnd> attempts;
  std::vector<SkippedRange> skipped;
  std::map<int64_t, std::vector<Pause>> pauses;
  // Verdicts that were taken away: with the job, the date, and the time.
  struct Undone {
    int64_t job_id;
    absl::CivilDay date;
    Watermark mark;
    absl::Time at;
  };
  std::vector<Undone> undone;
  std::vector<absl::Time> skipped_at;  // when each of `skipped` was recorded
  std::map<std::pair<int64_t, absl::CivilDay>, Watermark> watermarks;
  std::map<std::string, std::pair<int64_t, std::string>> executors;  // registration, incarnation
  std::set<std::string> drained;                                     // executor ids
  std::map<std::string, int64_t> incarnations;                       // id/incarnation
  std::map<std::string, AlertRaise> alerts;                          // open ones, by key
  std::vector<AlertRaise> all_alerts;
  std::set<std::string> told;      // keys of events
  std::vector<std::string> ended;  // keys, each time that one was resolved
  std::vector<Audit> audits;
  // What waits for what: by the upstream's name, (job_id, offset); and orders that flushes made.
  std::multimap<std::string, std::pair<int64_t, int>> after;
  std::vector<Command> orders;
  std::vector<std::string> news;  // upstreams of which flushes told, oldest first
  std::map<std::string, CommandDone> commands;
  std::map<std::string, Backfill> backfills;  // by id
  std::vector<DrillWrite> drills;
  std::map<int64_t, std::set<absl::CivilDay>> due;  // as noted
  struct Verdict {
    VerdictWrite row;
    std::optional<absl::Time> settled_at;
    absl::Time checked_at;
  };
  std::map<std::pair<int64_t, absl::CivilDay>, Verdict> verdicts;
  std::map<std::string, JobSpec> specs;          // by the text stored for it
  std::vector<std::pair<int, InboxItem>> inbox;  // with the shard

  FlushResult Apply(const Flush& flush);
  LedgerResult Answer(const LedgerQuery& query) const;
  // With `only`: of those shards alone.
  Snapshot Load(const std::set<int>* only = nullptr) const;
  void DeleteWatermark(int64_t job_id, absl::CivilDay date);  // as a person's SQL does

 private:
  void Raise(const AlertRaise& alert);
  void NoteUndone(int64_t job_id, absl::CivilDay date);
  bool Close(const RunClose& close, FlushResult& result);
  void TakeIn(const InboxWrite& write);
  void Open(const RunOpen& open, FlushResult& result);
  bool MarkRunning(const ActiveRun& run);  // false: it is DONE
  ExecutorRegistered Register(const ExecutorRegister& row);
  void UpdateJob(const JobUpdate& update);
  void Cascade(const CascadeOrder& cascade);
  void AddUpstream(const LedgerQuery& query, absl::CivilDay date, LedgerResult& result) const;
  int cascades = 0;
  void LoadBackfills(Snapshot& snapshot) const;
  std::vector<int64_t> Unsettled() const;
  bool InDrill(int64_t job_id, absl::CivilDay date) const;
};

class EngineHarness {
 public:
  // `now`: RFC 3339.
  explicit EngineHarness(std::string_view now);
  // Another node on the store of `other`, at its time. Each has its own streams to executors, also
  // to those of the same id.
  explicit EngineHarness(const EngineHarness& other);

  // ---- definitions
  static JobSpec DailyJob(const std::string& name, const std::string& start_date);
  // Makes or edits the job; returns its id. Outside a term it is only stored.
  int64_t Apply(const JobSpec& spec);
  // Tells the engine to read the job's row again, as after an edit of its calendar.
  void Changed(int64_t job_id);
  // Stores a definition that no decoder takes.
  void Corrupt(int64_t job_id);

  // ---- course
  void StartTerm();
  // The shards that the node takes with its next term; all when it is unset.
  std::optional<std::set<int>> owned;
  void Gain(const std::set<int>& shards);  // in the middle of the term, under the next epoch
  uint32_t timeline = 1;                   // of PostgreSQL, as the next snapshot says it
  bool failed_over = false;                // … and that the executors it knows were up
  void EndTerm();
  void KillScheduler();            // all memory is gone; the store stays
  void Advance(absl::Duration d);  // second by second, heartbeats of connected executors included
  void AdvanceTo(std::string_view instant);
  void LeapClock(absl::Duration step);      // the database's, as the loop tells it
  void SetClock(std::string_view instant);  // of the database, while no scheduler is there
  void Suspend(absl::Duration d);           // nothing is done meanwhile
  void Pump();                              // carries out effects until there are none
  // A look into the inbox that began so long ago, and found nothing, is answered only now.
  void AnswerOldLook(absl::Duration ago);
  bool inbox_stalled = false;   // nobody looks into it
  bool deaf = false;            // what flushes tell of upstreams is lost to this node
  void HearAgain();             // it listens anew
  bool ledger_stalled = false;  // questions are read at once, but answered by AnswerLedger
  void AnswerLedger();
  void AnswerStalled();        // commits what was stalled, and stalls no more
  bool store_stalled = false;  // flushes are taken but not answered
  // What becomes of each flush. kLost: not committed; kInDoubt: committed, but nobody is told. Both
  // end the term; the next one starts at once, and the executors that had a stream dial again.
  enum class Fate { kCommitted, kStalled, kLost, kInDoubt };
  std::function<Fate(const Flush&)> fate;

  // ---- executors
  struct Executor {
    std::string id;
    std::string app = "app";
    std::string incarnation;
    int64_t registration = 0;
    StreamId stream = 0;
    bool interruptible = true;
    bool beats = true;
    int capacity = 10;
    std::map<std::string, std::string> labels;
    std::map<std::string, HeldRun> held;  // by run_id
    std::vector<RunReport> unacknowledged;
    std::vector<TriggerOrder> triggers;  // all that came
    std::vector<CancelOrder> cancels;
    std::vector<AttemptRef> acknowledged;
    std::optional<RejectedMessage> rejected;
    bool waiting = false;
    bool draining = false;
    std::vector<std::string> notices;
    uint64_t beat = 0;
    std::vector<AttemptRef> renewed;  // by the last answer to a heartbeat
  };
  Executor& Start(const std::string& id, int incarnation = 1);
  void Connect(Executor& executor);
  void Disconnect(Executor& executor);  // the stream only
  void Beat(Executor& executor);
  void Leave(Executor& executor);  // says goodbye, and closes
  void Report(Executor& executor, const AttemptRef& ref, decltype(RunReport::event) event);
  void Begin(Executor& executor, const TriggerOrder& trigger);
  void Finish(Executor& executor, const TriggerOrder& trigger, Outcome outcome,
              const std::string& message = "");
  // Begins and finishes every trigger as it comes.
  std::function<void(Executor&, const TriggerOrder&)> on_trigger;

  // ---- questions
  std::string Command(int64_t job_id, const std::string& kind,
                      std::map<std::string, std::string> args = {});
  const CommandDone& Answer(const std::string& command_id) const;
  std::string StatusOf(int64_t job_id, std::string_view date) const;  // "" no row
  std::vector<std::string> DatesRun(int64_t job_id) const;            // of history, in order
  bool HasAlert(const std::string& kind) const;                       // open
  int Told(const std::string& kind) const;                            // how often, ever
  Moment now() const { return now_; }
  Engine& engine() { return *engine_; }
  const JobSpec& SpecOf(const std::string& text) const { return store.specs.at(text); }

  const std::shared_ptr<MemoryStore> shared = std::make_shared<MemoryStore>();
  MemoryStore& store = *shared;
  std::map<std::string, Executor> executors;
  int questions = 0;                // that the ledger was asked so far
  std::vector<std::string> denied;  // why streams were ended, oldest first
  CatchUpBudget budget;             // of the next scheduler
  absl::Duration unread_for;        // what executors say waits so long until it is handled

 private:
  void Deliver(const Outbound& message);
  FlushResult Commit(const Flush& flush);
  void Flushed(const Flush& flush);
  void LoseTerm();
  Decoders MakeDecoders();

  void DeliverInbox();
  void DeliverNews();
  void SetOwner(Snapshot& snapshot, const std::set<int>* shards);

  SeededRandom random_;
  uint64_t epoch_ = 1;
  std::set<AttemptRef> inbox_seen_;  // in this term
  size_t news_heard_ = 0;
  Moment now_;
  std::unique_ptr<Engine> engine_;
  StreamId last_stream_ = 0;
  int last_command_ = 0;
  std::vector<Flush> stalled_;
  std::vector<LedgerResult> answers_;
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_ENGINE_HARNESS_H_
