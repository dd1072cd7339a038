// Reading jobs and live runs. Only for the store.
#ifndef TIDEMARK_SCHEDULER_STORE_SNAPSHOT_H_
#define TIDEMARK_SCHEDULER_STORE_SNAPSHOT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/engine/ports.h"
#include "scheduler/store/database.h"

namespace tidemark {

// Jobs that are not deleted and all live runs of `shards`, from one snapshot of the database; with
// `failed_over` the executors that are up, too.
absl::StatusOr<Snapshot> LoadSnapshot(Connection& connection, const std::map<int, Epoch>& shards,
                                      bool failed_over = false);

// By id, deleted ones included; ids without a row are left out.
absl::StatusOr<std::map<int64_t, JobRow>> LoadJobs(SqlTransaction& transaction,
                                                   const std::vector<int64_t>& job_ids);

// The array literal of the keys of `shards`.
std::string ShardArray(const std::map<int, Epoch>& shards);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_SNAPSHOT_H_
