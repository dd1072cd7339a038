#include "scheduler/store/flush_units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/store/sql_error.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

Flush ManyJobs(int64_t jobs) {
  Flush flush;
  for (int64_t id = 1; id <= jobs; ++id) {
    flush.cursors.push_back({id, absl::UnixEpoch()});
    flush.jobs.push_back({.job_id = id});
  }
  return flush;
}

class Probe {
 public:
  explicit Probe(std::set<int64_t> bad) : bad_(std::move(bad)) {}
  absl::Status operator()(const Flush& flush) {
    ++count;
    for (const CursorWrite& cursor : flush.cursors) {
      if (bad_.count(cursor.job_id) > 0) return FromSqlState("22001", "too long");
    }
    return absl::OkStatus();
  }
  int count = 0;

 private:
  const std::set<int64_t> bad_;
};

std::vector<int64_t> Culprits(const Flush& flush, Probe& probe) {
  std::map<FlushUnit, absl::Status> culprits;
  EXPECT_TRUE(FindCulprits(flush, [&](const Flush& f) { return probe(f); }, &culprits).ok());
  std::vector<int64_t> ids;
  for (const auto& [unit, why] : culprits) ids.push_back(unit.job_id);
  return ids;
}

TEST(FlushUnitsTest, FindsEveryCulpritWithFewProbes) {
  const Flush flush = ManyJobs(1024);
  Probe one({500});
  EXPECT_THAT(Culprits(flush, one), ElementsAre(500));
  EXPECT_LE(one.count, 21);
  Probe three({1, 512, 1024});
  EXPECT_THAT(Culprits(flush, three), ElementsAre(1, 512, 1024));
  Probe none({});
  EXPECT_THAT(Culprits(flush, none), ElementsAre());
  EXPECT_EQ(none.count, 1);
}

TEST(FlushUnitsTest, OtherErrorsEndTheSearch) {
  std::map<FlushUnit, absl::Status> culprits;
  const absl::Status status = FindCulprits(
      ManyJobs(4), [](const Flush&) { return absl::UnavailableError("gone"); }, &culprits);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
}

// Data that is refused only together: what comes first stays.
TEST(FlushUnitsTest, ACombinationLosesItsLaterPart) {
  const auto probe = [](const Flush& flush) {
    return flush.cursors.size() > 1 ? FromSqlState("23505", "both") : absl::OkStatus();
  };
  std::map<FlushUnit, absl::Status> culprits;
  ASSERT_TRUE(FindCulprits(ManyJobs(2), probe, &culprits).ok());
  ASSERT_THAT(culprits, SizeIs(1));
  EXPECT_EQ(culprits.begin()->first.job_id, 2);
}

TEST(FlushUnitsTest, AllPartsOfAJobAreOneUnitAndTheRestIsByItsOwnKey) {
  Flush flush = ManyJobs(2);
  flush.seq = 9;
  ActiveRun run;
  run.occurrence.job_id = 2;
  flush.opens.push_back({run, ""});
  flush.attempts.push_back({.job_id = 2});
  flush.alerts.push_back({.dedup_key = "k"});
  flush.commands.push_back({"c"});
  flush.registers.push_back({.executor_id = "e"});
  flush.executors.push_back({"e", 1, "UP"});
  flush.inbox.push_back({{{"r", 1}, 0, "", {}}, "a", "default"});
  flush.inbox_taken.push_back({"r", 1});
  EXPECT_THAT(UnitsOf(flush), SizeIs(6));
  const Flush part = Select(flush, {{1, ""}, {0, "executor e"}});
  EXPECT_EQ(part.seq, 9u);
  EXPECT_THAT(part.cursors, SizeIs(1));
  EXPECT_THAT(part.jobs, SizeIs(1));
  EXPECT_THAT(part.opens, SizeIs(0));
  EXPECT_THAT(part.attempts, SizeIs(0));
  EXPECT_THAT(part.alerts, SizeIs(0));
  EXPECT_THAT(part.registers, SizeIs(1));
  EXPECT_THAT(part.executors, SizeIs(1));
  EXPECT_THAT(part.inbox, SizeIs(0));
  EXPECT_THAT(Select(flush, {{0, "run r"}}).inbox_taken, SizeIs(1));
}

}  // namespace
}  // namespace tidemark
