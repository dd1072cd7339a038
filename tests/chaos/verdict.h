// What became of it all: oracles, and the report.
#ifndef TIDEMARK_TESTS_CHAOS_VERDICT_H_
#define TIDEMARK_TESTS_CHAOS_VERDICT_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tests/chaos/chaos_cluster.h"
#include "tests/chaos/faults.h"
#include "tests/chaos/journal.h"

namespace tidemark {

struct Verdict {
  JournalVerdict journal;
  std::vector<std::string> violations;  // of all oracles
};

// Waits until what is due is done, stops new fires, and waits until nothing is live. What is not
// settled in time is a violation.
void Settle(ChaosCluster& cluster, absl::Duration patience, Verdict& verdict);
// Asks `job verify`, the tables and the journal. `commits_may_be_lost`: replication is
// asynchronous.
void Judge(ChaosCluster& cluster, const Faults& faults, bool commits_may_be_lost, Verdict& verdict);
// To stdout.
void Report(ChaosCluster& cluster, const Faults& faults, const Verdict& verdict);

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_CHAOS_VERDICT_H_
