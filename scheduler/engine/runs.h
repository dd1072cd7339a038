// The life of runs: opened, given to an executor, watched, retried, closed.
#ifndef TIDEMARK_SCHEDULER_ENGINE_RUNS_H_
#define TIDEMARK_SCHEDULER_ENGINE_RUNS_H_

#include <map>
#include <string>
#include <vector>

#include "scheduler/engine/state.h"

namespace tidemark {

// What a new run is to be.
struct RunRequest {
  Occurrence occurrence;
  OccurrenceKey key;
  TriggerType trigger = TriggerType::kSchedule;
  bool counts_reopening = false;
  std::string request_id;
  std::string requested_by;
  std::string reason;
  std::string rerun_of;
  std::string wanted_executor;
  std::string params;  // JSON object, "" none
  std::string backfill_id;
  std::string tag;  // what made it: "drill", a cascade …; or ""
};

// Part of the engine; works on State and nothing else. Not thread-safe.
class Runs {
 public:
  explicit Runs(State& state) : s_(state) {}

  // Lets the job's blocking policy decide what becomes of an occurrence of an interval job that is
  // launched now. Returns the run_id of the run or of the SKIPPED row.
  std::string Launch(JobState& job, const RunRequest& request);
  // Records the run, and gives it to an executor in the same flush when it can start at once.
  // Returns its run_id.
  std::string Open(JobState& job, const RunRequest& request);
  // The row of a new run, without an executor.
  static ActiveRun NewRow(const JobState& job, const RunRequest& request, std::string run_id,
                          absl::Time created_at);
  // Chooses the session for the row's next attempt.
  void WriteDown(ActiveRun& row, const JobState& job, const ExecutorSession& session);
  // The instant of a run that was armed has come. `recorded`: its row is committed; if it is not
  // yet, OnOpened is to be called with the commit.
  void Launch(JobState& job, LiveRun armed, bool recorded);
  void OnOpened(const std::string& run_id, const FlushResult& result);
  // A run that an earlier term left: whether its trigger left the node is not known.
  void Adopt(ActiveRun row);

  // Gives a waiting run to an executor if it is its turn and one is free.
  void Advance(LiveRun& run);
  void AdvanceJob(JobState& job);
  void AdvanceApp(const std::string& app);

  // `stream` 0: through another node.
  void OnReport(StreamId stream, const RunReport& report, absl::Duration received);
  // ---- run_inbox.cc
  // About a run that this node does not have: another one may.
  void OnForeignReport(const ExecutorSession& session, const RunReport& report);
  // What another node took in; dealt with by the flush that is being collected.
  void OnInbox(const InboxItem& item);
  // The run (re)appears in its executor's list of held runs.
  void OnHeld(LiveRun& run, const HeldRun& held, absl::Duration received);
  // The executor, in contact under the same registration, does not have the attempt.
  void OnNotHeld(LiveRun& run, ExecutorSession& session);
  // ---- run_reinsert.cc
  // A run, or an attempt of one, that the executor has and the database lost in a fail-over is live
  // from now on. Null: it is not to go on.
  LiveRun* Reinsert(ExecutorSession& session, const HeldRun& held);
  // Nothing is held back any more: what waits to be sent again is.
  void SendHeldBack(const std::string& app);

  // A higher registration of its executor exists and its results are in.
  void OnProcessGone(LiveRun& run);

  // Ends it: at once when nothing was sent, else by asking the executor.
  void Cancel(LiveRun& run, const std::string& actor, const std::string& reason,
              const std::string& command_id);

  // An operator vouches that the attempt does not run any more. False when there is none.
  bool Release(LiveRun& run, const std::string& actor, const std::string& reason);

  void TimersDue();
  void WriteProgress();

 private:
  std::string Skip(JobState& job, const RunRequest& request, const std::string& reason);
  void CancelForLater(LiveRun& run);
  bool ItsTurn(const LiveRun& run, const JobState& job) const;
  // As many of its runs as may be with executors at once, the oldest first.
  std::vector<std::string> InTurn(const JobState& job) const;
  void Assign(LiveRun& run, JobState& job, ExecutorSession& session);
  // The attempt, recorded for that session, is in its hands from now on.
  void Hand(LiveRun& run, JobState& job, ExecutorSession& session);
  // What is recorded of the run's executor is void: its trigger has not left.
  void Unassign(LiveRun& run);
  // The attempt is in no executor's hands any more.
  void TakeBack(const LiveRun& run);
  void SendTrigger(const std::string& run_id, int attempt);
  void Trigger(LiveRun& run, const JobState& job, const ExecutorSession& session);
  void CountTrigger(const LiveRun& run);
  void SendCancel(LiveRun& run, const std::string& cause);
  void Wait(LiveRun& run, absl::Duration delay);

  // ---- run_queue.cc
  void EnterWaiting(LiveRun& run);
  void LeaveWaiting(LiveRun& run);
  // It is its turn, and no executor was found: the next one that comes free may take it.
  void LetBeReady(LiveRun& run, const JobState& job);
  void LeaveReady(LiveRun& run);
  void AdvanceReady(AppQueue& queue);
  void TakeSlot(const LiveRun& run);
  void FreeSlot(const LiveRun& run);
  int SlotsOf(const JobState& job) const;
  bool Ready(const LiveRun& run, const JobState& job) const;
  bool OthersWait(const LiveRun& run) const;
  // Whether the budget of catch-up lets it be given to an executor.
  bool WithinBudget(const LiveRun& run, const JobState& job) const;
  void AdvanceCatchUps(const std::string& app);

  void OnRefused(LiveRun& run, const RefusedReport& refused);
  void OnLockRefused(LiveRun& run, const AttemptResult& result);
  void HoldNoMore(LiveRun& run);
  void OnStarted(LiveRun& run);
  void OnProgress(LiveRun& run, const ProgressReport& progress);
  // The last sign of life of its executor, whether it has the run or not.
  absl::Duration ExecutorHeard(const LiveRun& run) const;
  absl::Duration StartDeadline(const LiveRun& run, const Timeouts& timeouts) const;
  // A sign of life of its executor about the run.
  void Heard(LiveRun& run, absl::Duration received);
  void RefusedForRoom(const LiveRun& run);
  bool HeldBack(const LiveRun& run) const;
  LiveRun* Reattach(LiveRun& run, const ExecutorSession& session, const HeldRun& held);
  bool MakeRoom(JobState& job, const OccurrenceKey& occurrence);
  void Supersede(LiveRun& run);
  void Resume(LiveRun& run, const ExecutorSession& session, const HeldRun& held);
  void NoteLate(StreamId stream, const RunReport& report);
  void AcknowledgeLate(StreamId stream, const AttemptRef& attempt);

  // Ends the attempt, if `facts` release it: the one way to another attempt or to the run's end.
  // The next one waits for `delay` at least.
  void EndAttempt(LiveRun& run, const AttemptFacts& facts, Outcome outcome,
                  const AttemptResult& result, absl::Duration delay = absl::ZeroDuration());
  void RecordAttempt(const LiveRun& run, Outcome outcome, const std::string& message);
  void Close(LiveRun& run, const Verdict& verdict, const AttemptResult& result);
  void OnClosed(const std::string& run_id, const FlushResult& result);
  // Its row is committed.
  void GoOn(LiveRun& run);
  void GiveUp(const ActiveRun& run);
  // Goes on with a cascade of reruns, or ends it, as the run's end wants it.
  void ContinueCascade(const LiveRun& run, JobState& job, RunStatus status);
  void AcknowledgeOnCommit(const LiveRun& run);
  void AnswerCancels(LiveRun& run, bool confirmed);

  void SetTimer(LiveRun& run);
  absl::Duration NextDeadline(const LiveRun& run, const JobState* job) const;
  void OnTimer(LiveRun& run);
  void SendAtLast(LiveRun& run);
  void WatchContact(LiveRun& run, const JobState& job);
  void Drop(const std::string& run_id);

  State& s_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_RUNS_H_
