// The access service over gRPC: thin, all knowledge is in the parts that it calls.
#ifndef TIDEMARK_SCHEDULER_RPC_ACCESS_RPC_H_
#define TIDEMARK_SCHEDULER_RPC_ACCESS_RPC_H_

#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "common/id.h"
#include "scheduler/access/access_desk.h"
#include "scheduler/access/access_gate.h"
#include "scheduler/rpc/limits.h"
#include "scheduler/rpc/operator_access.h"
#include "scheduler/rpc/operator_service.h"
#include "scheduler/rpc/request_funnel.h"
#include "tidemark/v1/access.grpc.pb.h"

namespace tidemark {

// Requests are carried out by worker threads of its own. Thread-safe. What it is given must outlive
// it and be thread-safe.
class AccessRpc : public v1::AccessService::CallbackService {
 public:
  // `tokens_changed`: called from worker threads; must return soon. Approved orders are carried out
  // by `orders`.
  AccessRpc(const AccessGate& gate, AccessDesk& desk, std::function<void()> tokens_changed,
            OperatorService& orders, Random& random,
            size_t queue = RpcLimits().max_waiting_requests);
  ~AccessRpc() override;  // stops

  // Answers what waits and refuses what comes. Call it before `orders` and the gRPC server stop.
  void Stop() { funnel_.Stop(); }

  grpc::ServerUnaryReactor* WhoAmI(grpc::CallbackServerContext* context,
                                   const v1::WhoAmIRequest* request,
                                   v1::WhoAmIResponse* response) override;
  grpc::ServerUnaryReactor* CreateToken(grpc::CallbackServerContext* context,
                                        const v1::CreateTokenRequest* request,
                                        v1::CreateTokenResponse* response) override;
  grpc::ServerUnaryReactor* ListTokens(grpc::CallbackServerContext* context,
                                       const v1::ListTokensRequest* request,
                                       v1::ListTokensResponse* response) override;
  grpc::ServerUnaryReactor* RevokeToken(grpc::CallbackServerContext* context,
                                        const v1::RevokeTokenRequest* request,
                                        v1::Token* response) override;
  grpc::ServerUnaryReactor* ListAudit(grpc::CallbackServerContext* context,
                                      const v1::ListAuditRequest* request,
                                      v1::ListAuditResponse* response) override;
  grpc::ServerUnaryReactor* ListApprovals(grpc::CallbackServerContext* context,
                                          const v1::ListApprovalsRequest* request,
                                          v1::ListApprovalsResponse* response) override;
  grpc::ServerUnaryReactor* ApproveOrder(grpc::CallbackServerContext* context,
                                         const v1::ApprovalRequest* request,
                                         v1::ApproveOrderResponse* response) override;
  grpc::ServerUnaryReactor* RefuseOrder(grpc::CallbackServerContext* context,
                                        const v1::ApprovalRequest* request,
                                        v1::Approval* response) override;

 private:
  // Runs `work` on a worker, for who was admitted to `verb`, and ends the request with its status.
  template <typename Request>
  grpc::ServerUnaryReactor* Answer(
      grpc::CallbackServerContext* context, const char* verb, const Request* request,
      std::type_identity_t<std::function<absl::Status(OperatorAccess&, const Request&)>> work) {
    return funnel_.Pass(
        context, std::string("AccessService/") + verb, request,
        [this, work = std::move(work)](const Admitted& admitted, const Request& asked,
                                       const RequestFunnel::Done& done) {
          OperatorAccess access(admitted, desk_, random_);
          done(work(access, asked));
        });
  }
  void Approve(const Admitted& admitted, const v1::ApprovalRequest& request,
               v1::ApproveOrderResponse* response, const RequestFunnel::Done& done);

  AccessDesk& desk_;
  const std::function<void()> tokens_changed_;
  OperatorService& orders_;
  Random& random_;
  RequestFunnel funnel_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_ACCESS_RPC_H_
