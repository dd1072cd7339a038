// The executors' streams: the one place where the scheduler talks to executors.
#ifndef TIDEMARK_SCHEDULER_RPC_EXECUTOR_GATEWAY_H_
#define TIDEMARK_SCHEDULER_RPC_EXECUTOR_GATEWAY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "scheduler/access/access_gate.h"
#include "scheduler/engine/messages.h"
#include "scheduler/engine/run_log.h"
#include "scheduler/rpc/limits.h"

namespace grpc {
class Service;
}

namespace tidemark {

// What the gateway tells. Called from gRPC's threads; must return soon and be thread-safe.
class GatewayListener {
 public:
  virtual ~GatewayListener() = default;
  // `received`: Clock::Monotonic at which the bytes were read, before any queue.
  virtual void OnMessage(StreamId stream, ExecutorMessage message, absl::Duration received) = 0;
  // Once a stream, last.
  virtual void OnStreamClosed(StreamId stream) = 0;
  // More of its messages wait than is good, or no more: told to the executor, too.
  virtual void OnCongested(StreamId /*stream*/, bool /*congested*/) {}
};

// Thread-safe. Messages to one stream that wait for a write to end are sent as one.
class ExecutorGateway {
 public:
  // The listener says by Handled when it is done with a message. All must outlive it. Log chunks go
  // to `logs`, past the listener, once the stream was welcomed. A stream is let in by its
  // credential, and speaks for the app and namespace of that alone.
  ExecutorGateway(const AccessGate& gate, GatewayListener* listener, RunLogSink* logs, Clock& clock,
                  RpcLimits limits = {});
  ~ExecutorGateway();  // after the server has shut down

  // To be registered with the server, once.
  grpc::Service* service();
  // What Welcomes say the node is: executors tell nodes apart by it. Before the first term.
  void SetNode(const std::string& node_id);
  // Addresses of all live nodes, for Welcomes and, when they change, for all that are welcomed.
  void SetNodes(std::vector<std::string> addresses);
  // Unknown streams are ignored: they have just closed.
  void Send(const std::vector<Outbound>& messages);
  // A message of that size (ExecutorMessage::bytes) does not wait any more.
  void Handled(StreamId stream, size_t bytes);
  // Ends the stream with UNAVAILABLE once what was sent is written; the executor comes back.
  void Close(StreamId stream);
  // Ends the stream with PERMISSION_DENIED: it said what its credential does not let it say.
  void Deny(StreamId stream, const std::string& why);
  // Ends the streams whose credential was revoked or has expired. After the tokens were read anew.
  void Recheck();
  // Ends all streams, and those that come later at once. For the shutdown.
  void CloseAll();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_EXECUTOR_GATEWAY_H_
