// The rows by which a node owns shards: lease, fence, shards. Each function is one transaction.
#ifndef TIDEMARK_SCHEDULER_STORE_LEASE_H_
#define TIDEMARK_SCHEDULER_STORE_LEASE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "scheduler/core/run.h"
#include "scheduler/store/database.h"
#include "scheduler/store/flush_writer.h"
#include "scheduler/store/scheduler_store.h"

namespace tidemark {

struct NodeFacts {
  Owner owner;
  std::string address;
  std::string version;
  absl::Duration lease;
};

// How the nodes and the shards stand.
struct ClusterView {
  int share = 0;                            // shards that this node is to have
  int owned = 0;                            // that it has
  int unowned = 0;                          // without a live owner
  int rows = 0;                             // of shard
  std::optional<absl::Duration> first_end;  // until a lease of another node ends
  std::vector<std::string> addresses;       // of all live nodes, sorted
  std::set<std::string> drained;            // executors, by operators
  std::vector<std::string> endless;         // nodes whose lease lasts for days
};

// Makes lease, fence and flush row. An earlier incarnation of the same node loses its lease at once
// if it is `last_own` or `replace_live`; else FAILED_PRECONDITION while that lease lasts: two
// processes with one id must not take turns. Returns the database's time.
absl::StatusOr<absl::Time> RegisterNode(Connection& connection, const NodeFacts& node,
                                        bool replace_live, const std::string& last_own);

// Owners that are to be fenced before their shards can be taken.
absl::StatusOr<std::vector<Owner>> Predecessors(Connection& connection, const Owner& owner);
// Marks one fenced: waits for every transaction that it has open (X5). DEADLINE_EXCEEDED when that
// takes longer than a statement may: try again. `unknown` (may be null): it had no fence row.
absl::Status Fence(Connection& connection, const Owner& predecessor, bool* unknown = nullptr);

// FAILED_PRECONDITION, with an alert, when rows of shard are missing: their jobs would be silent.
// An owner of the rest would not know of them, so nobody serves before they are back.
absl::Status CheckShards(Connection& connection, const Owner& owner);
// Takes free and fenced shards until this owner has a fair share, raising their epochs. Returns
// those taken: shard → epoch number. `failed_over` (may be null): one of them was owned under
// another timeline than `timeline`, lately (N2). CANCELLED: we are fenced ourselves.
absl::StatusOr<std::map<int, uint64_t>> ClaimShards(Connection& connection, const Owner& owner,
                                                    uint32_t timeline = 1,
                                                    bool* failed_over = nullptr);
absl::StatusOr<ClusterView> LookAtCluster(Connection& connection, const Owner& owner);

// The database's time; nullopt: the lease is over, for good.
absl::StatusOr<std::optional<absl::Time>> RenewLease(Connection& connection, const Owner& owner,
                                                     absl::Duration lease,
                                                     const NodeVitals& vitals = {});
// A graceful end: shards become free, the lease row goes, the incarnation is fenced.
absl::Status ReleaseNode(Connection& connection, const Owner& owner);

// PostgreSQL's timeline; 1 when the role may not ask.
absl::StatusOr<uint32_t> ReadTimeline(Connection& connection);
// Monthly partitions ahead, and rows of terms long gone.
absl::Status Housekeeping(Connection& connection);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_LEASE_H_
