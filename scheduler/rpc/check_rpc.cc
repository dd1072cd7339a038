#include "scheduler/rpc/check_rpc.h"

#include <utility>

#include "scheduler/rpc/rpc_status.h"

namespace tidemark {
namespace {

constexpr int kWorkers = 2;
constexpr size_t kQueue = 64;

}  // namespace

CheckRpc::CheckRpc(OperatorPort& store, CheckDesk& desk)
    : checks_(store, desk), workers_(kWorkers, kQueue) {}

CheckRpc::~CheckRpc() { Stop(); }

grpc::ServerUnaryReactor* CheckRpc::Answer(grpc::CallbackServerContext* context,
                                           std::function<absl::Status()> work) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const bool taken = workers_.Run([context, reactor, work = std::move(work)] {
    reactor->Finish(context->IsCancelled() ? grpc::Status::CANCELLED : ToGrpc(work()));
  });
  if (!taken) {
    reactor->Finish({grpc::StatusCode::UNAVAILABLE,
                     "the scheduler is stopping or has too many requests; try again"});
  }
  return reactor;
}

grpc::ServerUnaryReactor* CheckRpc::RunCheck(grpc::CallbackServerContext* context,
                                             const v1::RunCheckRequest* request,
                                             v1::RunCheckResponse* response) {
  return Answer(context, [=, this] { return checks_.Run(*request, response); });
}

grpc::ServerUnaryReactor* CheckRpc::ListVerdicts(grpc::CallbackServerContext* context,
                                                 const v1::ListVerdictsRequest* request,
                                                 v1::ListVerdictsResponse* response) {
  return Answer(context, [=, this] { return checks_.List(*request, response); });
}

}  // namespace tidemark
