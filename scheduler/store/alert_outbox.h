// The alert outbox in the database.
#ifndef TIDEMARK_SCHEDULER_STORE_ALERT_OUTBOX_H_
#define TIDEMARK_SCHEDULER_STORE_ALERT_OUTBOX_H_

#include <functional>
#include <utility>

#include "absl/status/statusor.h"
#include "scheduler/engine/alert_source.h"
#include "scheduler/store/session.h"

namespace tidemark {

// Owns a connection, opened when it is needed and again after it broke.
class AlertOutbox : public AlertSource {
 public:
  explicit AlertOutbox(DatabaseOptions options) : session_(std::move(options)) {}

  absl::StatusOr<int> LogSome(int limit,
                              const std::function<void(const OutboxAlert&)>& log) override;
  void Close() override { session_.Close(); }

 private:
  Session session_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_ALERT_OUTBOX_H_
