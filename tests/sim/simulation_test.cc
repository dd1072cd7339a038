// Seeds of the simulation. TIDEMARK_SIM_SEEDS: how many (default 40), from TIDEMARK_SIM_FIRST
// (default 1) on; TIDEMARK_SIM_NODES: scheduler nodes (default: one to three, as the seed says);
// TIDEMARK_SIM_THREADS: how many seeds at once (default 2); TIDEMARK_SIM_SEED: this one alone, with
// its trace; TIDEMARK_SIM_FAILURES: it stops after so many seeds that failed (default 3).
// tests/sim/run sets them.
#include "tests/sim/simulation.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <thread>

namespace tidemark::sim {
namespace {

uint64_t Number(const char* variable, uint64_t fallback) {
  const char* text = std::getenv(variable);
  return text != nullptr && *text != '\0' ? std::strtoull(text, nullptr, 10) : fallback;
}

int Nodes() { return static_cast<int>(Number("TIDEMARK_SIM_NODES", 0)); }

void Add(const SimReport& report, SimReport* total) {
  for (const auto& [kind, states] : report.matrix) {
    total->faults[kind] += report.faults.at(kind);
    for (const auto& [state, count] : states) total->matrix[kind][state] += count;
  }
  total->events += report.events;
  total->handlers_entered += report.handlers_entered;
  total->judged += report.judged;
  total->superseded += report.superseded;
  total->stale_triggers += report.stale_triggers;
  total->simulated += report.simulated;
  total->overlaps.insert(total->overlaps.end(), report.overlaps.begin(), report.overlaps.end());
}

// Fault by state of the live runs that it struck.
void PrintMatrix(const SimReport& total) {
  std::printf("%-48s %6s", "fault", "times");
  for (const std::string& state : RunStates()) std::printf(" %10s", state.c_str());
  std::printf("\n");
  for (const auto& [kind, states] : total.matrix) {
    std::printf("%-48s %6d", kind.c_str(), total.faults.at(kind));
    for (const std::string& state : RunStates()) {
      const auto count = states.find(state);
      std::printf(" %10d", count == states.end() ? 0 : count->second);
    }
    std::printf("\n");
  }
}

void PrintTrace(uint64_t seed, const SimReport& report) {
  std::cout << "seed " << seed << ", " << report.nodes << " nodes (again: tests/sim/run --seed "
            << seed << ")\n";
  for (const std::string& line : report.trace) std::cout << "  " << line << "\n";
  for (const std::string& line : report.overlaps)
    std::cout << "  by a stated limit: " << line << "\n";
}

// Seeds are worlds of their own: several threads work through them.
struct Batch {
  std::atomic<uint64_t> next;
  uint64_t end = 0;
  std::mutex mutex;
  SimReport total;                       // guarded by mutex
  uint64_t done = 0;                     // guarded by mutex
  std::map<uint64_t, SimReport> failed;  // guarded by mutex

  void Work() {
    for (uint64_t seed = next++; seed < end; seed = next++) {
      SimReport report = Simulation(seed, Nodes()).Run();
      const std::lock_guard<std::mutex> lock(mutex);
      Add(report, &total);
      ++done;
      if (report.violations.empty()) continue;
      failed[seed] = std::move(report);
      if (failed.size() >= Number("TIDEMARK_SIM_FAILURES", 3)) next = end;
    }
  }
};

void PrintTotal(uint64_t seeds, const SimReport& total) {
  std::cout << seeds << " seeds, " << absl::ToInt64Hours(total.simulated) / 24 << " days ("
            << static_cast<double>(absl::ToInt64Hours(total.simulated)) / 24 / 365.25 << " years), "
            << total.events << " events, " << total.handlers_entered << " handlers entered, "
            << total.judged << " dates and fires verified\n";
  PrintMatrix(total);
  std::cout << total.stale_triggers << " triggers came from former owners; " << total.superseded
            << " handlers outlived that their process was taken for gone by one of the same "
               "executor id; "
            << total.overlaps.size()
            << " times something overlapped because an old primary took commits beside the new one "
               "(documented limits)\n";
}

TEST(SimulationTest, WhateverFailsNothingIsLostAndNothingRunsTwiceAtOnce) {
  if (const uint64_t seed = Number("TIDEMARK_SIM_SEED", 0); seed != 0) {
    const SimReport report = Simulation(seed, Nodes()).Run();
    PrintTrace(seed, report);
    for (const std::string& violation : report.violations) ADD_FAILURE() << violation;
    return;
  }
  Batch batch;
  batch.next = Number("TIDEMARK_SIM_FIRST", 1);
  batch.end = batch.next + Number("TIDEMARK_SIM_SEEDS", 40);
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < Number("TIDEMARK_SIM_THREADS", 2); ++i) {
    threads.emplace_back([&] { batch.Work(); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& [seed, report] : batch.failed) {
    PrintTrace(seed, report);
    for (const std::string& violation : report.violations) {
      ADD_FAILURE() << "seed " << seed << ": " << violation;
    }
  }
  if (!batch.failed.empty()) {
    std::cout << "first failing seed: " << batch.failed.begin()->first << "\n";
  }
  PrintTotal(batch.done, batch.total);
  EXPECT_GT(batch.total.handlers_entered, 8 * batch.done) << "the simulation did next to nothing";
}

TEST(SimulationTest, OneSeedIsOneCourse) {
  const SimReport first = Simulation(11).Run();
  const SimReport again = Simulation(11).Run();
  EXPECT_EQ(first.trace, again.trace);
  EXPECT_EQ(first.events, again.events);
}

}  // namespace
}  // namespace tidemark::sim
