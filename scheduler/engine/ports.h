// What the engine asks of the outside, as data: reads it wants, and flushes to be committed. The
// store carries them out; the engine never waits.
#ifndef TIDEMARK_SCHEDULER_ENGINE_PORTS_H_
#define TIDEMARK_SCHEDULER_ENGINE_PORTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "scheduler/core/backfill.h"
#include "scheduler/core/job_timeline.h"
#include "scheduler/core/run.h"

namespace tidemark {

// ---------------------------------------------------------------- what the store reads

// A row of job with its versions. Specs are opaque here: the engine is given a decoder.
struct JobRow {
  int64_t job_id = 0;
  std::string name;
  std::string ns;
  std::string app;
  int shard = 0;
  int version = 0;
  bool paused = false;
  bool finished = false;
  bool deleted = false;
  std::string error;
  std::optional<absl::CivilDay> ledger_from;
  std::optional<absl::CivilDay> due_until;  // last due date noted; unset: noted anew
  absl::Time created_at;
  std::optional<absl::Time> cursor;         // interval jobs: last fire dealt with
  absl::Time check_from;                    // the daily check: of dates expected after it …
  std::optional<absl::Time> checked_until;  // … and up to here all have their verdict
  struct Pause {
    absl::Time since;
    std::string reason;
    std::string by;
  };
  std::shared_ptr<const Pause> pause;  // while it is paused
  struct Version {
    int version = 0;
    absl::Time valid_from;
    std::string spec;  // JSON of the JobSpec message …
    // … or, where many jobs are read at once: without the name, the same text for all that are
    // alike.
    std::shared_ptr<const std::string> like;

    // The JSON, of the job of that name.
    std::string TextOf(std::string_view name) const {
      if (like == nullptr) return spec;
      return "{\"name\":\"" + std::string(name) + "\"," + like->substr(1);
    }
  };
  std::vector<Version> versions;  // oldest first
  // All versions of the calendars that any version names (and perhaps of others: jobs that were
  // read together share it). Null when none does.
  std::shared_ptr<const CalendarSet> calendars;
};

// An executor that was registered when the database failed over.
struct KnownExecutor {
  std::string executor_id;
  std::string app;
  std::string ns;
  int64_t registration = 0;
};

// A final report that came in through a node that does not own its run: what Finished or Refused
// said of the attempt.
struct InboxItem {
  AttemptRef attempt;
  int64_t registration = 0;
  std::string refused;  // the reason; "": it is `result` of a Finished
  AttemptResult result;
};

// All that a new owner needs; or, when a node takes more shards in the middle of its term, what it
// needs of those.
struct Snapshot {
  std::vector<JobRow> jobs;
  std::vector<ActiveRun> runs;
  std::vector<OpenBackfill> backfills;  // those RUNNING or PAUSED, by age
  std::map<int, Epoch> shards;          // owned now, with their epochs
  std::set<std::string> open_alerts;    // dedup_keys of those that nothing has resolved
  // Jobs with due dates that were noted and are not settled, ascending. Unset: not known.
  std::optional<std::vector<int64_t>> unsettled;
  uint32_t timeline = 1;  // of PostgreSQL
  // N2: the shards were last taken on another timeline, so commits may be lost. Nothing is sent to
  // an app before all `executors` of it have said hello or lost_after has passed.
  bool failed_over = false;
  std::vector<KnownExecutor> executors;  // those that were up; only with failed_over
};

// An operator's order, as its row has it. `args` by kind, see engine/commands.h.
struct Command {
  std::string command_id;
  int64_t job_id = 0;
  int shard = 0;
  std::string kind;
  std::map<std::string, std::string> args;
  std::string actor;
  std::optional<JobRow> job;  // read together with the order, as it is in the database now
};

// Which of `dates` are not settled (IsSettled in core/catch_up.h); with `all` the settled ones,
// too. Of each date that is not DONE also the watermarks that `after` names: of upstream jobs by
// name, wherever they are owned.
struct LedgerQuery {
  uint64_t query_id = 0;
  int64_t job_id = 0;
  std::vector<absl::CivilDay> dates;
  bool all = false;
  std::vector<Dependency> after;
  std::vector<std::string> foreign;  // of `after` the jobs of other nodes: their rows are answered
  bool noted = false;  // also every due date noted before (DueNote) that is not settled
  bool check = false;  // says of each date whether it has a verdict (VerdictWrite)
};
struct LedgerEntry {
  absl::CivilDay date;
  std::string status;  // of the watermark; "": no row
  std::string reason;
  std::string run_id;
  std::string reopened_on;  // YYYY-MM-DD or ""
  int reopened = 0;
  bool fingerprint = false;  // its run reported rows or a digest
  bool drill = false;        // a drill deleted its DONE, and nothing settled it since
  bool checked = false;      // has a verdict; only with LedgerQuery.check
};
struct UpstreamEntry {
  absl::CivilDay for_date;  // of the job that asks
  std::string job;
  absl::CivilDay date;
  std::string status;  // "": no row
  std::string reason;
};
struct LedgerResult {
  uint64_t query_id = 0;
  int64_t job_id = 0;
  absl::Status status;
  std::vector<LedgerEntry> entries;     // by date
  std::vector<UpstreamEntry> upstream;  // by for_date
  std::vector<JobRow> foreign;          // those of LedgerQuery.foreign that there are
};

// ---------------------------------------------------------------- what the store commits

// Deletes the row of a run that was armed, and whose trigger has surely not left.
struct Disarm {
  int64_t job_id = 0;
  std::string run_id;
};

// Inserts the run, and sets the watermark of its date to RUNNING unless that is DONE; an armed
// run's is left alone until it is launched. Nothing happens when the occurrence is live (not in
// FlushResult.opened then).
struct RunOpen {
  ActiveRun run;
  std::string count_reopening_on;  // YYYY-MM-DD (UTC): counts an automatic reopening; "": does not
};

// An armed run of a date was launched: its watermark is RUNNING, unless it is DONE.
struct RunLaunch {
  int64_t job_id = 0;
  std::string run_id;
};

// Rewrites all that changes in a live run (from status to attempt_started_at) of (run_id).
struct RunUpdate {
  ActiveRun run;
};

// Moves the live run to history. `watermark`: what its date becomes; "": unchanged.
struct RunClose {
  std::string run_id;
  ActiveRun run;  // last state, for what history keeps
  RunStatus status = RunStatus::kCompleted;
  std::string status_reason;
  AttemptResult result;
  std::string watermark;  // "DONE", "FAILED" or "". FAILED never replaces a DONE
  absl::Time ended_at;
};

struct AttemptEnd {
  AttemptRef attempt;
  int64_t job_id = 0;
  std::string executor_id;
  int64_t registration = 0;
  std::string executor_host;
  std::optional<absl::Time> sent_at;
  std::optional<absl::Time> started_at;
  absl::Time ended_at;
  std::string outcome;
  std::string message;
};

// A run that a policy decided not to run: straight to history.
struct RunSkip {
  ActiveRun run;
  std::string status_reason;
  absl::Time ended_at;
};

// A watermark that no run sets: EXPIRED, WAIVED, DONE (force).
struct WatermarkWrite {
  int64_t job_id = 0;
  std::string job_name;
  absl::CivilDay date;
  std::string status;  // "": the row is deleted
  std::string reason;
  std::string note;
  std::string actor;
  bool only_if_unsettled = true;  // leaves DONE, WAIVED, EXPIRED alone
};

// Dates that came due, noted for good: what of them is not settled the store knows from then on.
struct DueNote {
  int64_t job_id = 0;
  std::vector<std::pair<absl::CivilDay, absl::Time>> dates;  // ascending, with their fire times
  absl::CivilDay until;  // no later look needs to note what lies up to here
  bool anew = false;     // replaces all that was noted before
};

struct AlertRaise {
  std::string alert_id;  // UUID
  std::string dedup_key;
  std::string kind;
  std::string severity;  // info, warning, critical
  std::string ns = "default";
  std::string job_name;
  std::optional<absl::CivilDay> biz_date;
  std::string run_id;
  std::string summary;
  std::string detail;
  // Something that happened: told once, over as it is raised. Else it is so until it is resolved.
  bool event = false;
};

// The daily check's word on a date, given once: nothing happens if the date has a verdict.
struct VerdictWrite {
  int64_t job_id = 0;
  std::string job_name;
  std::string ns;
  absl::CivilDay date;
  absl::Time expected_at;
  std::string verdict;              // ON_TIME, LATE, PAUSED
  std::string state;                // the ledger's word (Name(LedgerState))
  std::string run_id;               // live or last; "": none
  std::optional<AlertRaise> alert;  // raised only together with the row
};

// A date whose verdict is LATE was settled after all.
struct VerdictSettled {
  int64_t job_id = 0;
  absl::CivilDay date;
};

struct CursorWrite {
  int64_t job_id = 0;
  absl::Time last_fire;  // never moves back …
  bool reset = false;    // … but by a person's word
};

struct SkippedRange {
  int64_t job_id = 0;
  absl::Time from;
  absl::Time to;
  int64_t fires = 0;
  std::string reason;
};

// Fields that are set are written.
struct JobUpdate {
  int64_t job_id = 0;
  std::optional<bool> paused;
  std::string pause_reason;
  std::string paused_by;
  std::optional<absl::CivilDay> ledger_from;
  std::optional<std::string> error;
  std::optional<bool> finished;
  std::optional<absl::Time> checked_until;  // never moves back
  bool deleted = false;                     // archives the watermarks, too
};

// Resolves every open alert whose dedup_key begins with `prefix`.
struct AlertResolve {
  std::string prefix;
};

// What was computed from dates `from` to `to` of a job, now run again, runs again, too: a rerun
// order with cascade for each job that waits for it, whoever owns that.
struct CascadeOrder {
  int64_t job_id = 0;
  std::string job_name;
  absl::CivilDay from;
  absl::CivilDay to;
  std::string reason;
  std::string actor;
};

// Dates of the job got their verdict, or others are due now. Once that is committed, other nodes
// that own jobs which wait for it hear of it.
struct UpstreamNews {
  int64_t job_id = 0;
  std::string job_name;
};

// Makes the backfill, or moves the state of one that has not ended.
struct BackfillWrite {
  Backfill row;
};

// Deletes the DONE watermarks of `dates`, and remembers what their runs had found.
struct DrillWrite {
  std::string drill_id;
  int64_t job_id = 0;
  std::string actor;
  std::vector<absl::CivilDay> dates;
  absl::Time started_at;
};

struct CommandDone {
  std::string command_id;
  absl::StatusCode code = absl::StatusCode::kOk;
  std::string message;                        // when not OK
  std::map<std::string, std::string> result;  // when OK
};

struct ExecutorRegister {
  uint64_t session = 0;  // the engine's handle, returned in the result
  std::string executor_id;
  std::string incarnation;
  int64_t claimed = 0;  // registration that the process says it has; 0: none
  std::string app;
  std::string ns;
  std::string host;
  std::string version;
  int capacity = 0;
  std::vector<std::string> handlers;
  std::map<std::string, std::string> labels;
  bool draining = false;
};
struct ExecutorRegistered {
  uint64_t session = 0;
  enum class Kind { kNew, kSame, kSuperseded, kOtherApp } kind = Kind::kNew;
  int64_t registration = 0;
  std::string app;       // kOtherApp: whose it is
  bool drained = false;  // an operator drained this executor_id: it gets nothing new
};

// A final report of a run that this node does not know: kept for the owner of its shard (X7), who
// reads it from `inbox`, if a live run has that attempt under that registration (0: any) and is of
// the app and namespace of the executor that said it. Else nothing happens.
struct InboxWrite {
  InboxItem item;
  std::string app{};
  std::string ns{};
};

struct ExecutorState {
  std::string executor_id;
  int64_t registration = 0;
  std::string state;            // UP, DRAINING, LOST, GONE; "": unchanged
  std::optional<bool> drained;  // by an operator, whatever registers; unset: unchanged
};

struct Audit {
  std::string actor;
  std::string action;
  std::string job_name;
  std::string subject;
  std::string detail;
};

// One transaction. Lists are carried out in this order; a run is in at most one of them, and in
// each list at most once. But what is opened may be closed as well: first opened, then closed.
struct Flush {
  uint64_t seq = 0;  // grows by 1 within a term
  std::vector<ExecutorRegister> registers;
  std::vector<RunClose> closes;
  std::vector<Disarm> disarms;
  std::vector<RunSkip> skips;
  std::vector<RunOpen> opens;
  std::vector<RunLaunch> launches;
  std::vector<RunUpdate> updates;
  std::vector<AttemptEnd> attempts;
  std::vector<WatermarkWrite> watermarks;
  std::vector<DueNote> notes;
  std::vector<CursorWrite> cursors;
  std::vector<SkippedRange> skipped;
  std::vector<JobUpdate> jobs;
  std::vector<ExecutorState> executors;
  std::vector<VerdictWrite> verdicts;
  std::vector<VerdictSettled> verdicts_settled;
  std::vector<AlertRaise> alerts;
  std::vector<AlertResolve> resolves;
  std::vector<Audit> audits;
  std::vector<CascadeOrder> cascades;
  std::vector<UpstreamNews> news;
  std::vector<BackfillWrite> backfills;
  std::vector<DrillWrite> drills;
  std::vector<CommandDone> commands;
  std::vector<InboxWrite> inbox;
  std::vector<AttemptRef> inbox_taken;  // dealt with by this flush: the rows are deleted

  bool empty() const {
    return registers.empty() && closes.empty() && disarms.empty() && skips.empty() &&
           opens.empty() && launches.empty() && updates.empty() && attempts.empty() &&
           watermarks.empty() && notes.empty() && cursors.empty() && skipped.empty() &&
           jobs.empty() && executors.empty() && verdicts.empty() && verdicts_settled.empty() &&
           alerts.empty() && resolves.empty() && audits.empty() && cascades.empty() &&
           news.empty() && backfills.empty() && drills.empty() && commands.empty() &&
           inbox.empty() && inbox_taken.empty();
  }
};

struct FlushResult {
  uint64_t seq = 0;
  // OK: committed. Anything else: not committed, and the term is over (fenced, or the lease ended
  // before the database came back).
  absl::Status status;
  std::set<std::string> opened;   // run_ids whose row was made
  std::set<std::string> updated;  // run_ids whose row was there
  std::set<std::string> closed;
  std::vector<ExecutorRegistered> registered;
  // Jobs whose part alone could not be written (bad data), with the database's words. Nothing of
  // theirs in this flush took effect; the rest did.
  std::vector<std::pair<int64_t, std::string>> failed_jobs;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_PORTS_H_
