// Context forwards to RunState; FencingToken's text form.
#include <cstdio>
#include <string>
#include <utility>

#include "executor/src/run_state.h"
#include "tidemark/executor.h"

namespace tidemark {

std::string FencingToken::ToText() const {
  char head[48];
  std::snprintf(head, sizeof head, "%010u/%020llu/", timeline,
                static_cast<unsigned long long>(epoch));
  char tail[16];
  std::snprintf(tail, sizeof tail, "/%010u", attempt);
  return head + run_id + tail;
}

Context::Context(std::shared_ptr<RunState> state) : state_(std::move(state)) {}
Context::~Context() = default;

const std::string& Context::job() const { return state_->info().job; }
const std::string& Context::handler() const { return state_->info().handler; }
const std::string& Context::biz_date() const { return state_->info().biz_date; }
std::chrono::system_clock::time_point Context::fire_time() const {
  return state_->info().fire_time;
}
const std::string& Context::nominal_time() const { return state_->info().nominal_time; }
const std::string& Context::zone() const { return state_->info().zone; }
const std::string& Context::run_id() const { return state_->info().run_id; }
int Context::attempt() const { return static_cast<int>(state_->info().attempt); }
const std::string& Context::batch_id() const { return state_->info().batch_id; }
TriggerKind Context::trigger() const { return state_->info().trigger; }
const std::map<std::string, std::string>& Context::params() const { return state_->info().params; }
std::string Context::param(const std::string& name, const std::string& fallback) const {
  const auto it = params().find(name);
  return it == params().end() ? fallback : it->second;
}
const std::string& Context::checkpoint() const { return state_->info().checkpoint; }
FencingToken Context::fencing_token() const { return state_->info().token; }

bool Context::cancelled() const { return state_->cancelled(); }
std::string Context::cancel_reason() const { return state_->cancel_reason(); }
bool Context::WaitCancelled(std::chrono::milliseconds timeout) const {
  return state_->WaitCancelled(timeout);
}
void Context::OnCancel(std::function<void()> callback) { state_->OnCancel(std::move(callback)); }
void Context::Cancel(std::string reason) { state_->Cancel(std::move(reason), true); }
std::optional<std::chrono::milliseconds> Context::TimeLeft() const { return state_->TimeLeft(); }

void Context::Progress(double percent, std::string_view checkpoint, std::string_view message) {
  state_->Progress(percent, checkpoint, message);
}
void Context::Log(std::string_view line) { state_->Log(std::string(line) + "\n"); }
void Context::LogBytes(std::string_view bytes) { state_->Log(bytes); }
void Context::SetResult(std::string_view text) { state_->SetResult(text); }
void Context::SetFingerprint(int64_t rows, std::string_view digest) {
  state_->SetFingerprint(rows, digest);
}

}  // namespace tidemark
