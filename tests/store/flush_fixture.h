// What tests of flushes share.
#ifndef TIDEMARK_TESTS_STORE_FLUSH_FIXTURE_H_
#define TIDEMARK_TESTS_STORE_FLUSH_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/id.h"
#include "scheduler/engine/ports.h"
#include "scheduler/store/flush_writer.h"
#include "scheduler/store/lease.h"
#include "tests/support/migrated_database.h"

namespace tidemark {

// A job's row with one version; returns nothing, job_id is the caller's.
void InsertJob(MigratedDatabase& database, int64_t job_id, const std::string& name, int shard = 7);
// A live run of a date of that job, PENDING, without an executor.
ActiveRun MakeRun(int64_t job_id, const std::string& job_name, const std::string& biz_date,
                  const std::string& run_id);
// "00000000-0000-7000-8000-0000000000NN".
std::string Uuid(int number);
absl::Time At(const std::string& rfc3339);
absl::CivilDay Day(const std::string& date);

// A database with a registered owner that holds all shards.
class FlushTest : public ::testing::Test {
 protected:
  FlushTest();

  // Commits `flush` with the next number, exactly as it is.
  FlushResult Commit(Flush flush, const std::set<int64_t>& left_out = {});
  absl::Status TryCommit(Flush flush, FlushResult* result, const std::set<int64_t>& left_out = {});
  FlushResult Open(const ActiveRun& run, const std::string& count_on = "");
  FlushResult Close(const ActiveRun& run, RunStatus status, const std::string& watermark,
                    AttemptResult result = {}, const std::string& reason = "");
  std::string Watermark(const std::string& job_name, const std::string& date);  // its status

  MigratedDatabase database_;
  std::unique_ptr<Connection> connection_;
  Owner owner_{"node-a", Uuid(900)};
  SeededRandom random_{7};
  uint64_t seq_ = 0;
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_STORE_FLUSH_FIXTURE_H_
