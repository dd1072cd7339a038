// What the benchmark's executors saw: when each run was due and when its handler was entered.
#ifndef TIDEMARK_TESTS_BENCH_HOT_RUN_RECORDS_H_
#define TIDEMARK_TESTS_BENCH_HOT_RUN_RECORDS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace tidemark {

// Microseconds since 1970; `entered_us` by CLOCK_REALTIME of this machine.
struct RunRecord {
  int64_t fire_us = 0;
  int64_t entered_us = 0;
};

// Plain memory, one after the other. False: the file could not be written.
bool WriteRunRecords(const std::string& file, const std::vector<RunRecord>& records);
// What is in the file; nothing when there is none.
std::vector<RunRecord> ReadRunRecords(const std::string& file);

// entered − due in milliseconds, where the database's clock is `offset_us` ahead of this machine's.
std::vector<double> LatenessMillis(const std::vector<RunRecord>& records, int64_t offset_us = 0);

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_BENCH_HOT_RUN_RECORDS_H_
