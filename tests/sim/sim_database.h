// PostgreSQL in the simulation: the rows of a cluster, the locks that its owners take, and what
// becomes of both when the primary fails over.
#ifndef TIDEMARK_TESTS_SIM_SIM_DATABASE_H_
#define TIDEMARK_TESTS_SIM_SIM_DATABASE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/core/job.h"
#include "scheduler/store/flush_writer.h"
#include "tests/engine/harness.h"
#include "tests/sim/event_queue.h"

namespace tidemark::sim {

using OwnerKey = std::pair<std::string, std::string>;  // node_id, incarnation
inline OwnerKey KeyOf(const Owner& owner) { return {owner.node_id, owner.incarnation}; }

struct NodeRow {
  std::string incarnation;
  absl::Time lease_until;
  bool draining = false;
};
struct ShardRow {
  std::optional<OwnerKey> owner;
  uint64_t epoch = 0;
  uint32_t timeline = 0;
  absl::Time timeline_since = absl::InfinitePast();
};

// Everything that a standby has a copy of. Its methods are the statements of lease.cc and of a
// flush, each as of one moment, at the database's time `now`.
struct ClusterRows {
  MemoryStore store;
  std::map<std::string, NodeRow> nodes;
  std::map<OwnerKey, bool> fences;  // true: fenced
  std::map<OwnerKey, uint64_t> flushes;
  std::vector<ShardRow> shards = std::vector<ShardRow>(kShards);
  std::map<OwnerKey, int> owned;          // how many of them: what nodes look at each second
  std::map<std::string, Command> orders;  // not done yet
  std::set<std::string> executors_up;
  uint32_t timeline = 1;

  // False: another process has the lease of that node.
  bool Register(const Owner& owner, absl::Time now, absl::Duration lease, bool replace_live,
                const std::string& last_own);
  std::vector<Owner> Predecessors(const Owner& owner, absl::Time now) const;
  bool MayWrite(const Owner& owner) const;  // its fence is there and open
  void Fence(const Owner& owner) { fences[KeyOf(owner)] = true; }
  // Free and fenced shards up to the share; shard → epoch. `failed_over`: one was last taken on
  // another timeline.
  std::map<int, Epoch> Claim(const Owner& owner, absl::Time now, bool* failed_over);
  int Owned(const Owner& owner) const;
  bool ShardsToTake(const Owner& owner, absl::Time now) const;
  // Whether it owns more than its share.
  bool ShardsToGive(const Owner& owner, absl::Time now) const;
  bool Renew(const Owner& owner, absl::Time now, absl::Duration lease);
  void Release(const Owner& owner);
  Snapshot Load(const std::map<int, Epoch>& owned, bool failed_over) const;
  // Writes the flush if it is the next one of that owner. Nullopt: it is not, the term is over.
  // `told`: of the jobs that it tells of, those for which jobs of other shards wait; may be null.
  std::optional<FlushResult> Write(const Owner& owner, const Flush& flush, absl::Time now,
                                   std::vector<std::string>* told = nullptr);
  std::vector<std::string> LiveNodes(absl::Time now) const;

 private:
  int Share(const Owner& owner, absl::Time now) const;
  bool OthersWaitFor(const std::string& job, const Owner& owner) const;
  bool Fenced(const OwnerKey& owner) const;
  bool HasLease(const OwnerKey& owner, absl::Time now) const;
  void SetOwner(ShardRow& shard, std::optional<OwnerKey> owner);
};

// One server: rows, a clock, and what its backends hold locked.
class SimServer {
 public:
  // `start`: the database's time at the queue's present.
  SimServer(const EventQueue& queue, absl::Time start)
      : queue_(queue), start_(start), begin_(queue.now()) {}

  absl::Time Now() const { return start_ + (queue_.now() - begin_) + offset; }

  ClusterRows rows;
  absl::Duration offset;  // its clock stepped so far
  bool up = true;

  // FOR SHARE on the fence; false when it is fenced.
  bool HoldFence(const Owner& owner);
  // The transaction of that owner ends.
  void EndTransaction(const Owner& owner);
  // Fences once no transaction holds the fence, then calls back.
  void Fence(const Owner& owner, std::function<void()> then);
  // Calls back once no transaction of the owner is open, as a lock on its flush row would.
  void AfterTransactions(const Owner& owner, std::function<void()> then);
  int open() const { return open_; }

 private:
  void WaitFor(const OwnerKey& owner, std::function<void()> then);

  const EventQueue& queue_;
  const absl::Time start_;
  const absl::Duration begin_;
  std::map<OwnerKey, int> holders_;
  std::map<OwnerKey, std::vector<std::function<void()>>> waiting_;
  int open_ = 0;
};

}  // namespace tidemark::sim

#endif  // TIDEMARK_TESTS_SIM_SIM_DATABASE_H_
