// The SQL of the operator service.
#ifndef TIDEMARK_SCHEDULER_STORE_OPERATOR_STORE_H_
#define TIDEMARK_SCHEDULER_STORE_OPERATOR_STORE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/clock.h"
#include "common/id.h"
#include "scheduler/engine/operator_port.h"
#include "scheduler/store/operator_pool.h"

namespace tidemark {

struct JobLimits {
  int64_t per_app = 100'000;  // jobs that are not deleted
};

// OperatorPort on PostgreSQL, with a few connections of its own. Thread-safe; a call blocks for the
// statement timeout at most. Clock and random must outlive it and be thread-safe.
class OperatorStore : public OperatorPort {
 public:
  OperatorStore(DatabaseOptions options, Clock& clock, Random& random, JobLimits limits = {},
                int connections = 4);

  std::unique_ptr<OperatorPort> As(const Caller& caller) override;

  absl::StatusOr<absl::Time> Now() override;
  absl::StatusOr<std::vector<OperatorJob>> FindJobs(const std::vector<std::string>& names) override;
  absl::StatusOr<std::vector<OperatorJob>> FindUpstreams(
      const std::vector<std::string>& names) override;
  absl::StatusOr<std::vector<OperatorJob>> ListJobs(const std::string& app, const std::string& ns,
                                                    const std::string& after_name,
                                                    int limit) override;
  absl::StatusOr<std::vector<OperatorJob>> JobsAfter(
      const std::vector<std::string>& names) override;
  absl::StatusOr<std::vector<std::string>> SimilarJobs(const std::string& name) override;
  absl::StatusOr<std::optional<int64_t>> JobIdForHistory(const std::string& name) override;
  absl::StatusOr<std::vector<std::string>> WriteJobs(const std::vector<JobWrite>& writes,
                                                     const std::string& actor) override;
  absl::StatusOr<std::shared_ptr<const CalendarSet>> FindCalendars(
      const std::vector<std::string>& names) override;
  absl::StatusOr<std::vector<OperatorCalendar>> ListCalendars() override;
  absl::StatusOr<std::vector<OperatorCalendar>> CalendarVersions(const std::string& name) override;
  absl::StatusOr<std::vector<OperatorJob>> JobsWithCalendar(const std::string& name) override;
  absl::Status WriteCalendar(const CalendarWrite& write, const std::string& actor) override;
  absl::StatusOr<CommandState> AddCommand(const OperatorCommand& command) override;
  absl::StatusOr<std::optional<CommandState>> FindRequest(int64_t job_id,
                                                          const std::string& request_id) override;
  absl::StatusOr<std::vector<CommandState>> DoneCommands(
      const std::vector<std::string>& command_ids) override;
  absl::StatusOr<std::vector<OperatorRun>> ListRuns(const RunFilter& filter) override;  // limit + 1
  absl::StatusOr<std::optional<OperatorRun>> FindRun(const std::string& run_id) override;
  absl::StatusOr<std::vector<OperatorAttempt>> Attempts(const OperatorRun& run) override;
  absl::StatusOr<verify::History> VerifyRows(int64_t job_id, absl::Time since, int limit) override;
  absl::StatusOr<std::optional<OperatorRunLog>> ReadRunLog(const std::string& run_id, int attempt,
                                                           uint64_t offset, size_t bytes) override;
  absl::StatusOr<std::vector<OperatorBackfill>> ListBackfills(std::optional<int64_t> job_id,
                                                              int limit) override;
  absl::StatusOr<std::optional<OperatorBackfill>> FindBackfill(
      const std::string& backfill_id) override;
  absl::StatusOr<std::vector<absl::Duration>> LastDurations(int64_t job_id, int limit) override;
  absl::StatusOr<std::vector<OperatorDrillDate>> FindDrill(const std::string& drill_id) override;
  absl::StatusOr<LedgerRows> Ledger(int64_t job_id) override;
  absl::StatusOr<std::vector<OperatorExecutor>> ListExecutors(const std::string& app,
                                                              bool all) override;
  absl::StatusOr<std::vector<OperatorAlert>> ListAlerts(const std::string& job, bool all,
                                                        int limit) override;
  absl::StatusOr<ClusterRows> Cluster() override;
  absl::StatusOr<bool> DrainNode(const NodeDrain& order) override;

 private:
  OperatorStore(std::shared_ptr<OperatorPool> pool, Caller caller, Clock& clock, Random& random,
                JobLimits limits);
  absl::StatusOr<std::vector<OperatorJob>> JobsNamed(const std::vector<std::string>& names,
                                                     const std::string& ns);
  absl::Status WriteJob(SqlTransaction& tx, const JobWrite& write, const std::string& actor,
                        const std::string& command_id);
  absl::StatusOr<std::vector<OperatorBackfill>> ReadBackfills(const std::string& condition,
                                                              const std::vector<SqlParam>& params);

  const std::shared_ptr<OperatorPool> pool_;
  const Caller caller_;
  Clock& clock_;
  Random& random_;
  const JobLimits limits_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_OPERATOR_STORE_H_
