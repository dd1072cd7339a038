// The runs of a flush.
#include <string_view>
#include <tuple>
#include <utility>

#include "common/status.h"
#include "scheduler/store/batch.h"
#include "scheduler/store/flush_writer.h"
#include "scheduler/store/run_columns.h"
#include "scheduler/store/statements.h"

namespace tidemark {
namespace {

using RunIds = std::set<std::string>;

absl::Status RunReturning(SqlTransaction& transaction, std::string_view statement, Batch batch,
                          RunIds* ids) {
  TM_ASSIGN_OR_RETURN(const SqlRows rows, transaction.Run(statement, std::move(batch).Take()));
  for (int i = 0; i < rows.size(); ++i) ids->insert(rows.Text(i, 0));
  return absl::OkStatus();
}

// What history says: the result's words, else the run's, else who cancelled it.
std::string EndMessage(const RunClose& close) {
  if (!close.result.message.empty()) return close.result.message;
  if (!close.run.message.empty() || close.status != RunStatus::kCancelled) return close.run.message;
  std::string text = "cancelled by " + close.run.cancel_by;
  if (!close.run.cancel_reason.empty()) text += ": " + close.run.cancel_reason;
  return text;
}

void AddClose(const RunClose& close, Batch& batch) {
  const ActiveRun& run = close.run;
  const AttemptResult& result = close.result;
  const bool failed = close.watermark == "FAILED";
  const std::string message = EndMessage(close);
  batch.Add(Exact(close.run_id)).Add(std::string(Name(close.status)));
  batch.Add(Word(close.status_reason)).Put(run.attempt).Put(run.failed_attempts);
  batch.Put(run.lost_attempts).Add(Exact(run.executor_id)).Put(run.registration);
  batch.Add(Message4k(run.executor_host)).Put(static_cast<int64_t>(run.epoch.timeline));
  batch.Put(static_cast<int64_t>(run.epoch.number)).Put(run.progress_percent);
  batch.Add(Body(result.checkpoint.empty() ? run.checkpoint : result.checkpoint));
  batch.Add(Message4k(message)).Add(Body(result.result)).Put(result.result_rows);
  batch.Add(Message4k(result.result_digest)).Put(run.started_at).Put(close.ended_at);
  batch.Add(Exact(close.watermark)).Add(Word(failed ? close.status_reason : ""));
  batch.Add(Message4k(failed ? message : "")).Add(Message4k(failed ? run.cancel_by : ""));
}

absl::Status CloseRuns(SqlTransaction& transaction, const Flush& flush, FlushResult* result) {
  const auto key = [](const RunClose& c) {
    return std::pair(c.run.occurrence.job_id, std::string_view(c.run_id));
  };
  for (const auto& closes : UniqueBatches(flush.closes, key)) {
    Batch batch(23);
    for (const RunClose* close : closes) AddClose(*close, batch);
    TM_RETURN_IF_ERROR(
        RunReturning(transaction, sql::kCloseRuns, std::move(batch), &result->closed));
  }
  return absl::OkStatus();
}

void AddSkip(const RunSkip& skip, Batch& batch) {
  const ActiveRun& run = skip.run;
  batch.Add(Exact(run.run_id)).Put(run.occurrence.job_id);
  batch.Add(std::string(1, run.occurrence.kind)).Add(Exact(run.occurrence.key));
  batch.Add(Exact(run.ns)).Add(Exact(run.job_name)).Add(Exact(run.app)).Add(Exact(run.handler));
  batch.Put(run.job_version).Put(run.biz_date).Put(run.nominal).Put(run.fire_time);
  batch.Add(std::string(Name(run.trigger))).Add(Word(run.tag)).Add(Exact(run.request_id));
  batch.Add(Message4k(run.requested_by)).Add(Message4k(run.reason));
  batch.Add(NullIfEmpty(run.rerun_of)).Add(Exact(run.params)).Add(Word(skip.status_reason));
  batch.Add(Message4k(run.message)).Put(run.created_at).Put(skip.ended_at);
}

absl::Status SkipRuns(SqlTransaction& transaction, const Flush& flush) {
  const auto key = [](const RunSkip& s) { return std::pair(s.run.occurrence, s.run.run_id); };
  for (const auto& skips : UniqueBatches(flush.skips, key)) {
    Batch batch(23);
    for (const RunSkip* skip : skips) AddSkip(*skip, batch);
    TM_RETURN_IF_ERROR(transaction.Run(sql::kSkipRuns, std::move(batch).Take()).status());
  }
  return absl::OkStatus();
}

// From job_id to params: what never changes.
void AddFixed(const ActiveRun& run, Batch& batch) {
  batch.Put(run.occurrence.job_id).Add(std::string(1, run.occurrence.kind));
  batch.Add(Exact(run.occurrence.key)).Add(Exact(run.run_id)).Put(run.shard);
  batch.Add(Exact(run.ns)).Add(Exact(run.job_name)).Add(Exact(run.app)).Add(Exact(run.handler));
  batch.Put(run.job_version).Put(run.biz_date).Put(run.nominal).Put(run.fire_time);
  batch.Add(std::string(Name(run.trigger))).Add(Word(run.tag)).Add(Exact(run.request_id));
  batch.Add(Message4k(run.requested_by)).Add(Message4k(run.reason));
  batch.Add(NullIfEmpty(run.rerun_of)).Add(Exact(run.wanted_executor)).Add(Exact(run.params));
}

// From status to message.
void AddChanging(const ActiveRun& run, Batch& batch) {
  batch.Add(std::string(Name(run.status))).Put(run.attempt).Put(run.failed_attempts);
  batch.Put(run.lost_attempts).Add(Exact(run.executor_id)).Put(run.registration);
  batch.Add(Message4k(run.executor_host)).Add(std::string(OnLostName(run.on_lost)));
  batch.Put(static_cast<int64_t>(run.epoch.timeline)).Put(static_cast<int64_t>(run.epoch.number));
  batch.Put(run.retry_at).Put(run.held).Add(Message4k(run.cancel_by));
  batch.Add(Message4k(run.cancel_reason)).Put(run.progress_percent).Add(Body(run.checkpoint));
  batch.Add(Message4k(run.message));
}

absl::Status OpenRuns(SqlTransaction& transaction, const Flush& flush, FlushResult* result) {
  const auto key = [](const RunOpen& o) {
    const OccurrenceKey& occurrence = o.run.occurrence;
    return std::tuple(occurrence.job_id, occurrence.kind, std::string_view(occurrence.key));
  };
  for (const auto& opens : UniqueBatches(flush.opens, key)) {
    Batch batch(45);
    for (const RunOpen* open : opens) {
      AddFixed(open->run, batch);
      AddChanging(open->run, batch);
      batch.Put(open->run.created_at).Put(open->run.sent_at).Put(open->run.started_at);
      batch.Put(open->run.attempt_started_at).Add(NullIfEmpty(open->count_reopening_on));
      batch.Add(NullIfEmpty(open->run.backfill_id)).Put(open->run.armed);
    }
    TM_RETURN_IF_ERROR(
        RunReturning(transaction, sql::kOpenRuns, std::move(batch), &result->opened));
  }
  return absl::OkStatus();
}

// `list` has members job_id and run_id.
template <typename T>
absl::Status RunForIds(SqlTransaction& transaction, std::string_view statement,
                       const std::vector<T>& list) {
  const auto key = [](const T& e) { return std::pair(e.job_id, std::string_view(e.run_id)); };
  for (const auto& elements : UniqueBatches(list, key)) {
    Batch batch(1);
    for (const T* element : elements) batch.Add(Exact(element->run_id));
    TM_RETURN_IF_ERROR(transaction.Run(statement, std::move(batch).Take()).status());
  }
  return absl::OkStatus();
}

absl::Status UpdateRuns(SqlTransaction& transaction, const Flush& flush, FlushResult* result) {
  const auto key = [](const RunUpdate& u) {
    return std::pair(u.run.occurrence.job_id, std::string_view(u.run.run_id));
  };
  for (const auto& updates : UniqueBatches(flush.updates, key)) {
    Batch batch(21);
    for (const RunUpdate* update : updates) {
      batch.Add(Exact(update->run.run_id));
      AddChanging(update->run, batch);
      batch.Put(update->run.sent_at).Put(update->run.started_at);
      batch.Put(update->run.attempt_started_at);
    }
    TM_RETURN_IF_ERROR(
        RunReturning(transaction, sql::kUpdateRuns, std::move(batch), &result->updated));
  }
  return absl::OkStatus();
}

absl::Status AddAttempts(SqlTransaction& transaction, const Flush& flush) {
  if (flush.attempts.empty()) return absl::OkStatus();
  Batch batch(11);
  for (const AttemptEnd& end : flush.attempts) {
    batch.Add(Exact(end.attempt.run_id)).Put(end.attempt.attempt).Put(end.job_id);
    batch.Add(Exact(end.executor_id)).Put(end.registration).Add(Message4k(end.executor_host));
    batch.Put(end.sent_at).Put(end.started_at).Put(end.ended_at).Add(Word(end.outcome));
    batch.Add(Message4k(end.message));
  }
  return transaction.Run(sql::kAddAttempts, std::move(batch).Take()).status();
}

}  // namespace

absl::Status WriteRuns(SqlTransaction& transaction, const Flush& flush, FlushResult* result) {
  TM_RETURN_IF_ERROR(CloseRuns(transaction, flush, result));
  TM_RETURN_IF_ERROR(RunForIds(transaction, sql::kDisarmRuns, flush.disarms));
  TM_RETURN_IF_ERROR(SkipRuns(transaction, flush));
  TM_RETURN_IF_ERROR(OpenRuns(transaction, flush, result));
  TM_RETURN_IF_ERROR(RunForIds(transaction, sql::kLaunchRuns, flush.launches));
  TM_RETURN_IF_ERROR(UpdateRuns(transaction, flush, result));
  return AddAttempts(transaction, flush);
}

}  // namespace tidemark
