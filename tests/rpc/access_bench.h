// A test bench of who may do what: real database, real gRPC, all services, tokens of every role,
// and two namespaces with the same things in each.
#ifndef TIDEMARK_TESTS_RPC_ACCESS_BENCH_H_
#define TIDEMARK_TESTS_RPC_ACCESS_BENCH_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/id.h"
#include "google/protobuf/message.h"
#include "grpcpp/grpcpp.h"
#include "scheduler/access/access_gate.h"
#include "scheduler/access/authenticator.h"
#include "scheduler/rpc/access_rpc.h"
#include "scheduler/rpc/alert_rpc.h"
#include "scheduler/rpc/check_rpc.h"
#include "scheduler/rpc/executor_gateway.h"
#include "scheduler/rpc/operator_service.h"
#include "scheduler/rpc/server.h"
#include "scheduler/store/access_store.h"
#include "scheduler/store/alert_desk_store.h"
#include "scheduler/store/check_desk_store.h"
#include "scheduler/store/operator_store.h"
#include "tests/support/migrated_database.h"

namespace tidemark {

class AccessBench : public GatewayListener, public RunLogSink, public AlertChannels {
 public:
  explicit AccessBench(bool require_approval = false);
  ~AccessBench() override;
  // Nothing calls this object's ports any more. Whoever overrides one calls it in his destructor.
  void Stop();

  MigratedDatabase& db() { return database_; }
  const std::string& address() const { return server_->address(); }
  ExecutorGateway& gateway() { return gateway_; }
  AccessStore& desk() { return access_store_; }

  // Makes a token in the database and lets the server know it; returns its text. `role` executor:
  // of app "recon".
  std::string Token(Role role, const std::string& ns, const std::string& name = "ann",
                    absl::Duration valid_for = absl::Hours(1), const std::string& app = "recon");
  // Reads the tokens anew, as a node does every two seconds.
  void Refresh();

  // The things that requests are about, one of each, in one namespace: by the name of the
  // placeholder, as {job}.
  std::map<std::string, std::string> MakeThings(const std::string& ns, const std::string& mark);

  // Calls any method ("OperatorService/GetJob") with a request as prototext. `token` "": none.
  // `answer`: text of the response, when not null.
  grpc::Status Call(const std::string& method, const std::string& request, const std::string& token,
                    std::string* answer = nullptr);

  // ---- of the ports: nothing happens
  void OnMessage(StreamId, ExecutorMessage, absl::Duration) override {}
  void OnStreamClosed(StreamId) override {}
  void Take(RunLogChunk) override {}
  std::vector<Channel> Channels() const override { return {{"ops", "webhook"}}; }
  absl::StatusOr<std::string> SendTest(const std::string&) override { return std::string("ok"); }

 private:
  MigratedDatabase database_;
  Authenticator authenticator_{/*insecure=*/false, SystemClock()};
  AccessGate gate_{authenticator_};
  OperatorStore store_;
  AlertDeskStore alert_desk_;
  CheckDeskStore check_desk_;
  AccessStore access_store_;
  ExecutorGateway gateway_;
  OperatorService operators_;
  AlertRpc alerts_;
  CheckRpc checks_;
  AccessRpc access_;
  std::unique_ptr<RpcServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

// `text` with each {name} replaced.
std::string FillIn(std::string text, const std::map<std::string, std::string>& things);

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_RPC_ACCESS_BENCH_H_
