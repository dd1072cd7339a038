#include "tests/bench/hot/bench_clock.h"

#include <poll.h>

#include <ctime>

namespace tidemark {

void BenchWait(double seconds) {
  if (seconds > 0) poll(nullptr, 0, static_cast<int>(seconds * 1000));
}

int64_t WallMicros() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000;
}

double MonotonicSeconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace tidemark
