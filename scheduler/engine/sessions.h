// Executors: registration, heartbeats, liveness, and which one gets a run.
#ifndef TIDEMARK_SCHEDULER_ENGINE_SESSIONS_H_
#define TIDEMARK_SCHEDULER_ENGINE_SESSIONS_H_

#include <set>
#include <string>
#include <vector>

#include "scheduler/core/routing.h"
#include "scheduler/engine/state.h"

namespace tidemark {

// Part of the engine; works on State and nothing else. Not thread-safe.
class Sessions {
 public:
  explicit Sessions(State& state) : s_(state) {}

  void OnMessage(StreamId stream, const ExecutorMessage& message, absl::Duration received);
  void OnClosed(StreamId stream);
  // Whether too much of what the stream sent waits to be handled.
  void OnCongested(StreamId stream, bool congested);
  // Whether an operator lets the executor have new runs; kept over its restarts.
  void Drain(const std::string& executor_id, bool drained);
  // All executors that operators drained, whichever node took the order.
  void TakeDrained(std::set<std::string> executor_ids);
  // Runs that it may have became this node's. It comes back at once and says what it has, its
  // results first.
  void AskAgain(const std::string& executor_id);
  // Judges what executors said hello without, once all that the inbox had at `read` is known.
  void SettleDoubts(absl::Duration read);
  // Looks for apps whose jobs have no executor any more.
  void WatchApps();
  // Finds executors that fell silent, and lets those that wait for them act.
  void Sweep();

  // The executor that gets the run, or null when none can take it now.
  // `ahead`: for a run that is not due yet.
  ExecutorSession* Choose(const LiveRun& run, const JobState& job, bool ahead = false);
  // Whether the executor that was chosen ahead can take the run now.
  bool Takes(const ExecutorSession& session, const LiveRun& run) const;
  // Whether an executor of the app that is up could take anything at all.
  bool AnyRoom(const std::string& app) const;
  // What the run needs of an executor, as a key: runs that need the same are taken by the same.
  static std::string NeedOf(const LiveRun& run, const JobState& job);
  // Runs of this node that the executors of the app that are up take at once.
  int Capacity(const std::string& app) const;
  // Why Choose finds none, for people.
  std::string WhyNone(const LiveRun& run, const JobState& job) const;
  OnLost OnLostFor(const ExecutorSession& session, const JobSpec& spec) const;

 private:
  void OnHello(StreamId stream, const Hello& hello);
  // Hands a report on, unless it is about a run of another app: whoever has that run says it.
  void OnReport(const ExecutorSession& session, const RunReport& report, absl::Duration received);
  void LetWait(const ExecutorSession& current, const ExecutorSession& session);
  bool MayActElsewhere(const Hello& hello) const;
  bool Silent(const ExecutorSession& session) const;
  void Register(ExecutorSession& session);
  void OnRegistered(const std::string& executor_id, StreamId stream, const FlushResult& result);
  static bool IsNewHere(const ExecutorEntry& entry, ExecutorRegistered::Kind kind);
  void Welcome(ExecutorEntry& entry, bool new_incarnation);
  void Reject(StreamId stream, RejectedMessage::Reason reason, std::string text);
  bool Up(const ExecutorSession& session) const;
  bool Fits(const ExecutorSession& session, const LiveRun& run, const JobState& job) const;
  static bool HasRoom(const ExecutorSession& session);
  bool HasSlot(const ExecutorSession& session, const std::string& handler) const;
  const std::vector<ExecutorEntry*>& Of(const std::string& app) const;
  void CheckIds();
  void WriteState(const ExecutorSession& session, const std::string& state);
  ExecutorSession* SessionOf(StreamId stream);
  void LetNextAct(ExecutorEntry& entry);
  void SetDrained(ExecutorEntry& entry, bool drained);

  // ---- session_held.cc
  void OnHeartbeat(ExecutorSession& session, const Heartbeat& beat, absl::Duration received);
  void Reconcile(ExecutorSession& session, bool new_incarnation);
  bool IsOurs(const HeldRun& held) const;
  LiveRun* FindHeld(const ExecutorSession& session, const HeldRun& held);
  void Deny(const ExecutorSession& session, const HeldRun& held);
  bool OfEarlierTimeline(const HeldRun& held) const;

  State& s_;
  // Kept only so that choosing allocates nothing.
  std::vector<Candidate> candidates_;
  std::vector<ExecutorSession*> candidate_sessions_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_SESSIONS_H_
