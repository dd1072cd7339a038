// Figures of other schedulers, as tests/bench/peers/run.sh writes them.
#ifndef TIDEMARK_TESTS_BENCH_HOT_PEERS_FILE_H_
#define TIDEMARK_TESTS_BENCH_HOT_PEERS_FILE_H_

#include <map>
#include <string>

#include "tests/bench/hot/bench_report.h"

namespace tidemark {

struct PeerFigures {
  std::string history;    // what it keeps of finished runs
  double per_second = 0;  // drain; 0: none
  double drain_runs = 0;
  double herd_runs = 0;
  double lateness_p99 = 0;  // herd, ms
};

// By name; nothing for file "". Ends the program when the file cannot be read.
std::map<std::string, PeerFigures> ReadPeers(const std::string& file);

// The peers' figures and the goals against them, with a note where their number of runs is another
// than `runs`.
void ReportPeerDrain(const std::string& file, int runs, double per_second, BenchReport& report);
void ReportPeerHerd(const std::string& file, int runs, double lateness_p99, BenchReport& report);

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_BENCH_HOT_PEERS_FILE_H_
