#include "scheduler/rpc/operator_lists.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/id.h"
#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"
#include "scheduler/rpc/job_codec.h"
#include "scheduler/rpc/operator_ledger.h"
#include "scheduler/rpc/operator_orders.h"
#include "scheduler/rpc/proto_time.h"

namespace tidemark {
namespace {

// The status as operators see it.
v1::RunStatus ShownStatus(const OperatorRun& run) {
  const bool filled = run.trigger_type == "CATCH_UP" || run.trigger_type == "BACKFILL";
  if (run.status == "COMPLETED" && filled) return v1::COMPENSATED;
  v1::RunStatus status = v1::RUN_STATUS_UNSPECIFIED;
  (void)v1::RunStatus_Parse(run.status, &status);
  return status;
}

// Why it has this status, in a word.
std::string ShownReason(const OperatorRun& run) {
  if (!run.status_reason.empty() || run.status != "PENDING") return run.status_reason;
  if (run.held) return "held";
  if (run.retry_at.has_value()) return "back-off";
  return run.executor_id.empty() ? "turn or executor" : "start";
}

// The state as operators see it: the process's own, and what an operator ordered.
std::string StateOf(const OperatorExecutor& executor) {
  if (!executor.drained || executor.state != "UP") return executor.state;
  return executor.running > 0 ? "DRAINING" : "DRAINED";
}

void SetTime(const std::optional<absl::Time>& time,
             google::protobuf::Timestamp* (v1::Run::*field)(), v1::Run* out) {
  if (time.has_value()) *(out->*field)() = ToProto(*time);
}

void RunToProto(const OperatorRun& run, v1::Run* out) {
  out->set_run_id(run.run_id);
  out->set_job_id(run.job_id);
  out->set_job(run.job);
  out->set_namespace_(run.ns);
  out->set_app(run.app);
  out->set_handler(run.handler);
  out->set_status(ShownStatus(run));
  out->set_reason(ShownReason(run));
  if (run.biz_date.has_value()) out->set_biz_date(FormatDate(*run.biz_date));
  if (run.nominal.has_value()) out->set_nominal_time(FormatCivil(*run.nominal));
  *out->mutable_fire_time() = ToProto(run.fire_time);
  v1::TriggerType trigger = v1::TRIGGER_TYPE_UNSPECIFIED;
  (void)v1::TriggerType_Parse(run.trigger_type, &trigger);
  out->set_trigger_type(trigger);
  out->set_attempt(run.attempt);
  out->set_lost_attempts(run.lost_attempts);
  out->set_executor_id(run.executor_id);
  out->set_executor_host(run.executor_host);
  *out->mutable_created_at() = ToProto(run.created_at);
  SetTime(run.started_at, &v1::Run::mutable_started_at, out);
  SetTime(run.ended_at, &v1::Run::mutable_ended_at, out);
  SetTime(run.retry_at, &v1::Run::mutable_retry_at, out);
  out->set_progress_percent(run.progress_percent);
  out->set_checkpoint(run.checkpoint);
  out->set_message(run.message);
  out->set_result(run.result);
  if (run.result_rows.has_value()) out->set_result_rows(*run.result_rows);
  out->set_result_digest(run.result_digest);
  out->set_held(run.held);
  out->set_rerun_of(run.rerun_of);
  out->set_requested_by(run.requested_by);
  out->set_requested_reason(run.reason);
  out->set_backfill_id(run.backfill_id);
  out->set_tag(run.tag);
  out->set_job_version(run.job_version);
  out->mutable_epoch()->set_timeline(run.epoch_timeline);
  out->mutable_epoch()->set_number(run.epoch);
}

void AttemptToProto(const OperatorAttempt& attempt, v1::Attempt* out) {
  out->set_attempt(attempt.attempt);
  out->set_executor_id(attempt.executor_id);
  out->set_executor_host(attempt.executor_host);
  if (attempt.sent_at.has_value()) *out->mutable_sent_at() = ToProto(*attempt.sent_at);
  if (attempt.started_at.has_value()) *out->mutable_started_at() = ToProto(*attempt.started_at);
  if (attempt.ended_at.has_value()) *out->mutable_ended_at() = ToProto(*attempt.ended_at);
  out->set_outcome(attempt.outcome);
  out->set_message(attempt.message);
}

// Words beside a date: the row's note, or what can be said without one.
std::string NoteOf(const LoadedJob& job, const LedgerLine& line, const OperatorWatermark* row) {
  if (row != nullptr && (!row->reason.empty() || !row->note.empty())) {
    std::string note = row->reason;
    if (!row->note.empty()) note += (note.empty() ? "" : ": ") + row->note;
    if (!row->actor.empty()) note += " (" + row->actor + ")";
    return note;
  }
  if (line.state != LedgerState::kPaused) return "";
  return WhyPaused(job);
}

// Since when something else keeps the date from running: not before it was due.
absl::Time BlockedSince(const LedgerLine& line, const LedgerRows& rows) {
  absl::Time since = line.occurrence.fire_time;
  if (!line.blocked_by.has_value()) return since;
  if (const auto live = rows.live_since.find(*line.blocked_by); live != rows.live_since.end()) {
    return std::max(since, live->second);
  }
  const auto row = rows.watermarks.find(*line.blocked_by);
  if (row == rows.watermarks.end() || !row->second.finished_at.has_value()) return since;
  return std::max(since, *row->second.finished_at);
}

void LineToProto(const LoadedJob& job, const LedgerLine& line, const LedgerRows& rows,
                 v1::Watermark* out) {
  const absl::CivilDay date = line.occurrence.biz_date;
  out->set_biz_date(FormatDate(date));
  out->set_status(std::string(Name(line.state)));
  *out->mutable_fire_time() = ToProto(line.occurrence.fire_time);
  if (line.blocked_by.has_value()) out->set_blocked_by(FormatDate(*line.blocked_by));
  if (line.waits_for.has_value()) out->set_blocked_by(Text(*line.waits_for));
  if (line.state == LedgerState::kBlocked) {
    *out->mutable_blocked_since() = ToProto(BlockedSince(line, rows));
  }
  const auto found = rows.watermarks.find(date);
  const OperatorWatermark* row = found == rows.watermarks.end() ? nullptr : &found->second;
  const bool running = line.state == LedgerState::kRunning;
  // While a date runs again, what its row says is of the run before.
  out->set_note(NoteOf(job, line, running ? nullptr : row));
  if (const auto live = rows.live.find(date); running && live != rows.live.end()) {
    out->set_run_id(live->second);
  } else if (row != nullptr) {
    out->set_run_id(row->run_id);
  }
  if (row == nullptr || running) return;
  out->set_actor(row->actor);
  if (row->finished_at.has_value()) *out->mutable_finished_at() = ToProto(*row->finished_at);
  if (row->result_rows.has_value()) out->set_result_rows(*row->result_rows);
  out->set_result_digest(row->result_digest);
}

}  // namespace

absl::StatusOr<RunFilter> OperatorLists::ReadFilter(const v1::ListRunsRequest& request) {
  RunFilter filter;
  filter.limit = request.limit() == 0 ? 50 : static_cast<int>(std::min(request.limit(), 1001u));
  if (filter.limit > 1000) return Invalid("limit: at most 1000; ask for the next page");
  filter.ns = request.namespace_();
  for (const int status : request.statuses()) {
    if (status == v1::RUN_STATUS_UNSPECIFIED || !v1::RunStatus_IsValid(status)) {
      return Invalid("statuses: " + std::to_string(status) + " is no status of a run");
    }
    filter.statuses.push_back(v1::RunStatus_Name(static_cast<v1::RunStatus>(status)));
  }
  if (!request.biz_date().empty()) {
    absl::StatusOr<absl::CivilDay> date = ParseDate(request.biz_date());
    if (!date.ok()) return Annotate(date.status(), "biz_date");
    filter.biz_date = *date;
  }
  if (!request.before().empty() && !IsUuid(request.before())) {
    return Invalid("before: '" + EscapeControl(request.before()) + "' is not a run id");
  }
  filter.before = request.before();
  if (request.job().empty()) return filter;
  TM_ASSIGN_OR_RETURN(const std::optional<int64_t> job_id, store_.JobIdForHistory(request.job()));
  if (!job_id.has_value()) return NoSuchJob(store_, request.job());
  filter.job_id = job_id;
  return filter;
}

absl::Status OperatorLists::Runs(const v1::ListRunsRequest& request,
                                 v1::ListRunsResponse* response) {
  TM_ASSIGN_OR_RETURN(const RunFilter filter, ReadFilter(request));
  TM_ASSIGN_OR_RETURN(std::vector<OperatorRun> runs, store_.ListRuns(filter));
  response->set_more(static_cast<int>(runs.size()) > filter.limit);
  if (response->more()) runs.resize(filter.limit);
  for (const OperatorRun& run : runs) RunToProto(run, response->add_runs());
  return absl::OkStatus();
}

absl::Status OperatorLists::Run(const v1::GetRunRequest& request, v1::Run* response) {
  TM_ASSIGN_OR_RETURN(const OperatorRun run, FindRun(store_, request.run_id()));
  TM_ASSIGN_OR_RETURN(const std::vector<OperatorAttempt> attempts, store_.Attempts(run));
  RunToProto(run, response);
  for (const OperatorAttempt& attempt : attempts) {
    AttemptToProto(attempt, response->add_attempts());
  }
  // Unreadable ones are left out: the run itself is what was asked for.
  if (const auto params = DecodeParams(run.params); params.ok()) {
    response->mutable_params()->insert(params->begin(), params->end());
  }
  return absl::OkStatus();
}

absl::Status OperatorLists::Watermarks(const v1::ListWatermarksRequest& request,
                                       v1::ListWatermarksResponse* response) {
  const size_t limit = request.limit() == 0 ? 400 : request.limit();
  if (limit > 5000) return Invalid("limit: at most 5000; give --from and --to");
  std::optional<absl::CivilDay> from;
  std::optional<absl::CivilDay> to;
  for (auto [text, day, name] : {std::make_tuple(&request.from(), &from, "from"),
                                 std::make_tuple(&request.to(), &to, "to")}) {
    if (text->empty()) continue;
    const absl::StatusOr<absl::CivilDay> date = ParseDate(*text);
    if (!date.ok()) return Annotate(date.status(), name);
    *day = *date;
  }
  if (from.has_value() && to.has_value() && *to < *from) return Invalid("to: lies before from");
  TM_ASSIGN_OR_RETURN(const LoadedJob job, FindJob(store_, request.job()));
  if (job.timeline.empty()) {
    return absl::FailedPreconditionError(
        ToAbsl("job '" + job.row.name + "' cannot be used as it is stored: " + job.error +
               "; apply a corrected definition (tidemark job apply -f FILE)"));
  }
  if (!job.dated()) {
    return absl::FailedPreconditionError(
        ToAbsl("job '" + job.row.name +
               "' is tracked by fire time and has no watermarks; see tidemark run list --job '" +
               job.row.name + "'"));
  }
  TM_ASSIGN_OR_RETURN(const LedgerRows rows, store_.Ledger(job.row.job_id));
  TM_ASSIGN_OR_RETURN(const Ledger ledger, LedgerOfJob(store_, job, rows));
  std::vector<const LedgerLine*> shown;
  for (const LedgerLine& line : ledger.lines) {
    const absl::CivilDay date = line.occurrence.biz_date;
    if ((from.has_value() && date < *from) || (to.has_value() && *to < date)) continue;
    shown.push_back(&line);
  }
  const size_t skip = shown.size() > limit ? shown.size() - limit : 0;
  for (size_t i = skip; i < shown.size(); ++i) {
    LineToProto(job, *shown[i], rows, response->add_watermarks());
  }
  if (ledger.high_watermark.has_value()) {
    response->set_high_watermark(FormatDate(*ledger.high_watermark));
  }
  return absl::OkStatus();
}

absl::Status OperatorLists::Executors(const v1::ListExecutorsRequest& request,
                                      v1::ListExecutorsResponse* response) {
  TM_ASSIGN_OR_RETURN(const std::vector<OperatorExecutor> executors,
                      store_.ListExecutors(request.app(), request.all()));
  for (const OperatorExecutor& e : executors) {
    v1::Executor* out = response->add_executors();
    out->set_executor_id(e.executor_id);
    out->set_app(e.app);
    out->set_namespace_(e.ns);
    out->set_registration(e.registration);
    out->set_incarnation(e.incarnation);
    out->set_host(e.host);
    out->set_version(e.version);
    out->set_state(StateOf(e));
    out->set_drained(e.drained);
    out->set_capacity(e.capacity);
    out->set_running(e.running);
    *out->mutable_handlers() = {e.handlers.begin(), e.handlers.end()};
    out->mutable_labels()->insert(e.labels.begin(), e.labels.end());
    *out->mutable_registered_at() = ToProto(e.registered_at);
    *out->mutable_last_seen() = ToProto(e.last_seen);
  }
  return absl::OkStatus();
}

absl::Status OperatorLists::Alerts(const v1::ListAlertsRequest& request,
                                   v1::ListAlertsResponse* response) {
  const uint32_t limit = request.limit() == 0 ? 100 : request.limit();
  if (limit > 1000) return Invalid("limit: at most 1000");
  TM_ASSIGN_OR_RETURN(const std::vector<OperatorAlert> alerts,
                      store_.ListAlerts(request.job(), request.all(), static_cast<int>(limit)));
  for (const OperatorAlert& a : alerts) {
    v1::Alert* out = response->add_alerts();
    out->set_alert_id(a.alert_id);
    out->set_kind(a.kind);
    out->set_severity(a.severity);
    out->set_job(a.job);
    if (a.biz_date.has_value()) out->set_biz_date(FormatDate(*a.biz_date));
    out->set_run_id(a.run_id);
    out->set_summary(a.summary);
    out->set_detail(a.detail);
    *out->mutable_raised_at() = ToProto(a.raised_at);
    if (a.resolved_at.has_value()) *out->mutable_resolved_at() = ToProto(*a.resolved_at);
    if (a.delivered_at.has_value()) *out->mutable_delivered_at() = ToProto(*a.delivered_at);
  }
  return absl::OkStatus();
}

}  // namespace tidemark
