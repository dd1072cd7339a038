#include "scheduler/store/term.h"

namespace tidemark {

void Term::Start(Snapshot snapshot) {
  const MutexLock lock(&gate_->mutex_);
  if (OverLocked()) return;
  started_ = true;
  gate_->listener_->OnTermStarted(info_, std::move(snapshot));
}

void Term::Renewed(absl::Duration sent) {
  const MutexLock lock(&gate_->mutex_);
  if (OverLocked()) return;  // too late is too late
  if (deadline_ < sent + stop_after_) deadline_ = sent + stop_after_;
}

void Term::End(const std::string& why) {
  const MutexLock lock(&gate_->mutex_);
  EndLocked(why);
}

bool Term::Over() {
  const MutexLock lock(&gate_->mutex_);
  return OverLocked();
}

std::string Term::why() const {
  const MutexLock lock(&gate_->mutex_);
  return why_;
}

absl::Duration Term::deadline() const {
  const MutexLock lock(&gate_->mutex_);
  return deadline_;
}

bool Term::Deliver(const std::function<void(StoreListener*)>& call) {
  const MutexLock lock(&gate_->mutex_);
  if (OverLocked() || !started_) return false;
  call(gate_->listener_);
  return true;
}

bool Term::OverLocked() {
  if (!over_ && clock_->Monotonic() >= deadline_) {
    EndLocked("the lease could not be renewed in time");
  }
  return over_;
}

void Term::EndLocked(const std::string& why) {
  if (over_) return;
  over_ = true;
  why_ = why;
  if (started_) gate_->listener_->OnTermEnded(why);
  wake_->Notify();
}

}  // namespace tidemark
