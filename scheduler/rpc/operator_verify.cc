#include "scheduler/rpc/operator_verify.h"

#include <algorithm>
#include <utility>

#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"
#include "scheduler/rpc/job_codec.h"
#include "scheduler/rpc/proto_time.h"
#include "scheduler/rpc/verify_codec.h"

namespace tidemark {
namespace {

constexpr int kDefaultDays = 90;
constexpr int kMostRuns = 300000;  // of one job

absl::StatusOr<verify::Range> ReadRange(const v1::VerifyJobsRequest& request) {
  verify::Range range;
  if (!request.from().empty()) {
    absl::StatusOr<absl::CivilDay> from = ParseDate(request.from());
    if (!from.ok()) return Annotate(from.status(), "from");
    range.from = *from;
  }
  if (!request.to().empty()) {
    absl::StatusOr<absl::CivilDay> to = ParseDate(request.to());
    if (!to.ok()) return Annotate(to.status(), "to");
    range.to = *to;
  }
  if (range.from.has_value() && range.to.has_value() && *range.to < *range.from) {
    return absl::InvalidArgumentError("to: lies before from");
  }
  return range;
}

// Versions that cannot be read are left out, as the scheduler leaves them out.
std::vector<verify::Definition> DefinitionsOf(const OperatorJob& row) {
  std::vector<verify::Definition> definitions;
  for (const OperatorJob::Version& version : row.versions) {
    const absl::StatusOr<JobSpec> spec = DecodeJobSpec(version.spec);
    if (spec.ok()) definitions.push_back(ToVerify(version.version, version.valid_from, *spec));
  }
  return definitions;
}

// A run is made when its date is due, at the earliest; that is before the date itself when the
// offset is positive.
absl::Time FirstRunOf(absl::CivilDay from, const std::vector<verify::Definition>& definitions) {
  int days = 3;
  for (const verify::Definition& definition : definitions) {
    const int offset = std::max(definition.schedule.biz_offset, 0);
    const bool business = definition.schedule.biz_unit == ScheduleSpec::Unit::kBusinessDay;
    days = std::max(days, business ? 3 * offset + 40 : offset + 3);
  }
  return absl::FromCivil(from - days, absl::UTCTimeZone());
}

// Definitions of the jobs that its dates wait for. Of one that was made or deleted since the rows
// were read nothing is known.
absl::Status DefineUpstreams(OperatorPort& store, verify::History& history) {
  if (history.upstreams.empty()) return absl::OkStatus();
  std::vector<std::string> names;
  for (const verify::Upstream& upstream : history.upstreams) {
    names.push_back(upstream.history.name);
  }
  TM_ASSIGN_OR_RETURN(const std::vector<OperatorJob> rows, store.FindUpstreams(names));
  for (verify::Upstream& upstream : history.upstreams) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const OperatorJob& job) {
      return job.job_id == upstream.history.job_id;
    });
    if (row == rows.end()) continue;
    upstream.history.definitions = DefinitionsOf(*row);
    upstream.history.calendars = ToVerify(row->calendars.get());
  }
  return absl::OkStatus();
}

void FindingToProto(const std::string& job, const verify::Finding& finding,
                    v1::VerifyFinding* out) {
  out->set_kind(std::string(verify::Name(finding.kind)));
  out->set_job(job);
  if (finding.date.has_value()) out->set_biz_date(FormatDate(*finding.date));
  if (finding.fire_time.has_value()) *out->mutable_fire_time() = ToProto(*finding.fire_time);
  *out->mutable_run_ids() = {finding.run_ids.begin(), finding.run_ids.end()};
  out->set_text(finding.text);
}

}  // namespace

absl::StatusOr<std::vector<LoadedJob>> OperatorVerify::Page(const v1::VerifyJobsRequest& request,
                                                            bool* more) {
  std::vector<LoadedJob> jobs;
  if (!request.job().empty()) {
    TM_ASSIGN_OR_RETURN(LoadedJob job, FindJob(store_, request.job()));
    jobs.push_back(std::move(job));
    return jobs;
  }
  const uint32_t limit = request.limit() == 0 ? 20 : request.limit();
  if (limit > 100) return absl::InvalidArgumentError("limit: at most 100; ask for the next page");
  TM_ASSIGN_OR_RETURN(std::vector<OperatorJob> rows,
                      store_.ListJobs("", "", request.after_name(), static_cast<int>(limit)));
  *more = rows.size() > limit;
  if (*more) rows.resize(limit);
  jobs.reserve(rows.size());
  for (OperatorJob& row : rows) jobs.push_back(LoadJob(std::move(row)));
  return jobs;
}

absl::Status OperatorVerify::Job(const LoadedJob& job, const verify::Range& asked, absl::Time now,
                                 v1::VerifyJobsResponse* response) {
  verify::History definitions;
  definitions.definitions = DefinitionsOf(job.row);
  definitions.calendars = ToVerify(job.row.calendars.get());
  definitions.now = now;
  const std::string name = job.row.name;
  if (definitions.definitions.empty()) {
    response->add_notes(name + ": not looked at, its definition cannot be read (" + job.error +
                        ")");
    return absl::OkStatus();
  }
  const verify::Range range = verify::Narrow(definitions, asked, kDefaultDays);
  if (range.narrowed) {
    response->add_notes(name + ": looked at from " + FormatDate(*range.from) +
                        " on only, because it fires so often; ask for earlier days with --to");
  }
  TM_ASSIGN_OR_RETURN(
      verify::History history,
      store_.VerifyRows(job.row.job_id, FirstRunOf(*range.from, definitions.definitions),
                        kMostRuns));
  history.definitions = std::move(definitions.definitions);
  history.calendars = std::move(definitions.calendars);
  if (history.error.empty()) history.error = job.error;
  TM_RETURN_IF_ERROR(DefineUpstreams(store_, history));
  const verify::Verdict verdict = VerifyJob(history, range);
  response->set_judged(response->judged() + static_cast<uint64_t>(verdict.judged));
  for (const verify::Finding& finding : verdict.findings) {
    FindingToProto(name, finding, response->add_findings());
  }
  return absl::OkStatus();
}

absl::Status OperatorVerify::Jobs(const v1::VerifyJobsRequest& request,
                                  v1::VerifyJobsResponse* response) {
  TM_ASSIGN_OR_RETURN(const verify::Range range, ReadRange(request));
  bool more = false;
  TM_ASSIGN_OR_RETURN(const std::vector<LoadedJob> jobs, Page(request, &more));
  TM_ASSIGN_OR_RETURN(const absl::Time now, store_.Now());
  for (const LoadedJob& job : jobs) {
    const absl::Status status = Job(job, range, now, response);
    if (absl::IsResourceExhausted(status) && request.job().empty()) {
      response->add_notes(job.row.name + ": not looked at, " + Message(status));
    } else if (absl::IsResourceExhausted(status)) {
      return absl::InvalidArgumentError(ToAbsl("from: " + Message(status) + " of job '" +
                                               job.row.name +
                                               "' since then; ask for a later --from"));
    } else if (!absl::IsNotFound(status)) {  // deleted meanwhile: it is no longer there to judge
      TM_RETURN_IF_ERROR(status);
    }
    response->set_last_name(job.row.name);
  }
  response->set_jobs(static_cast<uint32_t>(jobs.size()));
  response->set_more(more);
  return absl::OkStatus();
}

}  // namespace tidemark
