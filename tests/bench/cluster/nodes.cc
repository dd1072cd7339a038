// nodes: the same drain with one, two and three schedulers on one machine. More of them must not
// make a run dearer to the database, nor the whole slower.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/bench/hot/flood.h"
#include "tests/bench/hot/scenario.h"

namespace tidemark {
namespace {

// Of the rounds with so many schedulers.
struct NodesResult {
  std::vector<double> per_second;
  std::vector<double> postgres_ms;  // CPU a run
  std::vector<double> scheduler_ms;
  std::vector<double> sent_again;  // share of the runs: refused, the executor was full
};

double Median(const std::vector<double>& samples) { return Percentile(samples, 0.5); }

}  // namespace

BenchReport RunNodes(const BenchOptions& options, BenchPostgres& postgres) {
  constexpr int kMost = 3;
  BenchReport report("nodes");
  FloodPlan plan;
  plan.runs = options.Sized(60000, 1000);
  plan.capacity = options.Sized(8192, 256);
  const int rounds = options.tiny() ? 1 : 3;
  report.Setting("runs", plan.runs);
  report.Setting("rounds", rounds);
  NodesResult results[kMost + 1];
  // Round by round: what else the machine does hits all of them.
  for (int round = 0; round < rounds; ++round) {
    for (int nodes = 1; nodes <= kMost; ++nodes) {
      plan.schedulers = nodes;
      const FloodResult flood = RunFlood(options, postgres, plan);
      results[nodes].per_second.push_back(flood.per_second);
      results[nodes].postgres_ms.push_back(flood.cpu.postgres * 1000 / flood.runs);
      results[nodes].sent_again.push_back(flood.sent_again);
      results[nodes].scheduler_ms.push_back(flood.cpu.scheduler * 1000 / flood.runs);
    }
  }
  for (int nodes = 1; nodes <= kMost; ++nodes) {
    const std::string name = "nodes_" + std::to_string(nodes);
    report.Figure(name + ".runs_per_second", Median(results[nodes].per_second), "1/s");
    report.Figure(name + ".postgres_cpu_a_run", Median(results[nodes].postgres_ms), "ms");
    report.Figure(name + ".schedulers_cpu_a_run", Median(results[nodes].scheduler_ms), "ms");
    report.Figure(name + ".sent_again", Median(results[nodes].sent_again));
  }
  for (int nodes = 2; nodes <= kMost; ++nodes) {
    const std::string to_one = ", " + std::to_string(nodes) + " schedulers / 1";
    report.GoalAtMost("database CPU a run" + to_one,
                      Median(results[nodes].postgres_ms) / Median(results[1].postgres_ms), 1.1);
    report.GoalAtLeast("runs a second" + to_one,
                       Median(results[nodes].per_second) / Median(results[1].per_second), 1);
  }
  return report;
}

}  // namespace tidemark
