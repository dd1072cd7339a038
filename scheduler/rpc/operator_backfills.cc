#include "scheduler/rpc/operator_backfills.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"
#include "scheduler/core/catch_up.h"
#include "scheduler/rpc/backfill_view.h"
#include "scheduler/rpc/proto_time.h"

namespace tidemark {
namespace {

constexpr int kMeasured = 20;  // runs that an expected duration is taken from
constexpr size_t kMaxReason = 1024;
constexpr uint32_t kMaxDrill = 366;

absl::Status Refused(const std::string& message) {
  return absl::FailedPreconditionError(ToAbsl(message));
}

absl::Status CheckReason(const std::string& reason) {
  if (reason.size() > kMaxReason || !IsCleanUtf8(reason)) {
    return Invalid("reason: must be UTF-8 text of at most 1024 bytes");
  }
  return absl::OkStatus();
}

absl::Status CheckDated(const LoadedJob& job) {
  if (!job.error.empty()) {
    return Refused("job '" + job.row.name + "' cannot be used as it is stored: " + job.error +
                   "; apply a corrected definition (tidemark job apply -f FILE)");
  }
  if (job.dated()) return absl::OkStatus();
  return Refused("job '" + job.row.name +
                 "' is tracked by fire time and has no business dates; what it missed is decided "
                 "by its misfire policy");
}

absl::StatusOr<Backfill> ReadRequest(const v1::CreateBackfillRequest& request) {
  Backfill wanted;
  if (request.from().empty() || request.to().empty()) {
    return Invalid("a backfill needs its first and last date: --from DATE --to DATE");
  }
  absl::StatusOr<absl::CivilDay> from = ParseDate(request.from());
  if (!from.ok()) return Annotate(from.status(), "from");
  absl::StatusOr<absl::CivilDay> to = ParseDate(request.to());
  if (!to.ok()) return Annotate(to.status(), "to");
  if (*to < *from) return Invalid("to: " + request.to() + " lies before from, " + request.from());
  wanted.from = *from;
  wanted.to = *to;
  const std::string word = request.reprocess().empty() ? "missing" : request.reprocess();
  const std::optional<Reprocess> reprocess = ParseReprocess(word);
  if (!reprocess.has_value()) return Invalid("reprocess: must be missing, failed or all");
  wanted.reprocess = *reprocess;
  wanted.reverse = request.reverse();
  wanted.parallel =
      request.parallel() == 0 ? 1 : static_cast<int>(std::min(request.parallel(), 1000u));
  return wanted;
}

// Every date up to the range's end is due by now, or the request is refused.
absl::Status CheckRange(const LoadedJob& job, const Backfill& wanted, absl::Time now) {
  const absl::CivilDay first = AccountedFrom(job, now);
  const std::string list = "; see tidemark watermark list " + job.row.name;
  if (wanted.to < first) {
    return Invalid("to: " + FormatDate(wanted.to) + " lies before the first date of job '" +
                   job.row.name + "', " + FormatDate(first) + list);
  }
  if (const std::optional<Occurrence> next = job.timeline.Next(now);
      next.has_value() && wanted.to >= next->biz_date) {
    return Invalid("to: " + FormatDate(next->biz_date) + " is not due before " +
                   FormatInstant(next->fire_time, job.timeline.current().zone()) +
                   ", end the range before it");
  }
  for (const Occurrence& due : job.timeline.Due(std::max(first, wanted.from), now)) {
    if (due.biz_date >= wanted.from && due.biz_date <= wanted.to) return absl::OkStatus();
  }
  return Invalid("no date from " + FormatDate(wanted.from) + " to " + FormatDate(wanted.to) +
                 " is a due date of job '" + job.row.name + "'" + list);
}

absl::Duration Median(std::vector<absl::Duration> durations) {
  std::sort(durations.begin(), durations.end());
  return durations[durations.size() / 2];
}

}  // namespace

OperatorCommand OperatorBackfills::NewCommand(const OperatorJob& job, const std::string& kind,
                                              const std::string& actor) {
  OperatorCommand command;
  command.command_id = NewUuid(clock_.WallNow(), random_);
  command.job_id = job.job_id;
  command.shard = job.shard;
  command.kind = kind;
  command.actor = actor;
  command.job_name = job.name;
  return command;
}

absl::StatusOr<CommandState> OperatorBackfills::Create(const v1::CreateBackfillRequest& request,
                                                       v1::CreateBackfillResponse* response) {
  TM_ASSIGN_OR_RETURN(const LoadedJob job, FindJob(store_, request.job()));
  TM_RETURN_IF_ERROR(CheckDated(job));
  TM_RETURN_IF_ERROR(CheckReason(request.reason()));
  OperatorCommand command = NewCommand(job.row, "backfill_create", request.actor());
  if (!request.request_id().empty()) {
    if (const std::string problem = NameProblem(request.request_id()); !problem.empty()) {
      return Invalid("request_id " + problem);
    }
    command.request_id = request.request_id();
    TM_ASSIGN_OR_RETURN(std::optional<CommandState> before,
                        store_.FindRequest(job.row.job_id, request.request_id()));
    if (before.has_value()) return *std::move(before);
  }
  TM_ASSIGN_OR_RETURN(const Backfill wanted, ReadRequest(request));
  TM_ASSIGN_OR_RETURN(const absl::Time now, store_.Now());
  TM_RETURN_IF_ERROR(CheckRange(job, wanted, now));
  if (const std::string problem = BackfillProblem(wanted, job.spec.catch_up); !problem.empty()) {
    return Refused(problem);
  }
  if (request.dry_run()) {
    TM_RETURN_IF_ERROR(DryRun(job, wanted, response));
    CommandState done;
    done.done = true;
    return done;
  }
  command.args = {{"backfill_id", command.command_id},
                  {"from", FormatDate(wanted.from)},
                  {"to", FormatDate(wanted.to)},
                  {"reprocess", std::string(Name(wanted.reprocess))},
                  {"reverse", wanted.reverse ? "true" : "false"},
                  {"parallel", std::to_string(wanted.parallel)},
                  {"reason", request.reason()}};
  return store_.AddCommand(command);
}

absl::Status OperatorBackfills::DryRun(const LoadedJob& job, const Backfill& wanted,
                                       v1::CreateBackfillResponse* response) {
  TM_ASSIGN_OR_RETURN(const LedgerRows rows, store_.Ledger(job.row.job_id));
  const BackfillPlan plan = PlanBackfill(wanted, StandingsOf(job, rows));
  for (const absl::CivilDay date : InOrder(wanted, plan.dates)) {
    response->add_dates(FormatDate(date));
  }
  response->set_date_count(response->dates_size());
  for (const auto& [date, why] : plan.left) {
    v1::BackfillDate* left = response->add_left_alone();
    left->set_biz_date(FormatDate(date));
    left->set_state("LEFT");
    left->set_reason(why);
  }
  TM_ASSIGN_OR_RETURN(const std::vector<absl::Duration> measured,
                      store_.LastDurations(job.row.job_id, kMeasured));
  response->set_runs_measured(measured.size());
  if (measured.empty()) return absl::OkStatus();
  const int64_t rounds =
      (static_cast<int64_t>(plan.dates.size()) + wanted.parallel - 1) / wanted.parallel;
  const absl::Duration expected = Median(measured) * rounds;
  response->mutable_expected_duration()->set_seconds(absl::ToInt64Seconds(expected));
  response->mutable_expected_duration()->set_nanos(static_cast<int32_t>(
      absl::ToInt64Nanoseconds(expected - absl::Seconds(absl::ToInt64Seconds(expected)))));
  return absl::OkStatus();
}

absl::StatusOr<OperatorBackfill> OperatorBackfills::Find(const std::string& backfill_id) {
  if (!IsUuid(backfill_id)) {
    return Invalid("'" + EscapeControl(backfill_id) +
                   "' is not a backfill id (36 characters, as tidemark backfill list shows them)");
  }
  TM_ASSIGN_OR_RETURN(std::optional<OperatorBackfill> found, store_.FindBackfill(backfill_id));
  if (!found.has_value()) {
    return absl::NotFoundError(
        ToAbsl("there is no backfill " + backfill_id + " (tidemark backfill list shows all)"));
  }
  return *std::move(found);
}

absl::StatusOr<CommandState> OperatorBackfills::Move(const std::string& kind,
                                                     const v1::BackfillOrderRequest& request) {
  TM_RETURN_IF_ERROR(CheckReason(request.reason()));
  TM_ASSIGN_OR_RETURN(const OperatorBackfill found, Find(request.backfill_id()));
  if (found.row.ended_at.has_value()) {
    return Refused(
        "backfill " + request.backfill_id() + " has ended (" + std::string(Name(found.row.state)) +
        "); for what is left make another: tidemark backfill create '" + found.job + "' --from " +
        FormatDate(found.row.from) + " --to " + FormatDate(found.row.to) + " --reprocess failed");
  }
  OperatorJob job;
  job.job_id = found.row.job_id;
  job.shard = ShardOf(found.row.job_id);
  job.name = found.job;
  OperatorCommand command = NewCommand(job, kind, request.actor());
  command.args = {{"backfill_id", request.backfill_id()}, {"reason", request.reason()}};
  return store_.AddCommand(command);
}

absl::Status OperatorBackfills::List(const v1::ListBackfillsRequest& request,
                                     v1::ListBackfillsResponse* response) {
  const uint32_t limit = request.limit() == 0 ? 50 : request.limit();
  if (limit > 1000) return Invalid("limit: at most 1000");
  std::optional<int64_t> job_id;
  if (!request.job().empty()) {
    TM_ASSIGN_OR_RETURN(job_id, store_.JobIdForHistory(request.job()));
    if (!job_id.has_value()) return NoSuchJob(store_, request.job());
  }
  TM_ASSIGN_OR_RETURN(const std::vector<OperatorBackfill> found,
                      store_.ListBackfills(job_id, static_cast<int>(limit)));
  for (const OperatorBackfill& each : found) BackfillToProto(each, response->add_backfills());
  return absl::OkStatus();
}

absl::Status OperatorBackfills::Get(const v1::GetBackfillRequest& request, v1::Backfill* response) {
  TM_ASSIGN_OR_RETURN(const OperatorBackfill found, Find(request.backfill_id()));
  BackfillToProto(found, response);
  TM_ASSIGN_OR_RETURN(std::vector<OperatorJob> jobs, store_.FindJobs({found.job}));
  if (jobs.empty() || jobs.front().job_id != found.row.job_id) return absl::OkStatus();
  const LoadedJob job = LoadJob(std::move(jobs.front()));
  TM_ASSIGN_OR_RETURN(const LedgerRows rows, store_.Ledger(job.row.job_id));
  BackfillDatesToProto(found, StandingsOf(job, rows), rows, response);
  if (found.row.state == BackfillState::kRunning && !job.opens()) {
    response->set_waits_for(job.row.paused       ? "the job is paused: " + job.row.pause_reason
                            : !job.error.empty() ? "the job is in error: " + job.error
                                                 : "the job is disabled or finished");
  }
  return absl::OkStatus();
}

// ---------------------------------------------------------------- drill, cursor

absl::StatusOr<CommandState> OperatorBackfills::StartDrill(const v1::DrillJobRequest& request) {
  TM_RETURN_IF_ERROR(CheckReason(request.reason()));
  if (request.days() < 1 || request.days() > kMaxDrill) {
    return Invalid("days: 1 to 366 of the latest DONE dates (--days N)");
  }
  TM_ASSIGN_OR_RETURN(const LoadedJob job, FindJob(store_, request.name()));
  TM_RETURN_IF_ERROR(CheckDated(job));
  OperatorCommand command = NewCommand(job.row, "drill", request.actor());
  command.args = {{"drill_id", command.command_id},
                  {"days", std::to_string(request.days())},
                  {"now", request.now() ? "true" : "false"},
                  {"allow_no_fingerprint", request.allow_no_fingerprint() ? "true" : "false"},
                  {"reason", request.reason()}};
  return store_.AddCommand(command);
}

absl::Status OperatorBackfills::GetDrill(const v1::GetDrillRequest& request, v1::Drill* response) {
  if (!IsUuid(request.drill_id())) {
    return Invalid("'" + EscapeControl(request.drill_id()) + "' is not a drill id");
  }
  TM_ASSIGN_OR_RETURN(const std::vector<OperatorDrillDate> dates,
                      store_.FindDrill(request.drill_id()));
  if (dates.empty()) {
    return absl::NotFoundError(ToAbsl("there is no drill " + request.drill_id() +
                                      ", or its owner has not carried it out yet"));
  }
  DrillToProto(dates, response);
  return absl::OkStatus();
}

absl::StatusOr<CommandState> OperatorBackfills::ResetCursor(const v1::ResetCursorRequest& request) {
  if (request.reason().empty()) {
    return Invalid("it needs a reason: tidemark job reset-cursor JOB --reason \"why\"");
  }
  TM_RETURN_IF_ERROR(CheckReason(request.reason()));
  TM_ASSIGN_OR_RETURN(const LoadedJob job, FindJob(store_, request.name()));
  if (job.error.empty() && job.dated()) {
    return Refused("job '" + job.row.name + "' is tracked by date and has no cursor");
  }
  OperatorCommand command = NewCommand(job.row, "reset_cursor", request.actor());
  command.args = {{"reason", request.reason()}};
  return store_.AddCommand(command);
}

}  // namespace tidemark
