#include "scheduler/rpc/token_watch.h"

#include <utility>

namespace tidemark {

TokenWatch::TokenWatch(AccessDesk& desk, Authenticator& authenticator, std::function<void()> looked)
    : desk_(desk), authenticator_(authenticator), looked_(std::move(looked)) {}

void TokenWatch::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void TokenWatch::Nudge() {
  absl::MutexLock lock(&mutex_);
  nudged_ = true;
}

void TokenWatch::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

void TokenWatch::Loop() {
  const auto wanted = [this]()
                          ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return nudged_ || stopping_; };
  for (;;) {
    Look();
    absl::MutexLock lock(&mutex_);
    mutex_.AwaitWithTimeout(absl::Condition(&wanted), kPeriod);
    if (stopping_) return;
    nudged_ = false;
  }
}

void TokenWatch::Look() {
  absl::StatusOr<ValidTokens> valid = desk_.LoadTokens();
  log_.Report(valid.status());
  if (valid.ok()) authenticator_.Load(std::move(valid->tokens), valid->now);
  if (valid.ok() && authenticator_.size() == 0 && !warned_) {
    warned_ = true;
    LogWarn(
        "no token is valid: nobody can reach this scheduler. Make the first one on this machine: "
        "tidemark-scheduler --make-admin-token NAME --database-url …");
  }
  looked_();
}

}  // namespace tidemark
