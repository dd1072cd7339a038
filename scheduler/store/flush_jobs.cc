// Watermarks, skipped ranges and states of jobs in a flush.
#include <tuple>
#include <utility>

#include "common/status.h"
#include "scheduler/store/array.h"
#include "scheduler/store/batch.h"
#include "scheduler/store/flush_writer.h"
#include "scheduler/store/statements.h"

namespace tidemark {
namespace {

absl::Status WriteWatermarks(SqlTransaction& transaction, const Flush& flush) {
  const auto key = [](const WatermarkWrite& w) { return std::pair(w.job_name, w.date); };
  for (const auto& writes : UniqueBatches(flush.watermarks, key)) {
    Batch batch(8);
    Batch gone(3);
    bool any = false;
    bool any_gone = false;
    for (const WatermarkWrite* w : writes) {
      if (w->status.empty()) {
        gone.Put(w->job_id).Put(w->date).Put(w->only_if_unsettled);
        any_gone = true;
        continue;
      }
      batch.Put(w->job_id).Add(Exact(w->job_name)).Put(w->date).Add(Exact(w->status));
      batch.Add(Word(w->reason)).Add(Message4k(w->note)).Add(Message4k(w->actor));
      batch.Put(w->only_if_unsettled);
      any = true;
    }
    if (any_gone) {
      TM_RETURN_IF_ERROR(transaction.Run(sql::kDeleteWatermarks, std::move(gone).Take()).status());
    }
    if (any) {
      TM_RETURN_IF_ERROR(transaction.Run(sql::kWriteWatermarks, std::move(batch).Take()).status());
    }
  }
  return absl::OkStatus();
}

absl::Status WriteSkippedRanges(SqlTransaction& transaction, const Flush& flush) {
  const auto key = [](const SkippedRange& s) { return std::pair(s.job_id, s.from); };
  for (const auto& ranges : UniqueBatches(flush.skipped, key)) {
    Batch batch(5);
    for (const SkippedRange* s : ranges) {
      batch.Put(s->job_id).Put(s->from).Put(s->to).Put(s->fires).Add(Word(s->reason));
    }
    TM_RETURN_IF_ERROR(transaction.Run(sql::kAddSkippedRanges, std::move(batch).Take()).status());
  }
  return absl::OkStatus();
}

absl::Status WriteJobRows(SqlTransaction& transaction, const Flush& flush) {
  const auto key = [](const JobUpdate& j) { return j.job_id; };
  for (const auto& jobs : UniqueBatches(flush.jobs, key)) {
    Batch batch(9);
    SqlArray deleted;
    bool any_deleted = false;
    for (const JobUpdate* j : jobs) {
      batch.Put(j->job_id).Put(j->paused).Add(Message4k(j->pause_reason));
      batch.Add(Message4k(j->paused_by)).Put(j->ledger_from);
      batch.Add(j->error.has_value() ? Message4k(*j->error) : SqlParam());
      batch.Put(j->finished).Put(j->deleted).Put(j->checked_until);
      if (!j->deleted) continue;
      deleted.Add(ToParam(j->job_id));
      any_deleted = true;
    }
    TM_RETURN_IF_ERROR(transaction.Run(sql::kUpdateJobs, std::move(batch).Take()).status());
    if (!any_deleted) continue;
    TM_RETURN_IF_ERROR(
        transaction.Run(sql::kArchiveWatermarks, {std::move(deleted).Take()}).status());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteJobs(SqlTransaction& transaction, const Flush& flush) {
  TM_RETURN_IF_ERROR(WriteWatermarks(transaction, flush));
  TM_RETURN_IF_ERROR(WriteSkippedRanges(transaction, flush));
  return WriteJobRows(transaction, flush);
}

}  // namespace tidemark
