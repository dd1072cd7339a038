// One scheduler node: all its parts, their wiring, and the order of start and stop; nothing else.
#ifndef TIDEMARK_SCHEDULER_NODE_H_
#define TIDEMARK_SCHEDULER_NODE_H_

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "common/clock.h"
#include "common/id.h"
#include "scheduler/access/access_gate.h"
#include "scheduler/access/authenticator.h"
#include "scheduler/access/rate_limiter.h"
#include "scheduler/alerts/alert_service.h"
#include "scheduler/alerts/log_channel.h"
#include "scheduler/config.h"
#include "scheduler/engine_loop.h"
#include "scheduler/http_face.h"
#include "scheduler/metrics/metrics.h"
#include "scheduler/node_status.h"
#include "scheduler/rpc/access_rpc.h"
#include "scheduler/rpc/alert_rpc.h"
#include "scheduler/rpc/check_rpc.h"
#include "scheduler/rpc/executor_gateway.h"
#include "scheduler/rpc/operator_service.h"
#include "scheduler/rpc/server.h"
#include "scheduler/rpc/token_watch.h"
#include "scheduler/store/access_store.h"
#include "scheduler/store/alert_desk_store.h"
#include "scheduler/store/check_desk_store.h"
#include "scheduler/store/operator_store.h"
#include "scheduler/store/run_log_writer.h"
#include "scheduler/store/scheduler_store.h"
#include "scheduler/watch/watch_service.h"

namespace tidemark {

std::string HostName();
DatabaseOptions DatabaseOf(const SchedulerConfig& config, const std::string& url);

// Members are in the order in which they are made: each may use those before it, and what is
// called from threads is stopped before anything that it uses. Start, TellHealth, Stop and
// destruction from one thread, in that order.
class Node {
 public:
  // Clock and random must be thread-safe and outlive it.
  Node(const SchedulerConfig& config, DatabaseOptions database, Clock& clock, Random& random);
  ~Node();  // stops

  // Serves, and begins to schedule as soon as the database lets it. `dev_dir`: where the addresses
  // are written besides, "" for nowhere. An error says why it cannot start, and the mend.
  absl::Status Start(const std::string& dev_dir);
  // Lets grpc.health.v1 say what /readyz says; to be called each second or so.
  void TellHealth() { server_->SetServing(status_->NotReady().empty()); }
  // Nothing new comes in, then what was decided is committed, then the lease is given back.
  void Stop();

 private:
  OperatorServiceOptions OperatorOptions();
  absl::Status StartServer();
  void WarnOfCertificate() const;
  void MakeScheduling();
  void StartScheduling();
  absl::Status StartHttp();
  absl::Status WriteAddresses(const std::string& dev_dir) const;
  absl::Status MayAsk(const WebRequest& request, std::string_view method);

  const SchedulerConfig config_;
  const DatabaseOptions database_;
  Clock& clock_;
  Random& random_;

  EngineLoop loop_;
  RunLogWriter run_logs_;
  std::atomic<Metrics*> counted_ = nullptr;  // once it is made: the limiter is there before
  Authenticator authenticator_;
  RateLimiter limiter_;
  const AccessGate gate_;
  ExecutorGateway gateway_;
  OperatorStore operator_store_;
  // Operators may ask as soon as the server listens, which is before the store can be made.
  std::atomic<SchedulerStore*> asked_store_ = nullptr;
  AlertDeskStore alert_desk_;
  AlertService alerts_;
  AccessStore access_store_;
  OperatorService operators_;
  TokenWatch tokens_;
  AccessRpc access_rpc_;
  AlertRpc alert_rpc_;
  CheckDeskStore check_desk_;
  CheckRpc check_rpc_;
  WatchService watch_;
  LogChannel alert_log_;

  std::unique_ptr<RpcServer> server_;
  // Those below bear the node's name, which may hold the address that it got.
  std::string node_id_;
  std::string address_;  // that others are told
  std::optional<Metrics> metrics_;
  std::optional<NodeStatus> status_;
  std::optional<SchedulerStore> store_;
  std::unique_ptr<HttpFace> http_;
  bool started_ = false;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_NODE_H_
