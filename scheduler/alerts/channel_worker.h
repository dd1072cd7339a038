// Delivers what waits for one channel.
#ifndef TIDEMARK_SCHEDULER_ALERTS_CHANNEL_WORKER_H_
#define TIDEMARK_SCHEDULER_ALERTS_CHANNEL_WORKER_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "common/clock.h"
#include "common/id.h"
#include "common/state_log.h"
#include "scheduler/alerts/alert_channel.h"
#include "scheduler/alerts/turn_thread.h"
#include "scheduler/engine/alert_delivery.h"

namespace tidemark {

// Owns a thread and a connection of its own: a channel that hangs delays nobody else. Start, Stop
// and RunOnce are for one thread; Poke and channel() for any.
class ChannelWorker {
 public:
  struct Options {
    std::string name;
    std::string node;
    absl::Duration timeout;  // of one message
    int most_messages = 10;
    absl::Duration window;
    absl::Duration give_up_after;
  };

  ChannelWorker(Options options, std::unique_ptr<AlertChannel> channel,
                std::unique_ptr<AlertDeliveries> deliveries, Clock& clock, Random& random);

  void Start() { thread_.Start(); }
  void Poke() { thread_.Poke(); }
  // Ends within a second, whatever the receiver does.
  void Stop();

  // One turn, without the thread: sends one message if one is due, and reports it. Returns how long
  // there is nothing to do; zero: perhaps there is more.
  absl::Duration RunOnce();

  AlertChannel& channel() { return *channel_; }
  const std::string& name() const { return options_.name; }

 private:
  struct Report {
    AlertMessage message;
    std::optional<DeliveryFailure> failure;
  };

  absl::StatusOr<ClaimedMessage> Claim();
  // CANCELLED: stopping; nothing is to be reported, the claim is given back at the next start.
  absl::StatusOr<Report> Send(const ClaimedMessage& claimed);
  // What happened must not be forgotten because the database is away just now.
  absl::Status SendReport();
  absl::Duration Told(const absl::Status& status);

  const Options options_;
  const std::unique_ptr<AlertChannel> channel_;
  const std::unique_ptr<AlertDeliveries> deliveries_;
  Clock& clock_;
  Random& random_;
  // The thread's:
  StateLog database_log_;
  StateLog channel_log_;
  std::optional<Report> report_;

  TurnThread thread_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ALERTS_CHANNEL_WORKER_H_
