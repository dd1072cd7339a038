#include "scheduler/engine/fail_over.h"

#include "common/time_text.h"
#include "scheduler/engine/runs.h"
#include "scheduler/engine/sessions.h"

namespace tidemark {

void FailOver::Begin(const Snapshot& snapshot) {
  if (!snapshot.failed_over) return;
  s_.awaited_since = s_.now.mono;
  for (const KnownExecutor& executor : snapshot.executors) {
    s_.awaited[executor.app].insert(executor.executor_id);
    s_.session_part->AskAgain(executor.executor_id);
  }
  s_.Say(LogLine::Level::kWarn, "the database failed over: executors are asked what they run",
         {{"executors", std::to_string(snapshot.executors.size())},
          {"timeline", std::to_string(s_.timeline)}});
}

void FailOver::OnHello(const ExecutorSession& session) {
  const std::string& app = session.hello.app;
  const auto it = s_.awaited.find(app);
  if (it == s_.awaited.end()) return;
  it->second.erase(session.hello.executor_id);
  if (!it->second.empty()) return;
  s_.awaited.erase(it);
  s_.Say(LogLine::Level::kInfo, "all executors of the app have said what they run", {{"app", app}});
  s_.run_part->SendHeldBack(app);
}

bool FailOver::Holds(const JobState& job) const {
  return !s_.awaited.empty() && s_.awaited.contains(job.app()) && s_.now.mono < Until(job);
}

absl::Duration FailOver::Until(const JobState& job) const {
  return s_.awaited_since + job.spec().timeouts.lost_after;
}

std::string FailOver::WhyHeld(const JobState& job) const {
  std::string missing;
  for (const std::string& executor : s_.awaited.at(job.app())) {
    missing += (missing.empty() ? "" : ", ") + executor;
  }
  return "the database failed over, and these executors have not said yet what they run: " +
         missing + "; what waits for them goes on after " +
         DurationText(job.spec().timeouts.lost_after) + " at the latest";
}

}  // namespace tidemark
