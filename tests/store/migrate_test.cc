#include "scheduler/store/migrate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "common/status.h"
#include "scheduler/store/statements.h"
#include "tests/support/migrated_database.h"
#include "tests/support/process.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;

class MigrateTest : public ::testing::Test {
 protected:
  std::unique_ptr<Connection> Connect(const std::string& schema = "tidemark") {
    DatabaseOptions options;
    options.url = database_.url();
    options.schema = schema;
    return Connection::Open(options).value();
  }

  TestDatabase database_;
  const std::vector<Migration> two_ = {{1, "0001_first", EmbeddedMigrations().front().sql},
                                       {2, "0002_second", "CREATE TABLE added (x integer)"}};
};

TEST_F(MigrateTest, FromNothingAndAgain) {
  const auto connection = Connect();
  ASSERT_TRUE(Migrate(*connection, "tidemark").ok());
  ASSERT_TRUE(Migrate(*connection, "tidemark").ok());
  EXPECT_EQ(connection->RunOne("SELECT count(*) FROM shard")->Int(0, 0), 128);
  EXPECT_EQ(connection->RunOne("SELECT count(*) FROM schema_migration")->Int(0, 0),
            static_cast<int64_t>(EmbeddedMigrations().size()));
  EXPECT_EQ(connection
                ->RunOne("SELECT count(*) FROM pg_class WHERE relnamespace ="
                         " 'public'::regnamespace")
                ->Int(0, 0),
            0);
}

TEST_F(MigrateTest, SeveralSchemasLiveSideBySide) {
  for (const char* schema : {"tidemark", "Odd \"one\"; --"}) {
    const auto connection = Connect(schema);
    ASSERT_TRUE(Migrate(*connection, schema).ok());
    EXPECT_EQ(connection->RunOne("SELECT count(*) FROM shard")->Int(0, 0), 128);
  }
}

TEST_F(MigrateTest, AddsWhatIsMissing) {
  const auto connection = Connect();
  ASSERT_TRUE(Migrate(*connection, "tidemark", true, {two_[0]}).ok());
  ASSERT_TRUE(Migrate(*connection, "tidemark", true, two_).ok());
  EXPECT_TRUE(connection->RunOne("SELECT * FROM added").ok());
}

TEST_F(MigrateTest, RefusesANewerSchema) {
  const auto connection = Connect();
  ASSERT_TRUE(Migrate(*connection, "tidemark", true, two_).ok());
  const absl::Status status = Migrate(*connection, "tidemark", true, {two_[0]});
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(status), HasSubstr("newer than this program"));
}

// Two programs side by side: the newer one's migration says whether the older one can live with it.
TEST_F(MigrateTest, GoesOnBesideALaterSchemaThatSaysItMay) {
  const auto connection = Connect();
  std::vector<Migration> later = two_;
  later[1].needs = 1;
  ASSERT_TRUE(Migrate(*connection, "tidemark", true, later).ok());
  EXPECT_TRUE(Migrate(*connection, "tidemark", true, {two_[0]}).ok());
  EXPECT_TRUE(Migrate(*connection, "tidemark", false, {two_[0]}).ok());
  later.push_back({3, "0003_third", "CREATE TABLE more (x integer)", 2});
  ASSERT_TRUE(Migrate(*connection, "tidemark", true, later).ok());
  EXPECT_TRUE(Migrate(*connection, "tidemark", true, {later[0], later[1]}).ok());
  const absl::Status status = Migrate(*connection, "tidemark", true, {two_[0]});
  EXPECT_THAT(Message(status), HasSubstr("newer than this program (1) can work with"));
}

TEST_F(MigrateTest, ASchemaFromBeforeThereWasThatColumnIsTaken) {
  const auto connection = Connect();
  ASSERT_TRUE(Migrate(*connection, "tidemark", true, {two_[0]}).ok());
  ASSERT_TRUE(connection->RunOne("ALTER TABLE schema_migration DROP COLUMN needs").ok());
  EXPECT_TRUE(Migrate(*connection, "tidemark", true, {two_[0]}).ok());
  EXPECT_TRUE(Migrate(*connection, "tidemark", true, two_).ok());
  EXPECT_EQ(connection
                ->RunOne("SELECT string_agg(version || ' ' || coalesce(needs::text, '-'), ' ' "
                         "ORDER BY version) FROM schema_migration")
                ->Text(0, 0),
            "1 - 2 2");
}

// What the nodes that are up could not work with waits until they are stopped.
TEST_F(MigrateTest, BreaksNoNodeThatIsUp) {
  const auto connection = Connect();
  ASSERT_TRUE(Migrate(*connection, "tidemark", true, {two_[0]}).ok());
  ASSERT_TRUE(connection
                  ->RunOne("INSERT INTO scheduler_node (node_id, incarnation, address, version, "
                           "lease_until, started_at) VALUES ('n1', gen_random_uuid(), 'h:1', '1', "
                           "tidemark_now() + interval '1 hour', tidemark_now())")
                  .ok());
  const absl::Status status = Migrate(*connection, "tidemark", true, two_);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(status), HasSubstr("are up: n1. Stop them first"));
  std::vector<Migration> mild = two_;
  mild[1].needs = 1;
  EXPECT_TRUE(Migrate(*connection, "tidemark", true, mild).ok());
  mild.push_back({3, "0003_third", "CREATE TABLE more (x integer)", 0});
  EXPECT_FALSE(Migrate(*connection, "tidemark", true, mild).ok());
  ASSERT_TRUE(connection->RunOne("UPDATE scheduler_node SET lease_until = tidemark_now()").ok());
  EXPECT_TRUE(Migrate(*connection, "tidemark", true, mild).ok());
}

TEST_F(MigrateTest, RefusesAMigrationThatWasChangedAfterwards) {
  const auto connection = Connect();
  ASSERT_TRUE(Migrate(*connection, "tidemark", true, two_).ok());
  std::vector<Migration> changed = two_;
  changed[1].sql = "CREATE TABLE added (x bigint)";
  const absl::Status status = Migrate(*connection, "tidemark", true, changed);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(status), HasSubstr("0002_second"));
}

TEST_F(MigrateTest, WithoutTheRightToItSaysWhatIsMissing) {
  const auto connection = Connect();
  EXPECT_EQ(Migrate(*connection, "tidemark", false).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(connection->RunOne("SELECT 1 FROM shard").ok());
}

TEST_F(MigrateTest, AFailedMigrationLeavesNothing) {
  const auto connection = Connect();
  std::vector<Migration> broken = two_;
  broken[1].sql = "CREATE TABLE added (x integer); SELECT 1/0";
  EXPECT_THAT(Message(Migrate(*connection, "tidemark", true, broken)), HasSubstr("0002_second"));
  EXPECT_EQ(
      connection->RunOne("SELECT count(*) FROM pg_namespace WHERE nspname = 'tidemark'")->Int(0, 0),
      0);
}

TEST_F(MigrateTest, ManyStartersAtOnce) {
  std::vector<std::thread> starters;
  for (int i = 0; i < 4; ++i) {
    starters.emplace_back([this] {
      const absl::Status status = Migrate(*Connect(), "tidemark");
      EXPECT_TRUE(status.ok()) << status;
    });
  }
  for (std::thread& starter : starters) starter.join();
  EXPECT_EQ(Connect()->RunOne("SELECT count(*) FROM shard")->Int(0, 0), 128);
}

// The schema is reviewed as one file. After a change: tests/store/refresh_golden.sh.
TEST(GoldenSchemaTest, AFreshSchemaIsTheReviewedOne) {
  const MigratedDatabase database;
  const auto dump = RunCommand({TIDEMARK_SCHEMA_DUMP, database.url()});
  ASSERT_TRUE(dump.ok()) << dump.status();
  EXPECT_EQ(*dump, ReadFile(TIDEMARK_GOLDEN_SCHEMA))
      << "The migrations make another schema than tests/store/schema.golden.sql. If that is "
         "wanted, run tests/store/refresh_golden.sh and review the difference.";
}

}  // namespace
}  // namespace tidemark
