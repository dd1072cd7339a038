// Commits of which nobody can say at once whether they took place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "tests/store/flush_fixture.h"
#include "tests/store/recording_listener.h"
#include "tests/support/process.h"
#include "tests/support/socket_proxy.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A node whose commits wait, inside COMMIT, while the test holds an advisory lock: a deferred
// trigger of the test's database takes it.
class DoubtTest : public ::testing::Test {
 protected:
  static constexpr char kHold[] = "SELECT pg_advisory_lock(1)";

  DoubtTest() : proxy_(database_.url()) {
    InsertJob(database_, 100, "recon");
    database_.Sql(
        "CREATE FUNCTION wait_in_commit() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END'");
    database_.Sql(
        "CREATE CONSTRAINT TRIGGER hold AFTER INSERT ON active_run DEFERRABLE INITIALLY DEFERRED"
        " FOR EACH ROW EXECUTE FUNCTION wait_in_commit()");
    StoreOptions options;
    options.database = database_.options();
    options.database.url = proxy_.url();
    options.listen_url = database_.url();
    options.node_id = "a";
    options.first_backoff = absl::Milliseconds(20);
    options.renew_every = absl::Hours(1);
    options.lease = absl::Hours(1);
    options.stop_after = absl::Hours(1);
    store_ = std::make_unique<SchedulerStore>(options, &heard_, SystemClock(), SystemRandom());
    store_->Start();
    heard_.WaitForTerm(1);
  }

  // Submits an opening and waits until its COMMIT waits in the server. Returns the backend.
  std::string SubmitAndHold() {
    database_.Sql(kHold);
    Flush flush;
    flush.seq = 1;
    flush.opens.push_back({MakeRun(100, "recon", "2026-11-27", Uuid(1)), ""});
    store_->Submit(1, flush);
    std::string backend;
    EXPECT_TRUE(WaitFor([&] {
      backend = database_.Sql(
          "SELECT pid FROM pg_stat_activity WHERE wait_event = 'advisory' AND query = 'COMMIT'"
          " AND datname = current_database()");
      return !backend.empty();
    }));
    return backend;
  }

  MigratedDatabase database_;
  SocketProxy proxy_;
  RecordingListener heard_;
  std::unique_ptr<SchedulerStore> store_;
};

TEST_F(DoubtTest, ACommitThatTookPlaceIsNotRepeated) {
  SubmitAndHold();
  proxy_.HoldReplies();
  database_.Sql("SELECT pg_advisory_unlock(1)");
  ASSERT_TRUE(WaitFor([&] { return database_.Sql("SELECT seq FROM flush") == "1"; }));
  EXPECT_THAT(heard_.Get().flushed, IsEmpty());
  proxy_.Cut();
  ASSERT_TRUE(heard_.WaitForFlush(1));
  EXPECT_THAT(heard_.Get().flushed.at(0).opened, ElementsAre(Uuid(1)));
  EXPECT_THAT(heard_.Get().ends, IsEmpty());
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM active_run"), "1");
}

TEST_F(DoubtTest, ACommitThatDidNotTakePlaceIsRepeated) {
  const std::string backend = SubmitAndHold();
  database_.Sql("SELECT pg_terminate_backend($1::integer)", {backend});
  ASSERT_TRUE(WaitFor([&] {
    return database_.Sql("SELECT count(*) FROM pg_stat_activity WHERE pid = $1::integer",
                         {backend}) == "0";
  }));
  database_.Sql("SELECT pg_advisory_unlock(1)");
  ASSERT_TRUE(heard_.WaitForFlush(1));
  EXPECT_THAT(heard_.Get().flushed.at(0).opened, ElementsAre(Uuid(1)));
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM active_run"), "1");
}

// The link breaks while the server still works on the commit: the answer waits for it.
TEST_F(DoubtTest, ACommitThatIsStillUnderWayIsWaitedFor) {
  SubmitAndHold();
  proxy_.Cut();
  ASSERT_TRUE(WaitFor([&] {
    return database_.Sql(
               "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%FOR UPDATE%'"
               " AND wait_event_type = 'Lock' AND datname = current_database()") == "1";
  }));
  EXPECT_THAT(heard_.Get().flushed, IsEmpty());
  database_.Sql("SELECT pg_advisory_unlock(1)");
  ASSERT_TRUE(heard_.WaitForFlush(1));
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM active_run"), "1");
  EXPECT_THAT(heard_.Get().ends, IsEmpty());
}

TEST_F(DoubtTest, ADatabaseThatWentBackEndsTheTerm) {
  SubmitAndHold();
  proxy_.HoldReplies();
  database_.Sql("SELECT pg_advisory_unlock(1)");
  ASSERT_TRUE(WaitFor([&] { return database_.Sql("SELECT seq FROM flush") == "1"; }));
  // As after a fail-over that lost the last commits.
  database_.Sql("UPDATE flush SET seq = -1");
  database_.Sql("DELETE FROM active_run");
  proxy_.Cut();
  ASSERT_TRUE(heard_.WaitForEnds(1));
  EXPECT_THAT(heard_.Get().ends.at(0), ::testing::HasSubstr("commits were lost"));
  EXPECT_THAT(heard_.Get().flushed, IsEmpty());
  EXPECT_EQ(heard_.WaitForTerm(2).term, 2u);
}

}  // namespace
}  // namespace tidemark
