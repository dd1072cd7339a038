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

std::string Who(const std::string& job) { return "job '" + EscapeControl(job) + "': "; }

// Whether a field that decides when the job is due differs.
bool ChangesDueTimes(const v1::AppliedJob& applied) {
  for (const v1::FieldChange& change : applied.changes()) {
    const std::string head = change.field().substr(0, change.field().find('.'));
    if (head == "schedule" || head == "biz_date" || head == "calendar") return true;
  }
  return false;
}

absl::StatusOr<GapChoice> ChoiceOf(const v1::ApplyJobsRequest& request) {
  if (request.waive_gap() && request.fill_gap()) {
    return Invalid("waive_gap and fill_gap contradict each other; keep one");
  }
  return request.waive_gap()  ? GapChoice::kWaive
         : request.fill_gap() ? GapChoice::kFill
                              : GapChoice::kRefuse;
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
    const std::string who = Who(message.name());
    if (!spec.ok()) problems.push_back(who + Message(spec.status()));
    if (spec.ok()) {
      draft.spec = *std::move(spec);
      // With a calendar it is compiled once that is read.
      absl::Status status;
      if (draft.spec.schedule.calendar.empty()) status = CompileJob(draft.spec).status();
      if (!status.ok()) problems.push_back(who + Message(status));
    }
    if (!names.insert(message.name()).second) problems.push_back(who + "is in the request twice");
    drafts.push_back(std::move(draft));
  }
  if (!problems.empty()) return Invalid(Join(problems, "\n"));
  return drafts;
}

absl::Status OperatorJobs::CheckTracking(const std::vector<Draft>& drafts,
                                         const StoredUpstreams& stored) {
  std::map<std::string, bool> dated;
  std::vector<std::string> by_fire;  // that no other job can wait for
  for (const auto& [name, job] : stored.jobs) dated[name] = job.dated() || !job.error.empty();
  for (const Draft& draft : drafts) {
    dated[draft.spec.name] = draft.schedule->dated();
    if (!draft.schedule->dated()) by_fire.push_back(draft.spec.name);
  }
  for (const Draft& draft : drafts) {
    for (const Dependency& d : draft.spec.after) {
      if (dated.at(d.job)) continue;
      return Invalid(Who(draft.spec.name) + "after: '" + EscapeControl(d.job) +
                     "' is tracked by fire time and has no dates to wait for");
    }
  }
  if (by_fire.empty()) return absl::OkStatus();
  TM_ASSIGN_OR_RETURN(const std::vector<OperatorJob> waiting, store_.JobsAfter(by_fire));
  for (const OperatorJob& job : waiting) {
    if (dated.count(job.name) > 0) continue;  // judged by what it is to be
    return Invalid("schedule: " + Join(by_fire, ", ") + " would be tracked by fire time, but '" +
                   EscapeControl(job.name) + "' waits for its dates; change that job first");
  }
  return absl::OkStatus();
}

absl::Status OperatorJobs::UnknownCalendar(const std::string& name) {
  std::string message = "calendar: there is no calendar '" + EscapeControl(name) + "'";
  TM_ASSIGN_OR_RETURN(const std::vector<OperatorCalendar> all, store_.ListCalendars());
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const OperatorCalendar& calendar : all) names.push_back(calendar.name);
  if (const std::string near = Nearest(name, names); !near.empty()) {
    message += "; did you mean '" + near + "'?";
  }
  return Invalid(message +
                 " (tidemark calendar list shows all, tidemark calendar import adds one)");
}

absl::Status OperatorJobs::Compile(std::vector<Draft>* drafts) {
  std::set<std::string> names;
  for (const Draft& draft : *drafts) names.insert(draft.spec.schedule.calendar);
  names.erase("");
  TM_ASSIGN_OR_RETURN(const std::shared_ptr<const CalendarSet> calendars,
                      store_.FindCalendars(std::vector<std::string>(names.begin(), names.end())));
  std::vector<std::string> problems;
  for (Draft& draft : *drafts) {
    const std::string& name = draft.spec.schedule.calendar;
    const std::shared_ptr<const Calendar> calendar = NewestCalendar(calendars.get(), name);
    draft.calendar_version = calendar == nullptr ? 0 : calendar->version();
    absl::StatusOr<std::shared_ptr<const Schedule>> schedule =
        !name.empty() && calendar == nullptr ? UnknownCalendar(name)
                                             : CompileJob(draft.spec, calendar);
    if (schedule.ok()) {
      draft.schedule = *std::move(schedule);
    } else {
      problems.push_back(Who(draft.spec.name) + Message(schedule.status()));
    }
  }
  return problems.empty() ? absl::OkStatus() : Invalid(Join(problems, "\n"));
}

absl::Status OperatorJobs::Compare(Draft* draft, GapChoice choice) {
  v1::AppliedJob& applied = draft->applied;
  applied.Clear();
  draft->edit = ScheduleEdit();
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
    return Judge(draft, choice);
  }
  const LoadedJob& current = *draft->current;
  if (applied.changes().empty() && current.error.empty()) {
    applied.set_outcome(v1::AppliedJob::UNCHANGED);
    applied.set_version(current.row.version);
    return absl::OkStatus();
  }
  applied.set_outcome(v1::AppliedJob::UPDATED);
  applied.set_version(current.row.version + 1);
  if (current.row.ns != draft->spec.ns) {
    return absl::FailedPreconditionError(
        ToAbsl(Who(draft->spec.name) + "is in namespace '" + current.row.ns +
               "', which cannot be changed to '" + draft->spec.ns +
               "'; delete the job first (tidemark job delete), or keep it there"));
  }
  return Judge(draft, choice);
}

absl::Status OperatorJobs::Judge(Draft* draft, GapChoice choice) {
  v1::AppliedJob& applied = draft->applied;
  if (!ChangesDueTimes(applied)) return absl::OkStatus();
  const absl::Time now = draft->valid_from;
  absl::Status status = CheckDueSomewhere(draft->spec, *draft->schedule, now);
  if (status.ok() && draft->current.has_value()) {
    absl::StatusOr<ScheduleEdit> edit =
        JudgeScheduleEdit(*draft->current, *draft->schedule, now, choice);
    status = edit.status();
    if (edit.ok()) draft->edit = *std::move(edit);
  }
  if (status.ok() && draft->current.has_value()) WarnOfSettled(draft);
  for (const absl::CivilDay day : draft->edit.waived) applied.add_waived_dates(FormatDate(day));
  for (const absl::CivilDay day : draft->edit.filled) applied.add_filled_dates(FormatDate(day));
  for (const absl::CivilDay day : draft->edit.kept) applied.add_kept_dates(FormatDate(day));
  return Annotate(status, "job '" + draft->spec.name + "'");
}

// A new time for a date that is settled: it is due again, and does not run again.
void OperatorJobs::WarnOfSettled(Draft* draft) {
  if (!draft->schedule->dated()) return;
  const std::optional<Occurrence> next = draft->schedule->Next(draft->valid_from);
  if (!next.has_value()) return;
  for (const auto& [first, last] : draft->current->row.settled) {
    if (next->biz_date < first || next->biz_date > last) continue;
    draft->applied.add_warnings("schedule: the date of the next fire, " +
                                FormatDate(next->biz_date) +
                                ", is DONE or WAIVED already and does not run again.");
  }
}

absl::Status OperatorJobs::AddWarnings(Draft* draft) {
  for (const std::string& warning : JobWarnings(draft->spec, *draft->schedule, draft->valid_from)) {
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

std::vector<JobWrite> OperatorJobs::Writes(const std::vector<Draft>& drafts,
                                           const std::map<int64_t, int>& versions) {
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
    write.joins_app = !draft.current.has_value() || draft.current->row.app != draft.spec.app;
    write.spec = EncodeJobSpec(draft.spec);
    write.valid_from = draft.valid_from;
    write.calendar = draft.spec.schedule.calendar;
    write.calendar_version = draft.calendar_version;
    write.after = draft.spec.after;
    if (!write.after.empty()) write.holds = versions;
    write.waive = draft.edit.waived;
    write.waive_note = "given up with the edit of the schedule (version " +
                       std::to_string(write.expected_version + 1) + ")";
    writes.push_back(std::move(write));
  }
  return writes;
}

absl::Status OperatorJobs::Apply(const v1::ApplyJobsRequest& request,
                                 v1::ApplyJobsResponse* response, bool* changed) {
  *changed = false;
  TM_ASSIGN_OR_RETURN(const GapChoice choice, ChoiceOf(request));
  TM_ASSIGN_OR_RETURN(std::vector<Draft> drafts, ReadDrafts(request));
  std::vector<std::string> names;
  std::vector<const JobSpec*> specs;
  for (const Draft& draft : drafts) {
    names.push_back(draft.spec.name);
    specs.push_back(&draft.spec);
  }
  absl::Status written;
  for (int attempt = 0; attempt < kApplyAttempts; ++attempt) {
    TM_ASSIGN_OR_RETURN(const StoredUpstreams upstreams, CheckAfter(store_, specs));
    TM_ASSIGN_OR_RETURN(std::vector<OperatorJob> rows, store_.FindJobs(names));
    TM_RETURN_IF_ERROR(Compile(&drafts));
    TM_RETURN_IF_ERROR(CheckTracking(drafts, upstreams));
    // After what it is compared with: no stored version is later.
    TM_ASSIGN_OR_RETURN(const absl::Time now, store_.Now());
    std::map<std::string, LoadedJob> current;
    for (OperatorJob& row : rows) {
      const std::string name = row.name;
      current.emplace(name, LoadJob(std::move(row)));
    }
    for (Draft& draft : drafts) {
      const auto found = current.find(draft.spec.name);
      draft.current.reset();
      draft.valid_from = now;
      if (found != current.end()) {
        draft.current = found->second;
        // Even when the database's clock went back.
        draft.valid_from =
            std::max(now, draft.current->row.versions.back().valid_from + absl::Microseconds(1));
      }
      TM_RETURN_IF_ERROR(Compare(&draft, choice));
      TM_RETURN_IF_ERROR(AddWarnings(&draft));
    }
    const std::vector<JobWrite> writes = Writes(drafts, upstreams.versions);
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
  return AddChain(store_, job, now, response);
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
