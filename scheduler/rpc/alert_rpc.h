// The alert service over gRPC: thin, all knowledge is in the parts that it calls.
#ifndef TIDEMARK_SCHEDULER_RPC_ALERT_RPC_H_
#define TIDEMARK_SCHEDULER_RPC_ALERT_RPC_H_

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "common/clock.h"
#include "common/id.h"
#include "scheduler/access/access_rules.h"
#include "scheduler/engine/alert_desk.h"
#include "scheduler/rpc/limits.h"
#include "scheduler/rpc/operator_alerts.h"
#include "scheduler/rpc/request_funnel.h"
#include "tidemark/v1/alert.grpc.pb.h"

namespace tidemark {

// Requests are carried out by worker threads of its own: a test of a channel that hangs keeps
// nobody else waiting. Thread-safe. What it is given must outlive it and be thread-safe.
class AlertRpc : public v1::AlertService::CallbackService {
 public:
  // `poke`: called after something was ordered, from worker threads; must return soon.
  AlertRpc(const AccessGate& gate, AlertDesk& desk, AlertChannels& channels,
           std::function<void()> poke, Clock& clock, Random& random,
           size_t queue = RpcLimits().max_waiting_requests);
  ~AlertRpc() override;  // stops

  // Answers what waits and refuses what comes. Call it before the gRPC server is shut down.
  void Stop() { funnel_.Stop(); }

  grpc::ServerUnaryReactor* AckAlert(grpc::CallbackServerContext* context,
                                     const v1::AckAlertRequest* request,
                                     v1::AckAlertResponse* response) override;
  grpc::ServerUnaryReactor* SilenceAlerts(grpc::CallbackServerContext* context,
                                          const v1::SilenceAlertsRequest* request,
                                          v1::Silence* response) override;
  grpc::ServerUnaryReactor* ListSilences(grpc::CallbackServerContext* context,
                                         const v1::ListSilencesRequest* request,
                                         v1::ListSilencesResponse* response) override;
  grpc::ServerUnaryReactor* DeleteSilence(grpc::CallbackServerContext* context,
                                          const v1::DeleteSilenceRequest* request,
                                          v1::Silence* response) override;
  grpc::ServerUnaryReactor* ListDeliveries(grpc::CallbackServerContext* context,
                                           const v1::ListDeliveriesRequest* request,
                                           v1::ListDeliveriesResponse* response) override;
  grpc::ServerUnaryReactor* RetryDeliveries(grpc::CallbackServerContext* context,
                                            const v1::RetryDeliveriesRequest* request,
                                            v1::RetryDeliveriesResponse* response) override;
  grpc::ServerUnaryReactor* ListChannels(grpc::CallbackServerContext* context,
                                         const v1::ListChannelsRequest* request,
                                         v1::ListChannelsResponse* response) override;
  grpc::ServerUnaryReactor* TestChannel(grpc::CallbackServerContext* context,
                                        const v1::TestChannelRequest* request,
                                        v1::TestChannelResponse* response) override;

 private:
  // Runs `work` on a worker, for who was admitted to `verb`, and ends the request with its status.
  template <typename Request>
  grpc::ServerUnaryReactor* Answer(
      grpc::CallbackServerContext* context, const char* verb, const Request* request,
      std::type_identity_t<std::function<absl::Status(OperatorAlerts&, const Request&)>> work) {
    return funnel_.Pass(
        context, std::string("AlertService/") + verb, request,
        [this, work = std::move(work)](const Admitted& admitted, const Request& asked,
                                       const RequestFunnel::Done& done) {
          const std::unique_ptr<AlertDesk> desk = desk_.As(CallerOf(admitted));
          OperatorAlerts alerts(*desk, channels_, clock_, random_);
          const absl::Status status = work(alerts, asked);
          const AccessRule* rule = FindAccessRule(admitted.method());
          if (status.ok() && rule != nullptr && rule->changes) poke_();
          done(status);
        });
  }

  AlertDesk& desk_;
  AlertChannels& channels_;
  const std::function<void()> poke_;
  Clock& clock_;
  Random& random_;
  RequestFunnel funnel_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_ALERT_RPC_H_
