#include "scheduler/store/lease_renewer.h"

#include <algorithm>

#include "common/status.h"
#include "scheduler/store/lease.h"

namespace tidemark {

LeaseRenewer::LeaseRenewer(const StoreOptions& options, Term* term, ListenerGate* gate,
                           Clock* clock)
    : lease_(options.lease),
      vitals_(options.vitals),
      every_(options.renew_every),
      retry_(options.first_backoff),
      term_(term),
      gate_(gate),
      clock_(clock),
      session_(options.database),
      thread_([this] { Run(); }) {}

LeaseRenewer::~LeaseRenewer() {
  {
    const MutexLock lock(&mutex_);
    stopped_ = true;
  }
  wake_.Notify();
  session_.Close();
  thread_.join();
}

void LeaseRenewer::Run() {
  // At once: of several hosts the first may be dead, and each connection waits for it in vain.
  const absl::Duration begin = clock_->Monotonic();
  session_.Get().status().IgnoreError();
  absl::Duration pause = std::max(absl::ZeroDuration(), every_ - (clock_->Monotonic() - begin));
  for (;;) {
    wake_.Wait(pause);
    {
      const MutexLock lock(&mutex_);
      if (stopped_) return;
    }
    if (term_->Over()) return;
    const absl::Status status = Renew();
    {
      const MutexLock lock(&mutex_);
      if (stopped_) return;  // the error, if any, is of our own making
    }
    log_.Report(status);
    pause = status.ok() ? every_ : retry_;
  }
}

absl::Status LeaseRenewer::Renew() {
  TM_ASSIGN_OR_RETURN(Connection * connection, session_.Get());
  const absl::Duration sent = clock_->Monotonic();
  TM_ASSIGN_OR_RETURN(
      const std::optional<absl::Time> now,
      RenewLease(*connection, term_->owner(), lease_, vitals_ ? vitals_() : NodeVitals()));
  if (now.has_value()) {
    term_->Renewed(sent);
    gate_->ClockSampled({*now, sent, clock_->Monotonic()});
  }
  TM_ASSIGN_OR_RETURN(const uint32_t timeline, ReadTimeline(*connection));
  const uint32_t before = term_->info().timeline;
  if (timeline != before) {
    term_->End("the database failed over, from timeline " + std::to_string(before) + " to " +
               std::to_string(timeline) + ": everything is read again");
  } else if (!now.has_value()) {
    term_->End("the lease was lost: it ran out, or another process took over");
  }
  return absl::OkStatus();
}

}  // namespace tidemark
