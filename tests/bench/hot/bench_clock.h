// The clocks that measurements are made with.
#ifndef TIDEMARK_TESTS_BENCH_HOT_BENCH_CLOCK_H_
#define TIDEMARK_TESTS_BENCH_HOT_BENCH_CLOCK_H_

#include <cstdint>

namespace tidemark {

// Waits; only for measurements that are made of time.
void BenchWait(double seconds);
// CLOCK_REALTIME in microseconds: what the executors' records use.
int64_t WallMicros();
// CLOCK_MONOTONIC in seconds.
double MonotonicSeconds();

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_BENCH_HOT_BENCH_CLOCK_H_
