// What a seed does to scheduler nodes and to the database.
#include <algorithm>
#include <utility>

#include "common/time_text.h"
#include "tests/sim/simulation.h"

namespace tidemark::sim {
namespace {

// After the old primary is gone, runs that it began go on for so long.
constexpr absl::Duration kOverlapEchoes = absl::Hours(1);
constexpr double kPause = 0.02;  // of the triggers
constexpr double kPauseInFailOver = 0.3;
constexpr double kDisturbCommit = 0.03;  // of those with something of a run
constexpr absl::Duration kAcknowledgementsOnTheirWay = absl::Seconds(10);

}  // namespace

SimNode& Simulation::AnyNode() { return *nodes_[random_.Next() % nodes_.size()]; }

void Simulation::StartNode(SimNode& node) {
  if (node.alive()) return;
  Trace("scheduler started: " + node.name());
  node.Start();
}

// ---------------------------------------------------------------- nodes

void Simulation::KillNode() {
  SimNode& node = AnyNode();
  if (!node.alive()) return;
  Count("scheduler killed", node.name());
  Kill(node);
}

void Simulation::Kill(SimNode& node) {
  node.Kill();
  BreakIf([&](const Link& link) { return link.node == &node; });
  const bool long_outage = random_.Uniform() < 0.2;
  queue_.After(absl::Seconds(1 + (long_outage ? 900 : 20) * random_.Uniform()),
               [this, &node] { StartNode(node); });
}

void Simulation::KillAllNodes() {
  Count("all schedulers killed");
  for (const auto& node : nodes_) {
    if (node->alive()) node->Kill();
    queue_.After(absl::Seconds(1 + 60 * random_.Uniform()),
                 [this, to = node.get()] { StartNode(*to); });
  }
  BreakIf([](const Link&) { return true; });
  if (random_.Uniform() < 0.2) SetClockBack();
}

void Simulation::StopNode() {
  SimNode& node = AnyNode();
  if (!node.alive()) return;
  Count("scheduler stopped (SIGTERM)", node.name());
  node.Stop();
  queue_.After(absl::Seconds(1 + 120 * random_.Uniform()), [this, &node] {
    // One that could not leave yet is killed by whoever restarts it.
    if (node.alive()) {
      node.Kill();
      BreakIf([&](const Link& link) { return link.node == &node; });
    }
    StartNode(node);
  });
}

void Simulation::SuspendNode() {
  SimNode& node = AnyNode();
  if (!node.alive() || node.suspended()) return;
  const double luck = random_.Uniform();
  const absl::Duration d = luck < 0.3   ? absl::Seconds(7) * random_.Uniform()
                           : luck < 0.7 ? absl::Seconds(8 + 15 * random_.Uniform())
                                        : absl::Minutes(20) * random_.Uniform();
  Count("scheduler suspended", node.name() + " " + DurationText(d));
  Suspend(node, d);
}

void Simulation::Suspend(SimNode& node, absl::Duration d) {
  node.Suspend(d);
  const absl::Duration notice = absl::Seconds(20 + 20 * random_.Uniform());
  if (d <= notice) return;
  queue_.After(notice, [this, &node] {
    if (node.suspended()) BreakIf([&](const Link& link) { return link.node == &node; });
  });
}

// Between the decision to send and the sending: for so long that there may be another owner when
// the bytes leave, on streams that nobody gave up yet.
void Simulation::PauseBeforeSending(SimNode& node) {
  if (!faults_on_ || node.suspended()) return;
  if (random_.Uniform() >= (failing_over_ ? kPauseInFailOver : kPause)) return;
  const absl::Duration d = absl::Seconds(8 + 27 * random_.Uniform());
  Count("scheduler suspended with a trigger in hand", node.name() + " " + DurationText(d));
  Suspend(node, d);
}

void Simulation::CutNodeFromDatabase() {
  SimNode& node = AnyNode();
  const double luck = random_.Uniform();
  const absl::Duration d = luck < 0.4   ? absl::ZeroDuration()
                           : luck < 0.7 ? absl::Seconds(9) * random_.Uniform()
                                        : absl::Minutes(5) * random_.Uniform();
  Count(d == absl::ZeroDuration() ? "database connections reset" : "node cut off from the database",
        node.name() + " " + DurationText(d));
  node.CutDatabase(d);
}

void Simulation::CutNodeFromExecutors() {
  SimNode& node = AnyNode();
  Count("node cut off from all executors", node.name());
  const absl::Duration until = queue_.now() + absl::Minutes(8) * random_.Uniform();
  for (const auto& executor : executors_) {
    unreachable_until_[{executor->id(), node.name()}] = until;
  }
  std::vector<StreamId> cut;
  for (const auto& [stream, link] : links_) {
    if (link.node == &node && !link.cut && !link.closed) cut.push_back(stream);
  }
  CutStreams(cut);
}

// A node and some executors on one side, the other nodes and the database on the other.
void Simulation::SplitNetwork() {
  if (nodes_.size() < 2) return;
  SimNode& node = AnyNode();
  const absl::Duration d = absl::Minutes(20) * random_.Uniform();
  std::string names;
  std::vector<StreamId> cut;
  for (const auto& executor : executors_) {
    const bool with_node = random_.Uniform() < 0.5;
    if (with_node) names += " " + executor->id();
    for (const auto& other : nodes_) {
      if ((other.get() == &node) == with_node) continue;
      unreachable_until_[{executor->id(), other->name()}] = queue_.now() + d;
    }
    for (const auto& [stream, link] : links_) {
      if (link.executor != executor.get() || (link.node == &node) == with_node) continue;
      if (!link.cut && !link.closed) cut.push_back(stream);
    }
  }
  Count("network split", node.name() + names + " " + DurationText(d));
  node.CutDatabase(d);
  CutStreams(cut);
}

void Simulation::DrainNode() {
  SimNode& node = AnyNode();
  const auto row = primary_->rows.nodes.find(node.name());
  if (row == primary_->rows.nodes.end() || row->second.draining) return;
  Count("node drained", node.name());
  row->second.draining = true;
  queue_.After(absl::Minutes(10) * random_.Uniform(), [this, &node] {
    const auto again = primary_->rows.nodes.find(node.name());
    if (again != primary_->rows.nodes.end()) again->second.draining = false;
  });
}

// At the very moment at which something of a run is committed.
absl::Duration Simulation::DisturbCommit(SimNode& node, const Flush& flush) {
  const bool of_runs = !flush.opens.empty() || !flush.updates.empty() || !flush.closes.empty() ||
                       !flush.inbox.empty();
  if (!faults_on_ || !of_runs || random_.Uniform() >= kDisturbCommit) return {};
  const double luck = random_.Uniform();
  if (luck < 0.4) {
    Count("database connections reset in a commit", node.name());
    node.CutDatabase(absl::ZeroDuration());
    return {};
  }
  const absl::Duration late = absl::Seconds(25) * random_.Uniform();
  if (luck < 0.65) {
    Count("scheduler killed, its commit late", node.name() + " " + DurationText(late));
    Kill(node);
    return late;
  }
  if (luck < 0.8) {
    Count("scheduler suspended, its commit late", node.name() + " " + DurationText(late));
    Suspend(node, absl::Seconds(8 + 27 * random_.Uniform()));
    return late;
  }
  if (luck < 0.9) {
    Count("node cut off from the database, its commit late", node.name());
    node.CutDatabase(absl::Minutes(2) * random_.Uniform());
    return late;
  }
  if (failing_over_ || old_primary_ != nullptr) return {};
  Count("database fails over, a run's commit lost");
  BeginFailOver(true, absl::Seconds(0.1 + 3 * random_.Uniform() * random_.Uniform()));
  return {};
}

// ---------------------------------------------------------------- the database

void Simulation::FailOver() {
  if (failing_over_ || old_primary_ != nullptr) return;
  const bool lossy = random_.Uniform() < 0.5;
  Count(lossy ? "database fails over, commits lost" : "database fails over");
  BeginFailOver(lossy, absl::Seconds(lossy ? 3 * random_.Uniform() : 0));
}

// What is committed from now on is lost, or nothing is.
void Simulation::BeginFailOver(bool lossy, absl::Duration lag) {
  failing_over_ = true;
  queue_.After(lag, [this, standby = primary_->rows, lossy] { Promote(standby, lossy); });
}

void Simulation::Promote(ClusterRows standby, bool lossy) {
  failing_over_ = false;
  const absl::Time before = DbNow();
  const double luck = random_.Uniform();
  // Most clocks are right within a moment.
  const absl::Duration off = luck < 0.7 ? absl::Seconds(2) * (random_.Uniform() - 0.5)
                                        : absl::Minutes(20) * (random_.Uniform() - 0.5);
  if (lossy) commits_lost_until_ = queue_.now() + kAcknowledgementsOnTheirWay;
  old_primary_ = primary_;
  primary_ = std::make_shared<SimServer>(queue_, before + off);
  primary_->rows = lossy ? std::move(standby) : old_primary_->rows;
  ++primary_->rows.timeline;
  if (off < absl::ZeroDuration()) setbacks_.emplace_back(DbNow(), before);
  database_down_until_ = queue_.now() + absl::Seconds(30) * random_.Uniform();
  Trace("promoted" + std::string(lossy ? " without the last commits" : "") + ", its clock " +
        DurationText(absl::AbsDuration(off)) + (off < absl::ZeroDuration() ? " behind" : " ahead"));
  for (const auto& [id, job] : Store().jobs) {
    job_ids_[job.name] = id;
    if (job.calendars != nullptr) calendars_ = *job.calendars;
  }
  if (nodes_.size() > 1 && random_.Uniform() < 0.25) {
    LetOldPrimaryLive();
  } else {
    old_primary_->up = false;
    old_primary_.reset();
  }
  for (const auto& node : nodes_) {
    if (!stays_with_old_.contains(node->name())) node->CutDatabase(absl::ZeroDuration());
  }
}

void Simulation::LetOldPrimaryLive() {
  stays_with_old_.insert(AnyNode().name());
  const absl::Duration lives = absl::Seconds(60) * random_.Uniform();
  commits_lost_until_ = queue_.now() + lives + kAcknowledgementsOnTheirWay;
  Count("old primary still writable", *stays_with_old_.begin() + " " + DurationText(lives));
  oracle_.Pardon(queue_.now() + lives + kOverlapEchoes);
  queue_.After(lives, [this] {
    Trace("old primary gone");
    old_primary_->up = false;
    old_primary_.reset();
    for (const std::string& name : std::exchange(stays_with_old_, {})) {
      NodeOf(name).CutDatabase(absl::ZeroDuration());
    }
  });
}

// As when the nodes' death is one of the database's primary, too, and the next one's clock is late.
void Simulation::SetClockBack() {
  const absl::Duration step = absl::Minutes(40) * random_.Uniform();
  Count("database clock set back at a restart", DurationText(step));
  const absl::Time before = DbNow();
  primary_->offset -= step;
  setbacks_.emplace_back(DbNow(), before);
}

void Simulation::StepClock() {
  const absl::Duration step = absl::Seconds(6) + absl::Minutes(40) * random_.Uniform();
  Count("database clock steps", DurationText(step));
  primary_->offset += step;
}

}  // namespace tidemark::sim
