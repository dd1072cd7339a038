// The gRPC server of a node.
#ifndef TIDEMARK_SCHEDULER_RPC_SERVER_H_
#define TIDEMARK_SCHEDULER_RPC_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace grpc {
class Service;
}

namespace tidemark {

// Thread-safe after Start. The services must outlive it.
class RpcServer {
 public:
  // Takes the address (port 0: any free) and serves. An error names the address and the mend.
  static absl::StatusOr<std::unique_ptr<RpcServer>> Start(
      const std::string& listen, const std::vector<grpc::Service*>& services);
  ~RpcServer();  // shuts down

  // host:port that it listens on.
  const std::string& address() const { return address_; }
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
