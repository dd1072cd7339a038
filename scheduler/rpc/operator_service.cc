#include "scheduler/rpc/operator_service.h"

#include <cstdlib>
#include <utility>

#include "common/log.h"
#include "common/status.h"
#include "common/text.h"
#include "scheduler/rpc/order_answers.h"
#include "scheduler/rpc/rpc_status.h"

namespace tidemark {
namespace {

void FillTrigger(const CommandState* state, bool existing, v1::TriggerJobResponse* response) {
  response->set_queued(state == nullptr);
  response->set_existing(existing);
  if (state == nullptr) return;
  response->set_run_id(Field(*state, "run_id"));
  response->set_biz_date(Field(*state, "biz_date"));
  for (std::string& date : SplitList(Field(*state, "later"))) {
    response->add_later_dates(std::move(date));
  }
  for (std::string& job : SplitList(Field(*state, "dependents"))) {
    response->add_dependents(std::move(job));
  }
}

}  // namespace

OperatorService::OperatorService(OperatorPort& store, std::function<void()> poke, Clock& clock,
                                 Random& random, OperatorServiceOptions options)
    : poke_(std::move(poke)),
      options_(options),
      jobs_(store, clock, random),
      calendars_(store),
      orders_(store, clock, random),
      dates_(store, clock, random),
      lists_(store, options.alert_desk, options.alert_channels),
      verify_(store),
      logs_(store),
      backfills_(store, clock, random),
      waiter_(store, clock),
      workers_(options.workers, options.queue) {}

OperatorService::~OperatorService() { Stop(); }

void OperatorService::Stop() {
  workers_.Stop();
  waiter_.Stop();
}

grpc::ServerUnaryReactor* OperatorService::Answer(grpc::CallbackServerContext* context,
                                                  std::function<absl::Status()> work) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const bool taken = workers_.Run([context, reactor, work = std::move(work)] {
    // Whoever asked has gone: spare the database.
    reactor->Finish(context->IsCancelled() ? grpc::Status::CANCELLED : ToGrpc(work()));
  });
  if (!taken) {
    reactor->Finish({grpc::StatusCode::UNAVAILABLE,
                     "the scheduler is stopping or has too many requests; try again"});
  }
  return reactor;
}

grpc::ServerUnaryReactor* OperatorService::Order(
    grpc::CallbackServerContext* context, std::function<absl::StatusOr<CommandState>()> record,
    std::function<void(const CommandState*, bool existing)> fill) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const auto finish = [reactor, fill = std::move(fill)](std::optional<CommandState> state,
                                                        bool existing) {
    if (state.has_value() && state->code != absl::StatusCode::kOk) {
      reactor->Finish(ToGrpc(absl::Status(state->code, ToAbsl(state->message))));
      return;
    }
    fill(state.has_value() ? &*state : nullptr, existing);
    reactor->Finish(grpc::Status::OK);
  };
  const bool taken = workers_.Run([this, reactor, record = std::move(record), finish] {
    absl::StatusOr<CommandState> state = record();
    if (!state.ok()) {
      reactor->Finish(ToGrpc(state.status()));
      return;
    }
    const bool existing = state->existing;
    if (state->done) {
      finish(*std::move(state), existing);
      return;
    }
    poke_();
    waiter_.Wait(state->command_id, options_.order_timeout,
                 [finish, existing](std::optional<CommandState> ended) {
                   finish(std::move(ended), existing);
                 });
  });
  if (!taken) {
    reactor->Finish({grpc::StatusCode::UNAVAILABLE,
                     "the scheduler is stopping or has too many requests; nothing was recorded, "
                     "try again"});
  }
  return reactor;
}

// ---------------------------------------------------------------- jobs

grpc::ServerUnaryReactor* OperatorService::ApplyJobs(grpc::CallbackServerContext* context,
                                                     const v1::ApplyJobsRequest* request,
                                                     v1::ApplyJobsResponse* response) {
  return Answer(context, [=, this] {
    bool changed = false;
    const absl::Status status = jobs_.Apply(WithActor(*request), response, &changed);
    if (changed) poke_();
    return status;
  });
}

grpc::ServerUnaryReactor* OperatorService::ListJobs(grpc::CallbackServerContext* context,
                                                    const v1::ListJobsRequest* request,
                                                    v1::ListJobsResponse* response) {
  return Answer(context, [=, this] { return jobs_.List(*request, response); });
}

grpc::ServerUnaryReactor* OperatorService::GetJob(grpc::CallbackServerContext* context,
                                                  const v1::GetJobRequest* request,
                                                  v1::Job* response) {
  return Answer(context, [=, this] { return jobs_.Get(*request, response); });
}

grpc::ServerUnaryReactor* OperatorService::NextFires(grpc::CallbackServerContext* context,
                                                     const v1::NextFiresRequest* request,
                                                     v1::NextFiresResponse* response) {
  return Answer(context, [=, this] { return jobs_.Next(*request, response); });
}

// ---------------------------------------------------------------- calendars

grpc::ServerUnaryReactor* OperatorService::ImportCalendar(grpc::CallbackServerContext* context,
                                                          const v1::ImportCalendarRequest* request,
                                                          v1::ImportCalendarResponse* response) {
  return Answer(context, [=, this] {
    bool changed = false;
    const absl::Status status = calendars_.Import(WithActor(*request), response, &changed);
    if (changed) poke_();
    return status;
  });
}

grpc::ServerUnaryReactor* OperatorService::ListCalendars(grpc::CallbackServerContext* context,
                                                         const v1::ListCalendarsRequest* request,
                                                         v1::ListCalendarsResponse* response) {
  return Answer(context, [=, this] { return calendars_.List(*request, response); });
}

grpc::ServerUnaryReactor* OperatorService::GetCalendar(grpc::CallbackServerContext* context,
                                                       const v1::GetCalendarRequest* request,
                                                       v1::Calendar* response) {
  return Answer(context, [=, this] { return calendars_.Get(*request, response); });
}

// ---------------------------------------------------------------- orders

grpc::ServerUnaryReactor* OperatorService::TriggerJob(grpc::CallbackServerContext* context,
                                                      const v1::TriggerJobRequest* request,
                                                      v1::TriggerJobResponse* response) {
  return Order(
      context, [=, this] { return orders_.Trigger(WithActor(*request)); },
      [=](const CommandState* state, bool existing) { FillTrigger(state, existing, response); });
}

grpc::ServerUnaryReactor* OperatorService::PauseJob(grpc::CallbackServerContext* context,
                                                    const v1::PauseJobRequest* request,
                                                    v1::OrderResponse* response) {
  return Order(
      context, [=, this] { return orders_.Pause(WithActor(*request)); },
      [=](const CommandState* state, bool) { FillOrder(state, response); });
}

grpc::ServerUnaryReactor* OperatorService::ResumeJob(grpc::CallbackServerContext* context,
                                                     const v1::ResumeJobRequest* request,
                                                     v1::OrderResponse* response) {
  return Order(
      context, [=, this] { return orders_.Resume(WithActor(*request)); },
      [=](const CommandState* state, bool) { FillOrder(state, response); });
}

grpc::ServerUnaryReactor* OperatorService::DeleteJob(grpc::CallbackServerContext* context,
                                                     const v1::DeleteJobRequest* request,
                                                     v1::OrderResponse* response) {
  return Order(
      context, [=, this] { return orders_.Delete(WithActor(*request)); },
      [=](const CommandState* state, bool) { FillOrder(state, response); });
}

grpc::ServerUnaryReactor* OperatorService::CancelRun(grpc::CallbackServerContext* context,
                                                     const v1::CancelRunRequest* request,
                                                     v1::CancelRunResponse* response) {
  return Order(
      context, [=, this] { return orders_.Cancel(WithActor(*request)); },
      [=](const CommandState* state, bool) {
        response->set_queued(state == nullptr);
        response->set_message(state == nullptr ? kQueued : Field(*state, "message"));
        if (state == nullptr) return;
        response->set_was_terminal(Field(*state, "was_terminal") == "true");
        response->set_confirmed(Field(*state, "confirmed") == "true");
      });
}

grpc::ServerUnaryReactor* OperatorService::RerunRun(grpc::CallbackServerContext* context,
                                                    const v1::RerunRunRequest* request,
                                                    v1::TriggerJobResponse* response) {
  return Order(
      context, [=, this] { return orders_.Rerun(WithActor(*request)); },
      [=](const CommandState* state, bool existing) { FillTrigger(state, existing, response); });
}

grpc::ServerUnaryReactor* OperatorService::ReleaseRun(grpc::CallbackServerContext* context,
                                                      const v1::ReleaseRunRequest* request,
                                                      v1::OrderResponse* response) {
  return Order(
      context, [=, this] { return orders_.Release(WithActor(*request)); },
      [=](const CommandState* state, bool) { FillOrder(state, response); });
}

grpc::ServerUnaryReactor* OperatorService::DrainExecutor(grpc::CallbackServerContext* context,
                                                         const v1::DrainExecutorRequest* request,
                                                         v1::OrderResponse* response) {
  return Order(
      context, [=, this] { return orders_.Drain(WithActor(*request)); },
      [=](const CommandState* state, bool) { FillOrder(state, response); });
}

// ---------------------------------------------------------------- dates

grpc::ServerUnaryReactor* OperatorService::WaiveDates(grpc::CallbackServerContext* context,
                                                      const v1::WaiveDatesRequest* request,
                                                      v1::DatesResponse* response) {
  return Order(
      context, [=, this] { return dates_.Waive(WithActor(*request)); },
      [=](const CommandState* state, bool) { FillDates(state, kQueued, response); });
}

grpc::ServerUnaryReactor* OperatorService::ForceDone(grpc::CallbackServerContext* context,
                                                     const v1::ForceDoneRequest* request,
                                                     v1::DatesResponse* response) {
  return Order(
      context, [=, this] { return dates_.ForceDone(WithActor(*request)); },
      [=](const CommandState* state, bool) { FillDates(state, kQueued, response); });
}

grpc::ServerUnaryReactor* OperatorService::UnwaiveDates(grpc::CallbackServerContext* context,
                                                        const v1::UnwaiveDatesRequest* request,
                                                        v1::DatesResponse* response) {
  return Order(
      context, [=, this] { return dates_.Unwaive(WithActor(*request)); },
      [=](const CommandState* state, bool) { FillDates(state, kQueued, response); });
}

// ---------------------------------------------------------------- listings

grpc::ServerUnaryReactor* OperatorService::ListRuns(grpc::CallbackServerContext* context,
                                                    const v1::ListRunsRequest* request,
                                                    v1::ListRunsResponse* response) {
  return Answer(context, [=, this] { return lists_.Runs(*request, response); });
}

grpc::ServerUnaryReactor* OperatorService::GetRun(grpc::CallbackServerContext* context,
                                                  const v1::GetRunRequest* request,
                                                  v1::Run* response) {
  return Answer(context, [=, this] { return lists_.Run(*request, response); });
}

grpc::ServerUnaryReactor* OperatorService::ReadRunLog(grpc::CallbackServerContext* context,
                                                      const v1::ReadRunLogRequest* request,
                                                      v1::ReadRunLogResponse* response) {
  return Answer(context, [=, this] { return logs_.Read(*request, response); });
}

grpc::ServerUnaryReactor* OperatorService::ListWatermarks(grpc::CallbackServerContext* context,
                                                          const v1::ListWatermarksRequest* request,
                                                          v1::ListWatermarksResponse* response) {
  return Answer(context, [=, this] { return lists_.Watermarks(*request, response); });
}

grpc::ServerUnaryReactor* OperatorService::ListExecutors(grpc::CallbackServerContext* context,
                                                         const v1::ListExecutorsRequest* request,
                                                         v1::ListExecutorsResponse* response) {
  return Answer(context, [=, this] { return lists_.Executors(*request, response); });
}

grpc::ServerUnaryReactor* OperatorService::ListAlerts(grpc::CallbackServerContext* context,
                                                      const v1::ListAlertsRequest* request,
                                                      v1::ListAlertsResponse* response) {
  return Answer(context, [=, this] { return lists_.Alerts(*request, response); });
}

grpc::ServerUnaryReactor* OperatorService::ClusterStatus(grpc::CallbackServerContext* context,
                                                         const v1::ClusterStatusRequest* request,
                                                         v1::ClusterStatusResponse* response) {
  return Answer(context, [=, this] { return lists_.Cluster(*request, response); });
}

grpc::ServerUnaryReactor* OperatorService::VerifyJobs(grpc::CallbackServerContext* context,
                                                      const v1::VerifyJobsRequest* request,
                                                      v1::VerifyJobsResponse* response) {
  return Answer(context, [=, this] { return verify_.Jobs(*request, response); });
}

}  // namespace tidemark
