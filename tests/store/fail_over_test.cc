// A primary that dies, and the standby that takes its place, seen by a scheduler's store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/store/flush_fixture.h"
#include "tests/store/store_node.h"
#include "tests/support/process.h"
#include "tests/support/server_pair.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kJob = 100;

class FailOverTest : public ::testing::Test {
 protected:
  FailOverTest() {
    DatabaseOptions options;
    options.url = pair_.url();
    node_.emplace(options, "a", [](StoreOptions* o) {
      o->renew_every = absl::Milliseconds(100);
      o->max_backoff = absl::Milliseconds(50);
    });
    EXPECT_TRUE(node_->heard.WaitForShards(128));
    Sql("INSERT INTO job (job_id, name, app, shard, version, created_at, updated_at)"
        " VALUES (100, 'recon', 'recon', 7, 1, tidemark_now(), tidemark_now())");
    Sql("INSERT INTO executor (executor_id, app, registration, incarnation, host, version, "
        "capacity,"
        " handlers, state, registered_at, last_seen) VALUES ('e', 'recon', 4, $1::uuid, '', '', 1,"
        " '{}', 'UP', tidemark_now(), tidemark_now())",
        {Uuid(1)});
  }

  // On the server that takes writes.
  std::string Sql(const std::string& statement, const std::vector<SqlParam>& params = {}) {
    DatabaseOptions options;
    options.url = pair_.url();
    auto connection = Connection::Open(options);
    EXPECT_TRUE(connection.ok()) << connection.status();
    if (!connection.ok()) return "";
    auto rows = (*connection)->RunOne(statement, params);
    EXPECT_TRUE(rows.ok()) << rows.status();
    return !rows.ok() || rows->empty() ? "" : rows->Text(0, 0);
  }
  // By psql: our own connections refuse a server that takes no writes.
  std::string OnStandby(const std::string& statement) {
    const std::string command =
        "psql -X -At -c \"" + statement + "\" '" + pair_.standby_url() + "' 2>/dev/null";
    FILE* out = popen(command.c_str(), "r");
    char line[256] = "";
    if (out == nullptr || fgets(line, sizeof line, out) == nullptr) line[0] = '\0';
    if (out != nullptr) pclose(out);
    std::string text = line;
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }
  bool StandbyHasAll() {
    const std::string at = Sql("SELECT pg_current_wal_flush_lsn()");
    return WaitFor(
        [&] { return OnStandby("SELECT pg_last_wal_replay_lsn() >= '" + at + "'") == "t"; });
  }
  void Commit(uint64_t seq, const std::string& date) {
    Flush flush;
    flush.seq = seq;
    flush.opens.push_back({MakeRun(kJob, "recon", date, Uuid(static_cast<int>(seq))), ""});
    node_->store->Submit(1, flush);
    ASSERT_TRUE(node_->heard.WaitForFlush(seq));
  }
  // After the promotion: what the next term begins with.
  Snapshot NextTerm() {
    EXPECT_TRUE(node_->heard.Wait([](const auto& s) { return s.terms.size() >= 2; }));
    const auto heard = node_->heard.Get();
    EXPECT_THAT(heard.ends, SizeIs(1));
    EXPECT_EQ(heard.terms.at(0).timeline, 1u);
    EXPECT_EQ(heard.terms.at(1).timeline, 2u);
    const Snapshot snapshot = heard.snapshots.at(1);
    EXPECT_EQ(snapshot.timeline, 2u);
    EXPECT_TRUE(snapshot.failed_over);
    EXPECT_THAT(snapshot.executors, SizeIs(1));
    // Above all epochs of the old timeline, however high their numbers were.
    EXPECT_EQ(snapshot.shards.at(7).timeline, 2u);
    return snapshot;
  }

  ServerPair pair_;
  std::optional<StoreNode> node_;
};

// The standby is listed first: nothing goes there before it is the primary.
TEST_F(FailOverTest, WithNothingLostTheNextTermHasAllAndKnowsOfIt) {
  EXPECT_FALSE(node_->heard.Get().snapshots.at(0).failed_over);
  EXPECT_THAT(node_->heard.Get().snapshots.at(0).executors, IsEmpty());
  Commit(1, "2026-11-27");
  EXPECT_EQ(OnStandby("SELECT pg_is_in_recovery()"), "t");
  ASSERT_TRUE(StandbyHasAll());
  pair_.StopPrimary();
  pair_.Promote();
  const Snapshot snapshot = NextTerm();
  EXPECT_THAT(node_->heard.Get().ends.at(0), HasSubstr("failed over, from timeline 1 to 2"));
  ASSERT_THAT(snapshot.runs, SizeIs(1));
  EXPECT_EQ(snapshot.runs[0].run_id, Uuid(1));
}

// What was committed and answered is gone: nothing that was built on it may be written.
TEST_F(FailOverTest, WithALostSuffixNothingIsWrittenOnTopOfIt) {
  Commit(1, "2026-11-27");
  ASSERT_TRUE(StandbyHasAll());
  OnStandby("ALTER SYSTEM SET primary_conninfo = ''");
  OnStandby("SELECT pg_reload_conf()");
  ASSERT_TRUE(
      WaitFor([&] { return OnStandby("SELECT count(*) FROM pg_stat_wal_receiver") == "0"; }));
  Commit(2, "2026-11-26");
  pair_.StopPrimary();
  // It is made while there is no primary, and is on its way when there is one again.
  Flush flush;
  flush.seq = 3;
  flush.opens.push_back({MakeRun(kJob, "recon", "2026-11-25", Uuid(3)), ""});
  node_->store->Submit(1, flush);
  pair_.Promote();
  const Snapshot snapshot = NextTerm();
  ASSERT_THAT(snapshot.runs, SizeIs(1));
  EXPECT_EQ(snapshot.runs[0].run_id, Uuid(1));
  EXPECT_THAT(node_->heard.Get().flushed, SizeIs(2));
  EXPECT_EQ(Sql("SELECT count(*) FROM active_run"), "1");
}

}  // namespace
}  // namespace tidemark
