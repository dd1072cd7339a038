// Reports that a node takes in for the owner of the run (X7). Only for the store.
#ifndef TIDEMARK_SCHEDULER_STORE_INBOX_ROWS_H_
#define TIDEMARK_SCHEDULER_STORE_INBOX_ROWS_H_

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/engine/ports.h"
#include "scheduler/store/database.h"

namespace tidemark {

// Of a flush: adds the reports of attempts that are live, and tells their owners; deletes those
// that were dealt with, but for runs of jobs in `left_out`, of which nothing took effect.
absl::Status WriteInbox(SqlTransaction& transaction, const Flush& flush,
                        const std::set<int64_t>& left_out);

// What one term has read of the inbox. Used by one thread.
class InboxReader {
 public:
  static constexpr int64_t kMostAtOnce = 500;

  // What there is for `shards` (an array's literal) and was not read before, oldest first, at most
  // kMostAtOnce; nothing of it counts as read before Delivered.
  absl::StatusOr<std::vector<InboxItem>> Read(SqlTransaction& transaction,
                                              const std::string& shards);
  void Delivered();

 private:
  // run_id, attempt, received_at: a row that was taken may come again, and is another one then.
  using Key = std::tuple<std::string, int, std::string>;

  std::set<Key> known_;  // delivered, and there at the last look
  std::set<Key> read_;   // by the last Read
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_INBOX_ROWS_H_
