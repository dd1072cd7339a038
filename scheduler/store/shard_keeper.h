// What the supervisor of a term does about shards.
#ifndef TIDEMARK_SCHEDULER_STORE_SHARD_KEEPER_H_
#define TIDEMARK_SCHEDULER_STORE_SHARD_KEEPER_H_

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/engine/ports.h"
#include "scheduler/store/lease.h"
#include "scheduler/store/lease_damage.h"
#include "scheduler/store/session.h"
#include "scheduler/store/term.h"

namespace tidemark {

// Takes shards for one term: at its start, and in its middle those that became free or whose owner
// died, under the same incarnation. It never gives any: a node that has too many, or that is
// drained, starts a new term, which takes only its share. Used by the supervisor's thread; owns
// nothing.
class ShardKeeper {
 public:
  // `new_id`: makes UUIDs.
  ShardKeeper(Session* session, Term* term, std::function<std::string()> new_id)
      : session_(session), term_(term), new_id_(std::move(new_id)) {}

  // Marks owners without a lease, and earlier incarnations of this node, fenced; waits for what
  // they have open. `stopping`: whether to leave off.
  absl::Status FenceOthers(const std::function<bool()>& stopping);
  // Takes what is free or fenced, up to the share, and loads it; perhaps nothing. After an error
  // nobody knows whether something was taken: the term must end.
  absl::StatusOr<Snapshot> Take();

  enum class Verdict {
    kNothing,
    kTake,  // there are shards for this node
    kGive,  // it has more than its share
    kLost   // shards of the term are not this node's in the database: somebody changed the rows
  };
  struct Look {
    Verdict verdict = Verdict::kNothing;
    ClusterView cluster;
  };
  absl::StatusOr<Look> LookAround();
  // `now`: Clock::Monotonic. Raises an alert when the leases that `look` saw cannot be right.
  absl::Status TellOfLeases(const Look& look, absl::Duration now);
  // The term is over: raises an alert if it is so because somebody changed its rows.
  // `renewed_lately`: its lease cannot have run out.
  absl::Status TellOfDamage(bool renewed_lately);

 private:
  Session* const session_;
  Term* const term_;
  const std::function<std::string()> new_id_;
  EndlessLeases endless_;
  std::set<int> taken_;  // in this term
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_SHARD_KEEPER_H_
