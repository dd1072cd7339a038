#include "scheduler/store/backfill_rows.h"

#include <map>
#include <utility>

#include "common/status.h"
#include "common/time_text.h"
#include "scheduler/engine/ports.h"
#include "scheduler/store/array.h"
#include "scheduler/store/batch.h"
#include "scheduler/store/flush_writer.h"
#include "scheduler/store/statements.h"

namespace tidemark {
namespace {

// "2026-11-24 2026-11-25"
std::vector<absl::CivilDay> ReadDates(std::string_view text) {
  std::vector<absl::CivilDay> dates;
  for (size_t at = 0; at + 10 <= text.size(); at += 11) {
    if (const auto date = ParseDate(text.substr(at, 10)); date.ok()) dates.push_back(*date);
  }
  return dates;
}

std::string DateArray(const std::vector<absl::CivilDay>& dates) {
  SqlArray array;
  for (const absl::CivilDay date : dates) array.Add(ToParam(date));
  return std::move(array).Take();
}

}  // namespace

Backfill ReadBackfillRow(const SqlRows& rows, int i) {
  Backfill row;
  row.backfill_id = rows.Text(i, 0);
  row.job_id = rows.Int(i, 1);
  row.from = rows.OptDate(i, 2).value_or(absl::CivilDay());
  row.to = rows.OptDate(i, 3).value_or(absl::CivilDay());
  row.reprocess = ParseReprocess(rows.View(i, 4)).value_or(Reprocess::kMissing);
  row.reverse = rows.Bool(i, 5);
  row.parallel = static_cast<int>(rows.Int(i, 6));
  row.state = ParseBackfillState(rows.View(i, 7)).value_or(BackfillState::kPaused);
  row.state_reason = rows.Text(i, 8);
  row.reason = rows.Text(i, 9);
  row.actor = rows.Text(i, 10);
  row.dates = ReadDates(rows.View(i, 11));
  row.created_at = rows.Time(i, 12);
  row.resumed_at = rows.OptTime(i, 13);
  row.ended_at = rows.OptTime(i, 14);
  return row;
}

absl::StatusOr<std::vector<OpenBackfill>> LoadBackfills(SqlTransaction& transaction,
                                                        const std::string& shards) {
  TM_ASSIGN_OR_RETURN(const SqlRows rows, transaction.Run(sql::kLoadBackfills, {shards}));
  std::vector<OpenBackfill> backfills;
  std::map<std::string, size_t> index;
  SqlArray ids;
  for (int i = 0; i < rows.size(); ++i) {
    backfills.push_back({ReadBackfillRow(rows, i), {}});
    const std::string& id = backfills.back().row.backfill_id;
    index[id] = backfills.size() - 1;
    ids.Add(id);
  }
  if (backfills.empty()) return backfills;
  TM_ASSIGN_OR_RETURN(const SqlRows runs,
                      transaction.Run(sql::kLoadTried, {std::move(ids).Take()}));
  for (int i = 0; i < runs.size(); ++i) {
    OpenBackfill& backfill = backfills[index[runs.Text(i, 0)]];
    const absl::CivilDay date = runs.OptDate(i, 1).value_or(absl::CivilDay());
    const bool again =
        backfill.row.resumed_at.has_value() && runs.Time(i, 3) <= *backfill.row.resumed_at;
    backfill.tried[date] = runs.View(i, 2) == "COMPLETED" ? OpenBackfill::Tried::kDone
                           : again                        ? OpenBackfill::Tried::kAgain
                                                          : OpenBackfill::Tried::kFailed;
  }
  return backfills;
}

absl::Status WriteBackfills(SqlTransaction& transaction, const Flush& flush) {
  const auto key = [](const BackfillWrite& b) { return b.row.backfill_id; };
  for (const auto& writes : UniqueBatches(flush.backfills, key)) {
    Batch batch(15);
    for (const BackfillWrite* write : writes) {
      const Backfill& row = write->row;
      batch.Add(Exact(row.backfill_id)).Put(row.job_id).Put(row.from).Put(row.to);
      batch.Add(std::string(Name(row.reprocess))).Put(row.reverse).Put(row.parallel);
      batch.Add(std::string(Name(row.state))).Add(Message4k(row.state_reason));
      batch.Add(Message4k(row.reason)).Add(Message4k(row.actor)).Add(DateArray(row.dates));
      batch.Put(row.created_at).Put(row.resumed_at).Put(row.ended_at);
    }
    TM_RETURN_IF_ERROR(transaction.Run(sql::kWriteBackfills, std::move(batch).Take()).status());
  }
  for (const DrillWrite& drill : flush.drills) {
    TM_RETURN_IF_ERROR(transaction
                           .Run(sql::kStartDrill, {Exact(drill.drill_id), ToParam(drill.job_id),
                                                   DateArray(drill.dates), Message4k(drill.actor),
                                                   ToParam(drill.started_at)})
                           .status());
  }
  return absl::OkStatus();
}

}  // namespace tidemark
