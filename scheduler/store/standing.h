// How the whole stands, for metrics: what only the database knows.
#ifndef TIDEMARK_SCHEDULER_STORE_STANDING_H_
#define TIDEMARK_SCHEDULER_STORE_STANDING_H_

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "scheduler/store/session.h"

namespace tidemark {

struct Standing {
  int64_t unsettled_dates = 0;          // of jobs that are not paused
  absl::Duration oldest_unsettled_age;  // zero: there is none
  int64_t open_alerts = 0;
  int64_t pending_alerts = 0;  // messages that no channel took yet
  absl::Duration oldest_pending_alert_age;
};

// Owns a connection, opened when it is needed and again after it broke. Read is for one thread;
// Close may come from any.
class StandingReader {
 public:
  explicit StandingReader(DatabaseOptions options) : session_(std::move(options)) {}

  // Grows with what is not settled or not resolved, not with the history.
  absl::StatusOr<Standing> Read();
  void Close() { session_.Close(); }

 private:
  Session session_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_STANDING_H_
