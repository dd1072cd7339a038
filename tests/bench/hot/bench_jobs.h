// Very many job definitions at once.
#ifndef TIDEMARK_TESTS_BENCH_HOT_BENCH_JOBS_H_
#define TIDEMARK_TESTS_BENCH_HOT_BENCH_JOBS_H_

#include <string>
#include <vector>

#include "scheduler/core/job.h"
#include "tests/bench/hot/bench_sql.h"

namespace tidemark {

// An interval job of `app` that is due at `first` and every `every` after it.
JobSpec IntervalJob(const std::string& app, absl::Time first, absl::Duration every);
// A dated job of `app` that is due daily at 01:00 UTC.
JobSpec DatedJob(const std::string& app);

// Makes `count` jobs PREFIX-0, PREFIX-1, …, the i-th like `likes[i % size]` (whose names do not
// count), by COPY into the columns that an apply writes. No scheduler may run on the database.
void LoadJobs(BenchSql& sql, const std::vector<JobSpec>& likes, const std::string& prefix,
              int count);

// Applies a job like PREFIX-0 by the scheduler's service at `address`, and ends the program when
// its rows are not what LoadJobs wrote: the short cut would measure something else.
void CheckLoaded(BenchSql& sql, const JobSpec& like, const std::string& prefix,
                 const std::string& address);

// Applies jobs by the service.
void ApplyJobs(const std::vector<JobSpec>& specs, const std::string& address);

// All jobs, of DatedJob, ran once before `due`, a day earlier.
void LoadNightBefore(BenchSql& sql, absl::Time due);
// From now on the database's clock, and so the scheduler's, is ahead by so much.
void MoveDatabaseClock(BenchSql& sql, absl::Duration ahead);

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_BENCH_HOT_BENCH_JOBS_H_
