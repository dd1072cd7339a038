// The node's HTTP listener with all that it answers.
#ifndef TIDEMARK_SCHEDULER_HTTP_FACE_H_
#define TIDEMARK_SCHEDULER_HTTP_FACE_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "scheduler/http/http_server.h"
#include "scheduler/node_status.h"
#include "scheduler/rpc/json_gateway.h"
#include "scheduler/rpc/server.h"

namespace tidemark {

// Owns the server and the gateway to the services. Start, Stop and destruction from one thread.
class HttpFace {
 public:
  // See HttpSources::may and asks_tokens.
  using May = std::function<absl::Status(const WebRequest&, std::string_view method)>;

  // `rpc` and `status` must outlive it.
  static absl::StatusOr<std::unique_ptr<HttpFace>> Start(HttpOptions options, RpcServer& rpc,
                                                         NodeStatus& status, May may,
                                                         bool asks_tokens);
  ~HttpFace();

  const std::string& address() const { return http_->address(); }
  // Cuts the connections; calls under way go on to their end. Before rpc is shut down.
  void Stop() { http_->Stop(); }

 private:
  HttpFace(RpcServer& rpc, NodeStatus& status) : status_(status), gateway_(rpc) {}

  NodeStatus& status_;
  std::unique_ptr<HttpServer> http_;  // outlives the gateway, whose calls reply to it
  JsonGateway gateway_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_HTTP_FACE_H_
