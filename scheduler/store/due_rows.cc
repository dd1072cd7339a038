// Due dates of a flush.
#include <utility>

#include "common/status.h"
#include "scheduler/store/array.h"
#include "scheduler/store/batch.h"
#include "scheduler/store/flush_writer.h"
#include "scheduler/store/statements.h"

namespace tidemark {
namespace {

absl::Status Forget(SqlTransaction& transaction, const DueNote& note) {
  SqlArray stay;
  for (const auto& [date, fire_time] : note.dates) stay.Add(ToParam(date));
  return transaction.Run(sql::kForgetDue, {ToParam(note.job_id), std::move(stay).Take()}).status();
}

}  // namespace

absl::Status WriteDueNotes(SqlTransaction& transaction, const Flush& flush) {
  const auto key = [](const DueNote& n) { return n.job_id; };
  for (const auto& notes : UniqueBatches(flush.notes, key)) {
    Batch dates(3);
    Batch until(2);
    for (const DueNote* note : notes) {
      if (note->anew) TM_RETURN_IF_ERROR(Forget(transaction, *note));
      for (const auto& [date, fire_time] : note->dates) {
        dates.Put(note->job_id).Put(date).Put(fire_time);
      }
      until.Put(note->job_id).Put(note->until);
    }
    TM_RETURN_IF_ERROR(transaction.Run(sql::kNoteDue, std::move(dates).Take()).status());
    TM_RETURN_IF_ERROR(transaction.Run(sql::kDueUntil, std::move(until).Take()).status());
  }
  return absl::OkStatus();
}

}  // namespace tidemark
