#include "scheduler/store/snapshot.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "common/log.h"
#include "common/status.h"
#include "scheduler/store/array.h"
#include "scheduler/store/backfill_rows.h"
#include "scheduler/store/calendar_rows.h"
#include "scheduler/store/run_columns.h"
#include "scheduler/store/statements.h"

namespace tidemark {
namespace {

constexpr int64_t kPage = 20000;  // bounds what libpq holds at once

JobRow ReadJob(const SqlRows& rows, int i) {
  JobRow job;
  job.job_id = rows.Int(i, 0);
  job.name = rows.Text(i, 1);
  job.ns = rows.Text(i, 2);
  job.app = rows.Text(i, 3);
  job.shard = static_cast<int>(rows.Int(i, 4));
  job.version = static_cast<int>(rows.Int(i, 5));
  job.paused = rows.Bool(i, 6);
  job.finished = rows.Bool(i, 7);
  job.deleted = rows.Bool(i, 8);
  job.error = rows.Text(i, 9);
  job.ledger_from = rows.OptDate(i, 10);
  job.created_at = rows.Time(i, 11);
  job.cursor = rows.OptTime(i, 12);
  job.due_until = rows.OptDate(i, 13);
  job.check_from = rows.Time(i, 14);
  job.checked_until = rows.OptTime(i, 15);
  if (job.paused) {
    job.pause = std::make_shared<const JobRow::Pause>(JobRow::Pause{
        rows.OptTime(i, 16).value_or(job.created_at), rows.Text(i, 17), rows.Text(i, 18)});
  }
  return job;
}

// `rows` of jobs with their versions; both come ordered by job_id.
absl::StatusOr<std::vector<JobRow>> WithVersions(SqlTransaction& transaction, const SqlRows& rows) {
  std::vector<JobRow> jobs;
  SqlArray ids;
  for (int i = 0; i < rows.size(); ++i) {
    jobs.push_back(ReadJob(rows, i));
    ids.Add(ToParam(jobs.back().job_id));
  }
  if (jobs.empty()) return jobs;
  TM_ASSIGN_OR_RETURN(const SqlRows versions,
                      transaction.Run(sql::kLoadVersions, {std::move(ids).Take()}));
  auto job = jobs.begin();
  std::set<std::string> calendars;
  for (int i = 0; i < versions.size(); ++i) {
    const int64_t job_id = versions.Int(i, 0);
    while (job->job_id != job_id) ++job;
    job->versions.push_back(
        {static_cast<int>(versions.Int(i, 1)), versions.Time(i, 2), versions.Text(i, 3)});
    if (!versions.View(i, 4).empty()) calendars.insert(versions.Text(i, 4));
  }
  if (calendars.empty()) return jobs;
  TM_ASSIGN_OR_RETURN(const auto set, LoadCalendars(transaction, calendars));
  for (int i = 0; i < versions.size(); ++i) {
    if (versions.View(i, 4).empty()) continue;
    const auto named =
        std::lower_bound(jobs.begin(), jobs.end(), versions.Int(i, 0),
                         [](const JobRow& job, int64_t id) { return job.job_id < id; });
    named->calendars = set;
  }
  return jobs;
}

absl::Status LoadAllJobs(SqlTransaction& transaction, const std::string& shards,
                         std::vector<JobRow>* jobs) {
  int64_t after = 0;
  for (;;) {
    TM_ASSIGN_OR_RETURN(const SqlRows rows,
                        transaction.Run(sql::kLoadJobs, {shards, ToParam(after), ToParam(kPage)}));
    TM_ASSIGN_OR_RETURN(std::vector<JobRow> page, WithVersions(transaction, rows));
    if (page.empty()) return absl::OkStatus();
    after = page.back().job_id;
    std::move(page.begin(), page.end(), std::back_inserter(*jobs));
    if (rows.size() < kPage) return absl::OkStatus();
  }
}

}  // namespace

ActiveRun ReadRun(const SqlRows& rows, int i) {
  int c = 0;
  const auto text = [&] { return rows.Text(i, c++); };
  const auto number = [&] { return rows.Int(i, c++); };
  const auto small = [&] { return static_cast<int>(rows.Int(i, c++)); };
  ActiveRun run;
  run.occurrence.job_id = number();
  run.occurrence.kind = text().at(0);
  run.occurrence.key = text();
  run.run_id = text();
  run.shard = small();
  run.ns = text();
  run.job_name = text();
  run.app = text();
  run.handler = text();
  run.job_version = small();
  run.biz_date = rows.OptDate(i, c++);
  run.nominal = rows.OptCivil(i, c++).value_or(absl::CivilSecond());
  run.fire_time = rows.Time(i, c++);
  run.trigger = ParseTriggerType(text()).value_or(TriggerType::kSchedule);
  run.tag = text();
  run.request_id = text();
  run.requested_by = text();
  run.reason = text();
  run.rerun_of = text();
  run.wanted_executor = text();
  run.params = text();
  run.status = ParseRunStatus(text()).value_or(RunStatus::kPending);
  run.attempt = small();
  run.failed_attempts = small();
  run.lost_attempts = small();
  run.executor_id = text();
  run.registration = number();
  run.executor_host = text();
  run.on_lost = ParseOnLost(text());
  run.epoch.timeline = static_cast<uint32_t>(number());
  run.epoch.number = static_cast<uint64_t>(number());
  run.retry_at = rows.OptTime(i, c++);
  run.held = rows.Bool(i, c++);
  run.cancel_by = text();
  run.cancel_reason = text();
  run.progress_percent = rows.Double(i, c++);
  run.checkpoint = text();
  run.message = text();
  run.created_at = rows.Time(i, c++);
  run.sent_at = rows.OptTime(i, c++);
  run.started_at = rows.OptTime(i, c++);
  run.attempt_started_at = rows.OptTime(i, c++);
  run.backfill_id = text();
  run.armed = rows.Bool(i, c++);
  return run;
}

std::string ShardArray(const std::map<int, Epoch>& shards) {
  SqlArray array;
  for (const auto& [shard, epoch] : shards) array.Add(ToParam(shard));
  return std::move(array).Take();
}

absl::StatusOr<Snapshot> LoadSnapshot(Connection& connection, const std::map<int, Epoch>& shards) {
  Snapshot snapshot;
  snapshot.shards = shards;
  const std::string array = ShardArray(shards);
  TM_RETURN_IF_ERROR(connection.Transact(
      [&](SqlTransaction& transaction) -> absl::Status {
        TM_RETURN_IF_ERROR(LoadAllJobs(transaction, array, &snapshot.jobs));
        TM_ASSIGN_OR_RETURN(const SqlRows rows, transaction.Run(sql::kLoadRuns, {array}));
        for (int i = 0; i < rows.size(); ++i) snapshot.runs.push_back(ReadRun(rows, i));
        TM_ASSIGN_OR_RETURN(const SqlRows alerts, transaction.Run(sql::kOpenAlerts));
        for (int i = 0; i < alerts.size(); ++i) snapshot.open_alerts.insert(alerts.Text(i, 0));
        TM_ASSIGN_OR_RETURN(snapshot.backfills, LoadBackfills(transaction, array));
        return absl::OkStatus();
      },
      Isolation::kRepeatableReadOnly));
  return snapshot;
}

absl::StatusOr<std::map<int64_t, JobRow>> LoadJobs(SqlTransaction& transaction,
                                                   const std::vector<int64_t>& job_ids) {
  SqlArray ids;
  for (const int64_t id : job_ids) ids.Add(ToParam(id));
  TM_ASSIGN_OR_RETURN(const SqlRows rows,
                      transaction.Run(sql::kLoadJobsById, {std::move(ids).Take()}));
  TM_ASSIGN_OR_RETURN(std::vector<JobRow> list, WithVersions(transaction, rows));
  std::map<int64_t, JobRow> jobs;
  for (JobRow& job : list) jobs.emplace(job.job_id, std::move(job));
  return jobs;
}

}  // namespace tidemark
