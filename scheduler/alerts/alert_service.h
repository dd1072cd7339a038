// Tells people: routes alerts to channels and runs these.
#ifndef TIDEMARK_SCHEDULER_ALERTS_ALERT_SERVICE_H_
#define TIDEMARK_SCHEDULER_ALERTS_ALERT_SERVICE_H_

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "common/clock.h"
#include "common/id.h"
#include "common/mutex.h"
#include "common/state_log.h"
#include "scheduler/alerts/alert_config.h"
#include "scheduler/alerts/channel_worker.h"
#include "scheduler/alerts/turn_thread.h"
#include "scheduler/engine/alert_delivery.h"

namespace tidemark {

// A thread for routing and one a channel, each with a connection of its own; without channels
// there are none, and alerts wait. Start and Stop once, from one thread; the rest is thread-safe.
// Clock and random must be thread-safe and outlive it.
class AlertService : public AlertChannels {
 public:
  struct Stores {
    std::function<std::unique_ptr<AlertRouting>()> routing;
    std::function<std::unique_ptr<AlertDeliveries>()> deliveries;
  };

  AlertService(AlertsConfig config, Stores stores, Clock& clock, Random& random);
  ~AlertService() override;

  // `node`: of this process, never shared.
  void Start(const std::string& node);
  // Alerts were committed, or orders about them: looks at once.
  void Poke();
  // Ends what is under way with receivers, tests included. Before Stop, so that all end at once.
  void Abort();
  // Ends within about a second, whatever the receivers do.
  void Stop();

  std::vector<Channel> Channels() const override;
  absl::StatusOr<std::string> SendTest(const std::string& channel) override;

 private:
  absl::Duration Route();
  std::vector<std::string> Names() const;

  const AlertsConfig config_;
  const Stores stores_;
  Clock& clock_;
  Random& random_;
  std::vector<std::unique_ptr<AlertChannel>> testers_;  // as config_.channels

  std::string node_;
  std::unique_ptr<AlertRouting> routing_;
  std::vector<std::unique_ptr<ChannelWorker>> workers_;
  // The routing thread's:
  StateLog routing_log_;
  bool recovered_ = false;
  std::optional<absl::Duration> buried_;  // when, monotonic

  Mutex mutex_;
  std::set<std::string> testing_ ABSL_GUARDED_BY(mutex_);
  TurnThread router_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ALERTS_ALERT_SERVICE_H_
