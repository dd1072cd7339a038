// The services of operators as JSON, for HTTP: by the protos' own JSON mapping, through the
// server's in-process channel, so that whatever guards a call over gRPC guards this one.
#ifndef TIDEMARK_SCHEDULER_RPC_JSON_GATEWAY_H_
#define TIDEMARK_SCHEDULER_RPC_JSON_GATEWAY_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace grpc {
class CallbackServerContext;
}

namespace tidemark {

class RpcServer;

struct JsonCall {
  std::string service;  // without its package: "OperatorService"
  std::string method;
  std::string body;           // the request's JSON; "" is {}
  std::string authorization;  // forwarded as metadata "authorization"; "": none
  std::string peer;           // … as kPeerMetadata
};

struct JsonAnswer {
  absl::StatusCode code = absl::StatusCode::kOk;
  std::string message;  // when not OK
  std::string json;     // when OK: the response, with the proto's field names, defaults included
};

struct JsonGatewayOptions {
  int max_calls = 64;  // under way at once
  absl::Duration deadline = absl::Seconds(60);
};

// Thread-safe. The server must outlive it.
class JsonGateway {
 public:
  // Who calls, behind the gateway: to be believed on the in-process channel alone (PeerOf does).
  static constexpr char kPeerMetadata[] = "x-tidemark-peer";

  explicit JsonGateway(RpcServer& server, JsonGatewayOptions options = {});
  ~JsonGateway();  // waits for the calls under way

  // `done` is called once, from any thread, perhaps before this returns. NOT_FOUND: no such unary
  // method; INVALID_ARGUMENT: the body is not its request (the message names the field);
  // RESOURCE_EXHAUSTED: max_calls are under way; else what the service says.
  void Call(const JsonCall& call, std::function<void(JsonAnswer)> done);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// host:port of who calls, the HTTP client's when the call came through the gateway: for the audit
// and for limits.
std::string PeerOf(const grpc::CallbackServerContext& context);

// The status code's name: "NOT_FOUND".
std::string CodeName(absl::StatusCode code);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_JSON_GATEWAY_H_
