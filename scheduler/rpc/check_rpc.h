// The check service over gRPC: thin, all knowledge is in the parts that it calls.
#ifndef TIDEMARK_SCHEDULER_RPC_CHECK_RPC_H_
#define TIDEMARK_SCHEDULER_RPC_CHECK_RPC_H_

#include <functional>

#include "scheduler/rpc/operator_checks.h"
#include "scheduler/rpc/operator_workers.h"
#include "tidemark/v1/check.grpc.pb.h"

namespace tidemark {

// Requests are carried out by worker threads of its own: a look at all jobs keeps no order waiting.
// Thread-safe. What it is given must outlive it and be thread-safe.
class CheckRpc : public v1::CheckService::CallbackService {
 public:
  CheckRpc(OperatorPort& store, CheckDesk& desk);
  ~CheckRpc() override;  // stops

  // Answers what waits and refuses what comes. Call it before the gRPC server is shut down.
  void Stop() { workers_.Stop(); }

  grpc::ServerUnaryReactor* RunCheck(grpc::CallbackServerContext* context,
                                     const v1::RunCheckRequest* request,
                                     v1::RunCheckResponse* response) override;
  grpc::ServerUnaryReactor* ListVerdicts(grpc::CallbackServerContext* context,
                                         const v1::ListVerdictsRequest* request,
                                         v1::ListVerdictsResponse* response) override;

 private:
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context,
                                   std::function<absl::Status()> work);

  OperatorChecks checks_;
  OperatorWorkers workers_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_CHECK_RPC_H_
