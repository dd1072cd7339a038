#include "scheduler/rpc/operator_jobs.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"
#include "scheduler/rpc/job_codec.h"
#include "scheduler/rpc/proto_time.h"

namespace tidemark {
namespace {

constexpr int kMaxJobsInRequest = 1000;
constexpr int kApplyAttempts = 3;

absl::Status Invalid(const std::string& message) {
  return absl::InvalidArgumentError(ToAbsl(message));
}

std::string Dates(const std::vector<absl::CivilDay>& days) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < days.size() && i < 5; ++i) texts.push_back(FormatDate(days[i]));
  if (days.size() > 5) texts.push_back("and " + std::to_string(days.size() - 5) + " more");
  return Join(texts, ", ");
}

// Follows `edges` from `name`; returns the way round when it leads back to a name on the way.
std::string FindCycle(const std::map<std::string, std::vector<std::string>>& edges,
                      const std::string& name, std::vector<std::string>* way,
                      std::set<std::string>* safe) {
  if (safe->count(name) > 0) return "";
  const auto on_way = std::find(way->begin(), way->end(), name);
  if (on_way != way->end()) {
    return Join(std::vector<std::string>(on_way, way->end()), " → ") + " → " + name;
  }
  way->push_back(name);
  if (const auto found = edges.find(name); found != edges.end()) {
    for (const std::string& next : found->second) {
      if (std::string cycle = FindCycle(edges, next, way, safe); !cycle.empty()) return cycle;
    }
  }
  way->pop_back();
  safe->insert(name);
  return "";
}

std::vector<std::string> AfterNames(const JobSpec& spec) {
  std::vector<std::string> names;
  for (const Dependency& d : spec.after) names.push_back(d.job);
  return names;
}

}  // namespace

absl::StatusOr<std::vector<OperatorJobs::Draft>> OperatorJobs::ReadDrafts(
    const v1::ApplyJobsRequest& request) {
  if (request.jobs_size() == 0) return Invalid("the request has no job");
  if (request.jobs_size() > kMaxJobsInRequest) {
    return Invalid("the request has more than 1000 jobs; apply them in parts");
  }
  std::vector<Draft> drafts;
  std::vector<std::string> problems;
  std::set<std::string> names;
  for (const v1::JobSpec& message : request.jobs()) {
    Draft draft;
    absl::StatusOr<JobSpec> spec = JobSpecFromProto(message);
    if (spec.ok()) {
      absl::StatusOr<std::shared_ptr<const Schedule>> schedule = CompileJob(*spec);
      if (schedule.ok()) {
        draft.schedule = *std::move(schedule);
        draft.spec = *std::move(spec);
      } else {
        spec = schedule.status();
      }
    }
    const std::string who = "job '" + EscapeControl(message.name()) + "': ";
    if (!spec.ok()) problems.push_back(who + Message(spec.status()));
    if (!names.insert(message.name()).second) problems.push_back(who + "is in the request twice");
    drafts.push_back(std::move(draft));
  }
  if (!problems.empty()) return Invalid(Join(problems, "\n"));
  return drafts;
}

absl::Status OperatorJobs::CheckAfter(const std::vector<Draft>& drafts) {
  std::map<std::string, std::vector<std::string>> edges;
  for (const Draft& draft : drafts) edges[draft.spec.name] = AfterNames(draft.spec);
  // Reads what the named jobs wait for, and so on, until no name is new.
  for (;;) {
    std::set<std::string> unknown;
    for (const auto& [name, after] : edges) {
      for (const std::string& job : after) {
        if (edges.count(job) == 0) unknown.insert(job);
      }
    }
    if (unknown.empty()) break;
    TM_ASSIGN_OR_RETURN(std::vector<OperatorJob> rows,
                        store_.FindJobs(std::vector<std::string>(unknown.begin(), unknown.end())));
    for (OperatorJob& row : rows) {
      unknown.erase(row.name);
      const LoadedJob job = LoadJob(std::move(row));
      edges[job.row.name] = AfterNames(job.spec);
    }
    if (!unknown.empty()) {
      return Invalid("after: there is no job '" + EscapeControl(*unknown.begin()) +
                     "'; apply it first, or in the same file");
    }
  }
  std::set<std::string> safe;
  for (const Draft& draft : drafts) {
    std::vector<std::string> way;
    if (const std::string cycle = FindCycle(edges, draft.spec.name, &way, &safe); !cycle.empty()) {
      return Invalid("after: jobs would wait for each other in a circle: " + EscapeControl(cycle));
    }
  }
  // Accepted only once the engine waits for it: a dependency that is not kept would be a lie.
  for (const Draft& draft : drafts) {
    if (draft.spec.after.empty()) continue;
    return Invalid("after: this version does not wait for other jobs yet; leave it out of '" +
                   EscapeControl(draft.spec.name) + "'");
  }
  return absl::OkStatus();
}

absl::Status OperatorJobs::Compare(Draft* draft, absl::Time now) {
  v1::AppliedJob& applied = draft->applied;
  applied.Clear();
  applied.set_name(draft->spec.name);
  const v1::JobSpec after = JobSpecToProto(draft->spec);
  const bool exists = draft->current.has_value();
  for (const FieldDiff& diff :
       DiffJobSpecs(exists ? draft->current->message : v1::JobSpec(), after)) {
    v1::FieldChange* change = applied.add_changes();
    change->set_field(diff.path);
    change->set_before(diff.before);
    change->set_after(diff.after);
  }
  if (!exists) {
    applied.set_outcome(v1::AppliedJob::CREATED);
    applied.set_version(1);
    return absl::OkStatus();
  }
  const LoadedJob& current = *draft->current;
  if (applied.changes().empty() && current.error.empty()) {
    applied.set_outcome(v1::AppliedJob::UNCHANGED);
    applied.set_version(current.row.version);
    return absl::OkStatus();
  }
  applied.set_outcome(v1::AppliedJob::UPDATED);
  applied.set_version(current.row.version + 1);
  const std::string who = "job '" + draft->spec.name + "': ";
  if (current.row.ns != draft->spec.ns) {
    return absl::FailedPreconditionError(
        ToAbsl(who + "is in namespace '" + current.row.ns + "', which cannot be changed to '" +
               draft->spec.ns + "'; delete the job first (tidemark job delete), or keep it there"));
  }
  if (current.timeline.empty()) return absl::OkStatus();
  const EditVerdict verdict = JudgeEdit(current.timeline.current(), *draft->schedule, now);
  if (verdict.ok()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      ToAbsl(who + "this edit of the schedule's zone, biz_date or calendar would " +
             (verdict.lost.empty() ? "" : "lose the date " + Dates(verdict.lost)) +
             (verdict.lost.empty() || verdict.repeated.empty() ? "" : " and ") +
             (verdict.repeated.empty() ? "" : "make due a second time " + Dates(verdict.repeated)) +
             "; apply it at another time of the day, or as a job of another name"));
}

absl::Status OperatorJobs::AddWarnings(Draft* draft, absl::Time now) {
  for (const std::string& warning : JobWarnings(draft->spec, *draft->schedule, now)) {
    draft->applied.add_warnings(warning);
  }
  TM_ASSIGN_OR_RETURN(const std::vector<OperatorExecutor> executors,
                      store_.ListExecutors(draft->spec.app, /*all=*/false));
  if (executors.empty()) {
    draft->applied.add_warnings(
        "app: no executor of app '" + draft->spec.app +
        "' has registered yet; runs wait for one (tidemark executor list).");
    return absl::OkStatus();
  }
  std::set<std::string> handlers;
  for (const OperatorExecutor& e : executors) handlers.insert(e.handlers.begin(), e.handlers.end());
  if (handlers.count(draft->spec.handler) > 0) return absl::OkStatus();
  const std::vector<std::string> known(handlers.begin(), handlers.end());
  const std::string near = Nearest(draft->spec.handler, known);
  draft->applied.add_warnings("handler: no executor of app '" + draft->spec.app +
                              "' has a handler '" + draft->spec.handler +
                              "' (they have: " + Join(known, ", ") + ")" +
                              (near.empty() ? "" : "; did you mean '" + near + "'?"));
  return absl::OkStatus();
}

std::vector<JobWrite> OperatorJobs::Writes(const std::vector<Draft>& drafts) {
  std::vector<JobWrite> writes;
  for (const Draft& draft : drafts) {
    if (draft.applied.outcome() == v1::AppliedJob::UNCHANGED) continue;
    JobWrite write;
    if (draft.current.has_value()) {
      write.job_id = draft.current->row.job_id;
      write.expected_version = draft.current->row.version;
    } else {
      write.job_id = NewJobId(clock_.WallNow(), random_);
    }
    write.shard = ShardOf(write.job_id);
    write.name = draft.spec.name;
    write.ns = draft.spec.ns;
    write.app = draft.spec.app;
    write.spec = EncodeJobSpec(draft.spec);
    writes.push_back(std::move(write));
  }
  return writes;
}

absl::Status OperatorJobs::Apply(const v1::ApplyJobsRequest& request,
                                 v1::ApplyJobsResponse* response, bool* changed) {
  *changed = false;
  TM_ASSIGN_OR_RETURN(std::vector<Draft> drafts, ReadDrafts(request));
  TM_RETURN_IF_ERROR(CheckAfter(drafts));
  std::vector<std::string> names;
  for (const Draft& draft : drafts) names.push_back(draft.spec.name);
  absl::Status written;
  for (int attempt = 0; attempt < kApplyAttempts; ++attempt) {
    TM_ASSIGN_OR_RETURN(const absl::Time now, store_.Now());
    TM_ASSIGN_OR_RETURN(std::vector<OperatorJob> rows, store_.FindJobs(names));
    std::map<std::string, LoadedJob> current;
    for (OperatorJob& row : rows) {
      const std::string name = row.name;
      current.emplace(name, LoadJob(std::move(row)));
    }
    for (Draft& draft : drafts) {
      const auto found = current.find(draft.spec.name);
      draft.current.reset();
      if (found != current.end()) draft.current = found->second;
      TM_RETURN_IF_ERROR(Compare(&draft, now));
      TM_RETURN_IF_ERROR(AddWarnings(&draft, now));
    }
    const std::vector<JobWrite> writes = Writes(drafts);
    *changed = !request.dry_run() && !writes.empty();
    written = *changed ? store_.WriteJobs(writes, request.actor()).status() : absl::OkStatus();
    if (!absl::IsAborted(written)) break;
  }
  TM_RETURN_IF_ERROR(written);
  for (const Draft& draft : drafts) *response->add_jobs() = draft.applied;
  return absl::OkStatus();
}

absl::Status OperatorJobs::List(const v1::ListJobsRequest& request,
                                v1::ListJobsResponse* response) {
  const int limit = request.limit() == 0 ? 100 : static_cast<int>(request.limit());
  if (limit < 0 || limit > 1000) return Invalid("limit: at most 1000; ask for the next page");
  TM_ASSIGN_OR_RETURN(const absl::Time now, store_.Now());
  TM_ASSIGN_OR_RETURN(
      std::vector<OperatorJob> rows,
      store_.ListJobs(request.app(), request.namespace_(), request.after_name(), limit));
  response->set_more(static_cast<int>(rows.size()) > limit);
  if (response->more()) rows.resize(limit);
  for (OperatorJob& row : rows) {
    *response->add_jobs() = JobToProto(LoadJob(std::move(row)), now);
  }
  return absl::OkStatus();
}

absl::Status OperatorJobs::Get(const v1::GetJobRequest& request, v1::Job* response) {
  TM_ASSIGN_OR_RETURN(const absl::Time now, store_.Now());
  TM_ASSIGN_OR_RETURN(const LoadedJob job, FindJob(store_, request.name()));
  *response = JobToProto(job, now);
  return absl::OkStatus();
}

absl::Status OperatorJobs::Next(const v1::NextFiresRequest& request,
                                v1::NextFiresResponse* response) {
  const uint32_t count = request.count() == 0 ? 5 : request.count();
  if (count > 100) return Invalid("count: at most 100 fires are told at once");
  TM_ASSIGN_OR_RETURN(const absl::Time now, store_.Now());
  TM_ASSIGN_OR_RETURN(const LoadedJob job, FindJob(store_, request.name()));
  if (job.timeline.empty()) {
    return absl::FailedPreconditionError(
        ToAbsl("job '" + job.row.name + "' cannot be used as it is stored: " + job.error +
               "; apply a corrected definition (tidemark job apply -f FILE)"));
  }
  const absl::TimeZone zone = job.timeline.current().zone();
  absl::Time after = request.has_from() ? FromProto(request.from()) : now;
  for (uint32_t i = 0; i < count; ++i) {
    const std::optional<Occurrence> next = job.timeline.Next(after);
    if (!next.has_value()) break;
    v1::Fire* fire = response->add_fires();
    fire->set_at(FormatInstant(next->fire_time, zone));
    fire->set_nominal_time(FormatCivil(next->nominal));
    if (job.dated()) fire->set_biz_date(FormatDate(next->biz_date));
    after = next->fire_time;
  }
  response->set_never(response->fires().empty());
  if (job.row.paused) {
    response->add_warnings("the job is paused (" + job.row.pause_reason +
                           "): it does not fire until tidemark job resume.");
  }
  for (const std::string& warning : JobWarnings(job.spec, job.timeline.current(), now)) {
    response->add_warnings(warning);
  }
  return absl::OkStatus();
}

}  // namespace tidemark
