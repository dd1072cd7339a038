// What the operator service asks of the database: definitions, orders and listings.
#ifndef TIDEMARK_SCHEDULER_ENGINE_OPERATOR_PORT_H_
#define TIDEMARK_SCHEDULER_ENGINE_OPERATOR_PORT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "scheduler/engine/caller.h"
#include "scheduler/engine/operator_rows.h"
#include "scheduler/verify/history.h"

namespace tidemark {

// Implementations are thread-safe; calls block for as long as the database takes. Errors:
// UNAVAILABLE (no database now; nothing was changed), UNKNOWN (the link broke during a commit),
// ABORTED where said, DEADLINE_EXCEEDED, and what else the store's codes are.
class OperatorPort {
 public:
  virtual ~OperatorPort() = default;

  // The same database as `caller` sees it: of its namespace alone, what is foreign does not exist;
  // and what it changes is in the audit under its name. May not outlive this one. Jobs that wait
  // for one of the caller's, or for which one waits, are the exception: a chain is shown whole.
  virtual std::unique_ptr<OperatorPort> As(const Caller& caller) = 0;

  // ---- jobs (deleted ones do not exist)

  // The database's time.
  virtual absl::StatusOr<absl::Time> Now() = 0;
  // Those of `names` that exist, with their versions, by name.
  virtual absl::StatusOr<std::vector<OperatorJob>> FindJobs(
      const std::vector<std::string>& names) = 0;
  // The same for jobs that others wait for, of whatever namespace.
  virtual absl::StatusOr<std::vector<OperatorJob>> FindUpstreams(
      const std::vector<std::string>& names) = 0;
  // A page by name, at most `limit` + 1 (so the caller sees whether there is more).
  virtual absl::StatusOr<std::vector<OperatorJob>> ListJobs(const std::string& app,
                                                            const std::string& ns,
                                                            const std::string& after_name,
                                                            int limit) = 0;
  // At most 1,000 names that are near `name` (by length and beginning), for suggestions.
  virtual absl::StatusOr<std::vector<std::string>> SimilarJobs(const std::string& name) = 0;
  // Those whose definition in force waits for one of these, by name.
  virtual absl::StatusOr<std::vector<OperatorJob>> JobsAfter(
      const std::vector<std::string>& names) = 0;
  // The newest job of that name, deleted ones included, for its history.
  virtual absl::StatusOr<std::optional<int64_t>> JobIdForHistory(const std::string& name) = 0;

  // Makes and changes jobs, all or none, each with its audit row and a `job_changed` order to its
  // owner. ABORTED: one of them, or its calendar, is no longer at its expected version; read
  // again. RESOURCE_EXHAUSTED: an app would have more jobs than it may. Returns the command ids.
  virtual absl::StatusOr<std::vector<std::string>> WriteJobs(const std::vector<JobWrite>& writes,
                                                             const std::string& actor) = 0;

  // ---- calendars

  // All versions of those that exist; null when none does.
  virtual absl::StatusOr<std::shared_ptr<const CalendarSet>> FindCalendars(
      const std::vector<std::string>& names) = 0;
  // The version in force of each, by name.
  virtual absl::StatusOr<std::vector<OperatorCalendar>> ListCalendars() = 0;
  // All versions of one, the newest first.
  virtual absl::StatusOr<std::vector<OperatorCalendar>> CalendarVersions(
      const std::string& name) = 0;
  // The jobs of which any version names that calendar, by job_id.
  virtual absl::StatusOr<std::vector<OperatorJob>> JobsWithCalendar(const std::string& name) = 0;
  // Adds a version with its audit row, and a `job_changed` order for each job that names it.
  // ABORTED: the version in force or the jobs are others by now; read again.
  virtual absl::Status WriteCalendar(const CalendarWrite& write, const std::string& actor) = 0;

  // ---- orders

  // Records an order and its audit row. An order of that job with the same request_id, or the same
  // command_id, is returned instead, as it stands.
  virtual absl::StatusOr<CommandState> AddCommand(const OperatorCommand& command) = 0;
  // The order of that job with that request_id, if there is one.
  virtual absl::StatusOr<std::optional<CommandState>> FindRequest(
      int64_t job_id, const std::string& request_id) = 0;
  // Those of `command_ids` that are carried out or refused.
  virtual absl::StatusOr<std::vector<CommandState>> DoneCommands(
      const std::vector<std::string>& command_ids) = 0;

  // ---- runs

  virtual absl::StatusOr<std::vector<OperatorRun>> ListRuns(
      const RunFilter& filter) = 0;  // limit + 1
  virtual absl::StatusOr<std::optional<OperatorRun>> FindRun(const std::string& run_id) = 0;
  // By number. The one that is under way has no end.
  virtual absl::StatusOr<std::vector<OperatorAttempt>> Attempts(const OperatorRun& run) = 0;

  // The log of an attempt (0: the last) from `offset` on, at least `bytes` long if there is as
  // much. nullopt: no such run.
  virtual absl::StatusOr<std::optional<OperatorRunLog>> ReadRunLog(const std::string& run_id,
                                                                   int attempt, uint64_t offset,
                                                                   size_t bytes) = 0;

  // ---- backfills and drills

  // Newest first.
  virtual absl::StatusOr<std::vector<OperatorBackfill>> ListBackfills(std::optional<int64_t> job_id,
                                                                      int limit) = 0;
  virtual absl::StatusOr<std::optional<OperatorBackfill>> FindBackfill(
      const std::string& backfill_id) = 0;
  // Of the job's last completed runs, at most `limit`.
  virtual absl::StatusOr<std::vector<absl::Duration>> LastDurations(int64_t job_id, int limit) = 0;
  // By date; empty: there is no such drill.
  virtual absl::StatusOr<std::vector<OperatorDrillDate>> FindDrill(const std::string& drill_id) = 0;

  // ---- the rest

  // All that is kept of that job and the oracle asks for, and of the jobs that it waits for, but
  // definitions and calendars, from one snapshot; of runs those whose id was made at `since` or
  // later. RESOURCE_EXHAUSTED: there are more than `limit`.
  virtual absl::StatusOr<verify::History> VerifyRows(int64_t job_id, absl::Time since,
                                                     int limit) = 0;
  virtual absl::StatusOr<LedgerRows> Ledger(int64_t job_id) = 0;
  virtual absl::StatusOr<std::vector<OperatorExecutor>> ListExecutors(const std::string& app,
                                                                      bool all) = 0;
  virtual absl::StatusOr<std::vector<OperatorAlert>> ListAlerts(const std::string& job, bool all,
                                                                int limit) = 0;
  virtual absl::StatusOr<ClusterRows> Cluster() = 0;
  // Sets whether a node is draining, with its audit row; false: it was so already. NOT_FOUND, and
  // FAILED_PRECONDITION when it is not alive, or the last that takes shards.
  virtual absl::StatusOr<bool> DrainNode(const NodeDrain& order) = 0;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_OPERATOR_PORT_H_
