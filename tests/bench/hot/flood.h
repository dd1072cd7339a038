// Many runs due at one instant, from the first row to the last durable end.
#ifndef TIDEMARK_TESTS_BENCH_HOT_FLOOD_H_
#define TIDEMARK_TESTS_BENCH_HOT_FLOOD_H_

#include <string>
#include <vector>

#include "tests/bench/hot/bench_options.h"
#include "tests/bench/hot/bench_postgres.h"
#include "tests/bench/hot/bench_probes.h"
#include "tests/bench/hot/bench_report.h"
#include "tests/bench/hot/bench_world.h"

namespace tidemark {

struct FloodPlan {
  int runs = 10000;    // one of each of so many jobs
  bool dated = false;  // else interval jobs
  int schedulers = 1;
  int capacity = 0;             // of all executors together; 0: all runs at once
  std::string url;              // a database that was prepared; "": a fresh one
  bool keep_jobs = false;       // leaves the jobs in a database that was prepared
  bool drop_partition = false;  // drops what is older than 400 days, while the runs drain
  bool check_load = false;
  bool flushes = false;     // waits for them, see DatabaseMeter
  bool statements = false;  // keeps the slowest
};

struct FloodResult {
  int runs = 0;
  // From the due instant, together with the time in which runs were recorded before it, to the last
  // durable end.
  double seconds = 0;
  double per_second = 0;
  double sent_again = 0;  // share of the runs that took more than one attempt
  double armed = 0;       // share of the runs that were recorded before they were due
  CpuUse cpu;
  DatabaseCost cost;
  std::vector<double> lateness_ms;  // at the handler's start
  std::vector<std::string> slowest;
};

FloodResult RunFlood(const BenchOptions& options, BenchPostgres& postgres, const FloodPlan& plan);

// CPU, database and lateness of a flood, a run.
void ReportCosts(const FloodResult& flood, BenchReport& report);
void ReportLateness(const std::vector<double>& lateness_ms, const std::string& name,
                    BenchReport& report);

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_BENCH_HOT_FLOOD_H_
