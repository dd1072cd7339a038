#include "scheduler/rpc/alert_rpc.h"

#include <utility>

namespace tidemark {
namespace {

constexpr int kWorkers = 3;

}  // namespace

AlertRpc::AlertRpc(const AccessGate& gate, AlertDesk& desk, AlertChannels& channels,
                   std::function<void()> poke, Clock& clock, Random& random, size_t queue)
    : desk_(desk),
      channels_(channels),
      poke_(std::move(poke)),
      clock_(clock),
      random_(random),
      funnel_(gate, kWorkers, queue) {}

AlertRpc::~AlertRpc() { Stop(); }

grpc::ServerUnaryReactor* AlertRpc::AckAlert(grpc::CallbackServerContext* context,
                                             const v1::AckAlertRequest* request,
                                             v1::AckAlertResponse* response) {
  return Answer(context, "AckAlert", request,
                [=](auto& alerts, const auto& asked) { return alerts.Ack(asked, response); });
}

grpc::ServerUnaryReactor* AlertRpc::SilenceAlerts(grpc::CallbackServerContext* context,
                                                  const v1::SilenceAlertsRequest* request,
                                                  v1::Silence* response) {
  return Answer(context, "SilenceAlerts", request, [=](auto& alerts, const auto& asked) {
    return alerts.AddSilence(asked, response);
  });
}

grpc::ServerUnaryReactor* AlertRpc::ListSilences(grpc::CallbackServerContext* context,
                                                 const v1::ListSilencesRequest* request,
                                                 v1::ListSilencesResponse* response) {
  return Answer(context, "ListSilences", request, [=](auto& alerts, const auto& asked) {
    return alerts.ListSilences(asked, response);
  });
}

grpc::ServerUnaryReactor* AlertRpc::DeleteSilence(grpc::CallbackServerContext* context,
                                                  const v1::DeleteSilenceRequest* request,
                                                  v1::Silence* response) {
  return Answer(context, "DeleteSilence", request, [=](auto& alerts, const auto& asked) {
    return alerts.DeleteSilence(asked, response);
  });
}

grpc::ServerUnaryReactor* AlertRpc::ListDeliveries(grpc::CallbackServerContext* context,
                                                   const v1::ListDeliveriesRequest* request,
                                                   v1::ListDeliveriesResponse* response) {
  return Answer(context, "ListDeliveries", request, [=](auto& alerts, const auto& asked) {
    return alerts.ListDeliveries(asked, response);
  });
}

grpc::ServerUnaryReactor* AlertRpc::RetryDeliveries(grpc::CallbackServerContext* context,
                                                    const v1::RetryDeliveriesRequest* request,
                                                    v1::RetryDeliveriesResponse* response) {
  return Answer(context, "RetryDeliveries", request,
                [=](auto& alerts, const auto& asked) { return alerts.Retry(asked, response); });
}

grpc::ServerUnaryReactor* AlertRpc::ListChannels(grpc::CallbackServerContext* context,
                                                 const v1::ListChannelsRequest* request,
                                                 v1::ListChannelsResponse* response) {
  return Answer(context, "ListChannels", request,
                [=](auto& alerts, const auto&) { return alerts.ListChannels(response); });
}

grpc::ServerUnaryReactor* AlertRpc::TestChannel(grpc::CallbackServerContext* context,
                                                const v1::TestChannelRequest* request,
                                                v1::TestChannelResponse* response) {
  return Answer(context, "TestChannel", request,
                [=](auto& alerts, const auto& asked) { return alerts.Test(asked, response); });
}

}  // namespace tidemark
