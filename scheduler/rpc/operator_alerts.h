// Alerts for operators: acknowledge, silence, deliveries, channels.
#ifndef TIDEMARK_SCHEDULER_RPC_OPERATOR_ALERTS_H_
#define TIDEMARK_SCHEDULER_RPC_OPERATOR_ALERTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/clock.h"
#include "common/id.h"
#include "scheduler/engine/alert_delivery.h"
#include "scheduler/engine/alert_desk.h"
#include "tidemark/v1/alert.pb.h"

namespace tidemark {

// Checks requests and answers them; blocks for the database, and Test for the receiver.
// Thread-safe, without state. What it is given must outlive it.
class OperatorAlerts {
 public:
  OperatorAlerts(AlertDesk& desk, AlertChannels& channels, Clock& clock, Random& random)
      : desk_(desk), channels_(channels), clock_(clock), random_(random) {}

  absl::Status Ack(const v1::AckAlertRequest& request, v1::AckAlertResponse* response);
  absl::Status AddSilence(const v1::SilenceAlertsRequest& request, v1::Silence* response);
  absl::Status ListSilences(const v1::ListSilencesRequest& request,
                            v1::ListSilencesResponse* response);
  absl::Status DeleteSilence(const v1::DeleteSilenceRequest& request, v1::Silence* response);
  absl::Status ListDeliveries(const v1::ListDeliveriesRequest& request,
                              v1::ListDeliveriesResponse* response);
  absl::Status Retry(const v1::RetryDeliveriesRequest& request,
                     v1::RetryDeliveriesResponse* response);
  absl::Status ListChannels(v1::ListChannelsResponse* response);
  absl::Status Test(const v1::TestChannelRequest& request, v1::TestChannelResponse* response);

 private:
  AlertDesk& desk_;
  AlertChannels& channels_;
  Clock& clock_;
  Random& random_;
};

// What is wrong with the channels as a whole, for the standing warnings of the cluster's status.
absl::StatusOr<std::vector<std::string>> AlertWarnings(AlertDesk& desk,
                                                       const AlertChannels& channels);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_OPERATOR_ALERTS_H_
