// What channels send and report, in the database.
#ifndef TIDEMARK_SCHEDULER_STORE_ALERT_POST_H_
#define TIDEMARK_SCHEDULER_STORE_ALERT_POST_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "scheduler/engine/alert_delivery.h"
#include "scheduler/store/session.h"

namespace tidemark {

// Owns a connection, opened when it is needed and again after it broke. No transaction is open
// while a message is on its way.
class AlertPost : public AlertDeliveries {
 public:
  explicit AlertPost(DatabaseOptions options) : session_(std::move(options)) {}

  absl::StatusOr<ClaimedMessage> Claim(const ClaimRequest& request) override;
  absl::Status ReportDelivered(const std::string& channel, const AlertMessage& message,
                               const std::string& failing_key) override;
  absl::Status ReportFailed(const std::string& channel, const AlertMessage& message,
                            const DeliveryFailure& failure) override;
  void Close() override { session_.Close(); }

 private:
  Session session_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_ALERT_POST_H_
