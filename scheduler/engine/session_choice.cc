// Which executor gets a run: filters here, the strategy in core/routing.
#include <algorithm>
#include <vector>

#include "common/text.h"
#include "scheduler/core/routing.h"
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

bool Sessions::HasSlot(const ExecutorSession& session, const std::string& handler) const {
  if (session.congested) return false;
  if (static_cast<int>(session.runs.size()) >= session.hello.capacity) return false;
  const HandlerInfo* info = FindHandler(session, handler);
  if (info == nullptr || info->concurrency == 0) return info != nullptr;
  const auto of_handler =
      std::count_if(session.runs.begin(), session.runs.end(), [&](const std::string& run_id) {
        const auto it = s_.runs.find(run_id);
        return it != s_.runs.end() && it->second.row.handler == handler;
      });
  return of_handler < info->concurrency;
}

bool Sessions::Fits(const ExecutorSession& session, const LiveRun& run, const JobState& job) const {
  if (session.hello.app != run.row.app || !Up(session)) return false;
  // Whoever may define jobs in one namespace orders no other namespace's executors about.
  if (session.hello.ns != run.row.ns) return false;
  if (FindHandler(session, run.row.handler) == nullptr) return false;
  if (!run.row.wanted_executor.empty() && session.hello.executor_id != run.row.wanted_executor) {
    return false;
  }
  return std::all_of(job.spec.routing.labels.begin(), job.spec.routing.labels.end(),
                     [&](const auto& label) {
                       const auto it = session.hello.labels.find(label.first);
                       return it != session.hello.labels.end() && it->second == label.second;
                     });
}

ExecutorSession* Sessions::Choose(const LiveRun& run, const JobState& job) {
  std::vector<Candidate> candidates;
  std::vector<ExecutorSession*> sessions;
  for (auto& [executor_id, entry] : s_.executors) {
    ExecutorSession* session = entry.current.get();
    if (session == nullptr || !Fits(*session, run, job) || !HasSlot(*session, run.row.handler)) {
      continue;
    }
    const auto avoided = run.avoid.find(executor_id);
    if (avoided != run.avoid.end() && avoided->second > s_.now.mono) continue;
    candidates.push_back({executor_id, session->registration,
                          static_cast<int>(session->runs.size()), session->hello.capacity,
                          session->last_used});
    sessions.push_back(session);
  }
  const int chosen = Route(candidates, job.spec.routing.strategy, job.row.job_id, job.last_executor,
                           s_.random.Next());
  return chosen < 0 ? nullptr : sessions[static_cast<size_t>(chosen)];
}

int Sessions::Capacity(const std::string& app) const {
  int capacity = 0;
  for (const auto& [executor_id, entry] : s_.executors) {
    const ExecutorSession* session = entry.current.get();
    if (session != nullptr && session->hello.app == app && Up(*session)) {
      capacity += session->hello.capacity;
    }
  }
  return capacity;
}

std::string Sessions::WhyNone(const LiveRun& run, const JobState& job) const {
  bool of_app = false;
  std::string elsewhere;
  bool with_handler = false;
  bool fitting = false;
  std::vector<std::string> handlers;
  for (const auto& [executor_id, entry] : s_.executors) {
    const ExecutorSession* session = entry.current.get();
    if (session == nullptr || session->hello.app != run.row.app || !Up(*session)) continue;
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
