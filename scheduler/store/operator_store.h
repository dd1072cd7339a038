// The SQL of the operator service: definitions, orders and listings.
#ifndef TIDEMARK_SCHEDULER_STORE_OPERATOR_STORE_H_
#define TIDEMARK_SCHEDULER_STORE_OPERATOR_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/civil_time.h"
#include "common/clock.h"
#include "common/id.h"
#include "scheduler/store/operator_pool.h"
#include "scheduler/store/operator_rows.h"

namespace tidemark {

// Thread-safe; calls block for as long as the database takes (its statement timeout at most).
// Besides the codes of Connection: NOT_FOUND where said. Clock and random must outlive it and be
// thread-safe.
class OperatorStore {
 public:
  OperatorStore(DatabaseOptions options, Clock& clock, Random& random, int connections = 4);

  // ---- jobs (deleted ones do not exist)

  // The database's time.
  absl::StatusOr<absl::Time> Now();
  // Those of `names` that exist, with their versions, by name.
  absl::StatusOr<std::vector<OperatorJob>> FindJobs(const std::vector<std::string>& names);
  // A page by name, at most `limit` + 1 (so the caller sees whether there is more).
  absl::StatusOr<std::vector<OperatorJob>> ListJobs(const std::string& app, const std::string& ns,
                                                    const std::string& after_name, int limit);
  // At most 1,000 names that are near `name` (by length and beginning), for suggestions.
  absl::StatusOr<std::vector<std::string>> SimilarJobs(const std::string& name);
  // The newest job of that name, deleted ones included, for its history.
  absl::StatusOr<std::optional<int64_t>> JobIdForHistory(const std::string& name);

  // Makes and changes jobs, all or none, each with its audit row and a `job_changed` order to its
  // owner. ABORTED: one of them is no longer at its expected_version; read again. Returns the
  // command ids.
  absl::StatusOr<std::vector<std::string>> WriteJobs(const std::vector<JobWrite>& writes,
                                                     const std::string& actor);

  // ---- orders

  // Records an order and its audit row. An order of that job with the same request_id, or the same
  // command_id, is returned instead, as it stands.
  absl::StatusOr<CommandState> AddCommand(const OperatorCommand& command);
  // The order of that job with that request_id, if there is one.
  absl::StatusOr<std::optional<CommandState>> FindRequest(int64_t job_id,
                                                          const std::string& request_id);
  // Those of `command_ids` that are carried out or refused.
  absl::StatusOr<std::vector<CommandState>> DoneCommands(
      const std::vector<std::string>& command_ids);

  // ---- runs

  absl::StatusOr<std::vector<OperatorRun>> ListRuns(const RunFilter& filter);  // limit + 1
  absl::StatusOr<std::optional<OperatorRun>> FindRun(const std::string& run_id);
  // By number. The one that is under way has no end.
  absl::StatusOr<std::vector<OperatorAttempt>> Attempts(const OperatorRun& run);

  // ---- the rest

  absl::StatusOr<LedgerRows> Ledger(int64_t job_id);
  absl::StatusOr<std::vector<OperatorExecutor>> ListExecutors(const std::string& app, bool all);
  absl::StatusOr<std::vector<OperatorAlert>> ListAlerts(const std::string& job, bool all,
                                                        int limit);
  absl::StatusOr<ClusterRows> Cluster();

 private:
  absl::Status WriteJob(SqlTransaction& tx, const JobWrite& write, const std::string& actor,
                        const std::string& command_id);

  OperatorPool pool_;
  Clock& clock_;
  Random& random_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_OPERATOR_STORE_H_
