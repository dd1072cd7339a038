// The alert service over gRPC: thin, all knowledge is in the parts that it calls.
#ifndef TIDEMARK_SCHEDULER_RPC_ALERT_RPC_H_
#define TIDEMARK_SCHEDULER_RPC_ALERT_RPC_H_

#include <functional>

#include "common/clock.h"
#include "common/id.h"
#include "scheduler/rpc/operator_alerts.h"
#include "scheduler/rpc/operator_workers.h"
#include "tidemark/v1/alert.grpc.pb.h"

namespace tidemark {

// Requests are carried out by worker threads of its own: a test of a channel that hangs keeps
// nobody else waiting. Thread-safe. What it is given must outlive it and be thread-safe.
class AlertRpc : public v1::AlertService::CallbackService {
 public:
  // `poke`: called after something was ordered, from worker threads; must return soon.
  AlertRpc(AlertDesk& desk, AlertChannels& channels, std::function<void()> poke, Clock& clock,
           Random& random);
  ~AlertRpc() override;  // stops

  // Answers what waits and refuses what comes. Call it before the gRPC server is shut down.
  void Stop() { workers_.Stop(); }

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
  // Runs `work` on a worker and ends the request with its status; `changes`: pokes when it is OK.
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context, bool changes,
                                   std::function<absl::Status()> work);

  const std::function<void()> poke_;
  OperatorAlerts alerts_;
  OperatorWorkers workers_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_ALERT_RPC_H_
