#include "scheduler/rpc/check_rpc.h"

namespace tidemark {
namespace {

constexpr int kWorkers = 2;

}  // namespace

CheckRpc::CheckRpc(const AccessGate& gate, OperatorPort& store, CheckDesk& desk, size_t queue)
    : store_(store), desk_(desk), funnel_(gate, kWorkers, queue) {}

CheckRpc::~CheckRpc() { Stop(); }

grpc::ServerUnaryReactor* CheckRpc::RunCheck(grpc::CallbackServerContext* context,
                                             const v1::RunCheckRequest* request,
                                             v1::RunCheckResponse* response) {
  return Answer(context, "RunCheck", request,
                [=](auto& checks, const auto& asked) { return checks.Run(asked, response); });
}

grpc::ServerUnaryReactor* CheckRpc::ListVerdicts(grpc::CallbackServerContext* context,
                                                 const v1::ListVerdictsRequest* request,
                                                 v1::ListVerdictsResponse* response) {
  return Answer(context, "ListVerdicts", request,
                [=](auto& checks, const auto& asked) { return checks.List(asked, response); });
}

}  // namespace tidemark
