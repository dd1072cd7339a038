#include "scheduler/store/retention.h"

#include "common/status.h"
#include "scheduler/store/statements.h"

namespace tidemark {

absl::StatusOr<std::string> DropOldPartition(Connection& connection, const Retention& retention) {
  TM_ASSIGN_OR_RETURN(const SqlRows rows,
                      connection.RunOne(sql::kDropPartition, {ToParam(retention.history_days),
                                                              ToParam(retention.log_days)}));
  return rows.Text(0, 0);
}

}  // namespace tidemark
