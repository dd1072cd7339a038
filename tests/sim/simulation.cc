#include "tests/sim/simulation.h"

#include <algorithm>
#include <utility>

#include "common/time_text.h"

namespace tidemark::sim {
namespace {

constexpr absl::Duration kFaultTime = absl::Hours(24);
constexpr absl::Duration kCalmTime = absl::Hours(8);
constexpr absl::Duration kPatienceWithFailures = absl::Hours(2);

}  // namespace

Simulation::Simulation(uint64_t seed, int nodes) : seed_(seed), random_(seed) {
  const absl::Time start = *ParseInstant("2026-11-20T16:30:00Z");  // 00:30 in Shanghai
  primary_ = std::make_shared<SimServer>(queue_, start);
  const int by_seed = seed % 4 == 0 ? 1 : static_cast<int>(2 + seed % 2);
  report_.nodes = nodes > 0 ? nodes : by_seed;
  for (int i = 1; i <= report_.nodes; ++i) AddNode(i);
  ImportCalendar({}, /*retroactive=*/false);
  AddDailyJob("strict", CatchUpOrder::kStrict, "");
  AddDailyJob("loose", CatchUpOrder::kIndependent, "cn");
  AddDailyJob("mortal", CatchUpOrder::kStrict, "");
  AddReportJob();
  AddBeatJob();
  AddExecutor("e1", "e1", true);
  AddExecutor("e2", "e2", true);
  AddExecutor("e3", "e3", false);
  AddExecutor("e1-twin", "e1", true);
  executors_.back()->comes_back = false;
}

void Simulation::Trace(const std::string& what) {
  report_.trace.push_back(DurationText(queue_.now()) + " " + what);
}

void Simulation::Calm() {
  faults_on_ = false;
  calm_since_ = queue_.now();
  Trace("calm");
  for (const auto& executor : executors_) {
    executor->odds = {0, 0, 0, absl::Seconds(20), 0};
    executor->FreeDisk();
    if (!executor->comes_back) executor->Kill();
    if (!executor->alive() && executor->comes_back) executor->Start();
  }
  for (const auto& node : nodes_) {
    node->slow = 0;
    if (!node->alive()) node->Start();
    primary_->rows.nodes[node->name()].draining = false;
  }
  for (const auto& [id, job] : Store().jobs) Order(id, "resume", {});
}

// What alerts ask a person for: dates that were cancelled or are held are opened by hand, and what
// failed and no fire has opened again for a while.
void Simulation::MendByHand() {
  const bool long_enough = queue_.now() - calm_since_ > kPatienceWithFailures;
  for (const auto& [key, mark] : Store().watermarks) {
    if (mark.status != "FAILED" || !Store().jobs.contains(key.first)) continue;
    if (!long_enough && mark.reason != "cancelled" && mark.reason != "held") continue;
    const std::string id = Order(key.first, "trigger", {{"biz_date", FormatDate(key.second)}});
    Trace("by hand (" + id + "): job " + std::to_string(key.first) + " " + FormatDate(key.second) +
          " " + mark.reason);
  }
  queue_.After(absl::Minutes(30), [this] { MendByHand(); });
}

SimReport Simulation::Run() {
  const absl::Duration begin = queue_.now();
  // Some nodes join later.
  for (const auto& node : nodes_) {
    const bool late = node != nodes_.front() && random_.Uniform() < 0.3;
    queue_.After((late ? absl::Hours(3) : absl::Seconds(1)) * random_.Uniform(),
                 [this, to = node.get()] { StartNode(*to); });
  }
  for (const auto& executor : executors_) {
    if (!executor->comes_back) continue;
    queue_.After(absl::Seconds(60) * random_.Uniform(), [to = executor.get()] {
      if (!to->alive()) to->Start();
    });
  }
  PlanFault();
  WatchSent();
  queue_.RunUntil(begin + kFaultTime);
  Calm();
  MendByHand();
  queue_.RunUntil(begin + kFaultTime + kCalmTime);
  CheckEnd();
  for (const std::string& violation : oracle_.violations()) {
    report_.violations.push_back(violation);
  }
  report_.overlaps = oracle_.pardoned();
  report_.events = queue_.happened();
  report_.handlers_entered = oracle_.entered();
  report_.simulated = queue_.now() - begin;
  return report_;
}

}  // namespace tidemark::sim
