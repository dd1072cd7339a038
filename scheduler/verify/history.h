// What is known of one job, as plain values: the oracle's input. Nothing here is derived.
#ifndef TIDEMARK_SCHEDULER_VERIFY_HISTORY_H_
#define TIDEMARK_SCHEDULER_VERIFY_HISTORY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "scheduler/core/time/calendar.h"
#include "scheduler/core/time/schedule.h"

namespace tidemark::verify {

// One version of the definition: what of it decides which runs there must be.
struct Definition {
  int version = 0;
  absl::Time valid_from;  // the instant of the edit; the first one reaches back for ever
  ScheduleSpec schedule;
  bool strict = true;   // dated jobs: oldest date first, one at a time
  int parallelism = 1;  // dated jobs that are not strict: so many dates together
  int concurrent = 1;   // interval jobs: so many fires together
  bool enabled = true;

  // How many runs may be in executors' hands together.
  int AtOnce(bool dated) const { return !dated ? concurrent : strict ? 1 : parallelism; }
};

// One version of a calendar.
struct Edition {
  absl::Time valid_from;
  bool retroactive = false;  // replaces all earlier ones, for past dates, too
  std::shared_ptr<const Calendar> calendar;
};

// A row of job_watermark.
struct Mark {
  std::string status;
  std::string reason;
  std::string note;
  std::string actor;
  std::string run_id;
  absl::Time updated_at;
};

struct Attempt {
  int number = 0;
  std::optional<absl::Time> sent_at;
  std::optional<absl::Time> ended_at;  // unset: under way
  std::string outcome;
};

struct Run {
  std::string run_id;
  char kind = 'D';  // of the occurrence: D, F or M
  std::string occurrence;
  std::optional<absl::CivilDay> biz_date;
  absl::Time fire_time;
  int job_version = 0;
  std::string trigger;  // SCHEDULE, CATCH_UP, BACKFILL, MANUAL
  std::string tag;
  std::string status;
  std::string requested_by;
  std::string rerun_of;
  absl::Time created_at;
  std::optional<absl::Time> ended_at;  // unset: live
  std::vector<Attempt> attempts;       // those that may have left the scheduler, by number
};

struct Pause {
  absl::Time from;
  std::optional<absl::Time> to;  // unset: still
};

// Fires of an interval job that were not run.
struct SkippedFires {
  absl::Time from;
  absl::Time to;
  int64_t fires = 0;
  std::string reason;
  absl::Time recorded_at;
};

// A verdict that was taken away again: a watermark deleted, a waiver withdrawn or overtaken by a
// run.
struct Undone {
  absl::CivilDay date;
  std::string status;     // that it had: DONE, WAIVED or EXPIRED
  absl::Time settled_at;  // since when
  absl::Time at;          // until when
};

// An alert: somebody was told.
struct Notice {
  std::string kind;
  std::optional<absl::CivilDay> date;
  absl::Time raised_at;
  bool open = true;
};

struct Upstream;

struct History {
  int64_t job_id = 0;
  std::string name;
  bool paused = false;
  std::string error;  // not empty: the definition in force cannot be used, and that was told
  std::optional<absl::CivilDay> ledger_from;              // unset: never launched
  std::optional<absl::Time> cursor;                       // interval jobs: last fire dealt with
  std::vector<Definition> definitions;                    // oldest first
  std::map<std::string, std::vector<Edition>> calendars;  // oldest first each
  std::map<absl::CivilDay, Mark> marks;
  std::vector<Run> runs;  // live and ended, any order
  std::vector<Pause> pauses;
  std::vector<SkippedFires> skips;
  std::vector<Undone> undone;
  std::vector<Notice> notices;
  std::vector<Upstream> upstreams;
  // Runs that ended before it may have aged out of the history.
  absl::Time complete_from = absl::InfinitePast();
  absl::Time now;  // when all of this was read
};

// A job whose dates the dates of another one wait for.
struct Upstream {
  int offset = 0;  // days from a date of the one that waits to the date that it waits for
  // Name, ledger_from, definitions, calendars, marks and error; without definitions: there is no
  // such job, or nobody can read it.
  History history;
};

}  // namespace tidemark::verify

#endif  // TIDEMARK_SCHEDULER_VERIFY_HISTORY_H_
