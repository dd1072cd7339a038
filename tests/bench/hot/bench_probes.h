// What processes and the database have used so far; differences between two looks are costs.
#ifndef TIDEMARK_TESTS_BENCH_HOT_BENCH_PROBES_H_
#define TIDEMARK_TESTS_BENCH_HOT_BENCH_PROBES_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/bench/hot/bench_sql.h"

namespace tidemark {

// CPU seconds, user and system, of all threads of a process.
double CpuSeconds(pid_t pid);
// … of a postmaster and all its backends, those included that have ended.
double PostgresCpuSeconds(pid_t postmaster);
// Resident bytes of a process.
int64_t ResidentBytes(pid_t pid);
int64_t FreeDiskBytes(const std::string& folder);

// Counters of one database since pg_stat_statements was reset.
struct DatabaseCost {
  double commits = 0;     // COMMITs of transactions other than ours
  double statements = 0;  // without BEGIN, COMMIT and SET
  double wal_bytes = 0;
  double flushes = 0;  // of WAL to disk; -1: not waited for
};

// Starts at zero with construction.
class DatabaseMeter {
 public:
  // `sql` must outlive it; it is of the database that is looked at.
  explicit DatabaseMeter(BenchSql& sql);
  // `with_flushes`: waits until idle sessions have reported them (11 s).
  DatabaseCost Read(bool with_flushes);
  // The statements that took longest, one a line: milliseconds, calls, rows, text.
  std::vector<std::string> Slowest(int count);

 private:
  BenchSql& sql_;
  std::string lsn_;
  double flushes_ = 0;
};

// Processor, cores, memory, kernel.
std::string MachineText();

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_BENCH_HOT_BENCH_PROBES_H_
