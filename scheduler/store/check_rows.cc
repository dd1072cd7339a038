// The daily check's verdicts in a flush.
#include <set>
#include <utility>

#include "common/status.h"
#include "scheduler/store/array.h"
#include "scheduler/store/batch.h"
#include "scheduler/store/flush_writer.h"
#include "scheduler/store/statements.h"

namespace tidemark {
namespace {

using DateOfJob = std::pair<int64_t, absl::CivilDay>;

absl::Status WriteSettled(SqlTransaction& transaction, const Flush& flush) {
  const auto key = [](const VerdictSettled& v) { return DateOfJob(v.job_id, v.date); };
  for (const auto& settled : UniqueBatches(flush.verdicts_settled, key)) {
    Batch batch(2);
    for (const VerdictSettled* v : settled) batch.Put(v->job_id).Put(v->date);
    TM_RETURN_IF_ERROR(transaction.Run(sql::kSettleVerdicts, std::move(batch).Take()).status());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteVerdicts(SqlTransaction& transaction, const Flush& flush,
                           std::vector<AlertRaise>* alerts) {
  const auto key = [](const VerdictWrite& v) { return DateOfJob(v.job_id, v.date); };
  for (const auto& verdicts : UniqueBatches(flush.verdicts, key)) {
    Batch batch(8);
    for (const VerdictWrite* v : verdicts) {
      batch.Put(v->job_id).Add(Exact(v->job_name)).Add(Exact(v->ns)).Put(v->date);
      batch.Put(v->expected_at).Add(Exact(v->verdict)).Add(Exact(v->state));
      batch.Add(NullIfEmpty(v->run_id));
    }
    TM_ASSIGN_OR_RETURN(const SqlRows rows,
                        transaction.Run(sql::kWriteVerdicts, std::move(batch).Take()));
    std::set<DateOfJob> written;
    for (int i = 0; i < rows.size(); ++i) {
      written.emplace(rows.Int(i, 0), rows.OptDate(i, 1).value_or(absl::CivilDay()));
    }
    for (const VerdictWrite* v : verdicts) {
      if (v->alert.has_value() && written.count(key(*v)) > 0) alerts->push_back(*v->alert);
    }
  }
  return WriteSettled(transaction, flush);
}

}  // namespace tidemark
