// What a seed does to scheduler nodes and to the database.
#include <algorithm>
#include <utility>

#include "common/time_text.h"
#include "tests/sim/simulation.h"

namespace tidemark::sim {
namespace {

constexpr absl::Duration kNoticeCut = absl::Seconds(15);  // keepalive on both sides
// After the old primary is gone, runs that it began go on for so long.
constexpr absl::Duration kOverlapEchoes = absl::Hours(1);
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
  node.Suspend(d);
  const absl::Duration notice = absl::Seconds(20 + 20 * random_.Uniform());
  if (d <= notice) return;
  queue_.After(notice, [this, &node] {
    if (node.suspended()) BreakIf([&](const Link& link) { return link.node == &node; });
  });
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
  for (auto& [stream, link] : links_) {
    if (link.node != &node) continue;
    link.cut = true;
    queue_.After(kNoticeCut * random_.Uniform(), [this, stream = stream] { Break(stream); });
  }
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

// ---------------------------------------------------------------- the database

void Simulation::FailOver() {
  if (failing_over_ || old_primary_ != nullptr) return;
  const bool lossy = random_.Uniform() < 0.5;
  Count(lossy ? "database fails over, commits lost" : "database fails over");
  failing_over_ = true;
  // What is committed from now on is lost, or nothing is.
  const absl::Duration lag = absl::Seconds(lossy ? 3 * random_.Uniform() : 0);
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
