#include "scheduler/store/shard_keeper.h"

#include <map>
#include <optional>
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
      bool unknown = false;
      const absl::Status status = Fence(*connection, predecessor, &unknown);
      if (status.ok() && unknown) {
        TM_RETURN_IF_ERROR(TellUnknownOwner(*connection, predecessor, new_id_()));
      }
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

absl::Status ShardKeeper::TellOfLeases(const Look& look, absl::Duration now) {
  TM_ASSIGN_OR_RETURN(Connection * connection, session_->Get());
  return endless_.Look(*connection, look.cluster.endless, now, new_id_());
}

absl::Status ShardKeeper::TellOfDamage(bool renewed_lately) {
  const EndedTerm term{term_->owner(), renewed_lately, static_cast<int>(taken_.size())};
  TM_ASSIGN_OR_RETURN(Connection * connection, session_->Get());
  // A fail-over may lose rows, too.
  TM_ASSIGN_OR_RETURN(const uint32_t timeline, ReadTimeline(*connection));
  if (timeline != term_->info().timeline) return absl::OkStatus();
  TM_ASSIGN_OR_RETURN(const std::optional<std::string> damage, FindLeaseDamage(*connection, term));
  if (!damage.has_value()) return absl::OkStatus();
  LogError("rows of this node's lease were changed by another hand", {{"what", *damage}});
  return TellLeaseDamage(*connection, term, *damage, new_id_());
}

}  // namespace tidemark
