#include "scheduler/alerts/log_channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "scheduler/store/alert_outbox.h"
#include "tests/store/flush_fixture.h"
#include "tests/support/process.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

class LogChannelTest : public ::testing::Test {
 protected:
  void Raise(int number) {
    database_.Sql(
        "INSERT INTO alert (alert_id, dedup_key, kind, severity, job_name, biz_date, summary,"
        " detail, raised_at) VALUES ($1::uuid, $1::uuid::text, 'late', 'warning', 'recon', "
        "'2026-11-27', $2, '',"
        " tidemark_now())",
        {Uuid(number), "alert " + std::to_string(number)});
  }
  std::function<void(const OutboxAlert&)> Keep() {
    return [this](const OutboxAlert& alert) {
      const MutexLock lock(&mutex_);
      lines_.push_back(alert.summary + "|" + alert.job_name + "|" + alert.biz_date + "|" +
                       alert.run_id);
    };
  }
  std::vector<std::string> Lines() {
    const MutexLock lock(&mutex_);
    return lines_;
  }
  std::string Unlogged() {
    return database_.Sql("SELECT count(*) FROM alert WHERE logged_at IS NULL");
  }

  MigratedDatabase database_;
  Mutex mutex_;
  std::vector<std::string> lines_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(LogChannelTest, LogsWhatWaitsAndWhatItIsPokedFor) {
  Raise(1);
  LogChannel channel(std::make_unique<AlertOutbox>(database_.options()), Keep());
  channel.Start();
  ASSERT_TRUE(WaitFor([&] { return Unlogged() == "0"; }));
  EXPECT_THAT(Lines(), ElementsAre("alert 1|recon|2026-11-27|"));
  Raise(2);
  channel.Poke();
  // Well before the slow poll could have seen it.
  ASSERT_TRUE(WaitFor([&] { return Unlogged() == "0"; }, absl::Seconds(3)));
  EXPECT_EQ(Lines().size(), 2u);
  channel.Stop();
}

TEST_F(LogChannelTest, ABacklogIsLoggedWholeAndOnce) {
  for (int i = 0; i < 250; ++i) Raise(i);
  LogChannel channel(std::make_unique<AlertOutbox>(database_.options()), Keep());
  channel.Start();
  ASSERT_TRUE(WaitFor([&] { return Unlogged() == "0"; }));
  channel.Stop();
  EXPECT_EQ(Lines().size(), 250u);
}

TEST_F(LogChannelTest, WhatAnotherNodeIsLoggingIsLeftToIt) {
  Raise(1);
  Raise(2);
  AlertOutbox one(database_.options());
  AlertOutbox two(database_.options());
  std::vector<std::string> first;
  std::vector<std::string> second;
  ASSERT_TRUE(one.LogSome(1,
                          [&](const OutboxAlert& alert) {
                            first.push_back(alert.summary);
                            EXPECT_EQ(two.LogSome(5,
                                                  [&](const OutboxAlert& other) {
                                                    second.push_back(other.summary);
                                                  })
                                          .value(),
                                      1);
                          })
                  .ok());
  EXPECT_THAT(first, ElementsAre("alert 1"));
  EXPECT_THAT(second, ElementsAre("alert 2"));
}

TEST_F(LogChannelTest, AMarkThatFailsLogsAgain) {
  Raise(1);
  database_.Sql("ALTER TABLE alert ADD CHECK (logged_at IS NULL)");
  AlertOutbox outbox(database_.options());
  EXPECT_FALSE(outbox.LogSome(5, Keep()).ok());
  database_.Sql("ALTER TABLE alert DROP CONSTRAINT alert_logged_at_check");
  EXPECT_EQ(outbox.LogSome(5, Keep()).value(), 1);
  EXPECT_EQ(Lines().size(), 2u);
  EXPECT_EQ(outbox.LogSome(5, Keep()).value(), 0);
}

}  // namespace
}  // namespace tidemark
