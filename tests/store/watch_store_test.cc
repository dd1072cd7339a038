// What the watch of the daily check reads and writes, on PostgreSQL.
#include "scheduler/store/watch_store.h"

#include <gmock/gmock.h>

#include "tests/store/flush_fixture.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::Duration kLate = absl::Minutes(15);
constexpr absl::Duration kBlind = absl::Minutes(20);

class WatchStoreTest : public FlushTest {
 protected:
  WatchStoreTest() : store_(database_.options()) {
    InsertJob(database_, 1, "recon", 3);
    InsertJob(database_, 2, "settle", 90);
    InsertJob(database_, 3, "gone", 3);
    database_.Sql("UPDATE job SET deleted_at = tidemark_now() WHERE job_id = 3");
  }
  std::vector<std::string> Names(const std::string& node, int64_t after = 0, int limit = 10) {
    const auto page = store_.Jobs(node, after, limit);
    EXPECT_TRUE(page.ok()) << page.status();
    std::vector<std::string> names;
    for (const WatchJob& job : page->jobs) names.push_back(job.row.name);
    if (page->more) names.push_back("more");
    return names;
  }
  void AddNode(const std::string& node, int number) {
    database_.Sql(
        "INSERT INTO scheduler_node VALUES ($1, $2, 'h:1', '1', tidemark_now() + interval '10 s', "
        "tidemark_now())",
        {node, Uuid(number)});
  }
  void Verdict(int64_t job, const std::string& date, const std::string& verdict) {
    database_.Sql(
        "INSERT INTO check_verdict (job_id, job_name, namespace, biz_date, expected_at, verdict, "
        "state, checked_at) VALUES ($1, 'recon', 'default', $2, tidemark_now(), $3, 'FAILED', "
        "tidemark_now())",
        {ToParam(job), date, verdict});
  }
  void Raise(const std::string& key, const std::string& kind, const std::string& date) {
    AlertRaise alert;
    alert.alert_id = Uuid(++alerts_);
    alert.dedup_key = key;
    alert.kind = kind;
    alert.severity = "critical";
    alert.job_name = "recon";
    alert.biz_date = Day(date);
    alert.summary = "summary";
    alert.detail = "detail";
    EXPECT_TRUE(store_.Tell({{alert}, {}}).ok());
  }
  WatchHealth Health() {
    const auto health = store_.Health(kLate, kBlind);
    EXPECT_TRUE(health.ok()) << health.status();
    return health.value_or(WatchHealth());
  }
  void Ping(bool pinged, std::vector<std::string> reasons, const std::string& error = "") {
    EXPECT_TRUE(store_.Pinged("node-a", {true, pinged, error, std::move(reasons)}).ok());
  }
  std::string State(const std::string& columns) {
    return database_.Rows("SELECT " + columns + " FROM watch_state WHERE node_id = 'node-a'").at(0);
  }

  WatchStore store_;
  int alerts_ = 0;
};

TEST_F(WatchStoreTest, ANodeAloneWatchesAllJobsThatThereAre) {
  EXPECT_THAT(Names("node-a"), ElementsAre("recon", "settle"));
  EXPECT_THAT(Names("node-a", 0, 1), ElementsAre("recon", "more"));
  EXPECT_THAT(Names("node-a", 1, 1), ElementsAre("settle"));
  const auto page = store_.Jobs("node-a", 0, 10);
  ASSERT_THAT(page->jobs.at(0).row.versions, SizeIs(1));
  EXPECT_EQ(page->jobs[0].row.versions[0].spec, "{}");
  EXPECT_LE(page->jobs[0].check_from, page->now);
}

TEST_F(WatchStoreTest, ANodeWatchesTheShardsOfTheOthers) {
  AddNode("node-b", 800);
  database_.Sql("UPDATE shard SET node_id = 'node-b', incarnation = $1 WHERE shard >= 64",
                {Uuid(800)});
  EXPECT_THAT(Names("node-a"), ElementsAre("settle"));
  EXPECT_THAT(Names("node-b"), ElementsAre("recon"));
  database_.Sql("UPDATE scheduler_node SET lease_until = tidemark_now() WHERE node_id = 'node-a'");
  EXPECT_THAT(Names("node-b"), ElementsAre("recon", "settle")) << "the other one is gone";
  database_.Sql("UPDATE shard SET node_id = NULL, incarnation = NULL");
  AddNode("node-c", 801);
  EXPECT_THAT(Names("node-b"), ElementsAre("recon", "settle")) << "free shards are nobody's own";
}

TEST_F(WatchStoreTest, ReadsWhatIsKeptOfDates) {
  database_.Sql(
      "INSERT INTO job_watermark (job_name, biz_date, status, job_id, updated_at) VALUES "
      "('recon', '2026-11-27', 'DONE', 1, tidemark_now()), "
      "('recon', '2026-11-28', 'DONE', 1, tidemark_now())");
  Verdict(1, "2026-11-28", "LATE");
  Raise("date_missed/1/2026-11-28", "date_missed", "2026-11-28");
  database_.Sql("DELETE FROM job_watermark WHERE biz_date = '2026-11-28'");
  const auto dates =
      store_.Dates({{1, Day("2026-11-28")}, {2, Day("2026-11-28")}, {1, Day("2026-11-27")}});
  ASSERT_TRUE(dates.ok()) << dates.status();
  ASSERT_THAT(*dates, SizeIs(3));
  EXPECT_EQ(dates->at(0).verdict, "LATE");
  EXPECT_EQ(dates->at(0).state, "FAILED");
  EXPECT_EQ(dates->at(0).status, "");
  EXPECT_TRUE(dates->at(0).told);
  EXPECT_TRUE(dates->at(0).undone_at.has_value());
  EXPECT_EQ(dates->at(1).job_id, 2);
  EXPECT_EQ(dates->at(1).verdict, "");
  EXPECT_FALSE(dates->at(1).told);
  EXPECT_EQ(dates->at(2).status, "DONE");
  EXPECT_FALSE(dates->at(2).undone_at.has_value());
}

TEST_F(WatchStoreTest, TellsOnceAndEndsIt) {
  Raise("check_missing/1/2026-11-28", "check_missing", "2026-11-28");
  Raise("check_missing/1/2026-11-28", "check_missing", "2026-11-28");
  Raise("check_disagrees/1/2026-11-27", "check_disagrees", "2026-11-27");
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM alert"), "2");
  auto page = store_.Jobs("node-a", 0, 10);
  EXPECT_THAT(page->jobs.at(0).open_missing, ElementsAre(Day("2026-11-28")));
  EXPECT_THAT(page->jobs.at(0).open_disagrees, ElementsAre(Day("2026-11-27")));
  EXPECT_THAT(page->jobs.at(1).open_missing, IsEmpty());
  EXPECT_EQ(Health().missing, 1);
  EXPECT_EQ(Health().disagreeing, 1);
  EXPECT_TRUE(store_.Tell({{}, {"check_missing/1/2026-11-28"}}).ok());
  EXPECT_EQ(Health().missing, 0);
  page = store_.Jobs("node-a", 0, 10);
  EXPECT_THAT(page->jobs.at(0).open_missing, IsEmpty());
}

TEST_F(WatchStoreTest, WhatIsToldOfADeletedJobEndsWithTheLook) {
  Raise("check_missing/3/2026-11-28", "check_missing", "2026-11-28");
  Raise("check_missing/1/2026-11-28", "check_missing", "2026-11-28");
  EXPECT_TRUE(store_.Looked("node-a", {2, 6, ""}).ok());
  EXPECT_THAT(database_.Rows("SELECT dedup_key FROM alert WHERE resolved_at IS NULL"),
              ElementsAre("check_missing/1/2026-11-28"));
}

TEST_F(WatchStoreTest, ALookThatFailedKeepsTheLastGoodOne) {
  EXPECT_TRUE(store_.Looked("node-a", {2, 6, ""}).ok());
  const std::string looked = State("looked_at");
  EXPECT_TRUE(store_.Looked("node-a", {0, 0, "no"}).ok());
  EXPECT_EQ(State("looked_at, look_error, jobs, dates"), looked + "|no|2|6");
  EXPECT_TRUE(store_.Looked("node-a", {3, 7, ""}).ok());
  EXPECT_EQ(State("look_error, jobs, dates"), "|3|7");
}

TEST_F(WatchStoreTest, AllIsWell) {
  const WatchHealth health = Health();
  EXPECT_EQ(health.unowned_shards, 0);
  EXPECT_EQ(health.undelivered, 0);
  EXPECT_THAT(health.blind, IsEmpty());
}

TEST_F(WatchStoreTest, ShardsWithoutALiveOwnerAreSeen) {
  database_.Sql("UPDATE shard SET node_id = NULL, incarnation = NULL WHERE shard < 3");
  EXPECT_EQ(Health().unowned_shards, 3);
  database_.Sql("UPDATE scheduler_node SET lease_until = tidemark_now()");
  EXPECT_EQ(Health().unowned_shards, 128);
}

TEST_F(WatchStoreTest, ANodeThatDoesNotLookIsSeen) {
  database_.Sql("UPDATE scheduler_node SET started_at = tidemark_now() - interval '21 minutes'");
  ASSERT_THAT(Health().blind, SizeIs(1));
  EXPECT_EQ(Health().blind[0].first, "node-a");
  EXPECT_FALSE(Health().blind[0].second.has_value());
  EXPECT_TRUE(store_.Looked("node-a", {2, 6, ""}).ok());
  EXPECT_THAT(Health().blind, IsEmpty());
  database_.Sql("UPDATE watch_state SET looked_at = tidemark_now() - interval '21 minutes'");
  ASSERT_THAT(Health().blind, SizeIs(1));
  EXPECT_TRUE(Health().blind[0].second.has_value());
}

struct Waiting {
  const char* name;
  const char* sql;  // done to an alert that was raised 20 minutes ago and was not routed
  int undelivered;
};

const Waiting kWaiting[] = {
    {"not routed", "SELECT 1", 1},
    {"not routed, in a silence",
     "UPDATE alert SET silenced_until = tidemark_now() + interval '1 hour'", 0},
    {"not routed, acknowledged", "UPDATE alert SET acked_at = tidemark_now()", 0},
    {"not routed, over", "UPDATE alert SET resolved_at = tidemark_now()", 0},
    {"routed to nobody", "UPDATE alert SET routed_at = tidemark_now()", 0},
};

TEST_F(WatchStoreTest, AlertsThatNobodyWasGivenAreCounted) {
  for (const Waiting& waiting : kWaiting) {
    database_.Sql("DELETE FROM alert");
    Raise("check_missing/1/2026-11-28", "check_missing", "2026-11-28");
    EXPECT_EQ(Health().undelivered, 0) << "not for long enough: " << waiting.name;
    database_.Sql("UPDATE alert SET raised_at = tidemark_now() - interval '20 minutes'");
    database_.Sql(waiting.sql);
    EXPECT_EQ(Health().undelivered, waiting.undelivered) << waiting.name;
  }
}

TEST_F(WatchStoreTest, AlertsThatNoChannelTookAreCounted) {
  Raise("check_missing/1/2026-11-28", "check_missing", "2026-11-28");
  database_.Sql(
      "UPDATE alert SET raised_at = tidemark_now() - interval '20 minutes', "
      "routed_at = tidemark_now()");
  for (const char* channel : {"ops", "mail"}) {
    database_.Sql(
        "INSERT INTO alert_delivery (alert_id, episode, channel, phase, created_at, next_try_at) "
        "SELECT alert_id, 1, $1, 'raised', tidemark_now() - interval '20 minutes', tidemark_now() "
        "FROM alert",
        {channel});
  }
  EXPECT_EQ(Health().undelivered, 1) << "an alert, not a message";
  EXPECT_TRUE(Health().undelivered_since.has_value());
  EXPECT_EQ(store_.Health(absl::InfiniteDuration(), kBlind)->undelivered, 0);
  database_.Sql("UPDATE alert_delivery SET created_at = tidemark_now()");
  EXPECT_EQ(Health().undelivered, 0) << "not for long enough";
  database_.Sql("UPDATE alert_delivery SET state = 'dead', ended_at = tidemark_now()");
  EXPECT_EQ(Health().undelivered, 1) << "given up, and still open";
  database_.Sql("UPDATE alert SET acked_at = tidemark_now()");
  EXPECT_EQ(Health().undelivered, 0) << "somebody knows";
  database_.Sql("UPDATE alert SET acked_at = NULL, delivered_at = tidemark_now()");
  EXPECT_EQ(Health().undelivered, 0) << "another channel took it";
}

TEST_F(WatchStoreTest, KeepsSinceWhenAndUntilWhenThePingWasWithheld) {
  Ping(true, {});
  EXPECT_EQ(State("pings, pinged_at IS NULL, withheld_since, withheld_until, reasons"), "t|f|-|-|");
  Ping(false, {"first", "second"});
  const std::string since = State("withheld_since");
  EXPECT_NE(since, "-");
  Ping(false, {"third"});
  EXPECT_EQ(State("withheld_since, withheld_until, reasons"), since + "|-|third");
  Ping(true, {});
  const std::string until = State("withheld_until");
  EXPECT_NE(until, "-");
  Ping(true, {}, "");
  EXPECT_EQ(State("withheld_since, withheld_until, reasons"), since + "|" + until + "|third");
  Ping(false, {"again"});
  EXPECT_NE(State("withheld_since"), since);
  EXPECT_EQ(State("withheld_until, reasons"), "-|again");
}

TEST_F(WatchStoreTest, APingThatWasNotTakenKeepsTheLastOne) {
  Ping(true, {});
  const std::string pinged = State("pinged_at");
  Ping(false, {}, "HTTP 500");
  EXPECT_EQ(State("pinged_at, ping_error"), pinged + "|HTTP 500");
  Ping(true, {});
  EXPECT_EQ(State("ping_error"), "");
}

// ---------------------------------------------------------------- events

TEST_F(WatchStoreTest, AnEventIsOverAsItIsRaisedAndToldOnce) {
  AlertRaise alert;
  alert.alert_id = Uuid(50);
  alert.dedup_key = "catch_up_done/1/x";
  alert.kind = "catch_up_done";
  alert.severity = "info";
  alert.summary = "closed";
  alert.event = true;
  Flush flush;
  flush.alerts.push_back(alert);
  Commit(flush);
  EXPECT_EQ(
      database_
          .Rows("SELECT event AND resolved_at = raised_at, end_routed_at = raised_at, routed_at, "
                "episode FROM alert")
          .at(0),
      "t|t|-|1");
  database_.Sql("UPDATE alert SET routed_at = tidemark_now()");
  Commit(flush);
  EXPECT_EQ(database_.Rows("SELECT routed_at IS NULL, episode FROM alert").at(0), "f|1")
      << "the same event is no news";
}

}  // namespace
}  // namespace tidemark
