// Seeds of the single-node simulation. TIDEMARK_SIM_SEEDS: how many (default 40);
// TIDEMARK_SIM_SEED: this one alone, with its trace.
#include "tests/sim/simulation.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

namespace tidemark::sim {
namespace {

uint64_t Number(const char* variable, uint64_t fallback) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : fallback;
}

bool Check(uint64_t seed, bool trace, std::map<std::string, int>* faults, SimReport* total) {
  SimReport report = Simulation(seed).Run();
  for (const auto& [kind, count] : report.faults) (*faults)[kind] += count;
  total->events += report.events;
  total->handlers_entered += report.handlers_entered;
  total->simulated += report.simulated;
  if (report.violations.empty() && !trace) return true;
  std::cout << "seed " << seed << " (again: TIDEMARK_SIM_SEED=" << seed << ")\n";
  for (const std::string& line : report.trace) std::cout << "  " << line << "\n";
  for (const std::string& violation : report.violations) ADD_FAILURE() << violation;
  return report.violations.empty();
}

TEST(SimulationTest, WhateverFailsNothingIsLostAndNothingRunsTwiceAtOnce) {
  std::map<std::string, int> faults;
  SimReport total;
  if (std::getenv("TIDEMARK_SIM_SEED") != nullptr) {
    Check(Number("TIDEMARK_SIM_SEED", 0), true, &faults, &total);
    return;
  }
  const uint64_t first = Number("TIDEMARK_SIM_FIRST", 1);
  const uint64_t seeds = Number("TIDEMARK_SIM_SEEDS", 40);
  int failed = 0;
  for (uint64_t seed = first; seed < first + seeds && failed < 3; ++seed) {
    if (!Check(seed, false, &faults, &total)) ++failed;
  }
  std::cout << seeds << " seeds, " << absl::ToInt64Hours(total.simulated) / 24 << " days, "
            << total.events << " events, " << total.handlers_entered << " handlers entered\n";
  for (const auto& [kind, count] : faults) std::cout << "  " << kind << ": " << count << "\n";
  EXPECT_GT(total.handlers_entered, 8 * seeds) << "the simulation did next to nothing";
}

TEST(SimulationTest, OneSeedIsOneCourse) {
  const SimReport first = Simulation(11).Run();
  const SimReport again = Simulation(11).Run();
  EXPECT_EQ(first.trace, again.trace);
  EXPECT_EQ(first.events, again.events);
}

}  // namespace
}  // namespace tidemark::sim
