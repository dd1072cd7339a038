#include "scheduler/store/scheduler_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "common/time_text.h"
#include "tests/store/flush_fixture.h"
#include "tests/store/store_node.h"
#include "tests/support/process.h"
#include "tests/support/socket_proxy.h"

namespace tidemark {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kJob = 100;

using Node = StoreNode;

Flush OpenFlush(uint64_t seq, const ActiveRun& run) {
  Flush flush;
  flush.seq = seq;
  flush.opens.push_back({run, ""});
  return flush;
}

class SchedulerStoreTest : public ::testing::Test {
 protected:
  SchedulerStoreTest() { InsertJob(database_, kJob, "recon"); }
  ActiveRun Run(int number, const std::string& date = "2026-11-27") {
    return MakeRun(kJob, "recon", date, Uuid(number));
  }
  std::string AddCommand(int number, int shard = 7) {
    database_.Sql(
        "INSERT INTO command (command_id, shard, job_id, kind, args, actor, created_at)"
        " VALUES ($1, $2, $3, 'trigger', '{\"biz_date\": \"2026-11-27\"}', 'ann',"
        " tidemark_now())",
        {Uuid(number), ToParam(shard), ToParam(kJob)});
    return Uuid(number);
  }

  MigratedDatabase database_;
};

// Renewals and flushes alone would leave the loop to guess for seconds.
TEST_F(SchedulerStoreTest, EachPollForOrdersTellsTheTime) {
  Node node(database_, "a", [](StoreOptions* o) { o->renew_every = absl::Seconds(7); });
  ASSERT_TRUE(node.heard.Wait([](const auto& state) { return state.clocks.size() >= 12; }));
  const auto state = node.heard.Get();
  EXPECT_THAT(state.commands, IsEmpty());
  for (const ClockSample& sample : state.clocks) EXPECT_LE(sample.sent_mono, sample.received_mono);
}

TEST_F(SchedulerStoreTest, ATermFromStartToStop) {
  Node node(database_, "a");
  const TermInfo term = node.heard.WaitForTerm(1);
  EXPECT_EQ(term.term, 1u);
  EXPECT_EQ(term.node_id, "a");
  EXPECT_TRUE(IsUuid(term.incarnation));
  EXPECT_GE(term.timeline, 1u);
  const Snapshot snapshot = node.heard.Get().snapshots.at(0);
  EXPECT_EQ(snapshot.shards.size(), 128u);
  EXPECT_EQ(snapshot.shards.at(7), (Epoch{term.timeline, 1}));
  ASSERT_THAT(snapshot.jobs, SizeIs(1));

  node.store->Submit(1, OpenFlush(1, Run(1)));
  ASSERT_TRUE(node.heard.WaitForFlush(1));
  EXPECT_THAT(node.heard.Get().flushed.at(0).opened, ElementsAre(Uuid(1)));

  node.store->Query(1, {5, kJob, {Day("2026-11-26"), Day("2026-11-27")}, false});
  ASSERT_TRUE(node.heard.Wait([](const auto& s) { return !s.ledgers.empty(); }));
  const LedgerResult ledger = node.heard.Get().ledgers.at(0);
  EXPECT_EQ(ledger.query_id, 5u);
  ASSERT_THAT(ledger.entries, SizeIs(2));
  EXPECT_EQ(ledger.entries[0].status, "");
  EXPECT_EQ(ledger.entries[1].status, "RUNNING");
  EXPECT_EQ(ledger.entries[1].run_id, Uuid(1));

  const std::string command = AddCommand(500);
  node.store->PokeCommands();
  ASSERT_TRUE(node.heard.Wait([](const auto& s) { return !s.commands.empty(); }));
  const Command heard = node.heard.Get().commands.at(0);
  EXPECT_EQ(heard.command_id, command);
  EXPECT_EQ(heard.args.at("biz_date"), "2026-11-27");
  ASSERT_TRUE(heard.job.has_value());
  EXPECT_EQ(heard.job->name, "recon");

  node.store->Stop();
  const auto state = node.heard.Get();
  EXPECT_THAT(state.ends, ElementsAre("the scheduler stops"));
  EXPECT_EQ(state.order.front(), "start");
  EXPECT_EQ(state.order.back(), "end");
  EXPECT_FALSE(state.clocks.empty());
  for (const ClockSample& sample : state.clocks) EXPECT_LE(sample.sent_mono, sample.received_mono);
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM shard WHERE node_id IS NOT NULL"), "0");
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM scheduler_node"), "0");
}

TEST_F(SchedulerStoreTest, StopCommitsWhatWasSubmitted) {
  Node node(database_, "a");
  node.heard.WaitForTerm(1);
  for (int i = 1; i <= 50; ++i) {
    node.store->Submit(1, OpenFlush(i, Run(i, FormatDate(Day("2026-01-01") + i))));
  }
  node.store->Stop();
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM active_run"), "50");
  EXPECT_THAT(node.heard.Get().flushed, SizeIs(50));
}

TEST_F(SchedulerStoreTest, MakesTheSchemaOfAnEmptyDatabase) {
  const TestDatabase empty;
  DatabaseOptions options;
  options.url = empty.url();
  options.schema = "Odd \"name\"";
  Node node(options, "a");
  EXPECT_EQ(node.heard.WaitForTerm(1).term, 1u);
}

TEST_F(SchedulerStoreTest, WaitsForADatabaseThatIsAway) {
  SocketProxy proxy(database_.url());
  proxy.Refuse(true);
  DatabaseOptions options = database_.options();
  options.url = proxy.url();
  Node node(options, "a");
  proxy.Refuse(false);
  EXPECT_EQ(node.heard.WaitForTerm(1).term, 1u);
}

TEST_F(SchedulerStoreTest, ARestartedNodeTakesOverAtOnce) {
  DatabaseOptions options = database_.options();
  Node first(options, "a", [](StoreOptions* o) { o->lease = absl::Hours(1); });
  const TermInfo before = first.heard.WaitForTerm(1);
  first.store->Submit(1, OpenFlush(1, Run(1)));
  ASSERT_TRUE(first.heard.WaitForFlush(1));
  // A new process with the same id, while the old one's lease would last for an hour.
  Node second(options, "a");
  const TermInfo after = second.heard.WaitForTerm(1);
  EXPECT_NE(before.incarnation, after.incarnation);
  const Snapshot snapshot = second.heard.Get().snapshots.at(0);
  EXPECT_EQ(snapshot.shards.at(7).number, 2u);
  ASSERT_THAT(snapshot.runs, SizeIs(1));
  // The old one's flush is refused, and it does not take the node back while the new one lives.
  first.store->Submit(1, OpenFlush(2, Run(2, "2026-11-26")));
  ASSERT_TRUE(first.heard.WaitForEnds(1));
  EXPECT_THAT(first.heard.Get().ends.at(0),
              AnyOf(HasSubstr("fenced"), HasSubstr("name another owner")));
  EXPECT_THAT(first.heard.Get().flushed, SizeIs(1));
  second.store->Submit(1, OpenFlush(1, Run(3, "2026-11-25")));
  EXPECT_TRUE(second.heard.WaitForFlush(1));
  EXPECT_THAT(first.heard.Get().terms, SizeIs(1));
  // It does once that one has stopped.
  second.store->Stop();
  EXPECT_EQ(first.heard.WaitForTerm(2).term, 2u);
  EXPECT_THAT(first.heard.Get().snapshots.at(1).runs, SizeIs(2));
}

TEST_F(SchedulerStoreTest, O01ALeaseRowThatVanishesEndsTheTerm) {
  Node node(database_, "a", [](StoreOptions* o) { o->renew_every = absl::Milliseconds(50); });
  node.heard.WaitForTerm(1);
  database_.Sql("DELETE FROM scheduler_node");
  ASSERT_TRUE(node.heard.WaitForEnds(1));
  EXPECT_THAT(node.heard.Get().ends.at(0), HasSubstr("lease was lost"));
  node.heard.WaitForTerm(2);
  EXPECT_EQ(node.heard.Get().snapshots.at(1).shards.at(7).number, 2u);
}

TEST_F(SchedulerStoreTest, ATermThatCannotRenewEndsItselfBeforeTheLease) {
  SocketProxy proxy(database_.url());
  DatabaseOptions options = database_.options();
  options.url = proxy.url();
  Node node(options, "a", [](StoreOptions* o) {
    o->renew_every = absl::Milliseconds(100);
    o->stop_after = absl::Milliseconds(600);
    o->lease = absl::Hours(1);
  });
  node.heard.WaitForTerm(1);
  proxy.Refuse(true);
  ASSERT_TRUE(node.heard.WaitForEnds(1));
  EXPECT_THAT(node.heard.Get().ends.at(0), HasSubstr("could not be renewed"));
  EXPECT_EQ(database_.Sql("SELECT lease_until > tidemark_now() FROM scheduler_node"), "t");
  proxy.Refuse(false);
  EXPECT_EQ(node.heard.WaitForTerm(2).term, 2u);
}

TEST_F(SchedulerStoreTest, ABrokenConnectionCostsATermNothing) {
  SocketProxy proxy(database_.url());
  DatabaseOptions options = database_.options();
  options.url = proxy.url();
  Node node(options, "a");
  node.heard.WaitForTerm(1);
  for (int i = 1; i <= 5; ++i) {
    proxy.Cut();
    node.store->Submit(1, OpenFlush(i, Run(i, FormatDate(Day("2026-01-01") + i))));
    ASSERT_TRUE(node.heard.WaitForFlush(i));
    EXPECT_THAT(node.heard.Get().flushed.back().opened, ElementsAre(Uuid(i)));
  }
  EXPECT_THAT(node.heard.Get().ends, IsEmpty());
}

TEST_F(SchedulerStoreTest, AFlushOfAnEarlierTermIsDropped) {
  Node node(database_, "a", [](StoreOptions* o) { o->renew_every = absl::Milliseconds(50); });
  node.heard.WaitForTerm(1);
  database_.Sql("DELETE FROM scheduler_node");
  node.heard.WaitForTerm(2);
  node.store->Submit(1, OpenFlush(1, Run(1)));
  node.store->Submit(2, OpenFlush(1, Run(2)));
  ASSERT_TRUE(node.heard.WaitForFlush(1));
  EXPECT_THAT(database_.Rows("SELECT run_id FROM active_run"), ElementsAre(Uuid(2)));
}

TEST_F(SchedulerStoreTest, AFlushThatLeavesANumberOutEndsTheTerm) {
  Node node(database_, "a");
  node.heard.WaitForTerm(1);
  node.store->Submit(1, OpenFlush(2, Run(1)));
  ASSERT_TRUE(node.heard.WaitForEnds(1));
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM active_run"), "0");
}

TEST_F(SchedulerStoreTest, BadDataCostsItsJobAloneAndTheRestIsCommitted) {
  InsertJob(database_, 101, "other");
  InsertJob(database_, 102, "third");
  Node node(database_, "a");
  node.heard.WaitForTerm(1);
  Flush flush;
  flush.seq = 1;
  flush.opens.push_back({Run(1), ""});
  ActiveRun bad = MakeRun(101, "other", "2026-11-27", Uuid(2));
  bad.handler = std::string(65, 'h');  // the column takes 64
  flush.opens.push_back({bad, ""});
  flush.opens.push_back({MakeRun(102, "third", "2026-11-27", Uuid(3)), ""});
  flush.cursors.push_back({101, At("2026-11-27T00:00:00Z")});
  flush.alerts.push_back({.alert_id = Uuid(10),
                          .dedup_key = "late other",
                          .kind = "late",
                          .severity = "warning",
                          .job_name = "other"});
  flush.alerts.push_back({.alert_id = Uuid(11),
                          .dedup_key = "late third",
                          .kind = "late",
                          .severity = "no such severity",
                          .job_name = "third"});
  flush.alerts.push_back({.alert_id = Uuid(12),
                          .dedup_key = "late recon",
                          .kind = "late",
                          .severity = "warning",
                          .job_name = "recon"});
  node.store->Submit(1, std::move(flush));
  ASSERT_TRUE(node.heard.WaitForFlush(1));
  const FlushResult result = node.heard.Get().flushed.at(0);
  EXPECT_THAT(result.opened, ElementsAre(Uuid(1), Uuid(3)));
  ASSERT_THAT(result.failed_jobs, SizeIs(1));
  EXPECT_EQ(result.failed_jobs[0].first, 101);
  EXPECT_THAT(result.failed_jobs[0].second, HasSubstr("too long"));
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM job_cursor"), "0");
  EXPECT_THAT(database_.Rows("SELECT dedup_key FROM alert"), ElementsAre("late recon"));
  // Numbers go on.
  node.store->Submit(1, OpenFlush(2, Run(4, "2026-11-26")));
  EXPECT_TRUE(node.heard.WaitForFlush(2));
}

TEST_F(SchedulerStoreTest, CommandsComeOnceATermAndAgainInTheNext) {
  Node node(database_, "a", [](StoreOptions* o) {
    o->renew_every = absl::Milliseconds(50);
    o->command_poll = absl::Hours(1);  // NOTIFY alone brings them
  });
  node.heard.WaitForTerm(1);
  const auto commands = [&](size_t n) {
    return node.heard.Wait([&](const auto& s) { return s.commands.size() >= n; });
  };
  // LISTEN itself makes the feed look once more: wait until it is there.
  ASSERT_TRUE(WaitFor([&] {
    return database_.Sql(
               "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%LISTEN%'"
               " AND datname = current_database() AND state = 'idle'") == "1";
  }));
  AddCommand(500);
  database_.Sql("SELECT pg_notify('tidemark_command', '')");
  ASSERT_TRUE(commands(1));
  AddCommand(501);
  database_.Sql("SELECT pg_notify('tidemark_command', '')");
  ASSERT_TRUE(commands(2));
  Flush flush;
  flush.seq = 1;
  flush.commands.push_back({Uuid(500), absl::StatusCode::kOk, "", {{"run_id", Uuid(1)}}});
  node.store->Submit(1, std::move(flush));
  ASSERT_TRUE(node.heard.WaitForFlush(1));
  EXPECT_EQ(database_.Sql("SELECT result::jsonb ->> 'run_id' FROM command WHERE done_at IS NOT"
                          " NULL AND code = 0"),
            Uuid(1));
  database_.Sql("DELETE FROM scheduler_node");
  node.heard.WaitForTerm(2);
  ASSERT_TRUE(commands(3));
  EXPECT_EQ(node.heard.Get().commands.at(2).command_id, Uuid(501));
}

TEST_F(SchedulerStoreTest, CommandsOfADeletedJobCarryItsRow) {
  database_.Sql("UPDATE job SET deleted_at = tidemark_now()");
  AddCommand(500);
  Node node(database_, "a");
  ASSERT_TRUE(node.heard.Wait([](const auto& s) { return !s.commands.empty(); }));
  EXPECT_THAT(node.heard.Get().snapshots.at(0).jobs, IsEmpty());
  const std::optional<JobRow> job = node.heard.Get().commands.at(0).job;
  ASSERT_TRUE(job.has_value());
  EXPECT_TRUE(job->deleted);
}

}  // namespace
}  // namespace tidemark
