#include "tests/sim/sim_database.h"

#include <algorithm>
#include <utility>

namespace tidemark::sim {
namespace {

// Whoever takes a shard so long after a fail-over was found out is told of it, too.
constexpr absl::Duration kFailOverCounts = absl::Minutes(10);

}  // namespace

bool ClusterRows::HasLease(const OwnerKey& owner, absl::Time now) const {
  const auto it = nodes.find(owner.first);
  return it != nodes.end() && it->second.incarnation == owner.second &&
         it->second.lease_until > now;
}

bool ClusterRows::Fenced(const OwnerKey& owner) const {
  const auto it = fences.find(owner);
  return it != fences.end() && it->second;
}

bool ClusterRows::MayWrite(const Owner& owner) const {
  const auto it = fences.find(KeyOf(owner));
  return it != fences.end() && !it->second;
}

bool ClusterRows::Register(const Owner& owner, absl::Time now, absl::Duration lease,
                           bool replace_live, const std::string& last_own) {
  const auto [it, fresh] = nodes.try_emplace(owner.node_id);
  NodeRow& row = it->second;
  if (!fresh && !replace_live && row.incarnation != last_own && row.lease_until > now) {
    return false;
  }
  row.draining = !replace_live && row.draining;
  row.incarnation = owner.incarnation;
  row.lease_until = now + lease;
  fences[KeyOf(owner)] = false;
  flushes[KeyOf(owner)] = 0;
  return true;
}

std::vector<Owner> ClusterRows::Predecessors(const Owner& owner, absl::Time now) const {
  std::set<OwnerKey> keys;
  for (const ShardRow& shard : shards) {
    if (shard.owner && *shard.owner != KeyOf(owner) && !HasLease(*shard.owner, now)) {
      keys.insert(*shard.owner);
    }
  }
  for (const auto& [key, fenced] : fences) {
    if (key.first == owner.node_id && key.second != owner.incarnation && !fenced) keys.insert(key);
  }
  std::vector<Owner> owners;
  for (const auto& [node, incarnation] : keys) owners.push_back({node, incarnation});
  return owners;
}

int ClusterRows::Share(const Owner& owner, absl::Time now) const {
  const auto self = nodes.find(owner.node_id);
  if (self == nodes.end() || self->second.draining) return 0;
  int live = 0;
  for (const auto& [id, node] : nodes) live += node.lease_until > now && !node.draining ? 1 : 0;
  return live == 0 ? kShards : (kShards + live - 1) / live;
}

int ClusterRows::Owned(const Owner& owner) const {
  const auto it = owned.find(KeyOf(owner));
  return it == owned.end() ? 0 : it->second;
}

void ClusterRows::SetOwner(ShardRow& shard, std::optional<OwnerKey> owner) {
  if (shard.owner && --owned[*shard.owner] == 0) owned.erase(*shard.owner);
  if (owner) ++owned[*owner];
  shard.owner = std::move(owner);
}

std::map<int, Epoch> ClusterRows::Claim(const Owner& owner, absl::Time now, bool* failed_over) {
  std::map<int, Epoch> taken;
  int room = Share(owner, now) - Owned(owner);
  for (int i = 0; i < kShards && room > 0; ++i) {
    ShardRow& shard = shards[static_cast<size_t>(i)];
    if (shard.owner && !Fenced(*shard.owner)) continue;
    if (shard.timeline != 0 && shard.timeline != timeline) shard.timeline_since = now;
    if (shard.timeline_since > now - kFailOverCounts) *failed_over = true;
    SetOwner(shard, KeyOf(owner));
    shard.timeline = timeline;
    taken[i] = {timeline, ++shard.epoch};
    --room;
  }
  return taken;
}

bool ClusterRows::ShardsToTake(const Owner& owner, absl::Time now) const {
  if (Owned(owner) >= Share(owner, now)) return false;
  int live = 0;
  for (const auto& [key, count] : owned) live += HasLease(key, now) ? count : 0;
  return live < kShards;
}

bool ClusterRows::ShardsToGive(const Owner& owner, absl::Time now) const {
  return Owned(owner) > Share(owner, now);
}

bool ClusterRows::Renew(const Owner& owner, absl::Time now, absl::Duration lease) {
  if (!HasLease(KeyOf(owner), now) || Fenced(KeyOf(owner))) return false;
  nodes[owner.node_id].lease_until = now + lease;
  return true;
}

void ClusterRows::Release(const Owner& owner) {
  if (!MayWrite(owner)) return;
  for (ShardRow& shard : shards) {
    if (shard.owner == KeyOf(owner)) SetOwner(shard, std::nullopt);
  }
  const auto it = nodes.find(owner.node_id);
  if (it != nodes.end() && it->second.incarnation == owner.incarnation) nodes.erase(it);
  Fence(owner);
}

Snapshot ClusterRows::Load(const std::map<int, Epoch>& owned, bool failed_over) const {
  std::set<int> only;
  for (const auto& [shard, epoch] : owned) only.insert(shard);
  Snapshot snapshot = store.Load(&only);
  const auto foreign = [&](int64_t job_id) {
    const auto it = store.jobs.find(job_id);
    return it == store.jobs.end() || !owned.contains(it->second.shard);
  };
  if (snapshot.unsettled) std::erase_if(*snapshot.unsettled, foreign);
  snapshot.shards = owned;
  snapshot.timeline = timeline;
  snapshot.failed_over = failed_over;
  if (!failed_over) return snapshot;
  for (const std::string& id : executors_up) {
    snapshot.executors.push_back({id, "app", "default", store.executors.at(id).first});
  }
  return snapshot;
}

std::optional<FlushResult> ClusterRows::Write(const Owner& owner, const Flush& flush,
                                              absl::Time now, std::vector<std::string>* told) {
  const auto seq = flushes.find(KeyOf(owner));
  if (seq == flushes.end() || seq->second + 1 != flush.seq) return std::nullopt;
  seq->second = flush.seq;
  store.now = now;
  FlushResult result = store.Apply(flush);
  for (Command& order : std::exchange(store.orders, {})) orders[order.command_id] = order;
  for (const std::string& job : std::exchange(store.news, {})) {
    if (told != nullptr && OthersWaitFor(job, owner)) told->push_back(job);
  }
  for (const CommandDone& done : flush.commands) orders.erase(done.command_id);
  for (const ExecutorRegister& row : flush.registers) executors_up.insert(row.executor_id);
  for (const ExecutorState& row : flush.executors) {
    if (row.state == "UP") executors_up.insert(row.executor_id);
    if (row.state == "LOST" || row.state == "GONE") executors_up.erase(row.executor_id);
  }
  return result;
}

bool ClusterRows::OthersWaitFor(const std::string& job, const Owner& owner) const {
  const auto [begin, end] = store.after.equal_range(job);
  return std::any_of(begin, end, [&](const auto& entry) {
    const auto waiting = store.jobs.find(entry.second.first);
    return waiting != store.jobs.end() &&
           shards[static_cast<size_t>(waiting->second.shard)].owner != KeyOf(owner);
  });
}

std::vector<std::string> ClusterRows::LiveNodes(absl::Time now) const {
  std::vector<std::string> live;
  for (const auto& [id, node] : nodes) {
    if (node.lease_until > now) live.push_back(id);
  }
  return live;
}

// ---------------------------------------------------------------- locks

bool SimServer::HoldFence(const Owner& owner) {
  if (!rows.MayWrite(owner)) return false;
  ++holders_[KeyOf(owner)];
  ++open_;
  return true;
}

void SimServer::EndTransaction(const Owner& owner) {
  --open_;
  if (--holders_[KeyOf(owner)] > 0) return;
  holders_.erase(KeyOf(owner));
  std::vector<std::function<void()>> waiting;
  waiting.swap(waiting_[KeyOf(owner)]);
  for (const auto& then : waiting) WaitFor(KeyOf(owner), then);
}

void SimServer::WaitFor(const OwnerKey& owner, std::function<void()> then) {
  if (holders_.contains(owner)) {
    waiting_[owner].push_back(std::move(then));
  } else {
    then();
  }
}

void SimServer::Fence(const Owner& owner, std::function<void()> then) {
  WaitFor(KeyOf(owner), [this, owner, then = std::move(then)] {
    rows.Fence(owner);
    then();
  });
}

void SimServer::AfterTransactions(const Owner& owner, std::function<void()> then) {
  WaitFor(KeyOf(owner), std::move(then));
}

}  // namespace tidemark::sim
