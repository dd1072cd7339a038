// Job definitions: finding and writing them.
#include "scheduler/store/operator_store.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/status.h"
#include "common/text.h"
#include "scheduler/store/array.h"
#include "scheduler/store/audit_row.h"
#include "scheduler/store/calendar_rows.h"

namespace tidemark {
namespace {

constexpr std::string_view kJobColumns =
    "SELECT j.job_id, j.name, j.namespace, j.app, j.shard, j.version, j.paused, j.pause_reason, "
    "j.paused_by, j.paused_at, j.error, j.finished, j.ledger_from, j.created_at, j.updated_at, "
    "(SELECT count(*) FROM active_run a WHERE a.job_id = j.job_id "
    "AND NOT (a.armed AND a.fire_time > tidemark_now())), "
    "(SELECT max(biz_date) FROM job_watermark w WHERE w.job_id = j.job_id "
    " AND w.status = 'EXPIRED' AND w.reason = 'first_launch') FROM job j ";

constexpr std::string_view kVersions =
    "SELECT job_id, version, valid_from, spec, calendar FROM job_version WHERE job_id = "
    "ANY($1::bigint[]) "
    "ORDER BY job_id, version";

// Islands of dates without a break, so that a job of ten years is a handful of rows.
constexpr std::string_view kSettled =
    "SELECT job_id, min(biz_date), max(biz_date) FROM ("
    "  SELECT job_id, biz_date, biz_date - (row_number() OVER "
    "    (PARTITION BY job_id ORDER BY biz_date))::integer AS island"
    "  FROM job_watermark WHERE job_id = ANY($1::bigint[]) AND status IN ('DONE', 'WAIVED')) w "
    "GROUP BY job_id, island ORDER BY job_id, 2";

constexpr std::string_view kSimilar =
    "SELECT name FROM job WHERE deleted_at IS NULL AND ($2 = '' OR namespace = $2) "
    "AND (abs(length(name) - length($1)) <= 2 OR left(name, 3) = left($1, 3)) "
    "ORDER BY name LIMIT 1000";

constexpr std::string_view kForHistory =
    "SELECT job_id FROM job WHERE name = $1 AND ($2 = '' OR namespace = $2) ORDER BY (deleted_at "
    "IS NULL) DESC, job_id DESC "
    "LIMIT 1";

constexpr std::string_view kInsertJob =
    "INSERT INTO job (job_id, name, namespace, app, shard, version, created_at, updated_at) "
    "VALUES ($1, $2, $3, $4, $5, 1, $6, $6) "
    "ON CONFLICT (name) WHERE deleted_at IS NULL DO NOTHING";

// A new definition starts without the old one's error and is not finished until it has fired.
constexpr std::string_view kUpdateJob =
    "UPDATE job SET app = $3, version = version + 1, error = '', finished = false, "
    "updated_at = $4 WHERE job_id = $1 AND version = $2 AND deleted_at IS NULL";

constexpr std::string_view kInsertVersion =
    "INSERT INTO job_version (job_id, version, valid_from, spec, author, calendar) "
    "VALUES ($1, $2, $3, $4, $5, $6)";

// An edit of the calendar waits for the definition that names it, and the other way round.
constexpr std::string_view kHoldCalendar = "SELECT version FROM calendar WHERE name = $1 FOR SHARE";

// Neither may a job change while another that waits for it is judged: no circle closes unseen.
constexpr std::string_view kHoldJob =
    "SELECT version FROM job WHERE job_id = $1 AND deleted_at IS NULL FOR SHARE";

constexpr std::string_view kForgetAfter = "DELETE FROM job_after WHERE job_id = $1";

constexpr std::string_view kInsertAfter =
    "INSERT INTO job_after (job_id, upstream, date_offset) VALUES ($1, $2, $3)";

// Dates that a person gave up with an edit of the schedule. What is settled or live stays.
constexpr std::string_view kWaive =
    "INSERT INTO job_watermark "
    "(job_name, biz_date, status, finished_at, job_id, note, actor, updated_at) "
    "SELECT $2, d, 'WAIVED', tidemark_now(), $1::bigint, $4, $5, tidemark_now() FROM "
    "unnest($3::date[]) AS d "
    "WHERE NOT EXISTS (SELECT 1 FROM active_run a WHERE a.job_id = $1::bigint AND a.kind = 'D' "
    "                  AND a.biz_date = d) "
    "ON CONFLICT (job_name, biz_date) DO UPDATE SET status = 'WAIVED', reason = '', "
    "finished_at = excluded.finished_at, note = excluded.note, actor = excluded.actor, updated_at "
    "= excluded.updated_at "
    "WHERE job_watermark.status NOT IN ('DONE', 'WAIVED', 'EXPIRED')";

constexpr std::string_view kInsertOrder =
    "INSERT INTO command (command_id, shard, job_id, kind, args, actor, created_at) "
    "VALUES ($1, $2, $3, 'job_changed', '{}', $4, $5)";

constexpr std::string_view kSpecBefore =
    "SELECT spec FROM job_version WHERE job_id = $1 AND version = $2";

constexpr std::string_view kNamespaceOf =
    "SELECT namespace FROM job WHERE name = $1 AND deleted_at IS NULL";

OperatorJob ReadJob(const SqlRows& rows, int i) {
  OperatorJob job;
  job.job_id = rows.Int(i, 0);
  job.name = rows.Text(i, 1);
  job.ns = rows.Text(i, 2);
  job.app = rows.Text(i, 3);
  job.shard = static_cast<int>(rows.Int(i, 4));
  job.version = static_cast<int>(rows.Int(i, 5));
  job.paused = rows.Bool(i, 6);
  job.pause_reason = rows.Text(i, 7);
  job.paused_by = rows.Text(i, 8);
  job.paused_at = rows.OptTime(i, 9);
  job.error = rows.Text(i, 10);
  job.finished = rows.Bool(i, 11);
  job.ledger_from = rows.OptDate(i, 12);
  job.created_at = rows.Time(i, 13);
  job.updated_at = rows.Time(i, 14);
  job.live_runs = static_cast<int>(rows.Int(i, 15));
  job.passed_until = rows.OptDate(i, 16);
  return job;
}

// Reads the jobs that `where` selects, with what belongs to them.
absl::StatusOr<std::vector<OperatorJob>> ReadJobs(SqlTransaction& tx, const std::string& where,
                                                  const std::vector<SqlParam>& params) {
  TM_ASSIGN_OR_RETURN(const SqlRows rows, tx.Run(std::string(kJobColumns) + where, params));
  std::vector<OperatorJob> jobs;
  std::map<int64_t, size_t> index;
  SqlArray ids;
  for (int i = 0; i < rows.size(); ++i) {
    jobs.push_back(ReadJob(rows, i));
    index[jobs.back().job_id] = jobs.size() - 1;
    ids.Add(ToParam(jobs.back().job_id));
  }
  if (jobs.empty()) return jobs;
  const SqlParam id_list = std::move(ids).Take();
  TM_ASSIGN_OR_RETURN(const SqlRows versions, tx.Run(kVersions, {id_list}));
  std::set<std::string> calendars;
  for (int i = 0; i < versions.size(); ++i) {
    jobs[index[versions.Int(i, 0)]].versions.push_back(
        {static_cast<int>(versions.Int(i, 1)), versions.Time(i, 2), versions.Text(i, 3)});
    if (!versions.View(i, 4).empty()) calendars.insert(versions.Text(i, 4));
  }
  TM_ASSIGN_OR_RETURN(const auto set, LoadCalendars(tx, calendars));
  for (OperatorJob& job : jobs) job.calendars = set;
  TM_ASSIGN_OR_RETURN(const SqlRows settled, tx.Run(kSettled, {id_list}));
  for (int i = 0; i < settled.size(); ++i) {
    const absl::CivilDay first = settled.OptDate(i, 1).value_or(absl::CivilDay());
    jobs[index[settled.Int(i, 0)]].settled.emplace_back(first,
                                                        settled.OptDate(i, 2).value_or(first));
  }
  return jobs;
}

absl::Status HoldJobs(SqlTransaction& tx, const std::map<int64_t, int>& versions) {
  for (const auto& [job_id, version] : versions) {
    TM_ASSIGN_OR_RETURN(const SqlRows held, tx.Run(kHoldJob, {ToParam(job_id)}));
    if (held.empty() || held.Int(0, 0) != version) {
      return absl::AbortedError("a job that is waited for was changed at the same time");
    }
  }
  return absl::OkStatus();
}

// Why no row was written.
absl::Status NotWritten(SqlTransaction& tx, const JobWrite& write, const Caller& caller) {
  TM_ASSIGN_OR_RETURN(const SqlRows rows, tx.Run(kNamespaceOf, {write.name}));
  if (!rows.empty() && !caller.Sees(rows.Text(0, 0))) {
    return absl::FailedPreconditionError(
        ToAbsl("the name '" + write.name +
               "' is taken: names of jobs are unique over all namespaces; choose another"));
  }
  return absl::AbortedError(ToAbsl("job '" + write.name + "' was changed at the same time"));
}

absl::Status WriteAfter(SqlTransaction& tx, const JobWrite& write) {
  TM_RETURN_IF_ERROR(tx.Run(kForgetAfter, {ToParam(write.job_id)}).status());
  for (const Dependency& d : write.after) {
    TM_RETURN_IF_ERROR(
        tx.Run(kInsertAfter, {ToParam(write.job_id), d.job, ToParam(d.offset)}).status());
  }
  return absl::OkStatus();
}

// After the writes, which count. Two requests at once may each think that the last place is theirs:
// the limit keeps a runaway client from filling the table, and needs no lock for that.
absl::Status CheckJobsPerApp(SqlTransaction& tx, const std::vector<JobWrite>& writes,
                             int64_t most) {
  std::set<std::string> growing;
  for (const JobWrite& write : writes) {
    if (write.joins_app) growing.insert(write.app);
  }
  for (const std::string& app : growing) {
    TM_ASSIGN_OR_RETURN(
        const SqlRows rows,
        tx.Run("SELECT count(*) FROM job WHERE app = $1 AND deleted_at IS NULL", {app}));
    if (rows.Int(0, 0) <= most) continue;
    return absl::ResourceExhaustedError(
        ToAbsl("app '" + app + "' would have " + std::to_string(rows.Int(0, 0)) +
               " jobs, and max-jobs-per-app is " + std::to_string(most) +
               "; delete some (tidemark job delete), or raise the scheduler's limit; nothing was "
               "applied"));
  }
  return absl::OkStatus();
}

}  // namespace

OperatorStore::OperatorStore(DatabaseOptions options, Clock& clock, Random& random,
                             JobLimits limits, int connections)
    : OperatorStore(std::make_shared<OperatorPool>(std::move(options), connections), Caller(),
                    clock, random, limits) {}

OperatorStore::OperatorStore(std::shared_ptr<OperatorPool> pool, Caller caller, Clock& clock,
                             Random& random, JobLimits limits)
    : pool_(std::move(pool)),
      caller_(std::move(caller)),
      clock_(clock),
      random_(random),
      limits_(limits) {}

std::unique_ptr<OperatorPort> OperatorStore::As(const Caller& caller) {
  return std::unique_ptr<OperatorPort>(new OperatorStore(pool_, caller, clock_, random_, limits_));
}

absl::StatusOr<absl::Time> OperatorStore::Now() {
  absl::Time now;
  TM_RETURN_IF_ERROR(pool_->Transact([&](SqlTransaction& tx) -> absl::Status {
    TM_ASSIGN_OR_RETURN(const SqlRows rows, tx.Run("SELECT tidemark_now()"));
    now = rows.Time(0, 0);
    return absl::OkStatus();
  }));
  return now;
}

absl::StatusOr<std::vector<OperatorJob>> OperatorStore::JobsNamed(
    const std::vector<std::string>& names, const std::string& ns) {
  std::vector<OperatorJob> jobs;
  TM_RETURN_IF_ERROR(pool_->Transact(
      [&](SqlTransaction& tx) -> absl::Status {
        TM_ASSIGN_OR_RETURN(jobs,
                            ReadJobs(tx,
                                     "WHERE j.name = ANY($1::text[]) AND j.deleted_at IS NULL "
                                     "AND ($2 = '' OR j.namespace = $2) ORDER BY j.name",
                                     {ToArray(names), ns}));
        return absl::OkStatus();
      },
      Isolation::kRepeatableReadOnly));
  return jobs;
}

absl::StatusOr<std::vector<OperatorJob>> OperatorStore::FindJobs(
    const std::vector<std::string>& names) {
  return JobsNamed(names, caller_.ns);
}

absl::StatusOr<std::vector<OperatorJob>> OperatorStore::FindUpstreams(
    const std::vector<std::string>& names) {
  return JobsNamed(names, "");
}

absl::StatusOr<std::vector<OperatorJob>> OperatorStore::ListJobs(const std::string& app,
                                                                 const std::string& ns,
                                                                 const std::string& after_name,
                                                                 int limit) {
  std::string where = "WHERE j.deleted_at IS NULL";
  std::vector<SqlParam> params;
  const auto filter = [&](const std::string& condition, const std::string& value) {
    if (value.empty()) return;
    params.push_back(value);
    where += " AND " + condition + "$" + std::to_string(params.size());
  };
  filter("j.app = ", app);
  filter("j.namespace = ", ns);
  filter("j.namespace = ", caller_.ns);
  filter("j.name > ", after_name);
  params.push_back(ToParam(limit + 1));
  where += " ORDER BY j.name LIMIT $" + std::to_string(params.size());
  std::vector<OperatorJob> jobs;
  TM_RETURN_IF_ERROR(pool_->Transact(
      [&](SqlTransaction& tx) -> absl::Status {
        TM_ASSIGN_OR_RETURN(jobs, ReadJobs(tx, where, params));
        return absl::OkStatus();
      },
      Isolation::kRepeatableReadOnly));
  return jobs;
}

absl::StatusOr<std::vector<OperatorJob>> OperatorStore::JobsWithCalendar(const std::string& name) {
  std::vector<OperatorJob> jobs;
  TM_RETURN_IF_ERROR(pool_->Transact(
      [&](SqlTransaction& tx) -> absl::Status {
        TM_ASSIGN_OR_RETURN(
            jobs, ReadJobs(tx,
                           "WHERE j.deleted_at IS NULL AND EXISTS (SELECT 1 FROM job_version v "
                           "WHERE v.job_id = j.job_id AND v.calendar = $1) ORDER BY j.job_id",
                           {name}));
        return absl::OkStatus();
      },
      Isolation::kRepeatableReadOnly));
  return jobs;
}

absl::StatusOr<std::vector<OperatorJob>> OperatorStore::JobsAfter(
    const std::vector<std::string>& names) {
  std::vector<OperatorJob> jobs;
  TM_RETURN_IF_ERROR(pool_->Transact(
      [&](SqlTransaction& tx) -> absl::Status {
        TM_ASSIGN_OR_RETURN(
            jobs, ReadJobs(tx,
                           "WHERE j.deleted_at IS NULL AND EXISTS (SELECT 1 FROM job_after a "
                           "WHERE a.job_id = j.job_id AND a.upstream = ANY($1::text[])) "
                           "ORDER BY j.name",
                           {ToArray(names)}));
        return absl::OkStatus();
      },
      Isolation::kRepeatableReadOnly));
  return jobs;
}

absl::StatusOr<std::vector<std::string>> OperatorStore::SimilarJobs(const std::string& name) {
  std::vector<std::string> names;
  TM_RETURN_IF_ERROR(pool_->Transact([&](SqlTransaction& tx) -> absl::Status {
    names.clear();
    TM_ASSIGN_OR_RETURN(const SqlRows rows, tx.Run(kSimilar, {name, caller_.ns}));
    for (int i = 0; i < rows.size(); ++i) names.push_back(rows.Text(i, 0));
    return absl::OkStatus();
  }));
  return names;
}

absl::StatusOr<std::optional<int64_t>> OperatorStore::JobIdForHistory(const std::string& name) {
  std::optional<int64_t> id;
  TM_RETURN_IF_ERROR(pool_->Transact([&](SqlTransaction& tx) -> absl::Status {
    TM_ASSIGN_OR_RETURN(const SqlRows rows, tx.Run(kForHistory, {name, caller_.ns}));
    id = rows.empty() ? std::nullopt : rows.OptInt(0, 0);
    return absl::OkStatus();
  }));
  return id;
}

absl::Status OperatorStore::WriteJob(SqlTransaction& tx, const JobWrite& write,
                                     const std::string& actor, const std::string& command_id) {
  if (!write.calendar.empty()) {
    TM_ASSIGN_OR_RETURN(const SqlRows held, tx.Run(kHoldCalendar, {write.calendar}));
    if (held.empty() || held.Int(0, 0) != write.calendar_version) {
      return absl::AbortedError(
          ToAbsl("calendar '" + write.calendar + "' was changed at the same time"));
    }
  }
  TM_RETURN_IF_ERROR(HoldJobs(tx, write.holds));
  const SqlParam now = ToParam(write.valid_from);
  const bool create = write.expected_version == 0;
  TM_ASSIGN_OR_RETURN(
      const SqlRows job,
      create ? tx.Run(kInsertJob, {ToParam(write.job_id), write.name, write.ns, write.app,
                                   ToParam(write.shard), now})
             : tx.Run(kUpdateJob,
                      {ToParam(write.job_id), ToParam(write.expected_version), write.app, now}));
  if (job.affected() != 1) return NotWritten(tx, write, caller_);
  const int version = write.expected_version + 1;
  TM_RETURN_IF_ERROR(tx.Run(kInsertVersion, {ToParam(write.job_id), ToParam(version), now,
                                             write.spec, actor, write.calendar})
                         .status());
  TM_RETURN_IF_ERROR(WriteAfter(tx, write));
  if (!write.waive.empty()) {
    SqlArray dates;
    for (const absl::CivilDay date : write.waive) dates.Add(ToParam(date));
    TM_RETURN_IF_ERROR(tx.Run(kWaive, {ToParam(write.job_id), write.name, std::move(dates).Take(),
                                       write.waive_note, actor})
                           .status());
  }
  TM_RETURN_IF_ERROR(
      tx.Run(kInsertOrder, {command_id, ToParam(write.shard), ToParam(write.job_id), actor, now})
          .status());
  AuditRow audit{actor, create ? "job_create" : "job_update", write.name, write.ns};
  audit.subject = "version " + std::to_string(version);
  audit.after = write.spec;
  if (!create) {
    TM_ASSIGN_OR_RETURN(
        const SqlRows before,
        tx.Run(kSpecBefore, {ToParam(write.job_id), ToParam(write.expected_version)}));
    if (!before.empty()) audit.before = before.Text(0, 0);
  }
  return WriteAudit(tx, caller_, audit);
}

absl::StatusOr<std::vector<std::string>> OperatorStore::WriteJobs(
    const std::vector<JobWrite>& writes, const std::string& actor) {
  for (const JobWrite& write : writes) {
    if (caller_.Sees(write.ns)) continue;
    return absl::PermissionDeniedError(ToAbsl("job '" + write.name + "' is in namespace '" +
                                              write.ns + "', this token is for namespace '" +
                                              caller_.ns +
                                              "'; say in the file namespace: " + caller_.ns));
  }
  // In one order of names, so that two appliers of the same file cannot deadlock.
  std::vector<const JobWrite*> order;
  order.reserve(writes.size());
  for (const JobWrite& write : writes) order.push_back(&write);
  std::sort(order.begin(), order.end(),
            [](const JobWrite* a, const JobWrite* b) { return a->name < b->name; });
  std::vector<std::string> commands;
  TM_RETURN_IF_ERROR(pool_->Transact([&](SqlTransaction& tx) -> absl::Status {
    commands.clear();
    for (const JobWrite* write : order) {
      commands.push_back(NewUuid(clock_.WallNow(), random_));
      TM_RETURN_IF_ERROR(WriteJob(tx, *write, actor, commands.back()));
    }
    TM_RETURN_IF_ERROR(CheckJobsPerApp(tx, writes, limits_.per_app));
    return tx.Run("SELECT pg_notify('tidemark_command', '')").status();
  }));
  return commands;
}

}  // namespace tidemark
