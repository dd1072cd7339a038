// Terms of a simulated node: as SchedulerStore and LeaseRenewer make them.
#include <algorithm>
#include <utility>

#include "tests/sim/sim_node.h"

namespace tidemark::sim {
namespace {

constexpr absl::Duration kLease = absl::Seconds(10);
constexpr absl::Duration kRenewEvery = absl::Seconds(3);
constexpr absl::Duration kStopAfter = absl::Seconds(8);
constexpr absl::Duration kRetry = absl::Milliseconds(200);
constexpr absl::Duration kLook = absl::Seconds(1);
constexpr absl::Duration kNoAnswer = absl::Seconds(3);

}  // namespace

// ---------------------------------------------------------------- the lease

void SimNode::Acquire() {
  if (term_ != nullptr || stopping_) return;
  const ServerPointer server = Connect();
  if (server == nullptr) return Later(kRetry, [this] { Acquire(); });
  const absl::Duration sent = clock_.Monotonic();
  Later(Trip(), [this, server, sent, connection = connection_] {
    if (connection != connection_ || !server->up) return Acquire();
    const std::string incarnation = NewUuid(clock_.WallNow(), random_);
    const absl::Time now = server->Now();
    if (!server->rows.Register({name_, incarnation}, now, kLease, last_incarnation_.empty(),
                               last_incarnation_)) {
      return Later(absl::Seconds(1), [this] { Acquire(); });
    }
    Later(Trip(), [this, server, incarnation, now, sent, connection] {
      if (connection != connection_) return Acquire();
      Registered(server, incarnation, now, sent);
    });
  });
}

void SimNode::Registered(const ServerPointer& server, const std::string& incarnation,
                         absl::Time now, absl::Duration sent) {
  term_ = std::make_shared<TermState>();
  term_->info = {++terms_, name_, incarnation, server->rows.timeline};
  term_->term = std::make_unique<Term>(term_->info, &gate_, &clock_, kStopAfter, sent, &wake_);
  last_incarnation_ = incarnation;
  gate_.ClockSampled({now, sent, clock_.Monotonic()});
  PlanRenewal(term_, kRenewEvery);
  Take(term_);
}

void SimNode::PlanRenewal(const TermPointer& t, absl::Duration after) {
  Later(after, [this, t] { Renew(t); });
}

void SimNode::Renew(const TermPointer& t) {
  if (!Current(t)) return;
  if (t->term->Over()) return Finish(t);
  const ServerPointer server = Connect();
  if (server == nullptr) return PlanRenewal(t, kRetry);
  const absl::Duration sent = clock_.Monotonic();
  const bool lost = random_.Uniform() < slow / 4;
  // What was sent arrives, whatever became of the process.
  queue_.After(Trip(), [this, t, server, sent, lost, connection = connection_] {
    const absl::Time now = server->Now();
    const bool renewed = server->up && server->rows.Renew(t->owner(), now, kLease);
    if (!Current(t)) return;
    if (lost || connection != connection_ || !server->up) {
      return PlanRenewal(t, lost ? kNoAnswer : kRetry);
    }
    const uint32_t timeline = server->rows.timeline;
    Later(Trip(), [this, t, sent, now, renewed, timeline] {
      if (!Current(t)) return;
      if (!renewed) return EndTerm(t, "the lease was lost");
      if (timeline != t->info.timeline) return EndTerm(t, "the database failed over");
      t->term->Renewed(sent);
      gate_.ClockSampled({now, sent, clock_.Monotonic()});
      PlanRenewal(t, kRenewEvery);
    });
  });
}

// ---------------------------------------------------------------- shards

void SimNode::FenceAll(const TermPointer& t, std::vector<Owner> owners,
                       std::function<void()> then) {
  if (!Current(t)) return;
  if (owners.empty()) return then();
  const ServerPointer server = Connect();
  if (server == nullptr || t->term->Over()) return EndTerm(t, "out of reach of the database");
  const Owner owner = owners.back();
  owners.pop_back();
  Later(Trip(), [this, t, server, owner, owners = std::move(owners), then = std::move(then)] {
    server->Fence(owner, [this, t, owners, then] {
      Later(Trip(), [this, t, owners, then] { FenceAll(t, owners, then); });
    });
  });
}

void SimNode::Take(const TermPointer& t) {
  const ServerPointer server = Connect();
  if (server == nullptr) return EndTerm(t, "out of reach of the database");
  FenceAll(t, server->rows.Predecessors(t->owner(), server->Now()), [this, t] { Claim(t); });
}

void SimNode::Claim(const TermPointer& t) {
  const ServerPointer server = Connect();
  if (server == nullptr) return EndTerm(t, "out of reach of the database");
  if (server->rows.timeline != t->info.timeline) return EndTerm(t, "the database failed over");
  if (!server->rows.MayWrite(t->owner())) return EndTerm(t, "fenced");
  bool failed_over = false;
  const std::map<int, Epoch> shards = server->rows.Claim(t->owner(), server->Now(), &failed_over);
  // Another transaction, in a snapshot of its own.
  Later(Trip(), [this, t, server, shards, failed_over, connection = connection_] {
    if (!Current(t)) return;
    if (connection != connection_ || !server->up) {
      return EndTerm(t, "the connection broke while shards were taken");
    }
    Later(Trip(),
          [this, t, snapshot = server->rows.Load(shards, failed_over)] { Loaded(t, snapshot); });
  });
}

void SimNode::Loaded(const TermPointer& t, Snapshot snapshot) {
  if (!Current(t)) return;
  for (const auto& [shard, epoch] : snapshot.shards) t->shards.insert(shard);
  const std::string text =
      name_ + ": " + std::to_string(snapshot.shards.size()) + " shards " +
      (t->started ? "gained" : "taken") + ", epochs from " +
      (snapshot.shards.empty() ? "none" : std::to_string(snapshot.shards.begin()->second.number)) +
      (snapshot.failed_over ? ", after a fail-over" : "");
  if (t->started) {
    if (snapshot.shards.empty()) return;
    outside_.told(text);
    t->term->Deliver([&](StoreListener* to) { to->OnShardsGained(std::move(snapshot)); });
    return;
  }
  outside_.told(text);
  t->started = true;
  t->term->Start(std::move(snapshot));
  if (const ServerPointer server = Connect()) TellNodes(*server);
  Watch(t);
}

// ---------------------------------------------------------------- while it lasts

void SimNode::Watch(const TermPointer& t) {
  if (!Current(t)) return;
  if (t->term->Over()) return Finish(t);
  const ServerPointer server = Connect();
  if (server != nullptr) Look(t, *server);
  if (!Current(t)) return;
  // At the deadline the term ends, whoever looks.
  const absl::Duration deadline = clock_.QueueTime(t->term->deadline()) - queue_.now();
  Later(std::clamp(deadline, absl::Milliseconds(1), kLook), [this, t] { Watch(t); });
}

void SimNode::Look(const TermPointer& t, SimServer& server) {
  const absl::Time now = server.Now();
  TellNodes(server);
  Poll(t, server);
  if (t->leaving) return;
  if (server.rows.Owned(t->owner()) != static_cast<int>(t->shards.size())) {
    EndTerm(t, "its shards name another owner");
  } else if (server.rows.ShardsToGive(t->owner(), now)) {
    outside_.told(name_ + ": gives shards back");
    t->leaving = true;
    LeaveIfWritten(t);
  } else if (server.rows.ShardsToTake(t->owner(), now)) {
    Take(t);
  }
}

void SimNode::TellNodes(const SimServer& server) {
  std::vector<std::string> live = server.rows.LiveNodes(server.Now());
  if (live != nodes_ && term_ != nullptr) {
    term_->term->Deliver([&](StoreListener* to) { to->OnNodes(std::move(live)); });
  }
}

// Orders and what other nodes took in: each once a term.
void SimNode::Poll(const TermPointer& t, const SimServer& server) {
  std::vector<Command> commands;
  const auto& jobs = server.rows.store.jobs;
  for (const auto& [id, order] : server.rows.orders) {
    const auto job = jobs.find(order.job_id);
    if (job == jobs.end() || !t->shards.contains(job->second.shard)) continue;
    if (!t->known_orders.insert(id).second) continue;
    commands.push_back(order);
    commands.back().job = job->second;
  }
  std::vector<InboxItem> items;
  for (const auto& [shard, item] : server.rows.store.inbox) {
    if (t->shards.contains(shard) && t->known_inbox.insert(item.attempt).second) {
      items.push_back(item);
    }
  }
  const absl::Duration read = clock_.Monotonic();
  Later(Trip(), [this, t, commands = std::move(commands), items = std::move(items), read] {
    if (!Current(t)) return;
    if (!commands.empty()) {
      t->term->Deliver([&](StoreListener* to) { to->OnCommands(commands); });
    }
    t->term->Deliver([&](StoreListener* to) { to->OnInbox(items, read); });
  });
}

void SimNode::Notified(const SimServer& server, const std::vector<std::string>& upstreams) {
  const TermPointer t = term_;
  if (!alive_ || t == nullptr || !t->started) return;
  if (Connect().get() != &server || random_.Uniform() < deaf) return;
  Later(Trip(), [this, t, upstreams] {
    if (!Current(t)) return;
    t->term->Deliver([&](StoreListener* to) { to->OnUpstreams(upstreams); });
  });
}

// ---------------------------------------------------------------- its end

void SimNode::EndTerm(TermPointer t, const std::string& why) {
  if (!Current(t)) return;
  t->term->End(why);
  Finish(t);
}

// The engine hears of it by OnTermEnded.
void SimNode::Finish(TermPointer t) {
  if (!Current(t)) return;
  term_.reset();
  if (stopping_) {
    // Shards and lease are free at once, if the database is there.
    if (const ServerPointer server = Connect(); server != nullptr && t->leaving) {
      server->AfterTransactions(t->owner(), [server, t] { server->rows.Release(t->owner()); });
    }
    Later(absl::Milliseconds(100), [this] {
      Kill();
      outside_.left();
    });
    return;
  }
  Later(kRetry * random_.Uniform(), [this] { Acquire(); });
}

void SimNode::LeaveIfWritten(TermPointer t) {
  if (!Current(t) || !t->leaving || !t->flushes.empty()) return;
  EndTerm(t, stopping_ ? "the scheduler stops" : "shards are given back");
}

}  // namespace tidemark::sim
