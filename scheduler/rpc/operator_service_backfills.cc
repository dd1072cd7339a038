// The operator service's methods about backfills, drills and cursors.
#include <cstdlib>
#include <utility>

#include "common/status.h"
#include "scheduler/rpc/operator_service.h"
#include "scheduler/rpc/order_answers.h"
#include "scheduler/rpc/rpc_status.h"

namespace tidemark {

grpc::ServerUnaryReactor* OperatorService::CreateBackfill(grpc::CallbackServerContext* context,
                                                          const v1::CreateBackfillRequest* request,
                                                          v1::CreateBackfillResponse* response) {
  const auto record = [=](auto& parts, const auto& asked) -> absl::StatusOr<CommandState> {
    TM_ASSIGN_OR_RETURN(CommandState state, parts.backfills.Create(asked, response));
    response->set_backfill_id(state.command_id);
    return state;
  };
  return Order(context, "CreateBackfill", request, record, [=](const CommandState* state, bool) {
    response->set_queued(state == nullptr);
    response->set_message(state == nullptr ? kQueued : Field(*state, "message"));
    if (state == nullptr || request->dry_run()) return;
    response->set_date_count(static_cast<uint32_t>(std::atoi(Field(*state, "dates").c_str())));
  });
}

grpc::ServerUnaryReactor* OperatorService::ListBackfills(grpc::CallbackServerContext* context,
                                                         const v1::ListBackfillsRequest* request,
                                                         v1::ListBackfillsResponse* response) {
  return Answer(context, "ListBackfills", request, [=](auto& parts, const auto& asked) {
    return parts.backfills.List(asked, response);
  });
}

grpc::ServerUnaryReactor* OperatorService::GetBackfill(grpc::CallbackServerContext* context,
                                                       const v1::GetBackfillRequest* request,
                                                       v1::Backfill* response) {
  return Answer(context, "GetBackfill", request, [=](auto& parts, const auto& asked) {
    return parts.backfills.Get(asked, response);
  });
}

grpc::ServerUnaryReactor* OperatorService::MoveBackfill(grpc::CallbackServerContext* context,
                                                        const char* verb, const char* kind,
                                                        const v1::BackfillOrderRequest* request,
                                                        v1::OrderResponse* response) {
  return Order(
      context, verb, request,
      [=](auto& parts, const auto& asked) { return parts.backfills.Move(kind, asked); },
      [=](const CommandState* state, bool) { FillOrder(state, response); });
}

grpc::ServerUnaryReactor* OperatorService::PauseBackfill(grpc::CallbackServerContext* context,
                                                         const v1::BackfillOrderRequest* request,
                                                         v1::OrderResponse* response) {
  return MoveBackfill(context, "PauseBackfill", "backfill_pause", request, response);
}

grpc::ServerUnaryReactor* OperatorService::ResumeBackfill(grpc::CallbackServerContext* context,
                                                          const v1::BackfillOrderRequest* request,
                                                          v1::OrderResponse* response) {
  return MoveBackfill(context, "ResumeBackfill", "backfill_resume", request, response);
}

grpc::ServerUnaryReactor* OperatorService::CancelBackfill(grpc::CallbackServerContext* context,
                                                          const v1::BackfillOrderRequest* request,
                                                          v1::OrderResponse* response) {
  return MoveBackfill(context, "CancelBackfill", "backfill_cancel", request, response);
}

grpc::ServerUnaryReactor* OperatorService::DrillJob(grpc::CallbackServerContext* context,
                                                    const v1::DrillJobRequest* request,
                                                    v1::DrillJobResponse* response) {
  const auto record = [=](auto& parts, const auto& asked) -> absl::StatusOr<CommandState> {
    TM_ASSIGN_OR_RETURN(CommandState state, parts.backfills.StartDrill(asked));
    response->set_drill_id(state.command_id);
    return state;
  };
  return Order(context, "DrillJob", request, record, [=](const CommandState* state, bool) {
    response->set_queued(state == nullptr);
    if (state == nullptr) return;
    const std::string dates = Field(*state, "dates");
    for (size_t at = 0; at + 10 <= dates.size(); at += 11) {
      response->add_dates(dates.substr(at, 10));
    }
  });
}

grpc::ServerUnaryReactor* OperatorService::GetDrill(grpc::CallbackServerContext* context,
                                                    const v1::GetDrillRequest* request,
                                                    v1::Drill* response) {
  return Answer(context, "GetDrill", request, [=](auto& parts, const auto& asked) {
    return parts.backfills.GetDrill(asked, response);
  });
}

grpc::ServerUnaryReactor* OperatorService::ResetCursor(grpc::CallbackServerContext* context,
                                                       const v1::ResetCursorRequest* request,
                                                       v1::OrderResponse* response) {
  return Order(
      context, "ResetCursor", request,
      [=](auto& parts, const auto& asked) { return parts.backfills.ResetCursor(asked); },
      [=](const CommandState* state, bool) { FillOrder(state, response); });
}

}  // namespace tidemark
