// Backfills to and from their rows. Only for the store.
#ifndef TIDEMARK_SCHEDULER_STORE_BACKFILL_ROWS_H_
#define TIDEMARK_SCHEDULER_STORE_BACKFILL_ROWS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/core/backfill.h"
#include "scheduler/store/database.h"

namespace tidemark {

// The columns of kLoadBackfills.
Backfill ReadBackfillRow(const SqlRows& rows, int row);

// Those of jobs in `shards` (an array literal) that have not ended, by job and age.
absl::StatusOr<std::vector<OpenBackfill>> LoadBackfills(SqlTransaction& transaction,
                                                        const std::string& shards);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_BACKFILL_ROWS_H_
