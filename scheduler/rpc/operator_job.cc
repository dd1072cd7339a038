#include "scheduler/rpc/operator_job.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"
#include "google/protobuf/util/json_util.h"
#include "scheduler/core/catch_up.h"
#include "scheduler/rpc/job_codec.h"
#include "scheduler/rpc/proto_time.h"

namespace tidemark {
namespace {

// The dates that count, oldest first, each with whether it is settled.
std::vector<std::pair<absl::CivilDay, bool>> DueDates(const LoadedJob& job, absl::Time now) {
  std::vector<std::pair<absl::CivilDay, bool>> dates;
  auto island = job.row.settled.begin();  // ascending
  absl::CivilDay first = AccountedFrom(job, now);
  if (job.row.passed_until.has_value()) first = std::max(first, *job.row.passed_until + 1);
  for (const Occurrence& due : job.timeline.Due(first, now)) {
    while (island != job.row.settled.end() && island->second < due.biz_date) ++island;
    const bool settled = island != job.row.settled.end() && island->first <= due.biz_date;
    dates.emplace_back(due.biz_date, settled);
  }
  return dates;
}

// Last date with every due date up to it settled.
std::optional<absl::CivilDay> HighWatermark(const LoadedJob& job, absl::Time now) {
  std::optional<absl::CivilDay> high;
  for (const auto& [date, settled] : DueDates(job, now)) {
    if (!settled) break;
    high = date;
  }
  return high;
}

}  // namespace

LoadedJob LoadJob(OperatorJob row) {
  LoadedJob job;
  const std::string text = row.versions.empty() ? "" : row.versions.back().spec;
  absl::StatusOr<JobSpec> spec = DecodeJobSpec(text);
  if (spec.ok()) {
    job.message = JobSpecToProto(*spec);
    job.spec = *std::move(spec);
    absl::StatusOr<Timeline> timeline = TimelineWith(row, row.calendars.get());
    absl::Status status = timeline.ok() ? CheckPolicies(job.spec, timeline->dated())
                                        : Annotate(timeline.status(), "schedule");
    if (status.ok()) {
      job.timeline = *std::move(timeline);
    } else {
      job.error = Message(status);
    }
  } else {
    google::protobuf::util::JsonParseOptions lenient;
    lenient.ignore_unknown_fields = true;
    (void)google::protobuf::util::JsonStringToMessage(text, &job.message, lenient);
    job.message.set_name(row.name);
    job.error = row.versions.empty() ? "it has no stored definition" : Message(spec.status());
  }
  if (!row.error.empty()) job.error = row.error;
  job.row = std::move(row);
  return job;
}

absl::StatusOr<Timeline> TimelineWith(const OperatorJob& row, const CalendarSet* calendars) {
  std::vector<DefinitionVersion> versions;
  for (const OperatorJob::Version& version : row.versions) {
    absl::StatusOr<JobSpec> spec = DecodeJobSpec(version.spec);
    if (spec.ok()) {
      versions.push_back({version.valid_from, std::move(spec->schedule)});
    } else if (&version == &row.versions.back()) {
      return spec.status();
    }
  }
  return BuildTimeline(versions, calendars);
}

std::vector<absl::CivilDay> UnsettledDates(const LoadedJob& job, absl::Time now) {
  std::vector<absl::CivilDay> unsettled;
  for (const auto& [date, settled] : DueDates(job, now)) {
    if (!settled) unsettled.push_back(date);
  }
  return unsettled;
}

absl::Status NoSuchJob(OperatorPort& store, const std::string& name) {
  std::string message = "there is no job '" + EscapeControl(name) + "'";
  // A hint only: without it the answer is still right.
  if (const absl::StatusOr<std::vector<std::string>> names = store.SimilarJobs(name); names.ok()) {
    if (const std::string near = Nearest(name, *names); !near.empty()) {
      message += "; did you mean '" + near + "'?";
    }
  }
  return absl::NotFoundError(ToAbsl(message + " (tidemark job list shows all)"));
}

absl::StatusOr<LoadedJob> FindJob(OperatorPort& store, const std::string& name) {
  if (const std::string problem = NameProblem(name); !problem.empty()) {
    return absl::InvalidArgumentError(ToAbsl("the job's name " + problem));
  }
  TM_ASSIGN_OR_RETURN(std::vector<OperatorJob> rows, store.FindJobs({name}));
  if (rows.empty()) return NoSuchJob(store, name);
  return LoadJob(std::move(rows.front()));
}

absl::CivilDay AccountedFrom(const LoadedJob& job, absl::Time now) {
  if (job.row.ledger_from.has_value()) return *job.row.ledger_from;
  return PlanFirstLaunch(job.timeline, job.spec.start_date, job.spec.catch_up, job.row.created_at,
                         now)
      .first;
}

v1::Job JobToProto(const LoadedJob& job, absl::Time now) {
  v1::Job out;
  *out.mutable_spec() = job.message;
  out.set_job_id(job.row.job_id);
  out.set_version(job.row.version);
  out.set_paused(job.row.paused);
  out.set_pause_reason(job.row.pause_reason);
  out.set_paused_by(job.row.paused_by);
  if (job.row.paused && job.row.paused_at.has_value()) {
    *out.mutable_paused_at() = ToProto(*job.row.paused_at);
  }
  out.set_error(job.error);
  out.set_finished(job.row.finished);
  out.set_live_runs(job.row.live_runs);
  *out.mutable_created_at() = ToProto(job.row.created_at);
  *out.mutable_updated_at() = ToProto(job.row.updated_at);
  if (job.timeline.empty()) return out;
  out.set_dated(job.dated());
  if (job.opens()) {
    if (const std::optional<Occurrence> next = job.timeline.Next(now)) {
      *out.mutable_next_fire() = ToProto(next->fire_time);
      if (job.dated()) out.set_next_biz_date(FormatDate(next->biz_date));
    }
  }
  if (job.dated()) {
    const std::optional<absl::CivilDay> high = HighWatermark(job, now);
    if (high.has_value()) out.set_high_watermark(FormatDate(*high));
  }
  return out;
}

}  // namespace tidemark
