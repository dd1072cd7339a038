// Rows as operators' requests read and write them.
#ifndef TIDEMARK_SCHEDULER_ENGINE_OPERATOR_ROWS_H_
#define TIDEMARK_SCHEDULER_ENGINE_OPERATOR_ROWS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "scheduler/core/backfill.h"
#include "scheduler/core/job.h"
#include "scheduler/core/job_timeline.h"

namespace tidemark {

struct OperatorJob {
  int64_t job_id = 0;
  std::string name;
  std::string ns;
  std::string app;
  int shard = 0;
  int version = 0;
  bool paused = false;
  std::string pause_reason;
  std::string paused_by;
  std::optional<absl::Time> paused_at;
  std::string error;
  bool finished = false;
  std::optional<absl::CivilDay> ledger_from;
  absl::Time created_at;
  absl::Time updated_at;
  int live_runs = 0;
  // The last date that was EXPIRED when the job was first launched, if any was.
  std::optional<absl::CivilDay> passed_until;
  struct Version {
    int version = 0;
    absl::Time valid_from;
    std::string spec;  // stored text
  };
  std::vector<Version> versions;                 // oldest first; never empty
  std::shared_ptr<const CalendarSet> calendars;  // as in JobRow
  // Runs of dates that are DONE or WAIVED without a break in the calendar: [first, last],
  // ascending.
  std::vector<std::pair<absl::CivilDay, absl::CivilDay>> settled;
};

// A job to be made (expected_version 0) or given another version.
struct JobWrite {
  int64_t job_id = 0;  // new jobs: chosen by the caller
  int shard = 0;
  std::string name;
  std::string ns;
  std::string app;
  bool joins_app = false;    // is made in it, or moved into it
  int expected_version = 0;  // the version that must be in force; 0: no job of that name exists
  std::string spec;
  absl::Time valid_from;              // the instant at which the edit was judged
  std::string calendar;               // that it names; "": none
  int calendar_version = 0;           // the version that must be in force
  std::vector<absl::CivilDay> waive;  // dates that become WAIVED with it, unless settled or live
  std::string waive_note;
  std::vector<Dependency> after;  // that it states
  std::map<int64_t, int> holds;   // other jobs, by job_id, with the version that must be in force
};

// One version of a calendar, without its dates.
struct OperatorCalendar {
  std::string name;
  int version = 0;
  Calendar::Mode mode = Calendar::Mode::kExclude;
  int dates = 0;
  std::optional<absl::CivilDay> first;
  std::optional<absl::CivilDay> last;
  absl::Time valid_from;
  bool retroactive = false;
  std::string author;
  int jobs = 0;  // whose definition in force names the calendar
};

// A version of a calendar to be added.
struct CalendarWrite {
  std::shared_ptr<const Calendar> calendar;  // with its version: the one in force + 1
  absl::Time valid_from;
  bool retroactive = false;
  std::vector<int64_t> job_ids;  // ascending: who must be all that name it, in whatever version
  std::string detail;            // for the audit
};

struct OperatorCommand {
  std::string command_id;  // UUID
  int64_t job_id = 0;
  int shard = 0;
  std::string kind;
  std::map<std::string, std::string> args;
  std::string request_id;  // "": none
  std::string actor;
  std::string job_name;  // for the audit
};

struct CommandState {
  std::string command_id;
  std::string kind;
  bool existing = false;  // its request id had been seen before
  bool done = false;
  absl::StatusCode code = absl::StatusCode::kOk;
  std::string message;                        // when not OK
  std::map<std::string, std::string> result;  // when OK
};

struct OperatorRun {
  std::string run_id;
  int64_t job_id = 0;
  std::string kind;  // of the occurrence: D, F or M
  std::string occurrence;
  std::string job;
  std::string ns;
  std::string app;
  std::string handler;
  int job_version = 0;
  std::optional<absl::CivilDay> biz_date;
  std::optional<absl::CivilSecond> nominal;
  absl::Time fire_time;
  std::string trigger_type;
  std::string requested_by;
  std::string reason;
  std::string rerun_of;
  std::string params;  // JSON object or ""
  std::string status;
  std::string status_reason;
  int attempt = 0;
  int lost_attempts = 0;
  std::string executor_id;
  std::string executor_host;
  uint32_t epoch_timeline = 0;
  uint64_t epoch = 0;
  double progress_percent = -1;
  std::string checkpoint;
  std::string message;
  std::string result;
  std::optional<int64_t> result_rows;
  std::string result_digest;
  absl::Time created_at;
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> ended_at;
  bool held = false;
  std::optional<absl::Time> retry_at;
  bool live = false;
  std::string backfill_id;
  std::string tag;
};

struct OperatorAttempt {
  int attempt = 0;
  std::string executor_id;
  std::string executor_host;
  std::optional<absl::Time> sent_at;
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> ended_at;
  std::string outcome;
  std::string message;
};

// A part of an attempt's log.
struct OperatorRunLog {
  int attempt = 0;  // 0: none was recorded yet
  int last_attempt = 0;
  bool run_ended = false;
  bool over = false;     // the attempt is
  bool settled = false;  // … for so long that nothing of its log is on its way any more
  struct Piece {
    uint64_t start = 0;
    std::string data;
  };
  std::vector<Piece> pieces;  // ascending; the first may begin before what was asked for
  uint64_t reached = 0;       // the log is known to have been so long, kept or not
  bool ended = false;         // … and not to be longer
};

struct RunFilter {
  std::optional<int64_t> job_id;
  std::string ns;
  // Any of these; empty: all. A status as operators see it: COMPLETED and COMPENSATED differ.
  std::vector<std::string> statuses;
  std::optional<absl::CivilDay> biz_date;
  std::string before;  // run_id or ""
  int limit = 50;
};

// A backfill with the latest of its own runs for each date.
struct OperatorBackfill {
  Backfill row;
  std::string job;
  std::map<absl::CivilDay, OperatorRun> runs;
};

// A date of a drill: what its first run found, and the newest run since the drill began.
struct OperatorDrillDate {
  std::string drill_id;
  std::string job;
  std::string actor;
  absl::Time started_at;
  absl::CivilDay date;
  std::string first_run_id;
  std::optional<int64_t> first_rows;
  std::string first_digest;
  std::string mark;  // status of the watermark; "": no row
  std::string run_id;
  std::string run_status;
  bool live = false;
  std::optional<int64_t> rows;
  std::string digest;
  std::string message;
};

struct OperatorWatermark {
  std::string status;
  std::string reason;
  std::string note;
  std::string actor;
  std::string run_id;
  std::optional<absl::Time> finished_at;
  std::optional<int64_t> result_rows;
  std::string result_digest;
};

// What the ledger of one job is made of, all from one snapshot.
struct LedgerRows {
  std::map<absl::CivilDay, OperatorWatermark> watermarks;
  std::map<absl::CivilDay, std::string> live;  // run_id by date
  std::map<absl::CivilDay, absl::Time> live_since;
  absl::Time now;  // of the database
};

struct OperatorExecutor {
  std::string executor_id;
  std::string app;
  std::string ns;
  int64_t registration = 0;
  std::string incarnation;
  std::string host;
  std::string version;
  std::string state;
  int capacity = 0;
  int running = 0;
  std::vector<std::string> handlers;
  std::map<std::string, std::string> labels;
  absl::Time registered_at;
  absl::Time last_seen;
  bool drained = false;  // by an operator
};

struct OperatorAlert {
  std::string alert_id;
  std::string kind;
  std::string severity;
  std::string job;
  std::optional<absl::CivilDay> biz_date;
  std::string run_id;
  std::string summary;
  std::string detail;
  absl::Time raised_at;
  std::optional<absl::Time> resolved_at;
  std::optional<absl::Time> delivered_at;
  std::optional<absl::Time> acked_at;
  std::string acked_by;
  std::optional<absl::Time> silenced_until;  // kept back from the channels; open ones only
};

// A row of watch_state.
struct OperatorWatch {
  std::optional<absl::Time> looked_at;
  std::string look_error;
  int64_t jobs = 0;
  int64_t dates = 0;
  bool pings = false;
  std::optional<absl::Time> pinged_at;
  std::string ping_error;
  std::optional<absl::Time> withheld_since;
  std::optional<absl::Time> withheld_until;
  std::string reasons;  // one a line
};

struct OperatorNode {
  std::string node_id;
  std::string address;
  std::string incarnation;
  std::string version;
  absl::Time lease_until;
  bool fenced = false;
  int shards = 0;
  absl::Time started_at;
  std::optional<OperatorWatch> watch = std::nullopt;
  bool draining = false;                                      // by an operator
  std::optional<absl::Duration> clock_offset = std::nullopt;  // the database's less the node's
  std::optional<absl::Duration> clock_uncertainty = std::nullopt;
  std::optional<absl::Duration> lag = std::nullopt;  // of the node's loop
};

struct NodeDrain {
  std::string node_id;
  bool undo = false;
  std::string actor;
  std::string reason;
};

struct ClusterRows {
  std::vector<OperatorNode> nodes;
  int shards = 0;
  int unowned_shards = 0;  // free, or their owner's lease is over
  absl::Time now;
  std::string schema_version;
  int jobs = 0;
  int jobs_in_error = 0;
  int live_runs = 0;
  int open_alerts = 0;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_OPERATOR_ROWS_H_
