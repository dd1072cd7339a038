// The SQL of operators' requests about alerts.
#ifndef TIDEMARK_SCHEDULER_STORE_ALERT_DESK_STORE_H_
#define TIDEMARK_SCHEDULER_STORE_ALERT_DESK_STORE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/engine/alert_desk.h"
#include "scheduler/store/operator_pool.h"

namespace tidemark {

// AlertDesk on PostgreSQL, with connections of its own. Thread-safe.
class AlertDeskStore : public AlertDesk {
 public:
  explicit AlertDeskStore(DatabaseOptions options, int connections = 2)
      : pool_(std::make_shared<OperatorPool>(std::move(options), connections)) {}

  std::unique_ptr<AlertDesk> As(const Caller& caller) override {
    return std::unique_ptr<AlertDesk>(new AlertDeskStore(pool_, caller));
  }

  absl::StatusOr<AlertAck> Ack(const std::string& prefix, const std::string& note,
                               const std::string& actor) override;
  absl::StatusOr<SilenceRow> AddSilence(const AlertSilence& silence,
                                        absl::Duration duration) override;
  absl::StatusOr<std::vector<SilenceRow>> ListSilences(bool all) override;
  absl::StatusOr<SilenceRow> DeleteSilence(const std::string& silence_id,
                                           const std::string& actor) override;
  absl::StatusOr<std::vector<DeliveryRow>> ListDeliveries(const DeliveryFilter& filter) override;
  absl::StatusOr<int> Retry(const std::string& alert_id, const std::string& channel,
                            const std::string& actor) override;
  absl::StatusOr<std::vector<ChannelRow>> Channels() override;
  absl::Status AuditTest(const std::string& channel, const std::string& actor) override;

 private:
  AlertDeskStore(std::shared_ptr<OperatorPool> pool, Caller caller)
      : pool_(std::move(pool)), caller_(std::move(caller)) {}

  const std::shared_ptr<OperatorPool> pool_;
  const Caller caller_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_ALERT_DESK_STORE_H_
