// What operators ask of the database about alerts and their deliveries.
#ifndef TIDEMARK_SCHEDULER_ENGINE_ALERT_DESK_H_
#define TIDEMARK_SCHEDULER_ENGINE_ALERT_DESK_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "scheduler/engine/alert_delivery.h"
#include "scheduler/engine/caller.h"

namespace tidemark {

struct AlertAck {
  std::string alert_id;
  std::string summary;
  std::string acked_by;
  bool existing = false;
};

struct SilenceRow {
  AlertSilence silence;
  int kept_back = 0;
};

struct DeliveryFilter {
  bool dead = false;
  std::string alert_id;  // "" any
  std::string channel;
  int limit = 100;
};

struct DeliveryRow {
  std::string alert_id;
  std::string channel;
  std::string phase;
  std::string state;
  int tries = 0;
  std::string last_error;
  absl::Time created_at;
  absl::Time next_try_at;
  std::optional<absl::Time> ended_at;
  std::string summary;
  std::string severity;
};

struct ChannelRow {
  std::string channel;
  int failures = 0;
  std::optional<absl::Time> failing_since;
  std::optional<absl::Time> last_ok_at;
  std::optional<absl::Time> next_try_at;
  std::string last_error;
  int pending = 0;
  int dead = 0;
};

// Implementations are thread-safe; calls block for as long as the database takes. Errors as those
// of OperatorPort. What changes something writes to the audit.
class AlertDesk {
 public:
  virtual ~AlertDesk() = default;

  // As OperatorPort::As.
  virtual std::unique_ptr<AlertDesk> As(const Caller& caller) = 0;

  // `prefix`: an id or its beginning. NOT_FOUND; FAILED_PRECONDITION: it ended, or several open
  // ones begin so.
  virtual absl::StatusOr<AlertAck> Ack(const std::string& prefix, const std::string& note,
                                       const std::string& actor) = 0;
  // Returns it with its times, which are the database's.
  virtual absl::StatusOr<SilenceRow> AddSilence(const AlertSilence& silence,
                                                absl::Duration duration) = 0;
  virtual absl::StatusOr<std::vector<SilenceRow>> ListSilences(bool all) = 0;
  // NOT_FOUND: there is none in force.
  virtual absl::StatusOr<SilenceRow> DeleteSilence(const std::string& silence_id,
                                                   const std::string& actor) = 0;
  virtual absl::StatusOr<std::vector<DeliveryRow>> ListDeliveries(const DeliveryFilter& filter) = 0;
  virtual absl::StatusOr<int> Retry(const std::string& alert_id, const std::string& channel,
                                    const std::string& actor) = 0;
  virtual absl::StatusOr<std::vector<ChannelRow>> Channels() = 0;
  virtual absl::Status AuditTest(const std::string& channel, const std::string& actor) = 0;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_ALERT_DESK_H_
