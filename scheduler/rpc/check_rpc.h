// The check service over gRPC: thin, all knowledge is in the parts that it calls.
#ifndef TIDEMARK_SCHEDULER_RPC_CHECK_RPC_H_
#define TIDEMARK_SCHEDULER_RPC_CHECK_RPC_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "scheduler/rpc/limits.h"
#include "scheduler/rpc/operator_checks.h"
#include "scheduler/rpc/request_funnel.h"
#include "tidemark/v1/check.grpc.pb.h"

namespace tidemark {

// Requests are carried out by worker threads of its own: a look at all jobs keeps no order waiting.
// Thread-safe. What it is given must outlive it and be thread-safe.
class CheckRpc : public v1::CheckService::CallbackService {
 public:
  CheckRpc(const AccessGate& gate, OperatorPort& store, CheckDesk& desk,
           size_t queue = RpcLimits().max_waiting_requests);
  ~CheckRpc() override;  // stops

  // Answers what waits and refuses what comes. Call it before the gRPC server is shut down.
  void Stop() { funnel_.Stop(); }

  grpc::ServerUnaryReactor* RunCheck(grpc::CallbackServerContext* context,
                                     const v1::RunCheckRequest* request,
                                     v1::RunCheckResponse* response) override;
  grpc::ServerUnaryReactor* ListVerdicts(grpc::CallbackServerContext* context,
                                         const v1::ListVerdictsRequest* request,
                                         v1::ListVerdictsResponse* response) override;

 private:
  // Runs `work` on a worker, for who was admitted to `verb`, and ends the request with its status.
  template <typename Request>
  grpc::ServerUnaryReactor* Answer(
      grpc::CallbackServerContext* context, const char* verb, const Request* request,
      std::type_identity_t<std::function<absl::Status(OperatorChecks&, const Request&)>> work) {
    return funnel_.Pass(
        context, std::string("CheckService/") + verb, request,
        [this, work = std::move(work)](const Admitted& admitted, const Request& asked,
                                       const RequestFunnel::Done& done) {
          const std::unique_ptr<OperatorPort> store = store_.As(CallerOf(admitted));
          OperatorChecks checks(*store, desk_, CallerOf(admitted).ns);
          done(work(checks, asked));
        });
  }

  OperatorPort& store_;
  CheckDesk& desk_;
  RequestFunnel funnel_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_CHECK_RPC_H_
