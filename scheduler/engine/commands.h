// Operators' orders, carried out by the owner of the job.
//
// Kinds and their arguments (all text; absent is ""):
//   job_changed                                        the row was edited or made
//   trigger   biz_date params executor_id request_id reason
//   rerun     run_id kind occurrence biz_date force cascade reason
//   rerun     from to cascade reason                   of what waits for a job that was run again
//   cancel    run_id reason
//   release   run_id reason                            says that it does not run any more
//   drain_executor  executor_id undo                   job_id is 0
//   pause     reason
//   resume    skip_missed
//   waive     date, or from to; reason
//   force_done  date reason
//   unwaive   date, or from to; reason                 takes a waive or force_done back
//   backfill_create  backfill_id from to reprocess reverse parallel reason
//   backfill_pause, backfill_resume, backfill_cancel  backfill_id reason
//   drill     drill_id days now allow_no_fingerprint reason
//   reset_cursor  reason                             interval jobs
//   delete
// Results: trigger {run_id, biz_date}; rerun {run_id, biz_date, later, dependents} (lists with
// commas); cancel {was_terminal, confirmed, message}; waive,
// force_done, unwaive {message, dates, skipped} (lists with commas; skipped as "DATE STATUS");
// backfill_create {backfill_id, dates, message};
// drill {drill_id, dates} (with commas); others {message}.
#ifndef TIDEMARK_SCHEDULER_ENGINE_COMMANDS_H_
#define TIDEMARK_SCHEDULER_ENGINE_COMMANDS_H_

#include <map>
#include <string>

#include "scheduler/engine/date_orders.h"
#include "scheduler/engine/drills.h"
#include "scheduler/engine/state.h"

namespace tidemark {

// Part of the engine; works on State and nothing else. Not thread-safe.
class Commands {
 public:
  explicit Commands(State& state) : s_(state), dates_(state), drills_(state) {}

  void Carry(const Command& command);

 private:
  void JobChanged(const Command& command);
  void Trigger(const Command& command, JobState& job);
  void TriggerDate(const Command& command, JobState& job, absl::CivilDay date, bool force);
  void DecideDate(const Command& command, JobState& job, const Occurrence& due, bool force,
                  const LedgerResult& ledger);
  void RerunDone(const Command& command, JobState& job, const Occurrence& due,
                 const LedgerResult& ledger);
  void RerunAfterUpstream(const Command& command, JobState& job);
  void TriggerOnce(const Command& command, JobState& job);
  // `more`: what the answer says besides the run.
  void OpenManual(const Command& command, JobState& job, const Occurrence& due, OccurrenceKey key,
                  std::map<std::string, std::string> more = {}, const std::string& tag = "");
  void Rerun(const Command& command, JobState& job);
  void Cancel(const Command& command);
  void Release(const Command& command);
  void DrainExecutor(const Command& command);
  void Pause(const Command& command, JobState& job);
  void Resume(const Command& command, JobState& job);
  void ResetCursor(const Command& command, JobState& job);
  void Delete(const Command& command, JobState& job);

  void Done(const Command& command, std::map<std::string, std::string> result);
  void Refuse(const Command& command, absl::StatusCode code, const std::string& message);

  State& s_;
  DateOrders dates_;
  Drills drills_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_COMMANDS_H_
