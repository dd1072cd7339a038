// Carries out one flush inside a transaction.
#ifndef TIDEMARK_SCHEDULER_STORE_FLUSH_WRITER_H_
#define TIDEMARK_SCHEDULER_STORE_FLUSH_WRITER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/id.h"
#include "scheduler/engine/ports.h"
#include "scheduler/store/database.h"

namespace tidemark {

// Who writes: one term of a node.
struct Owner {
  std::string node_id;
  std::string incarnation;
};

// Of a session that writes flushes. What they touch is in memory, and active_run has many pages of
// dead rows for one of live ones: of a thousand runs each is found by the index.
inline DatabaseOptions ForFlushes(DatabaseOptions options) {
  options.random_page_cost = "0.1";
  return options;
}

// CANCELLED is this status alone: the term is over (fenced, or its flush row is not as expected).
bool IsTermOver(const absl::Status& status);

// X5: holds this owner's fence for the transaction. Returns the database's time, or CANCELLED.
absl::StatusOr<absl::Time> HoldFence(SqlTransaction& transaction, const Owner& owner);

// Holds the fence, counts the flush, and writes every list in the order of ports.h; what runs need
// of that is one statement. Fills the sets of `result` from the rows that the database wrote.
// `left_out`: jobs whose part is not in `flush` any more. `at`: the database's time after the fence
// was held, set even when a later list fails; may be null. CANCELLED: the term is over.
absl::Status WriteFlush(SqlTransaction& transaction, const Owner& owner, const Flush& flush,
                        const std::set<int64_t>& left_out, Random& random, Clock& clock,
                        FlushResult* result, absl::Time* at = nullptr);

// The parts, in files of their own.
absl::Status WriteRuns(SqlTransaction& transaction, const Owner& owner, const Flush& flush,
                       absl::Time* at, FlushResult* result);
absl::Status WriteDueNotes(SqlTransaction& transaction, const Flush& flush);
// Adds the alerts of the verdicts that were given.
absl::Status WriteVerdicts(SqlTransaction& transaction, const Flush& flush,
                           std::vector<AlertRaise>* alerts);
absl::Status WriteBackfills(SqlTransaction& transaction, const Flush& flush);
absl::Status WriteJobs(SqlTransaction& transaction, const Flush& flush);
absl::Status RegisterExecutors(SqlTransaction& transaction, const Flush& flush,
                               FlushResult* result);

// What the table knows of an executor_id, for Decide.
struct ExecutorFacts {
  std::string app;
  int64_t registration = 0;              // the highest given out; 0: none yet
  std::string incarnation;               // that has it
  std::map<std::string, int64_t> known;  // every incarnation that ever registered
  bool drained = false;
};
// Which registration a process gets (design: of one executor_id only the highest may act).
ExecutorRegistered Decide(const ExecutorRegister& request, const ExecutorFacts& facts);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_FLUSH_WRITER_H_
