// herd: how late the handlers start when very many runs are due at one instant.
#include <string>

#include "tests/bench/hot/flood.h"
#include "tests/bench/hot/peers_file.h"
#include "tests/bench/hot/scenario.h"

namespace tidemark {
namespace {

double HerdP99(const BenchOptions& options, BenchPostgres& postgres, int runs, bool dated,
               BenchReport& report) {
  FloodPlan plan;
  plan.runs = runs;
  plan.dated = dated;
  const FloodResult flood = RunFlood(options, postgres, plan);
  const std::string name = std::string(dated ? "dated" : "interval") + "." + std::to_string(runs);
  ReportLateness(flood.lateness_ms, name, report);
  report.Figure(name + ".armed_share", flood.armed);
  report.Figure(name + ".runs_per_second", flood.per_second, "1/s");
  return Percentile(flood.lateness_ms, 0.99);
}

}  // namespace

BenchReport RunHerd(const BenchOptions& options, BenchPostgres& postgres) {
  BenchReport report("herd");
  const int small = options.Sized(1000, 100);
  const int middle = options.Sized(10000, 1000);
  const int large = options.Sized(100000, 2000);
  report.Setting("executors", options.executors);
  report.Setting("capacity", "all runs at once");
  report.Setting("log_level", options.log_level);
  HerdP99(options, postgres, small, false, report);
  const double at_middle = HerdP99(options, postgres, middle, false, report);
  const double at_large = HerdP99(options, postgres, large, false, report);
  const double dated = HerdP99(options, postgres, middle, true, report);
  report.GoalAtMost("p99 of " + std::to_string(middle) + " interval runs, ms", at_middle, 50);
  report.GoalAtMost("p99 of " + std::to_string(middle) + " dated runs, ms", dated, 50);
  report.GoalAtMost("growth of p99 / growth of the herd",
                    (at_large / at_middle) / (static_cast<double>(large) / middle), 1);
  ReportPeerHerd(options.peers, middle, at_middle, report);
  return report;
}

}  // namespace tidemark
