// The least that PostgreSQL must do for a durable run: tests/bench/baseline.sql, over bare libpq.
#ifndef TIDEMARK_TESTS_BENCH_HOT_BASELINE_H_
#define TIDEMARK_TESTS_BENCH_HOT_BASELINE_H_

#include "tests/bench/hot/bench_postgres.h"

namespace tidemark {

struct BaselineResult {
  int runs = 0;
  double per_second = 0;        // durable finished runs
  double cpu_per_thousand = 0;  // CPU seconds of this client and PostgreSQL
  double wal_per_run = 0;       // bytes
};

// On one connection, batches of 1,024, in a database of its own.
BaselineResult RunBaseline(BenchPostgres& postgres, int runs);

// Median seconds of one fdatasync after an 8 KiB write beside the database's files.
double FdatasyncSeconds(const BenchPostgres& postgres);
// Median seconds of one message there and back on an open gRPC stream over loopback.
double RoundTripSeconds();

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_BENCH_HOT_BASELINE_H_
