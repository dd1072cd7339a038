// What executors say that they have, of this node's runs and of others'.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "scheduler/engine/alerts.h"
#include "scheduler/engine/gaps.h"
#include "scheduler/engine/runs.h"
#include "scheduler/engine/sessions.h"

namespace tidemark {

// Whether this node judges it. Under a higher epoch the shard is another node's by now, and the
// fence will tell this one.
bool Sessions::IsOurs(const HeldRun& held) const {
  const auto it = s_.shards.find(held.shard);
  return it != s_.shards.end() && held.epoch <= it->second;
}

// The run, if it is live there in that attempt.
LiveRun* Sessions::FindHeld(const ExecutorSession& session, const HeldRun& held) {
  LiveRun* run = s_.FindRun(held.attempt.run_id);
  const bool match = run != nullptr && run->row.attempt == held.attempt.attempt &&
                     run->row.registration == session.registration;
  return match ? run : nullptr;
}

void Sessions::Deny(const ExecutorSession& session, const HeldRun& held) {
  s_.Send(session.stream,
          CancelOrder{held.attempt, held.shard, s_.EpochOf(held.shard), "it is not live here"});
}

// It may be live after all: commits may have been lost with the fail-over.
bool Sessions::OfEarlierTimeline(const HeldRun& held) const {
  return held.epoch.timeline < s_.timeline && held.epoch.timeline > 0;
}

void Sessions::AskAgain(const std::string& executor_id) {
  const auto it = s_.executors.find(executor_id);
  ExecutorSession* session = it == s_.executors.end() ? nullptr : it->second.current.get();
  if (session == nullptr || !session->connected) return;
  s_.out.close.push_back(session->stream);
  s_.streams.erase(session->stream);
  session->connected = false;
}

void Sessions::Reconcile(ExecutorSession& session, bool new_incarnation) {
  std::set<std::string> held;
  session.foreign = 0;
  for (const HeldRun& item : session.hello.held) {
    LiveRun* run = FindHeld(session, item);
    if (run == nullptr && IsOurs(item) && OfEarlierTimeline(item)) {
      run = s_.run_part->Reinsert(session, item);
    }
    if (run == nullptr) {
      ++session.foreign;
      if (IsOurs(item)) Deny(session, item);
      continue;
    }
    held.insert(item.attempt.run_id);
    session.Hold(run->row);
    s_.run_part->OnHeld(*run, item, s_.now.mono);
    if (run->cancel_sent.has_value() || !run->row.cancel_by.empty()) {
      run->cancel_sent = absl::ZeroDuration();  // said again at its next deadline
    }
  }
  const auto at = s_.runs_at.find(session.hello.executor_id);
  if (at == s_.runs_at.end()) return;
  const std::set<std::string> theirs(at->second.begin(), at->second.end());
  for (const std::string& run_id : theirs) {
    const LiveRun* run = s_.FindRun(run_id);
    if (run == nullptr || held.contains(run_id)) continue;
    if (run->row.registration > session.registration) continue;
    if (run->row.registration == session.registration) session.Hold(run->row);
    s_.doubts.push_back({session.hello.executor_id,
                         session.registration,
                         {run_id, run->row.attempt},
                         s_.now.mono,
                         new_incarnation});
  }
}

// X3: nothing is concluded from what an executor does not have any more while its result may wait
// in the inbox. What it handed to another node was committed there before it said hello without it.
void Sessions::SettleDoubts(absl::Duration read) {
  s_.inbox_read = std::max(s_.inbox_read, read);
  std::vector<State::Doubt> later;
  std::set<std::string> renewed;  // apps with a new process, of whose old one something was judged
  for (State::Doubt& doubt : std::exchange(s_.doubts, {})) {
    if (doubt.since > read) {
      later.push_back(std::move(doubt));
      continue;
    }
    LiveRun* run = s_.FindRun(doubt.attempt.run_id);
    ExecutorSession* session = s_.FindSession(doubt.executor_id, doubt.registration);
    if (run == nullptr || session == nullptr || run->row.attempt != doubt.attempt.attempt) continue;
    if (run->row.registration < doubt.registration) {
      s_.run_part->OnProcessGone(*run);
      if (doubt.new_incarnation) renewed.insert(session->hello.app);
    } else if (run->row.registration == doubt.registration && run->contact <= doubt.since) {
      s_.run_part->OnNotHeld(*run, *session);
    }
  }
  s_.doubts.insert(s_.doubts.end(), std::make_move_iterator(later.begin()),
                   std::make_move_iterator(later.end()));
  // C4: what failed with the old process, the new one may mend.
  for (const std::string& app : renewed) {
    s_.gap_part->EvaluateApp(app, TriggerPoint::kNewIncarnation);
  }
}

void Sessions::OnHeartbeat(ExecutorSession& session, const Heartbeat& beat,
                           absl::Duration received) {
  bool came_free = session.draining && !beat.draining;
  if (beat.draining && !session.draining) WriteState(session, "DRAINING");
  session.draining = beat.draining;
  alerts::ExecutorFound(s_, session.hello.executor_id, session.hello.app);
  if (session.lost) {
    session.lost = false;
    WriteState(session, beat.draining ? "DRAINING" : "UP");
  }
  HeartbeatAckMessage ack;
  ack.sequence = beat.sequence;
  int foreign = 0;
  bool ask_again = false;
  for (const HeldRun& item : beat.held) {
    if (LiveRun* run = FindHeld(session, item)) {
      s_.run_part->OnHeld(*run, item, received);
      ack.renewed.push_back(item.attempt);
      continue;
    }
    ++foreign;
    if (!IsOurs(item)) continue;
    if (OfEarlierTimeline(item)) {
      ask_again = true;  // a Hello says what it is
    } else {
      Deny(session, item);
    }
  }
  came_free = came_free || foreign < session.foreign || !session.full_for.empty();
  session.foreign = foreign;
  session.full_for.clear();
  s_.Send(session.stream, std::move(ack));
  if (ask_again) AskAgain(session.hello.executor_id);
  if (came_free) s_.run_part->AdvanceApp(session.hello.app);
}

void Sessions::OnCongested(StreamId stream, bool congested) {
  ExecutorSession* session = SessionOf(stream);
  if (session == nullptr || session->congested == congested) return;
  session->congested = congested;
  s_.Say(LogLine::Level::kWarn,
         congested ? "executor sends more than is handled: it is to hold, and gets nothing new"
                   : "executor may go on",
         {{"executor", session->hello.executor_id}});
  if (!congested) s_.run_part->AdvanceApp(session->hello.app);
}

}  // namespace tidemark
