#include "scheduler/rpc/alert_rpc.h"

#include <utility>

#include "scheduler/rpc/rpc_status.h"

namespace tidemark {
namespace {

constexpr int kWorkers = 3;
constexpr size_t kQueue = 64;

}  // namespace

AlertRpc::AlertRpc(AlertDesk& desk, AlertChannels& channels, std::function<void()> poke,
                   Clock& clock, Random& random)
    : poke_(std::move(poke)), alerts_(desk, channels, clock, random), workers_(kWorkers, kQueue) {}

AlertRpc::~AlertRpc() { Stop(); }

grpc::ServerUnaryReactor* AlertRpc::Answer(grpc::CallbackServerContext* context, bool changes,
                                           std::function<absl::Status()> work) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const bool taken = workers_.Run([this, context, reactor, changes, work = std::move(work)] {
    if (context->IsCancelled()) {
      reactor->Finish(grpc::Status::CANCELLED);
      return;
    }
    const absl::Status status = work();
    if (changes && status.ok()) poke_();
    reactor->Finish(ToGrpc(status));
  });
  if (!taken) {
    reactor->Finish({grpc::StatusCode::UNAVAILABLE,
                     "the scheduler is stopping or has too many requests; try again"});
  }
  return reactor;
}

grpc::ServerUnaryReactor* AlertRpc::AckAlert(grpc::CallbackServerContext* context,
                                             const v1::AckAlertRequest* request,
                                             v1::AckAlertResponse* response) {
  return Answer(context, true, [=, this] { return alerts_.Ack(WithActor(*request), response); });
}

grpc::ServerUnaryReactor* AlertRpc::SilenceAlerts(grpc::CallbackServerContext* context,
                                                  const v1::SilenceAlertsRequest* request,
                                                  v1::Silence* response) {
  return Answer(context, true,
                [=, this] { return alerts_.AddSilence(WithActor(*request), response); });
}

grpc::ServerUnaryReactor* AlertRpc::ListSilences(grpc::CallbackServerContext* context,
                                                 const v1::ListSilencesRequest* request,
                                                 v1::ListSilencesResponse* response) {
  return Answer(context, false, [=, this] { return alerts_.ListSilences(*request, response); });
}

grpc::ServerUnaryReactor* AlertRpc::DeleteSilence(grpc::CallbackServerContext* context,
                                                  const v1::DeleteSilenceRequest* request,
                                                  v1::Silence* response) {
  return Answer(context, true,
                [=, this] { return alerts_.DeleteSilence(WithActor(*request), response); });
}

grpc::ServerUnaryReactor* AlertRpc::ListDeliveries(grpc::CallbackServerContext* context,
                                                   const v1::ListDeliveriesRequest* request,
                                                   v1::ListDeliveriesResponse* response) {
  return Answer(context, false, [=, this] { return alerts_.ListDeliveries(*request, response); });
}

grpc::ServerUnaryReactor* AlertRpc::RetryDeliveries(grpc::CallbackServerContext* context,
                                                    const v1::RetryDeliveriesRequest* request,
                                                    v1::RetryDeliveriesResponse* response) {
  return Answer(context, true, [=, this] { return alerts_.Retry(WithActor(*request), response); });
}

grpc::ServerUnaryReactor* AlertRpc::ListChannels(grpc::CallbackServerContext* context,
                                                 const v1::ListChannelsRequest*,
                                                 v1::ListChannelsResponse* response) {
  return Answer(context, false, [=, this] { return alerts_.ListChannels(response); });
}

grpc::ServerUnaryReactor* AlertRpc::TestChannel(grpc::CallbackServerContext* context,
                                                const v1::TestChannelRequest* request,
                                                v1::TestChannelResponse* response) {
  return Answer(context, false, [=, this] { return alerts_.Test(WithActor(*request), response); });
}

}  // namespace tidemark
