// The scenarios of tidemark_bench. Each makes its own databases and processes, measures, and
// compares with its baseline in the same minute.
#ifndef TIDEMARK_TESTS_BENCH_HOT_SCENARIO_H_
#define TIDEMARK_TESTS_BENCH_HOT_SCENARIO_H_

#include <string>
#include <vector>

#include "tests/bench/hot/bench_options.h"
#include "tests/bench/hot/bench_postgres.h"
#include "tests/bench/hot/bench_report.h"

namespace tidemark {

struct Scenario {
  std::string name;
  std::string what;
  BenchReport (*run)(const BenchOptions& options, BenchPostgres& postgres);
};

const std::vector<Scenario>& Scenarios();

BenchReport RunDrain(const BenchOptions& options, BenchPostgres& postgres);
BenchReport RunHerd(const BenchOptions& options, BenchPostgres& postgres);
BenchReport RunLone(const BenchOptions& options, BenchPostgres& postgres);
BenchReport RunSteady(const BenchOptions& options, BenchPostgres& postgres);
BenchReport RunStart(const BenchOptions& options, BenchPostgres& postgres);
BenchReport RunHistory(const BenchOptions& options, BenchPostgres& postgres);
BenchReport RunExecutors(const BenchOptions& options, BenchPostgres& postgres);
BenchReport RunOverload(const BenchOptions& options, BenchPostgres& postgres);
// tests/bench/cluster
BenchReport RunNodes(const BenchOptions& options, BenchPostgres& postgres);
BenchReport RunKills(const BenchOptions& options, BenchPostgres& postgres);

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_BENCH_HOT_SCENARIO_H_
