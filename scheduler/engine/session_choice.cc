// Which executor gets a run: filters here, the strategy in core/routing.
#include <algorithm>
#include <vector>

#include "common/text.h"
#include "scheduler/core/routing.h"
#include "scheduler/engine/fail_over.h"
#include "scheduler/engine/sessions.h"

namespace tidemark {
namespace {

const HandlerInfo* FindHandler(const ExecutorSession& session, const std::string& name) {
  for (const HandlerInfo& handler : session.hello.handlers) {
    if (handler.name == name) return &handler;
  }
  return nullptr;
}

}  // namespace

bool Sessions::Up(const ExecutorSession& session) const {
  return session.connected && session.registration != 0 && !session.draining && !session.drained &&
         s_.now.mono - session.last_beat < s_.times.lease;
}

bool Sessions::HasRoom(const ExecutorSession& session) {
  return !session.congested && session.Load() < session.hello.capacity;
}

bool Sessions::HasSlot(const ExecutorSession& session, const std::string& handler) const {
  if (!HasRoom(session) || session.full_for.contains(handler)) return false;
  const HandlerInfo* info = FindHandler(session, handler);
  if (info == nullptr || info->concurrency == 0) return info != nullptr;
  const auto of_handler = session.runs_of.find(handler);
  return of_handler == session.runs_of.end() || of_handler->second < info->concurrency;
}

bool Sessions::Fits(const ExecutorSession& session, const LiveRun& run, const JobState& job) const {
  if (session.hello.app != run.row.app || !Up(session)) return false;
  // Whoever may define jobs in one namespace orders no other namespace's executors about.
  if (session.hello.ns != run.row.ns) return false;
  if (FindHandler(session, run.row.handler) == nullptr) return false;
  if (!run.row.wanted_executor.empty() && session.hello.executor_id != run.row.wanted_executor) {
    return false;
  }
  return std::all_of(job.spec().routing.labels.begin(), job.spec().routing.labels.end(),
                     [&](const auto& label) {
                       const auto it = session.hello.labels.find(label.first);
                       return it != session.hello.labels.end() && it->second == label.second;
                     });
}

const std::vector<ExecutorEntry*>& Sessions::Of(const std::string& app) const {
  static const std::vector<ExecutorEntry*> none;
  const auto it = s_.executors_of.find(app);
  return it == s_.executors_of.end() ? none : it->second;
}

bool Sessions::Takes(const ExecutorSession& session, const LiveRun& run) const {
  return Up(session) && HasSlot(session, run.row.handler);
}

ExecutorSession* Sessions::Choose(const LiveRun& run, const JobState& job, bool ahead) {
  candidates_.clear();
  candidate_sessions_.clear();
  if (s_.fail_over_part->Holds(job)) return nullptr;
  for (const ExecutorEntry* entry : Of(run.row.app)) {
    ExecutorSession* session = entry->current.get();
    // The cheapest question first: in a flood nearly all are full.
    if (session == nullptr || !HasRoom(*session) || !Fits(*session, run, job) ||
        !HasSlot(*session, run.row.handler)) {
      continue;
    }
    const int load = session->Load() + session->armed;
    if (ahead && load >= session->hello.capacity) continue;
    const auto avoided = run.avoid.find(session->hello.executor_id);
    if (avoided != run.avoid.end() && avoided->second > s_.now.mono) continue;
    candidates_.push_back({session->hello.executor_id, session->registration, load,
                           session->hello.capacity, session->last_used});
    candidate_sessions_.push_back(session);
  }
  const RoutingStrategy strategy = job.spec().routing.strategy;
  const uint64_t seed = strategy == RoutingStrategy::kRandom ? s_.random.Next() : 0;
  const int chosen = Route(candidates_, strategy, job.row.job_id, job.extra().last_executor, seed);
  return chosen < 0 ? nullptr : candidate_sessions_[static_cast<size_t>(chosen)];
}

bool Sessions::AnyRoom(const std::string& app) const {
  const std::vector<ExecutorEntry*>& entries = Of(app);
  return std::any_of(entries.begin(), entries.end(), [&](const ExecutorEntry* entry) {
    return entry->current != nullptr && HasRoom(*entry->current) && Up(*entry->current);
  });
}

std::string Sessions::NeedOf(const LiveRun& run, const JobState& job) {
  std::string need = run.row.handler;
  for (const std::string* part : {&run.row.ns, &run.row.wanted_executor}) need += '\n' + *part;
  for (const auto& [label, value] : job.spec().routing.labels) need += '\n' + label + '\n' + value;
  return need;
}

int Sessions::Capacity(const std::string& app) const {
  int capacity = 0;
  for (const ExecutorEntry* entry : Of(app)) {
    const ExecutorSession* session = entry->current.get();
    if (session == nullptr || !Up(*session)) continue;
    capacity += std::max(session->hello.capacity - session->foreign, 0);
  }
  return capacity;
}

std::string Sessions::WhyNone(const LiveRun& run, const JobState& job) const {
  if (s_.fail_over_part->Holds(job)) return s_.fail_over_part->WhyHeld(job);
  bool of_app = false;
  std::string elsewhere;
  bool with_handler = false;
  bool fitting = false;
  std::vector<std::string> handlers;
  for (const ExecutorEntry* entry : Of(run.row.app)) {
    const ExecutorSession* session = entry->current.get();
    if (session == nullptr || !Up(*session)) continue;
    if (session->hello.ns != run.row.ns) {
      elsewhere = session->hello.ns;
      continue;
    }
    of_app = true;
    for (const HandlerInfo& handler : session->hello.handlers) handlers.push_back(handler.name);
    with_handler = with_handler || FindHandler(*session, run.row.handler) != nullptr;
    fitting = fitting || Fits(*session, run, job);
  }
  if (!of_app && !elsewhere.empty()) {
    return "no executor of app " + run.row.app + " in namespace " + run.row.ns +
           " is up (those that are have the namespace " + elsewhere + ")";
  }
  if (!of_app) return "no executor of app " + run.row.app + " is up";
  if (!with_handler) {
    const std::string near = Nearest(run.row.handler, handlers);
    return "no executor of app " + run.row.app + " has the handler " + run.row.handler +
           (near.empty() ? "" : " (there is " + near + ")");
  }
  if (!fitting)
    return "no executor of app " + run.row.app + " that is up has the wanted labels or id";
  return "all executors of app " + run.row.app + " are full or refuse it";
}

OnLost Sessions::OnLostFor(const ExecutorSession& session, const JobSpec& spec) const {
  const HandlerInfo* handler = FindHandler(session, spec.handler);
  const bool can_stop = handler != nullptr && handler->interruptible;
  // A handler that cannot be stopped never opens a second attempt beside itself.
  if (!can_stop || spec.on_lost == OnLost::kWait) return OnLost::kWait;
  return OnLost::kRetry;
}

}  // namespace tidemark
