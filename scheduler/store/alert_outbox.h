// The alert outbox, as channels read it.
#ifndef TIDEMARK_SCHEDULER_STORE_ALERT_OUTBOX_H_
#define TIDEMARK_SCHEDULER_STORE_ALERT_OUTBOX_H_

#include <functional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "scheduler/store/session.h"

namespace tidemark {

struct OutboxAlert {
  std::string alert_id;
  std::string kind;
  std::string severity;
  std::string job_name;  // "" none, as below
  std::string biz_date;
  std::string run_id;
  std::string summary;
  std::string detail;
  std::string raised_at;  // as PostgreSQL writes it, UTC
};

// Owns a connection, opened when it is needed and again after it broke. Used by one thread, but for
// Close.
class AlertOutbox {
 public:
  explicit AlertOutbox(DatabaseOptions options) : session_(std::move(options)) {}

  // Gives the oldest `limit` alerts that no log has had to `log`, and marks them. At least once: an
  // error after `log` was called means that they come again. Two nodes share the alerts, each goes
  // to one of them. Returns how many there were.
  absl::StatusOr<int> LogSome(int limit, const std::function<void(const OutboxAlert&)>& log);

  // Ends what is in progress, and all later calls, with UNAVAILABLE.
  void Close() { session_.Close(); }

 private:
  Session session_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_ALERT_OUTBOX_H_
