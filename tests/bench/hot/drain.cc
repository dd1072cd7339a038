// drain: how many runs a second go from due to durably finished, and what each costs.
#include "tests/bench/hot/baseline.h"
#include "tests/bench/hot/flood.h"
#include "tests/bench/hot/peers_file.h"
#include "tests/bench/hot/scenario.h"

namespace tidemark {

BenchReport RunDrain(const BenchOptions& options, BenchPostgres& postgres) {
  BenchReport report("drain");
  FloodPlan plan;
  plan.runs = options.Sized(100000, 1000);
  // A backlog: many times more runs are due than executors take at once.
  plan.capacity = options.Sized(8192, 256);
  plan.check_load = true;
  plan.flushes = !options.tiny();
  plan.statements = true;
  report.Setting("runs", plan.runs);
  report.Setting("executors", options.executors);
  report.Setting("capacity",
                 options.capacity > 0 ? options.capacity * options.executors : plan.capacity);
  report.Setting("log_level", options.log_level);
  report.Setting("postgres", BenchPostgres::Settings());
  const BaselineResult before = RunBaseline(postgres, plan.runs);
  const FloodResult flood = RunFlood(options, postgres, plan);
  const BaselineResult after = RunBaseline(postgres, plan.runs);
  const double baseline = (before.per_second + after.per_second) / 2;
  ReportCosts(flood, report);
  report.Figure("baseline.runs_per_second", baseline, "1/s");
  report.Figure("baseline.cpu_per_thousand", (before.cpu_per_thousand + after.cpu_per_thousand) / 2,
                "s");
  report.Figure("baseline.wal_bytes_per_run", after.wal_per_run, "B");
  report.GoalAtLeast("drain / baseline", flood.per_second / baseline, 0.5);
  report.GoalAtMost("commits a run", flood.cost.commits / flood.runs, 4.0 / 1024);
  report.GoalAtMost("statements a run", flood.cost.statements / flood.runs, 4.0 / 1024);
  report.GoalAtMost("WAL bytes a run", flood.cost.wal_bytes / flood.runs, 600);
  ReportPeerDrain(options.peers, plan.runs, flood.per_second, report);
  report.Note("statements by time (ms | calls | rows | text):");
  for (const std::string& line : flood.slowest) report.Note("  " + line);
  return report;
}

}  // namespace tidemark
