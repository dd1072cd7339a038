// Calendars as the engine gets them: with the jobs that name them, whatever way these are read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/store/snapshot.h"
#include "tests/store/flush_fixture.h"

namespace tidemark {
namespace {

class CalendarRowsTest : public FlushTest {
 protected:
  CalendarRowsTest() {
    InsertJob(database_, 100, "recon");
    InsertJob(database_, 101, "plain");
    database_.Sql("UPDATE job_version SET calendar = 'cn' WHERE job_id = 100");
    database_.Sql("INSERT INTO calendar VALUES ('cn', 2, tidemark_now(), tidemark_now())");
    AddVersion(1, "{2026-10-01,2026-10-02}", "2026-01-01T00:00:00Z", false);
    AddVersion(2, "{2026-10-01}", "2026-10-01T08:00:00.000001Z", true);
  }

  void AddVersion(int version, const std::string& dates, const std::string& from,
                  bool retroactive) {
    database_.Sql("INSERT INTO calendar_version VALUES ('cn', $1, 'exclude', 1, $2, $3, $4, 'ann')",
                  {ToParam(version), dates, from, ToParam(retroactive)});
  }
  static void ExpectBoth(const JobRow& job) {
    ASSERT_NE(job.calendars, nullptr);
    ASSERT_EQ(job.calendars->count("cn"), 1U);
    const CalendarHistory& history = job.calendars->at("cn");
    ASSERT_EQ(history.size(), 2U);
    EXPECT_EQ(history[0].calendar->dates(),
              (std::vector<absl::CivilDay>{Day("2026-10-01"), Day("2026-10-02")}));
    EXPECT_EQ(history[0].calendar->weekend(), 1);
    EXPECT_FALSE(history[0].retroactive);
    EXPECT_EQ(history[1].calendar->version(), 2);
    EXPECT_TRUE(history[1].retroactive);
    EXPECT_EQ(history[1].valid_from, At("2026-10-01T08:00:00.000001Z"));
  }
};

TEST_F(CalendarRowsTest, ASnapshotHasThemWithTheJobsThatNameThem) {
  const absl::StatusOr<Snapshot> snapshot = LoadSnapshot(*connection_, {{7, Epoch{1, 1}}});
  ASSERT_TRUE(snapshot.ok()) << snapshot.status();
  ASSERT_EQ(snapshot->jobs.size(), 2U);
  ExpectBoth(snapshot->jobs[0]);
  EXPECT_EQ(snapshot->jobs[1].calendars, nullptr);
}

TEST_F(CalendarRowsTest, AnOrdersJobHasThem) {
  std::map<int64_t, JobRow> jobs;
  ASSERT_TRUE(connection_
                  ->Transact([&](SqlTransaction& transaction) -> absl::Status {
                    auto loaded = LoadJobs(transaction, {100, 101});
                    if (loaded.ok()) jobs = *std::move(loaded);
                    return loaded.status();
                  })
                  .ok());
  ExpectBoth(jobs[100]);
  EXPECT_EQ(jobs[101].calendars, nullptr);
}

TEST_F(CalendarRowsTest, AVersionThatCannotBeUsedStopsNothingElse) {
  AddVersion(3, "{0044-03-15}", "2026-10-02T08:00:00Z", false);
  const absl::StatusOr<Snapshot> snapshot = LoadSnapshot(*connection_, {{7, Epoch{1, 1}}});
  ASSERT_TRUE(snapshot.ok()) << snapshot.status();
  ExpectBoth(snapshot->jobs[0]);
}

}  // namespace
}  // namespace tidemark
