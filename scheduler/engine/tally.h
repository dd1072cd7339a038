// What the engine counted, as values, for whoever publishes metrics.
#ifndef TIDEMARK_SCHEDULER_ENGINE_TALLY_H_
#define TIDEMARK_SCHEDULER_ENGINE_TALLY_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "scheduler/core/run.h"

namespace tidemark {

// A histogram of seconds: how many were ≤ each bound and above the one before, then those beyond.
struct SecondsHistogram {
  static constexpr std::array<double, 14> kBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                     0.25,  0.5,    1,     5,    30,    300,  3600};
  std::array<uint64_t, kBounds.size() + 1> counts{};
  double sum = 0;

  void Add(double seconds) {
    const auto at = std::lower_bound(kBounds.begin(), kBounds.end(), seconds);
    ++counts[static_cast<size_t>(at - kBounds.begin())];
    sum += seconds;
  }
};

// Of one app.
struct AppTally {
  uint64_t due = 0;                      // occurrences that came due by a schedule
  uint64_t fired = 0;                    // triggers that left for an executor …
  uint64_t retries = 0;                  // … but those after an attempt that failed or was lost
  std::map<RunStatus, uint64_t> ended;   // runs
  std::map<Outcome, uint64_t> attempts;  // attempts that ended
};

// Since it was taken last.
struct Tally {
  std::unordered_map<std::string, AppTally> apps;
  SecondsHistogram
      lateness;  // from the fire time of a scheduled run to its trigger, not of retries
};

// Where the engine stands now.
struct EngineGauges {
  struct App {
    int executors_up = 0;
    int executors_draining = 0;  // leaving, or drained by an operator
    int executors_lost = 0;
    int slots = 0;             // of those that are up
    int slots_used = 0;        // by attempts that are not released, wherever
    int waiting = 0;           // runs that wait for their turn, an executor or a back-off …
    int catch_up_waiting = 0;  // … because of a gap
    int catch_up_slots_used = 0;
  };
  bool active = false;  // in a term
  bool holding = false;
  int shards = 0;
  size_t jobs = 0;
  size_t live_runs = 0;
  size_t streams = 0;
  std::map<std::string, App> apps;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_TALLY_H_
