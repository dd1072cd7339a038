// How long the database keeps what ended.
#ifndef TIDEMARK_SCHEDULER_STORE_RETENTION_H_
#define TIDEMARK_SCHEDULER_STORE_RETENTION_H_

#include <string>

#include "absl/status/statusor.h"
#include "scheduler/store/database.h"

namespace tidemark {

// In days, counted from when it was recorded; 0: for ever. What goes is a month at a time.
struct Retention {
  int history_days = 400;  // run_history, run_attempt
  int log_days = 90;       // run_log
};

// Drops the oldest partition that is older than its days and than every live run; its name, "" when
// there is none. ABORTED when others use the table: runs that end must not queue behind it, so it
// does not wait; try again later.
absl::StatusOr<std::string> DropOldPartition(Connection& connection, const Retention& retention);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_RETENTION_H_
