// The SQL of run_log's writer.
#ifndef TIDEMARK_SCHEDULER_STORE_RUN_LOG_ROWS_H_
#define TIDEMARK_SCHEDULER_STORE_RUN_LOG_ROWS_H_

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "scheduler/store/database.h"
#include "scheduler/store/run_log_backlog.h"

namespace tidemark {

// recorded_at of a run's log, derived from its id (a UUID), so that it is the same for ever.
absl::Time RunLogTime(std::string_view run_id);

// The log of one attempt as the table has it.
struct StoredRunLog {
  uint64_t reached = 0;  // nothing below is taken any more
  bool marked = false;   // a row without data says so
  bool ended = false;
};
using StoredRunLogs = std::map<RunLogKey, StoredRunLog>;

// Adds to `known` those of `keys` whose attempt that process has or had, as the database says.
absl::Status LoadRunLogs(SqlTransaction& transaction, const std::set<RunLogKey>& keys,
                         StoredRunLogs* known);

// Writes what of `batch` belongs to logs in `known`, and brings these up to date. Writing the same
// again changes nothing.
absl::Status WriteRunLogs(SqlTransaction& transaction, const RunLogBacklog::Batch& batch,
                          StoredRunLogs* known);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_RUN_LOG_ROWS_H_
