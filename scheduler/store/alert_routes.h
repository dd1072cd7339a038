// Makes the deliveries of alerts, in the database.
#ifndef TIDEMARK_SCHEDULER_STORE_ALERT_ROUTES_H_
#define TIDEMARK_SCHEDULER_STORE_ALERT_ROUTES_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/engine/alert_delivery.h"
#include "scheduler/store/session.h"

namespace tidemark {

// Owns a connection, opened when it is needed and again after it broke. Its transactions skip what
// others have locked, so that they never wait for a flush of the engine.
class AlertRoutes : public AlertRouting {
 public:
  explicit AlertRoutes(DatabaseOptions options) : session_(std::move(options)) {}

  absl::StatusOr<int> RouteSome(int limit, const AlertRouter& route) override;
  absl::Status BuryUnknown(const std::vector<std::string>& known, absl::Duration limit) override;
  absl::Status Recover(const std::string& node, const std::vector<std::string>& known) override;
  void Close() override { session_.Close(); }

 private:
  Session session_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_ALERT_ROUTES_H_
