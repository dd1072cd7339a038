// The gRPC server of a node.
#ifndef TIDEMARK_SCHEDULER_RPC_SERVER_H_
#define TIDEMARK_SCHEDULER_RPC_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/tls_files.h"
#include "scheduler/rpc/limits.h"

namespace grpc {
class Channel;
class Service;
}  // namespace grpc

namespace tidemark {

// Thread-safe after Start. The services must outlive it.
class RpcServer {
 public:
  // Takes the address (port 0: any free) and serves. With `tls.cert` over TLS; with `tls.ca` only
  // to who has a certificate of that authority. The files are read again when they change, within
  // seconds. An error names the address and the mend.
  static absl::StatusOr<std::unique_ptr<RpcServer>> Start(
      const std::string& listen, const std::vector<grpc::Service*>& services,
      const TlsFiles& tls = {}, const RpcLimits& limits = {});
  ~RpcServer();  // shuts down

  // host:port that it listens on.
  const std::string& address() const { return address_; }
  // A channel to its own services, without a socket.
  std::shared_ptr<grpc::Channel> InProcessChannel();
  // What grpc.health.v1 answers, for the whole and for each service. At first: not serving.
  void SetServing(bool serving);
  // Ends open calls, after a second by force.
  void Shutdown();

 private:
  class Impl;
  RpcServer();
  std::unique_ptr<Impl> impl_;
  std::string address_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_SERVER_H_
