// The watch as it runs in a scheduler: a thread that looks and one that pings.
#ifndef TIDEMARK_SCHEDULER_WATCH_WATCH_SERVICE_H_
#define TIDEMARK_SCHEDULER_WATCH_WATCH_SERVICE_H_

#include <functional>
#include <memory>
#include <string>

#include "common/clock.h"
#include "common/id.h"
#include "scheduler/alerts/http_client.h"
#include "scheduler/alerts/turn_thread.h"
#include "scheduler/engine/watch_port.h"
#include "scheduler/watch/check_watch.h"
#include "scheduler/watch/watch_config.h"
#include "scheduler/watch/well_ping.h"

namespace tidemark {

// Owns both threads, and a connection for each: a receiver that hangs delays no look, and neither
// of them any run. Start and Stop once, from one thread. Clock and random must be thread-safe and
// outlive it.
class WatchService {
 public:
  using MakePort = std::function<std::unique_ptr<WatchPort>()>;

  WatchService(WatchConfig config, CheckWatch::Reader read, MakePort make_port, Clock& clock,
               Random& random);
  ~WatchService();

  // `node`: of this process, as in scheduler_node. `channels`: whether there are any but the log.
  void Start(const std::string& node, bool channels);
  // Ends what is under way, so that Stop does not wait for it.
  void Abort();
  void Stop();

 private:
  absl::Status SendPing();

  const WatchConfig config_;
  const CheckWatch::Reader read_;
  const MakePort make_port_;
  Clock& clock_;
  Random& random_;
  HttpClient client_;
  std::unique_ptr<WatchPort> look_port_;
  std::unique_ptr<WatchPort> ping_port_;
  std::unique_ptr<CheckWatch> watch_;
  std::unique_ptr<WellPing> ping_;
  std::unique_ptr<TurnThread> looks_;
  std::unique_ptr<TurnThread> pings_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_WATCH_WATCH_SERVICE_H_
