// How a benchmark is to be run.
#ifndef TIDEMARK_TESTS_BENCH_HOT_BENCH_OPTIONS_H_
#define TIDEMARK_TESTS_BENCH_HOT_BENCH_OPTIONS_H_

#include <algorithm>
#include <cmath>
#include <string>

namespace tidemark {

struct BenchOptions {
  double scale = 1;  // of all sizes and times; 1: as published
  int executors = 4;
  int capacity = 0;  // of each executor; 0: as the scenario has it
  std::string log_level = "info";
  std::string peers;    // file of tests/bench/peers/run.sh; "": none
  int big_history = 0;  // millions of finished runs beyond 5; history alone

  // `full` scaled, but not less than `least`.
  int Sized(int full, int least = 1) const {
    return std::max(least, static_cast<int>(std::lround(full * scale)));
  }
  double Seconds(double full, double least) const { return std::max(least, full * scale); }
  bool tiny() const { return scale <= 0.02; }
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_BENCH_HOT_BENCH_OPTIONS_H_
