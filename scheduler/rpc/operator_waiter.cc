#include "scheduler/rpc/operator_waiter.h"

#include <utility>

#include "common/log.h"
#include "common/status.h"

namespace tidemark {
namespace {

constexpr absl::Duration kPoll = absl::Milliseconds(60);

}  // namespace

OperatorWaiter::OperatorWaiter(OperatorPort& store, Clock& clock)
    : store_(store), clock_(clock), thread_([this] { Loop(); }) {}

OperatorWaiter::~OperatorWaiter() { Stop(); }

void OperatorWaiter::Wait(const std::string& command_id, absl::Duration timeout, Done done) {
  {
    absl::MutexLock lock(&mutex_);
    if (!stopping_) {
      waiting_.emplace(command_id, Waiting{clock_.Monotonic() + timeout, std::move(done)});
      return;
    }
  }
  done(std::nullopt);
}

void OperatorWaiter::Nudge() {
  absl::MutexLock lock(&mutex_);
  nudged_ = true;
}

void OperatorWaiter::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

void OperatorWaiter::Loop() {
  const auto needed = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stopping_ || !waiting_.empty();
  };
  const auto hurried = [this]()
                           ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_ || nudged_; };
  for (;;) {
    {
      absl::MutexLock lock(&mutex_, absl::Condition(&needed));
      mutex_.AwaitWithTimeout(absl::Condition(&hurried), kPoll);
      nudged_ = false;
      if (stopping_ && waiting_.empty()) return;
    }
    Look();
  }
}

void OperatorWaiter::Look() {
  std::vector<std::string> ids;
  bool stopping = false;
  {
    absl::MutexLock lock(&mutex_);
    stopping = stopping_;
    for (const auto& [id, waiting] : waiting_) {
      if (ids.empty() || ids.back() != id) ids.push_back(id);
    }
  }
  std::map<std::string, CommandState> ended;
  if (!stopping) {
    absl::StatusOr<std::vector<CommandState>> states = store_.DoneCommands(ids);
    if (!states.ok()) {
      LogWarn("cannot look for the ends of orders", {{"error", Message(states.status())}});
    } else {
      for (CommandState& state : *states) ended[state.command_id] = std::move(state);
    }
  }
  std::vector<std::pair<Done, std::optional<CommandState>>> answers;
  {
    absl::MutexLock lock(&mutex_);
    const absl::Duration now = clock_.Monotonic();
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      const auto found = ended.find(it->first);
      const bool over = stopping_ || it->second.deadline <= now;
      if (found == ended.end() && !over) {
        ++it;
        continue;
      }
      answers.emplace_back(std::move(it->second.done),
                           found == ended.end() ? std::nullopt : std::optional(found->second));
      it = waiting_.erase(it);
    }
  }
  for (auto& [done, state] : answers) done(std::move(state));
}

}  // namespace tidemark
