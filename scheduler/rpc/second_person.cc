#include "scheduler/rpc/second_person.h"

#include "common/status.h"
#include "scheduler/rpc/operator_job.h"
#include "scheduler/rpc/operator_orders.h"

namespace tidemark {
namespace {

using Wanted = std::optional<ApprovalRow>;

absl::StatusOr<Wanted> OfDates(OperatorPort& store, const std::string& job,
                               const std::string& dates, const std::string& reason,
                               const char* method) {
  if (reason.empty()) return absl::InvalidArgumentError("it needs a reason: --reason \"why\"");
  TM_ASSIGN_OR_RETURN(const LoadedJob loaded, FindJob(store, job));
  ApprovalRow row;
  row.method = method;
  row.job = loaded.row.name;
  row.subject = loaded.row.name + " " + dates;
  row.reason = reason;
  return Wanted(std::move(row));
}

absl::StatusOr<Wanted> OfRun(OperatorPort& store, const std::string& run_id,
                             const std::string& reason, const char* method) {
  TM_ASSIGN_OR_RETURN(const OperatorRun run, FindRun(store, run_id));
  ApprovalRow row;
  row.method = method;
  row.job = run.job;
  row.subject = "run " + run.run_id + " of " + run.job;
  row.reason = reason;
  return Wanted(std::move(row));
}

}  // namespace

absl::StatusOr<Wanted> NeedsSecondPerson(OperatorPort& store,
                                         const v1::WaiveDatesRequest& request) {
  const std::string dates =
      request.biz_date().empty() ? request.from() + " to " + request.to() : request.biz_date();
  return OfDates(store, request.job(), dates, request.reason(), "OperatorService/WaiveDates");
}

absl::StatusOr<Wanted> NeedsSecondPerson(OperatorPort& store, const v1::ForceDoneRequest& request) {
  return OfDates(store, request.job(), request.biz_date(), request.reason(),
                 "OperatorService/ForceDone");
}

absl::StatusOr<Wanted> NeedsSecondPerson(OperatorPort& store, const v1::RerunRunRequest& request) {
  if (!request.force()) return Wanted();
  TM_ASSIGN_OR_RETURN(Wanted wanted,
                      OfRun(store, request.run_id(), request.reason(), "OperatorService/RerunRun"));
  // Who approves must see how far it goes.
  if (request.cascade()) wanted->subject += ", and all that was computed from it (cascade)";
  return wanted;
}

absl::StatusOr<Wanted> NeedsSecondPerson(OperatorPort& store,
                                         const v1::CreateBackfillRequest& request) {
  if (request.reprocess() != "all" || request.dry_run()) return Wanted();
  return OfDates(store, request.job(),
                 request.from() + " to " + request.to() + ", DONE dates run again",
                 request.reason(), "OperatorService/CreateBackfill");
}

absl::StatusOr<Wanted> NeedsSecondPerson(OperatorPort& store, const v1::ResumeJobRequest& request) {
  if (!request.skip_missed()) return Wanted();
  return OfDates(store, request.name(), "resume, its missed dates waived", "asked for with resume",
                 "OperatorService/ResumeJob");
}

absl::StatusOr<Wanted> NeedsSecondPerson(OperatorPort& store,
                                         const v1::ReleaseRunRequest& request) {
  if (!request.force()) return Wanted();
  return OfRun(store, request.run_id(), request.reason(), "OperatorService/ReleaseRun");
}

}  // namespace tidemark
