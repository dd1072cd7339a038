#include "scheduler/store/alert_outbox.h"

#include <vector>

#include "common/status.h"
#include "scheduler/store/array.h"
#include "scheduler/store/statements.h"

namespace tidemark {

absl::StatusOr<int> AlertOutbox::LogSome(int limit,
                                         const std::function<void(const OutboxAlert&)>& log) {
  TM_ASSIGN_OR_RETURN(Connection * connection, session_.Get());
  int count = 0;
  TM_RETURN_IF_ERROR(connection->Transact([&](SqlTransaction& transaction) -> absl::Status {
    TM_ASSIGN_OR_RETURN(const SqlRows rows,
                        transaction.Run(sql::kUnloggedAlerts, {ToParam(limit)}));
    std::vector<std::string> ids;
    for (int i = 0; i < rows.size(); ++i) {
      log({rows.Text(i, 0), rows.Text(i, 1), rows.Text(i, 2), rows.Text(i, 3), rows.Text(i, 4),
           rows.Text(i, 5), rows.Text(i, 6), rows.Text(i, 7), rows.Text(i, 8)});
      ids.push_back(rows.Text(i, 0));
    }
    count = rows.size();
    if (ids.empty()) return absl::OkStatus();
    return transaction.Run(sql::kMarkLogged, {ToArray(ids)}).status();
  }));
  return count;
}

}  // namespace tidemark
