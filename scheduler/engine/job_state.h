// What the engine keeps of each job. There may be a million: what few jobs have at a time is apart.
#ifndef TIDEMARK_SCHEDULER_ENGINE_JOB_STATE_H_
#define TIDEMARK_SCHEDULER_ENGINE_JOB_STATE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "scheduler/core/backfill.h"
#include "scheduler/core/catch_up.h"
#include "scheduler/core/job.h"
#include "scheduler/core/time/timeline.h"
#include "scheduler/engine/compact.h"
#include "scheduler/engine/definitions.h"
#include "scheduler/engine/ports.h"

namespace tidemark {

struct JobState;
struct ArmedRun;

// What a job has while something is going on with it. Made by State::Extra, and dropped once it is
// as it was made.
struct JobExtra {
  JobExtra();
  ~JobExtra();
  bool empty() const;

  std::set<std::string> runs;       // live ones, by run_id: in the order of their making
  std::unique_ptr<ArmedRun> armed;  // its next fire, recorded before it is due
  std::string last_executor;
  std::optional<TriggerPoint> ask_again;
  // Dates that failed while a question, or one to be asked again, was under way: a registration or
  // fire from before a failure reopens nothing.
  std::set<absl::CivilDay> just_failed;
  // Orders that wait for no question and no write to be under way; called with null when the job is
  // forgotten.
  std::vector<std::function<void(JobState*)>> when_quiet;  // oldest first
  int writes = 0;                       // watermark changes that are pending or in flight
  std::vector<Command> after_run;       // orders that wait for a run of the job to end
  std::vector<OpenBackfill> backfills;  // oldest first
  std::set<absl::CivilDay> noting;      // due dates whose note is not committed yet
  std::set<absl::CivilDay> caught_up;   // opened by catch-up since the gap was last closed
  std::string told_blocked;             // alert keys already raised in this term
  std::string told_held;
  std::string error;                           // not empty: the job is unusable, nothing is opened
  std::string known_error;                     // what its row says
  std::shared_ptr<const JobRow::Pause> pause;  // while it is paused
};

// Jobs of one app in one namespace.
struct JobHome {
  std::string ns;
  std::string app;
  std::vector<uint32_t> jobs;  // their slots in the table
};

// Of its row, what the engine needs all the time. See JobRow.
struct JobFacts {
  int64_t job_id = 0;
  CompactTime created_at;
  CompactTime cursor;
  CompactTime check_from;
  CompactTime checked_until;
  CompactDay ledger_from;
  CompactDay due_until;
  int version = 0;
  int16_t shard = 0;
  bool paused : 1 = false;
  bool finished : 1 = false;
  bool deleted : 1 = false;
};

// A value of JobTable, which owns it. Its address stays.
struct JobState {
  JobFacts row;
  std::shared_ptr<const Definition> definition = Definition::Empty();
  CompactTime next_fire;   // what the fire queue waits for
  CompactTime check_at;    // what the check queue waits for
  uint64_t noted_sum = 0;  // of all that this term noted: see Gaps::NoteDue
  uint32_t changes = 0;    // watermark changes committed so far
  int32_t whole_at = -1;   // second of the last look at all of its dates (monotonic); -1: none
  // The ledger is asked one question at a time, and only while no write to it is under way.
  bool asking : 1 = false;
  bool late : 1 = false;  // had unsettled dates when last looked at
  bool told_calendar : 1 = false;
  bool told_cursor : 1 = false;
  bool checking : 1 = false;  // its dates are being looked up
  bool check_all : 1 = true;  // all of its dates are to be looked at, once

  const JobSpec& spec() const { return definition->spec; }
  const Timeline& timeline() const { return definition->timeline; }
  std::string name() const { return text.str(); }
  const std::string& ns() const { return home->ns; }
  const std::string& app() const { return home->app; }
  const std::string& error() const { return extra().error; }
  const std::set<std::string>& runs() const { return extra().runs; }
  // To change it: State::Extra.
  const JobExtra& extra() const { return rest == nullptr ? None() : *rest; }
  bool dated() const { return error().empty() && timeline().dated(); }
  bool opens() const { return error().empty() && !row.paused && !row.deleted && spec().enabled; }
  // No question and no write is under way.
  bool quiet() const { return !asking && extra().writes == 0; }
  // What is due at next_fire.
  std::optional<Occurrence> Next() const;

  // The table's and State's own.
  uint32_t slot = 0;
  uint32_t place = 0;  // in home->jobs
  JobHome* home = nullptr;
  CompactText text;  // its name
  std::unique_ptr<JobExtra> rest;

 private:
  static const JobExtra& None();
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_JOB_STATE_H_
