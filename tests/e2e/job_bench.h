// Interval jobs that are ordered by hand, for tests of orders and of several runs at once.
#ifndef TIDEMARK_TESTS_E2E_JOB_BENCH_H_
#define TIDEMARK_TESTS_E2E_JOB_BENCH_H_

#include <string>

#include "tests/e2e/world.h"

namespace tidemark {

// Applies a job of app ops, handler work, that only fires by order; `more` are lines of its YAML.
void ApplyManual(World& world, const std::string& job, const std::string& more = "");

// Waits until the one value that `sql` gives is `value`.
bool AwaitSql(World& world, const std::string& sql, const std::string& value,
              absl::Duration timeout = absl::Seconds(30));

// Waits until the log of that program has the words.
bool AwaitLog(const World& world, const std::string& program, const std::string& words,
              absl::Duration timeout = absl::Seconds(30));

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_E2E_JOB_BENCH_H_
