// Values to PostgreSQL and back, and errors as statuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "common/status.h"
#include "scheduler/store/conninfo.h"
#include "tests/store/flush_fixture.h"
#include "tests/support/process.h"
#include "tests/support/socket_proxy.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class DatabaseTest : public ::testing::Test {
 protected:
  MigratedDatabase database_;
  std::unique_ptr<Connection> connection_ = database_.Connect();
};

TEST_F(DatabaseTest, TypedValuesComeBack) {
  const absl::Time time = At("2026-11-27T17:00:00.123456Z");
  const auto rows = connection_->RunOne(
      "SELECT $1::timestamptz, $2::date, $3::timestamp, $4::boolean, $5::bigint, $6::float8,"
      " $7::timestamptz, $8::timestamptz, $9::text",
      {ToParam(time), ToParam(Day("2026-02-28")), ToParam(absl::CivilSecond(2026, 3, 29, 2, 30, 1)),
       ToParam(true), ToParam(std::numeric_limits<int64_t>::min()), ToParam(0.1),
       ToParam(absl::InfiniteFuture()), ToParam(absl::InfinitePast()), SqlParam()});
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ(rows->Time(0, 0), time);
  EXPECT_EQ(rows->OptDate(0, 1), Day("2026-02-28"));
  EXPECT_EQ(rows->OptCivil(0, 2), absl::CivilSecond(2026, 3, 29, 2, 30, 1));
  EXPECT_TRUE(rows->Bool(0, 3));
  EXPECT_EQ(rows->Int(0, 4), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(rows->Double(0, 5), 0.1);
  EXPECT_EQ(rows->Time(0, 6), absl::InfiniteFuture());
  EXPECT_EQ(rows->Time(0, 7), absl::InfinitePast());
  EXPECT_TRUE(rows->IsNull(0, 8));
  EXPECT_EQ(rows->OptTime(0, 8), std::nullopt);
}

TEST_F(DatabaseTest, CodesOfErrors) {
  const auto code = [&](const std::string& sql) {
    return connection_->RunOne(sql).status().code();
  };
  EXPECT_EQ(code("SELECT 'x'::integer"), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("SELECT * FROM no_such_table"), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(
      code("INSERT INTO flush VALUES ('a', '" + Uuid(1) + "', 0), ('a', '" + Uuid(1) + "', 0)"),
      absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(code("SELECT 1/0"), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("SELEC"), absl::StatusCode::kInternal);
  const absl::Status data = connection_->RunOne("SELECT 'x'::integer").status();
  EXPECT_EQ(SqlState(data), "22P02");
  EXPECT_TRUE(IsDataError(data));
  EXPECT_FALSE(connection_->broken());
}

TEST_F(DatabaseTest, AStatementThatTakesTooLongIsCancelled) {
  DatabaseOptions options = database_.options();
  options.statement_timeout = absl::Milliseconds(20);
  const auto connection = Connection::Open(options).value();
  EXPECT_EQ(connection->RunOne("SELECT pg_sleep(60)").status().code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(connection->RunOne("SELECT 1").ok());
}

TEST_F(DatabaseTest, EveryTransactionHasTheSettings) {
  const auto rows = connection_->RunOne(
      "SELECT current_setting('search_path'), current_setting('TimeZone'),"
      " current_setting('statement_timeout'), current_setting('plan_cache_mode')");
  EXPECT_EQ(rows->Text(0, 0), "\"tidemark\", pg_temp");
  EXPECT_EQ(rows->Text(0, 1), "UTC");
  EXPECT_EQ(rows->Text(0, 2), "10s");
  EXPECT_EQ(rows->Text(0, 3), "force_custom_plan");
}

// What a session that is handed to someone else would keep of ours.
std::string AfterTheTransaction(Connection& connection) {
  std::string left;
  const absl::Status status = connection.Transact([&](SqlTransaction& tx) -> absl::Status {
    TM_RETURN_IF_ERROR(tx.RunScript("COMMIT"));
    TM_ASSIGN_OR_RETURN(const SqlRows rows,
                        tx.Run("SELECT current_setting('search_path'), current_setting('jit')"));
    left = rows.Text(0, 0) + " " + rows.Text(0, 1);
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  return left;
}

TEST_F(DatabaseTest, SettingsAreMadeOnceOnASessionOfOurOwn) {
  EXPECT_EQ(AfterTheTransaction(*connection_), "\"tidemark\", pg_temp off");
}

TEST_F(DatabaseTest, BehindAProxyThatPoolsTransactionsSettingsEndWithEach) {
  SocketProxy proxy(database_.url());
  proxy.HidePids();
  DatabaseOptions options = database_.options();
  options.url = proxy.url();
  const auto connection = Connection::Open(options).value();
  EXPECT_EQ(AfterTheTransaction(*connection), "\"$user\", public on");
  EXPECT_EQ(connection->RunOne("SELECT current_setting('search_path')")->Text(0, 0),
            "\"tidemark\", pg_temp");
}

TEST_F(DatabaseTest, AnErrorThatTheBodyIgnoresIsNoSuccess) {
  const absl::Status status = connection_->Transact([](SqlTransaction& transaction) {
    transaction.Run("SELECT 1/0").status().IgnoreError();
    return absl::OkStatus();
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
}

TEST_F(DatabaseTest, AFailedBodyIsRolledBack) {
  const absl::Status status =
      connection_->Transact([](SqlTransaction& transaction) -> absl::Status {
        TM_RETURN_IF_ERROR(transaction.Run("DELETE FROM shard").status());
        return absl::AbortedError("no");
      });
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM shard"), "128");
}

TEST_F(DatabaseTest, ABrokenSessionSaysSoAndIsNeverMendedSilently) {
  const std::string pid = connection_->RunOne("SELECT pg_backend_pid()")->Text(0, 0);
  database_.Sql("SELECT pg_terminate_backend($1::integer)", {pid});
  ASSERT_TRUE(WaitFor([&] {
    return connection_->RunOne("SELECT 1").status().code() == absl::StatusCode::kUnavailable;
  }));
  EXPECT_TRUE(connection_->broken());
  EXPECT_EQ(connection_->RunOne("SELECT 1").status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(DatabaseTest, AbortBreaksWhatIsInProgress) {
  std::thread other([&] {
    EXPECT_TRUE(WaitFor([&] {
      return database_.Sql(
                 "SELECT count(*) FROM pg_stat_activity WHERE query LIKE"
                 " '%pg_sleep(60)%' AND state = 'active' AND pid <> pg_backend_pid()") == "1";
    }));
    connection_->Abort();
  });
  EXPECT_EQ(connection_->RunOne("SELECT pg_sleep(60)").status().code(),
            absl::StatusCode::kUnavailable);
  other.join();
}

TEST_F(DatabaseTest, WhyAConnectionIsNotMade) {
  const auto open = [](const std::string& url) {
    DatabaseOptions options;
    options.url = url;
    return Connection::Open(options).status();
  };
  EXPECT_EQ(open(database_.url() + " dbname=no_such_one").code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(open(database_.url() + " user=nobody_here").code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(open("host=/nowhere dbname=x").code(), absl::StatusCode::kUnavailable);
}

TEST(ConnInfoTest, NoPasswordIsEverShown) {
  DatabaseOptions options;
  options.url = "postgresql://ann:s3cret%20x@nowhere.invalid:1/db";
  const ConnInfo info = MakeConnInfo(options).value();
  EXPECT_EQ(info.where, "database db at nowhere.invalid:1");
  EXPECT_EQ(Redact("with s3cret x and s3cret x", info.secrets), "with *** and ***");
  EXPECT_THAT(DescribeDatabase(options), Not(HasSubstr("s3cret")));
  EXPECT_THAT(Message(Connection::Open(options).status()), Not(HasSubstr("s3cret")));
  options.url = "s3cret";
  EXPECT_THAT(Message(Connection::Open(options).status()), Not(HasSubstr("s3cret")));
  options.url = "postgresql://ann:s3cret@[::1/db";
  EXPECT_EQ(Connection::Open(options).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(Connection::Open(options).status()), Not(HasSubstr("s3cret")));
}

TEST(ConnInfoTest, WhatTheUrlSaysStays) {
  DatabaseOptions options;
  options.url = "host=a,b dbname='it''s' connect_timeout=17 target_session_attrs=any";
  EXPECT_FALSE(MakeConnInfo(options).ok());  // '' is no escape of libpq
  options.url = "host=a,b dbname='it\\'s' connect_timeout=17 target_session_attrs=any";
  const std::string text = MakeConnInfo(options).value().text;
  EXPECT_THAT(text, HasSubstr("connect_timeout='17'"));
  EXPECT_THAT(text, HasSubstr("target_session_attrs='any'"));
  EXPECT_THAT(text, HasSubstr("dbname='it\\'s'"));
  EXPECT_THAT(text, HasSubstr("tcp_user_timeout='8000'"));
}

}  // namespace
}  // namespace tidemark
