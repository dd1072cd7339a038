#include "scheduler/rpc/operator_checks.h"

#include <map>
#include <utility>

#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"
#include "scheduler/core/time/zone.h"
#include "scheduler/rpc/operator_ledger.h"
#include "scheduler/rpc/proto_time.h"

namespace tidemark {
namespace {

absl::StatusOr<std::optional<absl::CivilDay>> ReadDay(const std::string& field,
                                                      const std::string& text) {
  if (text.empty()) return std::optional<absl::CivilDay>();
  absl::StatusOr<absl::CivilDay> day = ParseDate(text);
  if (!day.ok()) return Annotate(day.status(), field);
  return std::optional<absl::CivilDay>(*day);
}

bool IsSettledState(LedgerState state) {
  return state == LedgerState::kDone || state == LedgerState::kWaived ||
         state == LedgerState::kExpired;
}

using Lines = std::map<absl::CivilDay, const LedgerLine*>;

// The dates expected on `day` in the job's zone, those ahead, too.
std::vector<ExpectedDate> ExpectedOn(const LoadedJob& job, absl::CivilDay day) {
  const absl::TimeZone& zone = job.timeline.current().zone();
  const auto begin = ResolveFixed(absl::CivilSecond(day), zone);
  if (!begin.has_value()) return {};  // a day that the zone left out
  absl::Time end = absl::FromCivil(day + 1, zone);
  if (const auto next = ResolveFixed(absl::CivilSecond(day + 1), zone)) end = next->instant;
  const absl::Duration tick = absl::Nanoseconds(1);
  std::vector<ExpectedDate> dates =
      ExpectedBetween(job.timeline, job.spec.expected_by, begin->instant - tick, end - tick);
  const absl::CivilDay first = AccountedFrom(job, end);
  std::erase_if(dates, [&](const ExpectedDate& date) { return date.due.biz_date < first; });
  return dates;
}

// What was expected by `now` and is not settled, and the last date expected.
std::vector<ExpectedDate> ExpectedSoFar(const LoadedJob& job, const Ledger& ledger,
                                        absl::Time now) {
  std::vector<ExpectedDate> dates;
  bool last = true;
  for (auto line = ledger.lines.rbegin(); line != ledger.lines.rend(); ++line) {
    if (!last && IsSettledState(line->state)) continue;
    const absl::Time at = ExpectedAt(job.timeline, line->occurrence, job.spec.expected_by);
    if (at > now) continue;
    dates.insert(dates.begin(), {line->occurrence, at});
    last = false;
  }
  return dates;
}

std::string NoteOf(const LoadedJob& job, const LedgerLine& line) {
  if (line.waits_for.has_value()) return "after " + Text(*line.waits_for);
  if (line.blocked_by.has_value()) return "behind " + FormatDate(*line.blocked_by);
  return IsSettledState(line.state) ? "" : WhyPaused(job);
}

std::string RunOf(const LedgerRows& rows, absl::CivilDay date) {
  if (const auto live = rows.live.find(date); live != rows.live.end()) return live->second;
  const auto mark = rows.watermarks.find(date);
  return mark == rows.watermarks.end() ? "" : mark->second.run_id;
}

// What is so now. A date that was LATE and is settled stays LATE, with the time of that.
std::string VerdictNow(const LoadedJob& job, const LedgerLine* line, absl::Time expected_at,
                       absl::Time now, const VerdictRow* given) {
  if (line != nullptr && IsSettledState(line->state)) {
    return given != nullptr && given->verdict == "LATE" ? "LATE" : "ON_TIME";
  }
  if (expected_at > now) return "EXPECTED";
  return job.row.paused || !job.spec.enabled ? "PAUSED" : "LATE";
}

void FillGiven(const VerdictRow& row, v1::CheckedDate* out) {
  out->set_job(row.job);
  out->set_namespace_(row.ns);
  out->set_biz_date(FormatDate(row.date));
  out->set_verdict(row.verdict);
  out->set_state(row.state);
  *out->mutable_expected_at() = ToProto(row.expected_at);
  *out->mutable_checked_at() = ToProto(row.checked_at);
  if (row.settled_at.has_value()) *out->mutable_settled_at() = ToProto(*row.settled_at);
  out->set_run_id(row.run_id);
  if (row.verdict == "PAUSED" && !row.pause_reason.empty()) {
    out->set_note("paused by " + row.paused_by + ": " + row.pause_reason);
  }
}

}  // namespace

absl::StatusOr<std::vector<LoadedJob>> OperatorChecks::Page(const v1::RunCheckRequest& request,
                                                            bool* more) {
  std::vector<LoadedJob> jobs;
  if (!request.job().empty()) {
    TM_ASSIGN_OR_RETURN(LoadedJob job, FindJob(store_, request.job()));
    if (!job.timeline.empty() && !job.dated()) {
      return absl::FailedPreconditionError(
          ToAbsl("job '" + job.row.name +
                 "' is tracked by fire time, so no date of it is expected; see tidemark run list "
                 "--job '" +
                 job.row.name + "'"));
    }
    jobs.push_back(std::move(job));
    return jobs;
  }
  const uint32_t limit = request.limit() == 0 ? 20 : request.limit();
  if (limit > 100) return Invalid("limit: at most 100; ask for the next page");
  TM_ASSIGN_OR_RETURN(std::vector<OperatorJob> rows,
                      store_.ListJobs("", "", request.after_name(), static_cast<int>(limit)));
  *more = rows.size() > limit;
  if (*more) rows.resize(limit);
  for (OperatorJob& row : rows) jobs.push_back(LoadJob(std::move(row)));
  return jobs;
}

absl::Status OperatorChecks::Judge(const LoadedJob& job, std::optional<absl::CivilDay> day,
                                   v1::RunCheckResponse* response) {
  TM_ASSIGN_OR_RETURN(const LedgerRows rows, store_.Ledger(job.row.job_id));
  TM_ASSIGN_OR_RETURN(const Ledger ledger, LedgerOfJob(store_, job, rows));
  Lines lines;
  for (const LedgerLine& line : ledger.lines) lines[line.occurrence.biz_date] = &line;
  const std::vector<ExpectedDate> dates =
      day.has_value() ? ExpectedOn(job, *day) : ExpectedSoFar(job, ledger, rows.now);
  std::vector<absl::CivilDay> asked;
  asked.reserve(dates.size());
  for (const ExpectedDate& date : dates) asked.push_back(date.due.biz_date);
  TM_ASSIGN_OR_RETURN(const std::vector<VerdictRow> verdicts,
                      desk_.VerdictsOf(job.row.job_id, asked));
  std::map<absl::CivilDay, const VerdictRow*> given;
  for (const VerdictRow& row : verdicts) given[row.date] = &row;
  for (const ExpectedDate& date : dates) {
    const absl::CivilDay biz_date = date.due.biz_date;
    const LedgerLine* line = lines.count(biz_date) > 0 ? lines[biz_date] : nullptr;
    const VerdictRow* row = given.count(biz_date) > 0 ? given[biz_date] : nullptr;
    v1::CheckedDate* out = response->add_dates();
    if (row != nullptr) FillGiven(*row, out);
    out->set_job(job.row.name);
    out->set_namespace_(job.row.ns);
    out->set_biz_date(FormatDate(biz_date));
    out->set_verdict(VerdictNow(job, line, date.expected_at, rows.now, row));
    out->set_state(line == nullptr ? "" : std::string(Name(line->state)));
    *out->mutable_expected_at() = ToProto(date.expected_at);
    *out->mutable_due_at() = ToProto(date.due.fire_time);
    out->set_run_id(RunOf(rows, biz_date));
    out->set_note(line == nullptr ? WhyPaused(job) : NoteOf(job, *line));
    const bool settled = line != nullptr && IsSettledState(line->state);
    if (!settled) out->clear_settled_at();
    if (out->verdict() == "LATE" && !settled) response->set_late(response->late() + 1);
  }
  return absl::OkStatus();
}

absl::Status OperatorChecks::Run(const v1::RunCheckRequest& request,
                                 v1::RunCheckResponse* response) {
  TM_ASSIGN_OR_RETURN(const std::optional<absl::CivilDay> day, ReadDay("date", request.date()));
  bool more = false;
  TM_ASSIGN_OR_RETURN(const std::vector<LoadedJob> jobs, Page(request, &more));
  for (const LoadedJob& job : jobs) {
    if (job.timeline.empty() || !job.error.empty()) {
      response->add_notes("job " + job.row.name +
                          " is in error and cannot be judged: " + job.error);
    } else if (job.dated()) {
      response->set_jobs(response->jobs() + 1);
      TM_RETURN_IF_ERROR(Judge(job, day, response));
    }
  }
  response->set_more(more);
  if (!jobs.empty()) response->set_last_name(jobs.back().row.name);
  return absl::OkStatus();
}

absl::Status OperatorChecks::List(const v1::ListVerdictsRequest& request,
                                  v1::ListVerdictsResponse* response) {
  VerdictFilter filter;
  filter.job = request.job();
  filter.ns = ns_;
  TM_ASSIGN_OR_RETURN(filter.from, ReadDay("from", request.from()));
  TM_ASSIGN_OR_RETURN(filter.to, ReadDay("to", request.to()));
  if (filter.from.has_value() && filter.to.has_value() && *filter.to < *filter.from) {
    return Invalid("to: lies before from");
  }
  if (request.limit() > 1000) return Invalid("limit: at most 1000; give --from and --to");
  filter.limit = request.limit() == 0 ? 100 : static_cast<int>(request.limit());
  filter.late = request.late();
  if (!filter.job.empty()) {
    if (const std::string problem = NameProblem(filter.job); !problem.empty()) {
      return Invalid("the job's name " + problem);
    }
    // Verdicts outlive their job.
    TM_ASSIGN_OR_RETURN(const std::optional<int64_t> known, store_.JobIdForHistory(filter.job));
    if (!known.has_value()) return NoSuchJob(store_, filter.job);
  }
  TM_ASSIGN_OR_RETURN(const std::vector<VerdictRow> rows, desk_.ListVerdicts(filter));
  for (const VerdictRow& row : rows) FillGiven(row, response->add_dates());
  return absl::OkStatus();
}

}  // namespace tidemark
