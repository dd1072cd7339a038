#include "scheduler/rpc/operator_orders.h"

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"
#include "scheduler/rpc/dependencies.h"
#include "scheduler/rpc/job_codec.h"

namespace tidemark {
namespace {

constexpr int kNearDays = 370;  // how far to look for a due date beside one that is not
constexpr size_t kMaxReason = 1024;

absl::Status Refused(const std::string& message) {
  return absl::FailedPreconditionError(ToAbsl(message));
}

CommandState NothingToDo(const std::string& message) {
  CommandState state;
  state.done = true;
  state.result["message"] = message;
  return state;
}

// "; due are 2026-11-26 and 2026-11-28": the neighbours of a date that is not.
std::string NearDates(const Timeline& timeline, absl::CivilDay date) {
  std::vector<std::string> near;
  for (const int step : {-1, 1}) {
    absl::CivilDay day = date + step;
    for (int i = 1; i <= kNearDays; ++i, day += step) {
      if (!timeline.OccurrenceOf(day).has_value()) continue;
      near.push_back(FormatDate(day));
      break;
    }
  }
  return near.empty() ? "" : "; the nearest due dates are " + Join(near, " and ");
}

absl::Status CheckUsable(const LoadedJob& job) {
  if (job.error.empty()) return absl::OkStatus();
  return Refused("job '" + job.row.name + "' cannot be used as it is stored: " + job.error +
                 "; apply a corrected definition (tidemark job apply -f FILE)");
}

absl::Status CheckParams(const google::protobuf::Map<std::string, std::string>& params) {
  size_t bytes = 0;
  for (const auto& [key, value] : params) {
    if (const std::string problem = NameProblem(key); !problem.empty()) {
      return Invalid("parameter '" + EscapeControl(key) + "' " + problem);
    }
    if (!IsCleanUtf8(value)) {
      return Invalid("parameter '" + key + "' is not UTF-8 text, or has a NUL");
    }
    bytes += key.size() + value.size();
  }
  if (bytes <= size_t{64} * 1024) return absl::OkStatus();
  return Invalid("the parameters have " + std::to_string(bytes) +
                 " bytes together, at most 65536 are allowed; hand over a path instead");
}

}  // namespace

absl::Status CheckReason(const std::string& reason) {
  if (reason.size() > kMaxReason || !IsCleanUtf8(reason)) {
    return Invalid("reason: must be UTF-8 text of at most 1024 bytes");
  }
  return absl::OkStatus();
}

absl::StatusOr<OperatorRun> FindRun(OperatorPort& store, const std::string& run_id) {
  if (!IsUuid(run_id)) {
    return Invalid("'" + EscapeControl(run_id) +
                   "' is not a run id (36 characters, as tidemark run list shows them)");
  }
  TM_ASSIGN_OR_RETURN(std::optional<OperatorRun> run, store.FindRun(run_id));
  if (!run.has_value()) {
    return absl::NotFoundError(
        ToAbsl("there is no run " + run_id + " (tidemark run list shows the newest)"));
  }
  return *std::move(run);
}

OperatorCommand OperatorOrders::NewCommand(const OperatorJob& job, const std::string& kind,
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

template <typename Request>
OperatorCommand OperatorOrders::RunCommand(const OperatorRun& run, const std::string& kind,
                                           const Request& request) {
  OperatorJob job;
  job.job_id = run.job_id;
  job.shard = ShardOf(run.job_id);
  job.name = run.job;
  OperatorCommand command = NewCommand(job, kind, request.actor());
  command.args = {{"run_id", run.run_id}, {"reason", request.reason()}};
  return command;
}

absl::StatusOr<std::string> OperatorOrders::CheckDate(const LoadedJob& job,
                                                      const std::string& text) {
  const std::string& name = job.row.name;
  if (!job.dated()) {
    if (text.empty()) return text;
    return Invalid("job '" + name +
                   "' is tracked by fire time and has no business dates; leave --biz-date out");
  }
  TM_ASSIGN_OR_RETURN(const absl::Time now, store_.Now());
  const absl::CivilDay first = AccountedFrom(job, now);
  const std::optional<Occurrence> latest = job.timeline.LatestDue(first, now);
  if (text.empty()) {
    if (latest.has_value()) return FormatDate(latest->biz_date);
    const std::optional<Occurrence> next = job.timeline.Next(now);
    return Refused("no date of job '" + name + "' is due yet" +
                   (next.has_value()
                        ? "; the first, " + FormatDate(next->biz_date) + ", is due at " +
                              FormatInstant(next->fire_time, job.timeline.current().zone())
                        : "") +
                   ". To have earlier dates, set start_date in its file and apply it");
  }
  absl::StatusOr<absl::CivilDay> date = ParseDate(text);
  if (!date.ok()) return Annotate(date.status(), "biz_date");
  const std::optional<Occurrence> due = job.timeline.OccurrenceOf(*date);
  if (!due.has_value()) {
    return Invalid("biz_date " + text + " is not a due date of job '" + name + "'" +
                   NearDates(job.timeline, *date));
  }
  if (due->fire_time > now) {
    return Invalid("biz_date " + text + " lies ahead: it is due at " +
                   FormatInstant(due->fire_time, job.timeline.current().zone()) +
                   (latest.has_value() ? "; the latest due date is " + FormatDate(latest->biz_date)
                                       : "; no date is due yet"));
  }
  if (*date < first) {
    return Invalid("biz_date " + text + " lies before the first date of job '" + name + "', " +
                   FormatDate(first) + "; see tidemark watermark list " + name);
  }
  return text;
}

absl::Status OperatorOrders::CheckExecutor(const LoadedJob& job, const std::string& executor_id) {
  TM_ASSIGN_OR_RETURN(const std::vector<OperatorExecutor> executors,
                      store_.ListExecutors(job.row.app, /*all=*/false));
  std::vector<std::string> ids;
  for (const OperatorExecutor& e : executors) {
    if (e.executor_id == executor_id && !e.drained) return absl::OkStatus();
    if (e.executor_id == executor_id) {
      return Refused("executor '" + executor_id +
                     "' is drained and gets nothing new; to use it again: " +
                     "tidemark executor drain '" + executor_id + "' --undo");
    }
    ids.push_back(e.executor_id);
  }
  const std::string near = Nearest(executor_id, ids);
  return absl::NotFoundError(ToAbsl("app '" + job.row.app + "' has no executor '" +
                                    EscapeControl(executor_id) + "'" +
                                    (near.empty() ? "" : "; did you mean '" + near + "'?") +
                                    " (tidemark executor list --app '" + job.row.app + "')"));
}

// What would be refused by the owner, too, told here with the run's id. The owner's word counts.
absl::Status OperatorOrders::CheckVerdict(const LoadedJob& job, const std::string& date) {
  TM_ASSIGN_OR_RETURN(const absl::CivilDay day, ParseDate(date));
  TM_ASSIGN_OR_RETURN(const LedgerRows ledger, store_.Ledger(job.row.job_id));
  const std::string what = "date " + date + " of job '" + job.row.name + "'";
  if (const auto live = ledger.live.find(day); live != ledger.live.end()) {
    return Refused(what + " is live already: follow it with tidemark run watch " + live->second +
                   ", or stop it with tidemark run cancel " + live->second);
  }
  const auto row = ledger.watermarks.find(day);
  if (row == ledger.watermarks.end() || row->second.status != "DONE") return absl::OkStatus();
  const std::string& run_id = row->second.run_id;
  return Refused(what + " is DONE; to run it again all the same: " +
                 (run_id.empty() ? "tidemark run list --job '" + job.row.name + "' --biz-date " +
                                       date + ", then tidemark run rerun RUN_ID --force"
                                 : "tidemark run rerun " + run_id + " --force"));
}

absl::StatusOr<CommandState> OperatorOrders::Trigger(const v1::TriggerJobRequest& request) {
  TM_ASSIGN_OR_RETURN(const LoadedJob job, FindJob(store_, request.name()));
  TM_RETURN_IF_ERROR(CheckUsable(job));
  TM_RETURN_IF_ERROR(CheckReason(request.reason()));
  TM_RETURN_IF_ERROR(CheckParams(request.params()));
  OperatorCommand command = NewCommand(job.row, "trigger", request.actor());
  if (!request.request_id().empty()) {
    if (const std::string problem = NameProblem(request.request_id()); !problem.empty()) {
      return Invalid("request_id " + problem);
    }
    command.request_id = request.request_id();
    // Seen before: the answer is the same run, whatever became of its date since.
    TM_ASSIGN_OR_RETURN(std::optional<CommandState> before,
                        store_.FindRequest(job.row.job_id, request.request_id()));
    if (before.has_value()) return *std::move(before);
  }
  TM_ASSIGN_OR_RETURN(const std::string date, CheckDate(job, request.biz_date()));
  if (!request.executor_id().empty()) {
    TM_RETURN_IF_ERROR(CheckExecutor(job, request.executor_id()));
  }
  if (!date.empty()) TM_RETURN_IF_ERROR(CheckVerdict(job, date));
  command.args = {{"biz_date", date},
                  {"executor_id", request.executor_id()},
                  {"request_id", request.request_id()},
                  {"reason", request.reason()}};
  if (!request.params().empty()) {
    command.args["params"] = EncodeParams({request.params().begin(), request.params().end()});
  }
  return store_.AddCommand(command);
}

absl::StatusOr<CommandState> OperatorOrders::Pause(const v1::PauseJobRequest& request) {
  if (request.reason().empty()) {
    return Invalid("a pause needs a reason: tidemark job pause JOB --reason \"why\"");
  }
  TM_RETURN_IF_ERROR(CheckReason(request.reason()));
  TM_ASSIGN_OR_RETURN(const LoadedJob job, FindJob(store_, request.name()));
  if (job.row.paused) {
    return NothingToDo("job '" + job.row.name + "' is paused already, by " + job.row.paused_by +
                       ": " + job.row.pause_reason);
  }
  OperatorCommand command = NewCommand(job.row, "pause", request.actor());
  command.args = {{"reason", request.reason()}};
  return store_.AddCommand(command);
}

absl::StatusOr<CommandState> OperatorOrders::Resume(const v1::ResumeJobRequest& request) {
  TM_ASSIGN_OR_RETURN(const LoadedJob job, FindJob(store_, request.name()));
  if (!job.row.paused) return NothingToDo("job '" + job.row.name + "' is not paused");
  OperatorCommand command = NewCommand(job.row, "resume", request.actor());
  command.args = {{"skip_missed", request.skip_missed() ? "true" : "false"}};
  return store_.AddCommand(command);
}

absl::StatusOr<CommandState> OperatorOrders::Delete(const v1::DeleteJobRequest& request) {
  TM_ASSIGN_OR_RETURN(const LoadedJob job, FindJob(store_, request.name()));
  TM_ASSIGN_OR_RETURN(const std::string dependents, DependentsOf(store_, job.row.name));
  if (!dependents.empty()) {
    return Refused("job '" + job.row.name + "' is waited for by " + dependents +
                   "; take it out of their 'after' first: tidemark job apply -f FILE");
  }
  return store_.AddCommand(NewCommand(job.row, "delete", request.actor()));
}

absl::StatusOr<CommandState> OperatorOrders::Cancel(const v1::CancelRunRequest& request) {
  TM_RETURN_IF_ERROR(CheckReason(request.reason()));
  TM_ASSIGN_OR_RETURN(const OperatorRun run, FindRun(store_, request.run_id()));
  if (!run.live) {
    CommandState state =
        NothingToDo("run " + run.run_id + " had ended (" + run.status + "): nothing to cancel");
    state.result["was_terminal"] = "true";
    state.result["confirmed"] = "true";
    return state;
  }
  return store_.AddCommand(RunCommand(run, "cancel", request));
}

absl::Status OperatorOrders::CheckCascade(const std::string& job) {
  std::set<std::string> reached = {job};
  std::vector<std::string> edge = {job};
  while (!edge.empty()) {
    TM_ASSIGN_OR_RETURN(const std::vector<OperatorJob> after, store_.JobsAfter(edge));
    edge.clear();
    for (const OperatorJob& each : after) {
      if (reached.insert(each.name).second) edge.push_back(each.name);
    }
    TM_ASSIGN_OR_RETURN(const std::vector<OperatorJob> seen, store_.FindJobs(edge));
    if (seen.size() < edge.size()) {
      return absl::PermissionDeniedError(
          "cascade: jobs of other namespaces wait for this one and would run again; that takes a "
          "token for all namespaces. Without --cascade they stay as they are");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<CommandState> OperatorOrders::Rerun(const v1::RerunRunRequest& request) {
  TM_RETURN_IF_ERROR(CheckReason(request.reason()));
  TM_ASSIGN_OR_RETURN(const OperatorRun run, FindRun(store_, request.run_id()));
  TM_ASSIGN_OR_RETURN(std::vector<OperatorJob> jobs, store_.FindJobs({run.job}));
  if (jobs.empty() || jobs.front().job_id != run.job_id) {
    return Refused("the job of run " + run.run_id + ", '" + run.job +
                   "', was deleted; trigger a job that exists: tidemark job trigger JOB");
  }
  const LoadedJob job = LoadJob(std::move(jobs.front()));
  TM_RETURN_IF_ERROR(CheckUsable(job));
  if (run.live) {
    return Refused("run " + run.run_id + " is live (" + run.status +
                   "); wait for its end, or stop it first: tidemark run cancel " + run.run_id);
  }
  const std::string date = run.biz_date.has_value() && job.dated() ? FormatDate(*run.biz_date) : "";
  if (request.cascade() && (!request.force() || date.empty())) {
    return Invalid(date.empty() ? "cascade: run " + run.run_id +
                                      " has no business date, nothing was computed from it"
                                : "cascade: goes with --force");
  }
  if (request.cascade()) TM_RETURN_IF_ERROR(CheckCascade(run.job));
  if (!request.force()) {
    if (!date.empty()) TM_RETURN_IF_ERROR(CheckVerdict(job, date));
    if (date.empty() && run.status == "COMPLETED") {
      return Refused("run " + run.run_id + " was COMPLETED; to run it again all the same: " +
                     "tidemark run rerun " + run.run_id + " --force");
    }
  }
  OperatorCommand command = NewCommand(job.row, "rerun", request.actor());
  command.args = {{"run_id", run.run_id},
                  {"kind", run.kind},
                  {"occurrence", run.occurrence},
                  {"biz_date", date},
                  {"force", request.force() ? "true" : "false"},
                  {"cascade", request.cascade() ? "true" : "false"},
                  {"reason", request.reason()}};
  return store_.AddCommand(command);
}

absl::StatusOr<CommandState> OperatorOrders::Release(const v1::ReleaseRunRequest& request) {
  TM_RETURN_IF_ERROR(CheckReason(request.reason()));
  TM_ASSIGN_OR_RETURN(const OperatorRun run, FindRun(store_, request.run_id()));
  if (!run.live) {
    return Refused("run " + run.run_id + " had ended (" + run.status +
                   "): there is nothing to release; to run it again: tidemark run rerun " +
                   run.run_id);
  }
  if (run.executor_id.empty()) {
    return Refused("run " + run.run_id + " is in no executor's hands; to end it: tidemark run " +
                   "cancel " + run.run_id);
  }
  if (!request.force() || request.reason().empty()) {
    return Refused("run " + run.run_id + " may still be running in executor '" + run.executor_id +
                   "' (" + run.executor_host +
                   "), and a release lets its date run again beside it. If it can be reached, " +
                   "stop it instead: tidemark run cancel " + run.run_id +
                   ". If you know that it does not run any more: tidemark run release " +
                   run.run_id + " --force --reason \"how you know\"");
  }
  return store_.AddCommand(RunCommand(run, "release", request));
}

absl::StatusOr<CommandState> OperatorOrders::Drain(const v1::DrainExecutorRequest& request) {
  TM_RETURN_IF_ERROR(CheckReason(request.reason()));
  const std::string& id = request.executor_id();
  TM_ASSIGN_OR_RETURN(const std::vector<OperatorExecutor> executors,
                      store_.ListExecutors(/*app=*/"", /*all=*/true));
  std::vector<std::string> ids;
  const OperatorExecutor* executor = nullptr;
  for (const OperatorExecutor& e : executors) {
    if (e.executor_id == id) executor = &e;
    ids.push_back(e.executor_id);
  }
  if (executor == nullptr) {
    const std::string near = Nearest(id, ids);
    return absl::NotFoundError(ToAbsl("there is no executor '" + EscapeControl(id) + "'" +
                                      (near.empty() ? "" : "; did you mean '" + near + "'?") +
                                      " (tidemark executor list --all shows them)"));
  }
  if (executor->drained != request.undo()) {
    return NothingToDo(request.undo() ? "executor '" + id + "' is not drained"
                                      : "executor '" + id + "' is drained already");
  }
  OperatorJob none;  // of no job: whoever owns the shard of job 0 carries it out
  none.shard = ShardOf(none.job_id);
  OperatorCommand command = NewCommand(none, "drain_executor", request.actor());
  command.args = {{"executor_id", id},
                  {"undo", request.undo() ? "true" : "false"},
                  {"reason", request.reason()}};
  return store_.AddCommand(command);
}

}  // namespace tidemark
