// The operator service over gRPC: thin, all knowledge is in the parts that it calls.
#ifndef TIDEMARK_SCHEDULER_RPC_OPERATOR_SERVICE_H_
#define TIDEMARK_SCHEDULER_RPC_OPERATOR_SERVICE_H_

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/id.h"
#include "scheduler/access/access_desk.h"
#include "scheduler/access/access_gate.h"
#include "scheduler/engine/alert_delivery.h"
#include "scheduler/engine/operator_port.h"
#include "scheduler/rpc/limits.h"
#include "scheduler/rpc/operator_parts.h"
#include "scheduler/rpc/operator_waiter.h"
#include "scheduler/rpc/request_funnel.h"
#include "scheduler/rpc/second_person.h"
#include "tidemark/v1/operator.grpc.pb.h"

namespace tidemark {

struct OperatorServiceOptions {
  int workers = 4;                                  // as many as the store has connections
  size_t queue = RpcLimits().max_waiting_requests;  // requests that wait for a worker
  absl::Duration order_timeout = absl::Seconds(5);  // then the answer is `queued`
  // For the warnings of the cluster's status; null: without them.
  AlertDesk* alert_desk = nullptr;
  AlertChannels* alert_channels = nullptr;
  // Set: waive, force-done and forced reruns and releases wait for a second operator, there.
  AccessDesk* approvals = nullptr;
};

// What became of an order that a second person approved.
struct ApprovedOrder {
  bool queued = false;
  std::string message;
};

// Requests are carried out by worker threads; orders then wait without one. Thread-safe. What it
// is given must outlive it and be thread-safe.
class OperatorService : public v1::OperatorService::CallbackService {
 public:
  // `poke`: called after orders were recorded, from worker threads; must return soon.
  OperatorService(const AccessGate& gate, OperatorPort& store, std::function<void()> poke,
                  Clock& clock, Random& random, OperatorServiceOptions options = {});
  ~OperatorService() override;  // stops

  // Answers what waits and refuses what comes. Call it before the gRPC server is shut down, which
  // waits for open requests.
  void Stop();
  // This process has carried out orders: their askers need not wait for the next look.
  void NudgeOrders() { waiter_.Nudge(); }
  // Carries out an order that waited for a second person, who is `admitted` for it. `done` is
  // called once, maybe from another thread. Blocks for the database.
  void CarryOutApproved(const Admitted& admitted, const ApprovalRow& approval,
                        std::function<void(absl::StatusOr<ApprovedOrder>)> done);

  grpc::ServerUnaryReactor* ApplyJobs(grpc::CallbackServerContext* context,
                                      const v1::ApplyJobsRequest* request,
                                      v1::ApplyJobsResponse* response) override;
  grpc::ServerUnaryReactor* ListJobs(grpc::CallbackServerContext* context,
                                     const v1::ListJobsRequest* request,
                                     v1::ListJobsResponse* response) override;
  grpc::ServerUnaryReactor* GetJob(grpc::CallbackServerContext* context,
                                   const v1::GetJobRequest* request, v1::Job* response) override;
  grpc::ServerUnaryReactor* NextFires(grpc::CallbackServerContext* context,
                                      const v1::NextFiresRequest* request,
                                      v1::NextFiresResponse* response) override;
  grpc::ServerUnaryReactor* ImportCalendar(grpc::CallbackServerContext* context,
                                           const v1::ImportCalendarRequest* request,
                                           v1::ImportCalendarResponse* response) override;
  grpc::ServerUnaryReactor* ListCalendars(grpc::CallbackServerContext* context,
                                          const v1::ListCalendarsRequest* request,
                                          v1::ListCalendarsResponse* response) override;
  grpc::ServerUnaryReactor* GetCalendar(grpc::CallbackServerContext* context,
                                        const v1::GetCalendarRequest* request,
                                        v1::Calendar* response) override;
  grpc::ServerUnaryReactor* TriggerJob(grpc::CallbackServerContext* context,
                                       const v1::TriggerJobRequest* request,
                                       v1::TriggerJobResponse* response) override;
  grpc::ServerUnaryReactor* PauseJob(grpc::CallbackServerContext* context,
                                     const v1::PauseJobRequest* request,
                                     v1::OrderResponse* response) override;
  grpc::ServerUnaryReactor* ResumeJob(grpc::CallbackServerContext* context,
                                      const v1::ResumeJobRequest* request,
                                      v1::OrderResponse* response) override;
  grpc::ServerUnaryReactor* DeleteJob(grpc::CallbackServerContext* context,
                                      const v1::DeleteJobRequest* request,
                                      v1::OrderResponse* response) override;
  grpc::ServerUnaryReactor* ListRuns(grpc::CallbackServerContext* context,
                                     const v1::ListRunsRequest* request,
                                     v1::ListRunsResponse* response) override;
  grpc::ServerUnaryReactor* GetRun(grpc::CallbackServerContext* context,
                                   const v1::GetRunRequest* request, v1::Run* response) override;
  grpc::ServerUnaryReactor* ReadRunLog(grpc::CallbackServerContext* context,
                                       const v1::ReadRunLogRequest* request,
                                       v1::ReadRunLogResponse* response) override;
  grpc::ServerUnaryReactor* CancelRun(grpc::CallbackServerContext* context,
                                      const v1::CancelRunRequest* request,
                                      v1::CancelRunResponse* response) override;
  grpc::ServerUnaryReactor* RerunRun(grpc::CallbackServerContext* context,
                                     const v1::RerunRunRequest* request,
                                     v1::TriggerJobResponse* response) override;
  grpc::ServerUnaryReactor* ReleaseRun(grpc::CallbackServerContext* context,
                                       const v1::ReleaseRunRequest* request,
                                       v1::OrderResponse* response) override;
  grpc::ServerUnaryReactor* DrainExecutor(grpc::CallbackServerContext* context,
                                          const v1::DrainExecutorRequest* request,
                                          v1::OrderResponse* response) override;
  grpc::ServerUnaryReactor* WaiveDates(grpc::CallbackServerContext* context,
                                       const v1::WaiveDatesRequest* request,
                                       v1::DatesResponse* response) override;
  grpc::ServerUnaryReactor* ForceDone(grpc::CallbackServerContext* context,
                                      const v1::ForceDoneRequest* request,
                                      v1::DatesResponse* response) override;
  grpc::ServerUnaryReactor* UnwaiveDates(grpc::CallbackServerContext* context,
                                         const v1::UnwaiveDatesRequest* request,
                                         v1::DatesResponse* response) override;
  grpc::ServerUnaryReactor* ListWatermarks(grpc::CallbackServerContext* context,
                                           const v1::ListWatermarksRequest* request,
                                           v1::ListWatermarksResponse* response) override;
  grpc::ServerUnaryReactor* ListExecutors(grpc::CallbackServerContext* context,
                                          const v1::ListExecutorsRequest* request,
                                          v1::ListExecutorsResponse* response) override;
  grpc::ServerUnaryReactor* ListAlerts(grpc::CallbackServerContext* context,
                                       const v1::ListAlertsRequest* request,
                                       v1::ListAlertsResponse* response) override;
  grpc::ServerUnaryReactor* ClusterStatus(grpc::CallbackServerContext* context,
                                          const v1::ClusterStatusRequest* request,
                                          v1::ClusterStatusResponse* response) override;
  grpc::ServerUnaryReactor* DrainNode(grpc::CallbackServerContext* context,
                                      const v1::DrainNodeRequest* request,
                                      v1::OrderResponse* response) override;
  grpc::ServerUnaryReactor* VerifyJobs(grpc::CallbackServerContext* context,
                                       const v1::VerifyJobsRequest* request,
                                       v1::VerifyJobsResponse* response) override;

  grpc::ServerUnaryReactor* CreateBackfill(grpc::CallbackServerContext* context,
                                           const v1::CreateBackfillRequest* request,
                                           v1::CreateBackfillResponse* response) override;
  grpc::ServerUnaryReactor* ListBackfills(grpc::CallbackServerContext* context,
                                          const v1::ListBackfillsRequest* request,
                                          v1::ListBackfillsResponse* response) override;
  grpc::ServerUnaryReactor* GetBackfill(grpc::CallbackServerContext* context,
                                        const v1::GetBackfillRequest* request,
                                        v1::Backfill* response) override;
  grpc::ServerUnaryReactor* PauseBackfill(grpc::CallbackServerContext* context,
                                          const v1::BackfillOrderRequest* request,
                                          v1::OrderResponse* response) override;
  grpc::ServerUnaryReactor* ResumeBackfill(grpc::CallbackServerContext* context,
                                           const v1::BackfillOrderRequest* request,
                                           v1::OrderResponse* response) override;
  grpc::ServerUnaryReactor* CancelBackfill(grpc::CallbackServerContext* context,
                                           const v1::BackfillOrderRequest* request,
                                           v1::OrderResponse* response) override;
  grpc::ServerUnaryReactor* DrillJob(grpc::CallbackServerContext* context,
                                     const v1::DrillJobRequest* request,
                                     v1::DrillJobResponse* response) override;
  grpc::ServerUnaryReactor* GetDrill(grpc::CallbackServerContext* context,
                                     const v1::GetDrillRequest* request,
                                     v1::Drill* response) override;
  grpc::ServerUnaryReactor* ResetCursor(grpc::CallbackServerContext* context,
                                        const v1::ResetCursorRequest* request,
                                        v1::OrderResponse* response) override;

 private:
  using Reactor = grpc::ServerUnaryReactor;
  using Fill = std::function<void(const CommandState*, bool existing)>;
  template <typename Request>
  using Work = std::type_identity_t<std::function<absl::Status(OperatorParts&, const Request&)>>;
  template <typename Request>
  using Record = std::type_identity_t<
      std::function<absl::StatusOr<CommandState>(OperatorParts&, const Request&)>>;

  Reactor* MoveBackfill(grpc::CallbackServerContext* context, const char* verb, const char* kind,
                        const v1::BackfillOrderRequest* request, v1::OrderResponse* response);

  OperatorParts PartsFor(const Admitted& admitted) {
    return {admitted, store_, options_.alert_desk, options_.alert_channels, clock_, random_};
  }

  // Runs `work` on a worker, for who was admitted to `verb`, and ends the request with its status.
  template <typename Request>
  Reactor* Answer(grpc::CallbackServerContext* context, const char* verb, const Request* request,
                  Work<Request> work) {
    return funnel_.Pass(
        context, std::string("OperatorService/") + verb, request,
        [this, work = std::move(work)](const Admitted& admitted, const Request& asked,
                                       const RequestFunnel::Done& done) {
          OperatorParts parts = PartsFor(admitted);
          done(work(parts, asked));
        });
  }

  // Records an order on a worker, waits for its end, and lets `fill` write the answer: with the
  // state, or with null when it is still queued. One that takes a second person is kept for him.
  template <typename Request>
  Reactor* Order(grpc::CallbackServerContext* context, const char* verb, const Request* request,
                 Record<Request> record, Fill fill) {
    return funnel_.Pass(
        context, std::string("OperatorService/") + verb, request,
        [this, record = std::move(record), fill = std::move(fill)](
            const Admitted& admitted, const Request& asked, const RequestFunnel::Done& done) {
          OperatorParts parts = PartsFor(admitted);
          if (options_.approvals != nullptr) {
            absl::StatusOr<std::optional<ApprovalRow>> wanted =
                NeedsSecondPerson(parts.store, asked);
            if (!wanted.ok() || wanted->has_value()) {
              done(wanted.ok() ? Ask(admitted, **std::move(wanted), asked) : wanted.status());
              return;
            }
          }
          Await(record(parts, asked), fill, done);
        });
  }

  // Keeps the order; the error says whom it waits for.
  absl::Status Ask(const Admitted& admitted, ApprovalRow approval,
                   const google::protobuf::Message& request);
  // Waits for the end of an order that was recorded.
  void Await(absl::StatusOr<CommandState> recorded, const Fill& fill,
             const RequestFunnel::Done& done);

  OperatorPort& store_;
  Clock& clock_;
  Random& random_;
  const std::function<void()> poke_;
  const OperatorServiceOptions options_;
  OperatorWaiter waiter_;
  RequestFunnel funnel_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_OPERATOR_SERVICE_H_
