// Registration and liveness. What executors say that they have is in session_held.cc, choosing
// among them in session_choice.cc.
#include "scheduler/engine/sessions.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "common/id.h"
#include "common/text.h"
#include "scheduler/engine/alerts.h"
#include "scheduler/engine/fail_over.h"
#include "scheduler/engine/gaps.h"
#include "scheduler/engine/runs.h"

namespace tidemark {
namespace {

// What is wrong with a Hello, or "".
std::string Problem(const Hello& hello) {
  if (std::string p = NameProblem(hello.executor_id); !p.empty()) return "executor_id " + p;
  if (std::string p = NameProblem(hello.app); !p.empty()) return "app " + p;
  if (std::string p = NameProblem(hello.ns); !p.empty()) return "namespace " + p;
  if (!IsUuid(hello.incarnation)) return "incarnation is not a UUID";
  if (hello.capacity < 1 || hello.capacity > 100000) return "capacity is not within 1..100000";
  if (hello.handlers.empty()) return "no handler is registered";
  for (const HandlerInfo& handler : hello.handlers) {
    if (std::string p = NameProblem(handler.name); !p.empty()) return "a handler's name " + p;
  }
  return "";
}

}  // namespace

void Sessions::OnMessage(StreamId stream, const ExecutorMessage& message, absl::Duration received) {
  if (message.hello.has_value()) OnHello(stream, *message.hello);
  ExecutorSession* session = SessionOf(stream);
  if (session == nullptr) return;
  session->last_beat = std::max(session->last_beat, received);
  if (session->registration == 0) return;  // speaks before it is welcomed: said again later
  for (const RunReport& report : message.reports) OnReport(*session, report, received);
  if (message.heartbeat.has_value()) OnHeartbeat(*session, *message.heartbeat, received);
  if (message.goodbye) {
    session->draining = true;
    session->left = true;
    WriteState(*session, "GONE");
    session->lost = true;
  }
}

void Sessions::OnReport(const ExecutorSession& session, const RunReport& report,
                        absl::Duration received) {
  const LiveRun* run = s_.FindRun(report.attempt.run_id);
  const Hello& hello = session.hello;
  if (run == nullptr && !s_.OwnsAll() && !s_.given_up.contains(report.attempt)) {
    s_.run_part->OnForeignReport(session, report);
    return;
  }
  if (run == nullptr || (run->row.app == hello.app && run->row.ns == hello.ns)) {
    s_.run_part->OnReport(session.stream, report, received);
    return;
  }
  s_.Say(LogLine::Level::kError, "report about another app's run refused",
         {{"executor", hello.executor_id}, {"app", hello.app}, {"run_id", report.attempt.run_id}});
  s_.out.deny.emplace_back(session.stream, "executor " + hello.executor_id + " of app " +
                                               hello.app + " spoke about run " +
                                               report.attempt.run_id + ", which is another app's");
}

ExecutorSession* Sessions::SessionOf(StreamId stream) {
  const auto it = s_.streams.find(stream);
  if (it == s_.streams.end()) return nullptr;
  ExecutorEntry& entry = s_.executors[it->second];
  if (entry.current && entry.current->stream == stream) return entry.current.get();
  if (entry.waiting && entry.waiting->stream == stream) return entry.waiting.get();
  return nullptr;
}

void Sessions::Reject(StreamId stream, RejectedMessage::Reason reason, std::string text) {
  s_.Say(LogLine::Level::kWarn, "executor rejected", {{"reason", text}});
  s_.Send(stream, RejectedMessage{reason, std::move(text)});
  s_.out.close.push_back(stream);
  s_.streams.erase(stream);
}

void Sessions::OnHello(StreamId stream, const Hello& hello) {
  if (const std::string problem = Problem(hello); !problem.empty()) {
    Reject(stream, RejectedMessage::Reason::kInvalid, problem);
    return;
  }
  auto session = std::make_unique<ExecutorSession>();
  session->stream = stream;
  session->hello = hello;
  session->draining = hello.draining;
  session->last_beat = s_.now.mono;
  s_.streams[stream] = hello.executor_id;
  ExecutorEntry& entry = s_.executors[hello.executor_id];
  const ExecutorSession* current = entry.current.get();
  if (current != nullptr && current->hello.app != hello.app) {
    Reject(stream, RejectedMessage::Reason::kAppMismatch,
           "executor id " + hello.executor_id + " belongs to app " + current->hello.app +
               "; choose another --executor-id");
    return;
  }
  if (current != nullptr && hello.registration > 0 && hello.registration < current->registration) {
    Reject(stream, RejectedMessage::Reason::kSuperseded,
           "a later process registered as " + hello.executor_id + "; this one must not come back");
    return;
  }
  if (entry.waiting) {
    s_.out.close.push_back(entry.waiting->stream);
    s_.streams.erase(entry.waiting->stream);
  }
  // A new process means that the old one is gone, unless both were seen at one time.
  const bool alive = current != nullptr && !current->left && !Silent(*current) &&
                     (current->connected || entry.contender == hello.incarnation);
  if (alive && current->hello.incarnation != hello.incarnation) {
    entry.contender = hello.incarnation;
    LetWait(*current, *session);
  } else if (current == nullptr && MayActElsewhere(hello)) {
    s_.Send(stream, WaitMessage{"executor id " + hello.executor_id +
                                " has runs in another process, which has a moment to come back"});
  } else {
    entry.waiting = std::move(session);
    LetNextAct(entry);
    return;
  }
  entry.waiting = std::move(session);
}

// Two processes with one id: the one that acts keeps acting while it has contact.
void Sessions::LetWait(const ExecutorSession& current, const ExecutorSession& session) {
  const std::string& id = session.hello.executor_id;
  s_.Send(session.stream, WaitMessage{"another process with executor id " + id + " (" +
                                      current.hello.host + ") still has contact"});
  s_.Send(current.stream,
          NoticeMessage{"another process with executor id " + id + " (" + session.hello.host +
                        ") waits for this one to go; give each an id of its own"});
  alerts::ExecutorIdShared(s_, current, session);
  s_.Say(LogLine::Level::kWarn, "two processes with one executor id",
         {{"executor", id}, {"acting", current.hello.host}, {"waiting", session.hello.host}});
}

// After a take-over the process that has the runs may be dialling still: a higher registration
// would free them while it goes on with them.
bool Sessions::MayActElsewhere(const Hello& hello) const {
  if (s_.now.mono - s_.eyes_good_since >= s_.times.lease) return false;
  const auto theirs = s_.runs_at.find(hello.executor_id);
  if (theirs == s_.runs_at.end()) return false;
  return std::any_of(theirs->second.begin(), theirs->second.end(), [&](const std::string& run_id) {
    const LiveRun* run = s_.FindRun(run_id);
    return run != nullptr && run->row.registration != hello.registration;
  });
}

// Not heard of for a lease, although we listened.
bool Sessions::Silent(const ExecutorSession& session) const {
  return s_.now.mono - std::max(session.last_beat, s_.eyes_good_since) >= s_.times.lease;
}

// The waiting session registers; what is current is superseded once that is committed.
void Sessions::LetNextAct(ExecutorEntry& entry) {
  if (entry.waiting && !entry.waiting->registering) Register(*entry.waiting);
}

void Sessions::Register(ExecutorSession& session) {
  session.registering = true;
  const Hello& hello = session.hello;
  ExecutorRegister row;
  row.session = session.stream;
  row.executor_id = hello.executor_id;
  row.incarnation = hello.incarnation;
  row.claimed = hello.registration;
  row.app = hello.app;
  row.ns = hello.ns;
  row.host = hello.host;
  row.version = hello.version;
  row.capacity = hello.capacity;
  for (const HandlerInfo& handler : hello.handlers) row.handlers.push_back(handler.name);
  row.labels = hello.labels;
  row.draining = hello.draining;
  // One row a key a batch: of two in one flush the later stands.
  std::erase_if(s_.flush.registers,
                [&](const ExecutorRegister& r) { return r.executor_id == row.executor_id; });
  s_.flush.registers.push_back(std::move(row));
  s_.OnCommit([this, id = hello.executor_id, stream = session.stream](const FlushResult& result) {
    OnRegistered(id, stream, result);
  });
}

void Sessions::OnRegistered(const std::string& executor_id, StreamId stream,
                            const FlushResult& result) {
  const auto found = std::find_if(result.registered.begin(), result.registered.end(),
                                  [&](const ExecutorRegistered& r) { return r.session == stream; });
  ExecutorEntry& entry = s_.executors[executor_id];
  if (!entry.waiting || entry.waiting->stream != stream) return;  // closed meanwhile
  if (found == result.registered.end()) {
    s_.out.close.push_back(stream);  // comes back by itself
    entry.waiting.reset();
    return;
  }
  if (found->kind == ExecutorRegistered::Kind::kSuperseded) {
    Reject(stream, RejectedMessage::Reason::kSuperseded,
           "a later process registered as " + executor_id + "; this one must not come back");
    entry.waiting.reset();
    return;
  }
  if (found->kind == ExecutorRegistered::Kind::kOtherApp) {
    Reject(stream, RejectedMessage::Reason::kAppMismatch,
           "executor id " + executor_id + " belongs to app " + found->app +
               "; choose another --executor-id");
    entry.waiting.reset();
    return;
  }
  entry.waiting->registration = found->registration;
  entry.waiting->drained = found->drained || s_.drained.contains(executor_id);
  Welcome(entry, IsNewHere(entry, found->kind));
}

// Whether the process is new to this node's jobs. Another node may have registered it a moment ago.
bool Sessions::IsNewHere(const ExecutorEntry& entry, ExecutorRegistered::Kind kind) {
  if (kind == ExecutorRegistered::Kind::kNew) return true;
  const Hello& hello = entry.waiting->hello;
  if (entry.current) return entry.current->hello.incarnation != hello.incarnation;
  return hello.registration == 0;
}

void Sessions::Welcome(ExecutorEntry& entry, bool new_incarnation) {
  std::unique_ptr<ExecutorSession> old = std::move(entry.current);
  entry.current = std::move(entry.waiting);
  ExecutorSession& session = *entry.current;
  session.registering = false;
  session.last_beat = s_.now.mono;
  if (old && old->connected) {
    s_.out.close.push_back(old->stream);
    s_.streams.erase(old->stream);
  }
  if (!old) s_.executors_of[session.hello.app].push_back(&entry);
  if (old && old->registration == session.registration) {
    session.runs = std::move(old->runs);
    session.runs_of = std::move(old->runs_of);
    session.armed = old->armed;
  }
  s_.Send(session.stream,
          WelcomeMessage{session.registration, s_.times.beat, s_.times.lease, s_.timeline});
  s_.Say(LogLine::Level::kInfo, "executor registered",
         {{"executor", session.hello.executor_id},
          {"app", session.hello.app},
          {"host", session.hello.host},
          {"registration", std::to_string(session.registration)}});
  alerts::ExecutorIdUnique(s_, session.hello.executor_id);
  alerts::ExecutorFound(s_, session.hello.executor_id, session.hello.app);
  s_.app_up[session.hello.app] = s_.now.mono;
  // Results first: only then is anything concluded from the registration.
  for (const RunReport& report : session.hello.results) {
    OnReport(session, report, s_.now.mono);
  }
  Reconcile(session, new_incarnation);
  s_.fail_over_part->OnHello(session);
  session.hello.results.clear();
  session.hello.held.clear();
  s_.gap_part->EvaluateApp(
      session.hello.app, new_incarnation ? TriggerPoint::kNewIncarnation : TriggerPoint::kExecutor);
  s_.run_part->AdvanceApp(session.hello.app);
}

void Sessions::Drain(const std::string& executor_id, bool drained) {
  ExecutorState row;
  row.executor_id = executor_id;
  row.drained = drained;
  s_.flush.executors.push_back(std::move(row));
  // What is read before the commit does not know it yet.
  ++s_.draining_orders[executor_id];
  s_.OnCommit([this, executor_id](const FlushResult&) {
    if (--s_.draining_orders[executor_id] == 0) s_.draining_orders.erase(executor_id);
  });
  if (drained) {
    s_.drained.insert(executor_id);
  } else {
    s_.drained.erase(executor_id);
  }
  if (const auto it = s_.executors.find(executor_id); it != s_.executors.end()) {
    SetDrained(it->second, drained);
  }
}

void Sessions::TakeDrained(std::set<std::string> executor_ids) {
  for (const auto& [id, orders] : s_.draining_orders) {
    if (s_.drained.contains(id)) {
      executor_ids.insert(id);
    } else {
      executor_ids.erase(id);
    }
  }
  s_.drained = std::move(executor_ids);
  for (auto& [id, entry] : s_.executors) SetDrained(entry, s_.drained.contains(id));
}

void Sessions::SetDrained(ExecutorEntry& entry, bool drained) {
  if (!entry.current || entry.current->drained == drained) return;
  entry.current->drained = drained;
  s_.Say(LogLine::Level::kInfo, drained ? "executor drained" : "executor used again",
         {{"executor", entry.current->hello.executor_id}});
  if (!drained) s_.run_part->AdvanceApp(entry.current->hello.app);
}

void Sessions::OnClosed(StreamId stream) {
  const auto it = s_.streams.find(stream);
  if (it == s_.streams.end()) return;
  ExecutorEntry& entry = s_.executors[it->second];
  s_.streams.erase(it);
  if (entry.waiting && entry.waiting->stream == stream) {
    alerts::ExecutorIdUnique(s_, entry.waiting->hello.executor_id);
    entry.waiting.reset();
    return;
  }
  if (!entry.current || entry.current->stream != stream) return;
  entry.current->connected = false;
  s_.Say(LogLine::Level::kInfo, "executor disconnected",
         {{"executor", entry.current->hello.executor_id}});
  // One that waits has seen this one alive: a cut link alone does not make it act.
  if (entry.current->left) LetNextAct(entry);
}

void Sessions::Sweep() {
  CheckIds();
  for (auto& [executor_id, entry] : s_.executors) {
    ExecutorSession* session = entry.current.get();
    if (session == nullptr && entry.waiting && !MayActElsewhere(entry.waiting->hello)) {
      LetNextAct(entry);
    }
    if (session == nullptr || !Silent(*session)) continue;
    LetNextAct(entry);
    if (session->lost || !s_.Watches(executor_id)) continue;
    session->lost = true;
    WriteState(*session, session->draining ? "GONE" : "LOST");
    s_.Say(LogLine::Level::kWarn, "executor silent", {{"executor", executor_id}});
  }
}

// Whoever shared an id before this term has dialled by then, or is gone.
void Sessions::CheckIds() {
  if (s_.ids_checked || s_.now.mono - s_.eyes_good_since < 2 * s_.times.lease) return;
  s_.ids_checked = true;
  std::set<std::string> shared;
  for (const auto& [executor_id, entry] : s_.executors) {
    if (entry.waiting) shared.insert(executor_id + "/" + entry.waiting->hello.incarnation);
  }
  alerts::OnlyIdsShared(s_, shared);
}

void Sessions::WatchApps() {
  for (const auto& [executor_id, entry] : s_.executors) {
    const ExecutorSession* session = entry.current.get();
    if (session != nullptr && Up(*session)) s_.app_up[session->hello.app] = s_.now.mono;
  }
  // One that was never seen may be yet to come: of what waits for it the run tells.
  std::map<std::string, std::vector<const JobState*>> down;
  for (const auto& [app, seen] : s_.app_up) {
    if (s_.now.mono - std::max(seen, s_.eyes_good_since) >= kTolerance) down[app] = {};
  }
  const auto told = s_.open_alerts.lower_bound("app_down/");
  const bool any_told = told != s_.open_alerts.end() && told->starts_with("app_down/");
  if (down.empty() && !any_told) return;  // nearly always: no job has to be looked at
  std::set<std::string> wanted;
  for (const std::string& app : s_.jobs.Apps()) {
    const auto it = down.find(app);
    for (const JobState* job : s_.jobs.Of(app)) {
      if (!job->opens()) continue;
      wanted.insert(app);
      if (it == down.end()) break;
      it->second.push_back(job);
    }
  }
  alerts::OnlyAppsDown(s_, wanted);
  for (const auto& [app, jobs] : down) {
    if (jobs.empty()) {
      s_.app_up.erase(app);
    } else {
      alerts::AppDown(s_, app, jobs, s_.now.mono - s_.app_up[app]);
    }
  }
}

void Sessions::WriteState(const ExecutorSession& session, const std::string& state) {
  std::erase_if(s_.flush.executors, [&](const ExecutorState& row) {
    return row.executor_id == session.hello.executor_id && !row.drained.has_value();
  });
  s_.flush.executors.push_back(
      {session.hello.executor_id, session.registration, state, std::nullopt});
}

}  // namespace tidemark
