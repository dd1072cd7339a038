#include "scheduler/store/shard_keeper.h"

#include <map>
#include <utility>

#include "common/log.h"
#include "common/status.h"
#include "scheduler/store/snapshot.h"

namespace tidemark {

absl::Status ShardKeeper::FenceOthers(const std::function<bool()>& stopping) {
  TM_ASSIGN_OR_RETURN(Connection * connection, session_->Get());
  TM_ASSIGN_OR_RETURN(const std::vector<Owner> predecessors,
                      Predecessors(*connection, term_->owner()));
  for (const Owner& predecessor : predecessors) {
    for (;;) {
      if (term_->Over()) return absl::CancelledError(term_->why());
      if (stopping()) return absl::UnavailableError("the store stops");
      const absl::Status status = Fence(*connection, predecessor);
      if (status.ok()) break;
      if (status.code() != absl::StatusCode::kDeadlineExceeded) return status;
      LogWarn("waits for a transaction of the former owner",
              {{"node", predecessor.node_id}, {"incarnation", predecessor.incarnation}});
    }
    LogInfo("former owner fenced",
            {{"node", predecessor.node_id}, {"incarnation", predecessor.incarnation}});
  }
  return absl::OkStatus();
}

absl::StatusOr<Snapshot> ShardKeeper::Take() {
  const uint32_t timeline = term_->info().timeline;
  TM_ASSIGN_OR_RETURN(Connection * connection, session_->Get());
  bool failed_over = false;
  TM_ASSIGN_OR_RETURN(const auto claimed,
                      ClaimShards(*connection, term_->owner(), timeline, &failed_over));
  std::map<int, Epoch> shards;
  for (const auto& [shard, number] : claimed) {
    shards[shard] = {timeline, number};
    taken_.insert(shard);
  }
  TM_ASSIGN_OR_RETURN(Snapshot snapshot, LoadSnapshot(*connection, shards, failed_over));
  snapshot.timeline = timeline;
  return snapshot;
}

absl::StatusOr<ShardKeeper::Look> ShardKeeper::LookAround() {
  TM_ASSIGN_OR_RETURN(Connection * connection, session_->Get());
  Look look;
  TM_ASSIGN_OR_RETURN(look.cluster, LookAtCluster(*connection, term_->owner()));
  const ClusterView& view = look.cluster;
  if (view.owned != static_cast<int>(taken_.size())) {
    look.verdict = Verdict::kLost;
  } else if (view.owned > view.share) {
    look.verdict = Verdict::kGive;
  } else if (view.unowned > 0 && view.owned < view.share) {
    look.verdict = Verdict::kTake;
  }
  return look;
}

}  // namespace tidemark
