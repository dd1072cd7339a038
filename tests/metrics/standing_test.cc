#include "scheduler/store/standing.h"

#include "gtest/gtest.h"
#include "tests/support/migrated_database.h"

namespace tidemark {
namespace {

void AddJob(MigratedDatabase& db, int64_t id, const std::string& name, bool paused) {
  db.Sql(
      "INSERT INTO job (job_id, name, namespace, app, shard, version, paused, pause_reason, "
      "created_at, "
      "updated_at) VALUES ($1, $2, 'default', 'app', 0, 1, $3, 'why', tidemark_now(), "
      "tidemark_now())",
      {ToParam(id), name, ToParam(paused)});
}

void AddDue(MigratedDatabase& db, int64_t job, const std::string& date, const std::string& ago,
            bool settled) {
  db.Sql(
      "INSERT INTO due_date (job_id, biz_date, fire_time, settled) VALUES ($1, $2, "
      "tidemark_now() - $3::interval, $4)",
      {ToParam(job), date, ago, ToParam(settled)});
}

TEST(StandingTest, AnEmptyHouseIsInOrder) {
  MigratedDatabase db;
  StandingReader reader(db.options());
  const auto standing = reader.Read();
  ASSERT_TRUE(standing.ok()) << standing.status();
  EXPECT_EQ(standing->unsettled_dates, 0);
  EXPECT_EQ(standing->oldest_unsettled_age, absl::ZeroDuration());
  EXPECT_EQ(standing->open_alerts, 0);
  EXPECT_EQ(standing->pending_alerts, 0);
  EXPECT_EQ(standing->oldest_pending_alert_age, absl::ZeroDuration());
}

TEST(StandingTest, UnsettledDatesCountUnlessTheirJobIsPaused) {
  MigratedDatabase db;
  AddJob(db, 1, "a", false);
  AddJob(db, 2, "b", true);
  AddDue(db, 1, "2026-11-01", "30 days", true);
  AddDue(db, 1, "2026-11-02", "2 days", false);
  AddDue(db, 1, "2026-11-03", "1 day", false);
  AddDue(db, 2, "2026-11-02", "9 days", false);
  StandingReader reader(db.options());
  const auto standing = reader.Read();
  ASSERT_TRUE(standing.ok()) << standing.status();
  EXPECT_EQ(standing->unsettled_dates, 2);
  EXPECT_GE(standing->oldest_unsettled_age, absl::Hours(48));
  EXPECT_LT(standing->oldest_unsettled_age, absl::Hours(49));
}

}  // namespace
}  // namespace tidemark
