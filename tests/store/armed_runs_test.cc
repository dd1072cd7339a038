// Runs that are recorded before they are due.
#include <gtest/gtest.h>

#include "tests/store/flush_fixture.h"

namespace tidemark {
namespace {

class ArmedRunsTest : public FlushTest {
 protected:
  ArmedRunsTest() {
    InsertJob(database_, 1, "recon");
    run_ = MakeRun(1, "recon", "2026-11-28", Uuid(1));
    run_.armed = true;
    run_.attempt = 1;
    run_.executor_id = "e1";
    run_.registration = 1;
    run_.fire_time = At("2099-01-01T00:00:00Z");
  }
  std::string Visible() { return database_.Sql("SELECT count(*) FROM run"); }
  std::string Live() { return database_.Sql("SELECT count(*) FROM active_run"); }

  ActiveRun run_;
};

TEST_F(ArmedRunsTest, TheRowIsTheExclusionAndNothingElseYet) {
  EXPECT_EQ(Open(run_).opened.count(Uuid(1)), 1u);
  EXPECT_EQ(Live(), "1");
  EXPECT_EQ(Visible(), "0") << "no run before its instant";
  EXPECT_EQ(Watermark("recon", "2026-11-28"), "");
  ActiveRun other = run_;
  other.run_id = Uuid(2);
  other.armed = false;
  EXPECT_TRUE(Open(other).opened.empty()) << "nobody opens the occurrence beside it";
}

TEST_F(ArmedRunsTest, ItsInstantMakesItVisibleAndItsLaunchMarksTheDate) {
  run_.fire_time = At("2026-11-27T17:00:00Z");
  Open(run_);
  EXPECT_EQ(Visible(), "1");
  Flush flush;
  flush.launches.push_back({1, Uuid(1)});
  Commit(std::move(flush));
  EXPECT_EQ(Watermark("recon", "2026-11-28"), "RUNNING");
  EXPECT_EQ(database_.Sql("SELECT run_id FROM job_watermark"), Uuid(1));
}

TEST_F(ArmedRunsTest, ALaunchLeavesADoneDateAndARunThatHasEndedAlone) {
  Open(run_);
  database_.Sql(
      "INSERT INTO job_watermark (job_name, biz_date, status, job_id, updated_at) "
      "VALUES ('recon', '2026-11-28', 'DONE', 1, tidemark_now())");
  Flush flush;
  flush.launches.push_back({1, Uuid(1)});
  flush.launches.push_back({1, Uuid(7)});
  Commit(std::move(flush));
  EXPECT_EQ(Watermark("recon", "2026-11-28"), "DONE");
}

TEST_F(ArmedRunsTest, DisarmingMakesRoomInTheSameFlush) {
  Open(run_);
  ActiveRun other = run_;
  other.run_id = Uuid(2);
  Flush flush;
  flush.disarms.push_back({1, Uuid(1)});
  flush.opens.push_back({other, ""});
  EXPECT_EQ(Commit(std::move(flush)).opened.count(Uuid(2)), 1u);
  EXPECT_EQ(database_.Sql("SELECT run_id FROM active_run"), Uuid(2));
}

TEST_F(ArmedRunsTest, WhatWasRewrittenAfterItsLaunchIsArmedNoMore) {
  Open(run_);
  run_.status = RunStatus::kRunning;
  Flush flush;
  flush.updates.push_back({run_});
  Commit(std::move(flush));
  EXPECT_EQ(Visible(), "1");
  Flush late;
  late.disarms.push_back({1, Uuid(1)});
  Commit(std::move(late));
  EXPECT_EQ(Live(), "1");
}

}  // namespace
}  // namespace tidemark
