// The alert outbox as channels read it: a port that the store implements.
#ifndef TIDEMARK_SCHEDULER_ENGINE_ALERT_SOURCE_H_
#define TIDEMARK_SCHEDULER_ENGINE_ALERT_SOURCE_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"

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

// Used by one thread, but for Close.
class AlertSource {
 public:
  virtual ~AlertSource() = default;

  // Gives the oldest `limit` alerts that no log has had to `log`, and marks them. At least once: an
  // error after `log` was called means that they come again. Two nodes share the alerts, each goes
  // to one of them. Returns how many there were.
  virtual absl::StatusOr<int> LogSome(int limit,
                                      const std::function<void(const OutboxAlert&)>& log) = 0;

  // Ends what is in progress, and all later calls, with UNAVAILABLE.
  virtual void Close() = 0;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_ALERT_SOURCE_H_
