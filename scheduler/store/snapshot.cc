#include "scheduler/store/snapshot.h"

#include <memory>
#include <set>
#include <string_view>
#include <unordered_map>
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

// Specs without the names of their jobs, each once.
class LikeSpecs {
 public:
  // Null when the name is not where it is to be cut out (it has escapes, say).
  std::shared_ptr<const std::string> Take(const std::string& name, std::string_view spec) {
    const std::string start = "{\"name\":\"" + name + "\",";  // as the store's JSON begins
    if (!spec.starts_with(start)) return nullptr;
    const std::string_view rest = spec.substr(start.size());
    if (const auto known = known_.find(rest); known != known_.end()) return known->second;
    const auto made = std::make_shared<const std::string>("{" + std::string(rest));
    known_.emplace(std::string_view(*made).substr(1), made);
    return made;
  }

 private:
  std::unordered_map<std::string_view, std::shared_ptr<const std::string>> known_;
};

// Takes rows of jobs with their versions, a row a version, as they come by job.
class JobReader {
 public:
  // `many`: specs that are alike are kept once.
  explicit JobReader(bool many) : many_(many) {}

  void Take(const SqlRows& rows) {
    for (int i = 0; i < rows.size(); ++i) {
      if (jobs_.empty() || jobs_.back().job_id != rows.Int(i, 0)) jobs_.push_back(ReadJob(rows, i));
      if (rows.IsNull(i, 19)) continue;
      JobRow& job = jobs_.back();
      JobRow::Version version;
      version.version = static_cast<int>(rows.Int(i, 19));
      version.valid_from = rows.Time(i, 20);
      if (many_) version.like = likes_.Take(job.name, rows.View(i, 21));
      if (version.like == nullptr) version.spec = rows.Text(i, 21);
      job.versions.push_back(std::move(version));
      if (rows.View(i, 22).empty()) continue;
      calendars_.insert(rows.Text(i, 22));
      if (named_.empty() || named_.back() != jobs_.size() - 1) named_.push_back(jobs_.size() - 1);
    }
  }

  // With the calendars that they name. Ends the use of this object.
  absl::StatusOr<std::vector<JobRow>> Done(SqlTransaction& transaction) && {
    if (named_.empty()) return std::move(jobs_);
    TM_ASSIGN_OR_RETURN(const auto set, LoadCalendars(transaction, calendars_));
    for (const size_t i : named_) jobs_[i].calendars = set;
    return std::move(jobs_);
  }

 private:
  const bool many_;
  LikeSpecs likes_;
  std::vector<JobRow> jobs_;
  std::set<std::string> calendars_;
  std::vector<size_t> named_;  // jobs that name one
};

absl::StatusOr<std::vector<JobRow>> LoadAllJobs(SqlTransaction& transaction,
                                                const std::string& shards) {
  TM_RETURN_IF_ERROR(transaction.Run(sql::kDeclareJobs, {shards}).status());
  JobReader reader(/*many=*/true);
  for (;;) {
    TM_ASSIGN_OR_RETURN(const SqlRows rows, transaction.Run(sql::kFetchJobs));
    if (rows.empty()) return std::move(reader).Done(transaction);
    reader.Take(rows);
  }
}

absl::StatusOr<std::vector<KnownExecutor>> LoadExecutorsUp(SqlTransaction& transaction) {
  TM_ASSIGN_OR_RETURN(const SqlRows rows, transaction.Run(sql::kExecutorsUp));
  std::vector<KnownExecutor> executors;
  executors.reserve(rows.size());
  for (int i = 0; i < rows.size(); ++i) {
    executors.push_back({rows.Text(i, 0), rows.Text(i, 1), rows.Text(i, 2), rows.Int(i, 3)});
  }
  return executors;
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

absl::StatusOr<Snapshot> LoadSnapshot(Connection& connection, const std::map<int, Epoch>& shards,
                                      bool failed_over) {
  Snapshot snapshot;
  snapshot.failed_over = failed_over;
  snapshot.shards = shards;
  const std::string array = ShardArray(shards);
  TM_RETURN_IF_ERROR(connection.Transact(
      [&](SqlTransaction& transaction) -> absl::Status {
        TM_ASSIGN_OR_RETURN(snapshot.jobs, LoadAllJobs(transaction, array));
        TM_ASSIGN_OR_RETURN(const SqlRows rows, transaction.Run(sql::kLoadRuns, {array}));
        for (int i = 0; i < rows.size(); ++i) snapshot.runs.push_back(ReadRun(rows, i));
        TM_ASSIGN_OR_RETURN(const SqlRows alerts, transaction.Run(sql::kOpenAlerts));
        for (int i = 0; i < alerts.size(); ++i) snapshot.open_alerts.insert(alerts.Text(i, 0));
        TM_ASSIGN_OR_RETURN(snapshot.backfills, LoadBackfills(transaction, array));
        TM_ASSIGN_OR_RETURN(const SqlRows late, transaction.Run(sql::kUnsettledJobs, {array}));
        snapshot.unsettled.emplace();
        for (int i = 0; i < late.size(); ++i) snapshot.unsettled->push_back(late.Int(i, 0));
        if (!failed_over) return absl::OkStatus();
        TM_ASSIGN_OR_RETURN(snapshot.executors, LoadExecutorsUp(transaction));
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
  JobReader reader(/*many=*/false);
  reader.Take(rows);
  TM_ASSIGN_OR_RETURN(std::vector<JobRow> list, std::move(reader).Done(transaction));
  std::map<int64_t, JobRow> jobs;
  for (JobRow& job : list) jobs.emplace(job.job_id, std::move(job));
  return jobs;
}

}  // namespace tidemark
