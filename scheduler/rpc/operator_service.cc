#include "scheduler/rpc/operator_service.h"

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

OperatorService::OperatorService(const AccessGate& gate, OperatorPort& store,
                                 std::function<void()> poke, Clock& clock, Random& random,
                                 OperatorServiceOptions options)
    : store_(store),
      clock_(clock),
      random_(random),
      poke_(std::move(poke)),
      options_(options),
      waiter_(store, clock),
      funnel_(gate, options.workers, options.queue) {}

OperatorService::~OperatorService() { Stop(); }

void OperatorService::Stop() {
  funnel_.Stop();
  waiter_.Stop();
}

void OperatorService::Await(absl::StatusOr<CommandState> recorded, const Fill& fill,
                            const RequestFunnel::Done& done) {
  if (!recorded.ok()) {
    done(recorded.status());
    return;
  }
  const auto finish = [fill, done](std::optional<CommandState> state, bool existing) {
    if (state.has_value() && state->code != absl::StatusCode::kOk) {
      done(absl::Status(state->code, ToAbsl(state->message)));
      return;
    }
    fill(state.has_value() ? &*state : nullptr, existing);
    done(absl::OkStatus());
  };
  const bool existing = recorded->existing;
  if (recorded->done) {
    finish(*std::move(recorded), existing);
    return;
  }
  poke_();
  waiter_.Wait(recorded->command_id, options_.order_timeout,
               [finish, existing](std::optional<CommandState> ended) {
                 finish(std::move(ended), existing);
               });
}

// ---------------------------------------------------------------- jobs

grpc::ServerUnaryReactor* OperatorService::ApplyJobs(grpc::CallbackServerContext* context,
                                                     const v1::ApplyJobsRequest* request,
                                                     v1::ApplyJobsResponse* response) {
  return Answer(context, "ApplyJobs", request, [=, this](auto& parts, const auto& asked) {
    if (options_.approvals != nullptr && asked.waive_gap() && !asked.dry_run()) {
      return absl::Status(absl::FailedPreconditionError(
          "waive_gap: giving dates up takes a second operator here. Let the edit fill them "
          "(--fill-gap), or give them up first: tidemark watermark waive"));
    }
    bool changed = false;
    const absl::Status status = parts.jobs.Apply(asked, response, &changed);
    if (changed) poke_();
    return status;
  });
}

grpc::ServerUnaryReactor* OperatorService::ListJobs(grpc::CallbackServerContext* context,
                                                    const v1::ListJobsRequest* request,
                                                    v1::ListJobsResponse* response) {
  return Answer(context, "ListJobs", request,
                [=](auto& parts, const auto& asked) { return parts.jobs.List(asked, response); });
}

grpc::ServerUnaryReactor* OperatorService::GetJob(grpc::CallbackServerContext* context,
                                                  const v1::GetJobRequest* request,
                                                  v1::Job* response) {
  return Answer(context, "GetJob", request,
                [=](auto& parts, const auto& asked) { return parts.jobs.Get(asked, response); });
}

grpc::ServerUnaryReactor* OperatorService::NextFires(grpc::CallbackServerContext* context,
                                                     const v1::NextFiresRequest* request,
                                                     v1::NextFiresResponse* response) {
  return Answer(context, "NextFires", request,
                [=](auto& parts, const auto& asked) { return parts.jobs.Next(asked, response); });
}

// ---------------------------------------------------------------- calendars

grpc::ServerUnaryReactor* OperatorService::ImportCalendar(grpc::CallbackServerContext* context,
                                                          const v1::ImportCalendarRequest* request,
                                                          v1::ImportCalendarResponse* response) {
  return Answer(context, "ImportCalendar", request, [=, this](auto& parts, const auto& asked) {
    bool changed = false;
    const absl::Status status = parts.calendars.Import(asked, response, &changed);
    if (changed) poke_();
    return status;
  });
}

grpc::ServerUnaryReactor* OperatorService::ListCalendars(grpc::CallbackServerContext* context,
                                                         const v1::ListCalendarsRequest* request,
                                                         v1::ListCalendarsResponse* response) {
  return Answer(context, "ListCalendars", request, [=](auto& parts, const auto& asked) {
    return parts.calendars.List(asked, response);
  });
}

grpc::ServerUnaryReactor* OperatorService::GetCalendar(grpc::CallbackServerContext* context,
                                                       const v1::GetCalendarRequest* request,
                                                       v1::Calendar* response) {
  return Answer(context, "GetCalendar", request, [=](auto& parts, const auto& asked) {
    return parts.calendars.Get(asked, response);
  });
}

// ---------------------------------------------------------------- orders

grpc::ServerUnaryReactor* OperatorService::TriggerJob(grpc::CallbackServerContext* context,
                                                      const v1::TriggerJobRequest* request,
                                                      v1::TriggerJobResponse* response) {
  return Order(
      context, "TriggerJob", request,
      [=](auto& parts, const auto& asked) { return parts.orders.Trigger(asked); },
      [=](const CommandState* state, bool existing) { FillTrigger(state, existing, response); });
}

grpc::ServerUnaryReactor* OperatorService::PauseJob(grpc::CallbackServerContext* context,
                                                    const v1::PauseJobRequest* request,
                                                    v1::OrderResponse* response) {
  return Order(
      context, "PauseJob", request,
      [=](auto& parts, const auto& asked) { return parts.orders.Pause(asked); },
      [=](const CommandState* state, bool) { FillOrder(state, response); });
}

grpc::ServerUnaryReactor* OperatorService::ResumeJob(grpc::CallbackServerContext* context,
                                                     const v1::ResumeJobRequest* request,
                                                     v1::OrderResponse* response) {
  return Order(
      context, "ResumeJob", request,
      [=](auto& parts, const auto& asked) { return parts.orders.Resume(asked); },
      [=](const CommandState* state, bool) { FillOrder(state, response); });
}

grpc::ServerUnaryReactor* OperatorService::DeleteJob(grpc::CallbackServerContext* context,
                                                     const v1::DeleteJobRequest* request,
                                                     v1::OrderResponse* response) {
  return Order(
      context, "DeleteJob", request,
      [=](auto& parts, const auto& asked) { return parts.orders.Delete(asked); },
      [=](const CommandState* state, bool) { FillOrder(state, response); });
}

grpc::ServerUnaryReactor* OperatorService::CancelRun(grpc::CallbackServerContext* context,
                                                     const v1::CancelRunRequest* request,
                                                     v1::CancelRunResponse* response) {
  return Order(
      context, "CancelRun", request,
      [=](auto& parts, const auto& asked) { return parts.orders.Cancel(asked); },
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
      context, "RerunRun", request,
      [=](auto& parts, const auto& asked) { return parts.orders.Rerun(asked); },
      [=](const CommandState* state, bool existing) { FillTrigger(state, existing, response); });
}

grpc::ServerUnaryReactor* OperatorService::ReleaseRun(grpc::CallbackServerContext* context,
                                                      const v1::ReleaseRunRequest* request,
                                                      v1::OrderResponse* response) {
  return Order(
      context, "ReleaseRun", request,
      [=](auto& parts, const auto& asked) { return parts.orders.Release(asked); },
      [=](const CommandState* state, bool) { FillOrder(state, response); });
}

grpc::ServerUnaryReactor* OperatorService::DrainExecutor(grpc::CallbackServerContext* context,
                                                         const v1::DrainExecutorRequest* request,
                                                         v1::OrderResponse* response) {
  return Order(
      context, "DrainExecutor", request,
      [=](auto& parts, const auto& asked) { return parts.orders.Drain(asked); },
      [=](const CommandState* state, bool) { FillOrder(state, response); });
}

// ---------------------------------------------------------------- dates

grpc::ServerUnaryReactor* OperatorService::WaiveDates(grpc::CallbackServerContext* context,
                                                      const v1::WaiveDatesRequest* request,
                                                      v1::DatesResponse* response) {
  return Order(
      context, "WaiveDates", request,
      [=](auto& parts, const auto& asked) { return parts.dates.Waive(asked); },
      [=](const CommandState* state, bool) { FillDates(state, kQueued, response); });
}

grpc::ServerUnaryReactor* OperatorService::ForceDone(grpc::CallbackServerContext* context,
                                                     const v1::ForceDoneRequest* request,
                                                     v1::DatesResponse* response) {
  return Order(
      context, "ForceDone", request,
      [=](auto& parts, const auto& asked) { return parts.dates.ForceDone(asked); },
      [=](const CommandState* state, bool) { FillDates(state, kQueued, response); });
}

grpc::ServerUnaryReactor* OperatorService::UnwaiveDates(grpc::CallbackServerContext* context,
                                                        const v1::UnwaiveDatesRequest* request,
                                                        v1::DatesResponse* response) {
  return Order(
      context, "UnwaiveDates", request,
      [=](auto& parts, const auto& asked) { return parts.dates.Unwaive(asked); },
      [=](const CommandState* state, bool) { FillDates(state, kQueued, response); });
}

// ---------------------------------------------------------------- listings

grpc::ServerUnaryReactor* OperatorService::ListRuns(grpc::CallbackServerContext* context,
                                                    const v1::ListRunsRequest* request,
                                                    v1::ListRunsResponse* response) {
  return Answer(context, "ListRuns", request,
                [=](auto& parts, const auto& asked) { return parts.lists.Runs(asked, response); });
}

grpc::ServerUnaryReactor* OperatorService::GetRun(grpc::CallbackServerContext* context,
                                                  const v1::GetRunRequest* request,
                                                  v1::Run* response) {
  return Answer(context, "GetRun", request,
                [=](auto& parts, const auto& asked) { return parts.lists.Run(asked, response); });
}

grpc::ServerUnaryReactor* OperatorService::ReadRunLog(grpc::CallbackServerContext* context,
                                                      const v1::ReadRunLogRequest* request,
                                                      v1::ReadRunLogResponse* response) {
  return Answer(context, "ReadRunLog", request,
                [=](auto& parts, const auto& asked) { return parts.logs.Read(asked, response); });
}

grpc::ServerUnaryReactor* OperatorService::ListWatermarks(grpc::CallbackServerContext* context,
                                                          const v1::ListWatermarksRequest* request,
                                                          v1::ListWatermarksResponse* response) {
  return Answer(context, "ListWatermarks", request, [=](auto& parts, const auto& asked) {
    return parts.lists.Watermarks(asked, response);
  });
}

grpc::ServerUnaryReactor* OperatorService::ListExecutors(grpc::CallbackServerContext* context,
                                                         const v1::ListExecutorsRequest* request,
                                                         v1::ListExecutorsResponse* response) {
  return Answer(context, "ListExecutors", request, [=](auto& parts, const auto& asked) {
    return parts.lists.Executors(asked, response);
  });
}

grpc::ServerUnaryReactor* OperatorService::ListAlerts(grpc::CallbackServerContext* context,
                                                      const v1::ListAlertsRequest* request,
                                                      v1::ListAlertsResponse* response) {
  return Answer(context, "ListAlerts", request, [=](auto& parts, const auto& asked) {
    return parts.lists.Alerts(asked, response);
  });
}

grpc::ServerUnaryReactor* OperatorService::ClusterStatus(grpc::CallbackServerContext* context,
                                                         const v1::ClusterStatusRequest* request,
                                                         v1::ClusterStatusResponse* response) {
  return Answer(context, "ClusterStatus", request, [=](auto& parts, const auto& asked) {
    return parts.cluster.Status(asked, response);
  });
}

grpc::ServerUnaryReactor* OperatorService::DrainNode(grpc::CallbackServerContext* context,
                                                     const v1::DrainNodeRequest* request,
                                                     v1::OrderResponse* response) {
  return Answer(context, "DrainNode", request, [=](auto& parts, const auto& asked) {
    return parts.cluster.Drain(asked, response);
  });
}

grpc::ServerUnaryReactor* OperatorService::VerifyJobs(grpc::CallbackServerContext* context,
                                                      const v1::VerifyJobsRequest* request,
                                                      v1::VerifyJobsResponse* response) {
  return Answer(context, "VerifyJobs", request,
                [=](auto& parts, const auto& asked) { return parts.verify.Jobs(asked, response); });
}

}  // namespace tidemark
