// Time of one parse and of one next, for the expressions of a file (one a line). Give the file in
// TIDEMARK_BENCH_EXPRESSIONS; the rest are Google Benchmark's flags.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "benchmark/benchmark.h"
#include "scheduler/core/time/cron.h"
#include "scheduler/core/time/zone.h"

namespace tidemark {
namespace {

void Parse(benchmark::State& state, const std::string& text) {
  for (auto _ : state) {
    absl::StatusOr<Cron> cron = Cron::Parse(text);
    benchmark::DoNotOptimize(cron);
  }
}

// Walks along the fires, from the start of 2026 again where it leaves the century.
void Next(benchmark::State& state, const std::string& text) {
  const Cron cron = Cron::Parse(text).value();
  const absl::TimeZone zone = LoadZone("America/New_York").value();
  const absl::Time begin = absl::FromUnixSeconds(1767225600);
  const absl::Time end = absl::FromUnixSeconds(4102444800);
  absl::Time time = begin;
  for (auto _ : state) {
    const std::optional<Fire> fire = cron.Next(time, zone);
    time = fire && fire->instant < end ? fire->instant : begin;
    benchmark::DoNotOptimize(time);
  }
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  const char* path = std::getenv("TIDEMARK_BENCH_EXPRESSIONS");
  std::ifstream file(path == nullptr ? "" : path);
  for (std::string text; std::getline(file, text);) {
    benchmark::RegisterBenchmark(("parse|" + text).c_str(), tidemark::Parse, text);
    benchmark::RegisterBenchmark(("next|" + text).c_str(), tidemark::Next, text);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
