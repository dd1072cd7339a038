// The watch of the daily check and its ping, with a real scheduler and a receiver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/e2e/world.h"
#include "tests/support/receivers.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class WatchTest : public ::testing::Test {
 protected:
  void Start(const std::string& more = "") {
    std::ofstream(world_.Path("ping.url"))
        << receiver_.Url("/ping/s3cr3t-uuid-of-the-check") << "\n";
    std::ofstream(world_.Path("scheduler.yaml"))
        << "watch: {ping_url_file: " << world_.Path("ping.url")
        << ", interval: 1s, every: 5s, grace: 1s}\n"
        << more;
    world_.StartScheduler();
  }
  // Whether one more ping comes than there are now.
  bool PingsGoOn() {
    const size_t before = receiver_.Count();
    return WaitFor([&] { return receiver_.Count() > before; });
  }
  bool Withheld(const std::string& reason) {
    return WaitFor([&] {
      return world_
                 .Sql(
                     "SELECT reasons FROM watch_state WHERE withheld_since IS NOT NULL "
                     "AND withheld_until IS NULL")
                 .find(reason) != std::string::npos;
    });
  }
  std::string ClusterStatus() { return world_.Cli({"cluster", "status"}).output; }

  HttpReceiver receiver_;
  World world_;
};

TEST_F(WatchTest, AMissingVerdictWithholdsThePingAndItGoesOnByItself) {
  Start();
  ASSERT_TRUE(PingsGoOn());
  EXPECT_EQ(receiver_.Requests()[0].method, "GET");
  world_.StartAgent("a1", "true");
  const auto dates = world_.ApplyDaily("daily", "ops", "work", 3);
  ASSERT_TRUE(world_.AllDone("daily", dates));
  // As if the check had judged all of them in time.
  const std::string verdicts =
      "INSERT INTO check_verdict (job_id, job_name, namespace, biz_date, expected_at, verdict, "
      "state, checked_at) SELECT job_id, job_name, 'default', biz_date, finished_at, 'ON_TIME', "
      "'DONE', finished_at FROM job_watermark ON CONFLICT DO NOTHING";
  world_.Sql(verdicts);
  world_.Sql(
      "UPDATE job SET check_from = tidemark_now() - interval '30 days', "
      "created_at = tidemark_now() - interval '30 days'");
  ASSERT_TRUE(WaitFor([&] { return world_.Sql("SELECT dates > 0 FROM watch_state") == "t"; }))
      << "it looked at them";
  ASSERT_TRUE(PingsGoOn());
  EXPECT_EQ(world_.Sql("SELECT count(*) FROM alert WHERE kind LIKE 'check%'"), "0");

  world_.Sql("DELETE FROM check_verdict WHERE biz_date = '" + dates[1] + "'");
  ASSERT_TRUE(Withheld("the daily check has no verdict for 1 date"));
  const size_t withheld = receiver_.Count();
  const std::string status = ClusterStatus();
  EXPECT_THAT(status, HasSubstr("WITHHELD SINCE"));
  EXPECT_THAT(status, HasSubstr("the daily check has no verdict for 1 date"));
  EXPECT_EQ(world_.Sql("SELECT job_name || ' ' || biz_date FROM alert "
                       "WHERE kind = 'check_missing' AND resolved_at IS NULL"),
            "daily " + dates[1]);
  EXPECT_EQ(receiver_.Count(), withheld) << "nothing was sent meanwhile";

  world_.Sql(verdicts);
  ASSERT_TRUE(PingsGoOn());
  EXPECT_EQ(world_.Sql("SELECT count(*) FROM alert WHERE kind = 'check_missing' "
                       "AND resolved_at IS NULL"),
            "0");
  EXPECT_THAT(ClusterStatus(), HasSubstr("the daily check has no verdict"))
      << "it tells why it was";
  EXPECT_THAT(ReadFile(world_.Path("scheduler.log")), Not(HasSubstr("s3cr3t")));

  world_.Kill("scheduler");
  const size_t last = receiver_.Count();
  EXPECT_FALSE(WaitFor([&] { return receiver_.Count() > last; }, absl::Seconds(4)))
      << "who is dead gives no sign of life";
}

TEST_F(WatchTest, AnAlertThatNoChannelTakesWithholdsThePing) {
  HttpReceiver channel;
  channel.SetAnswer({.status = 500});
  Start("alerts:\n  channels: [{name: ops, type: webhook, url: '" + channel.Url("/hook") + "'}]\n");
  ASSERT_TRUE(PingsGoOn());
  world_.StartAgent("a1", "exit 3");
  world_.ApplyDaily("daily", "ops", "work", 1, "    retry: {max_attempts: 1}\n");
  ASSERT_TRUE(WaitFor([&] { return channel.Count() >= 1; }));
  ASSERT_TRUE(PingsGoOn()) << "not for long enough";
  world_.Terminate("scheduler");
  world_.Sql(
      "CREATE OR REPLACE FUNCTION tidemark_now() RETURNS timestamptz LANGUAGE sql VOLATILE "
      "PARALLEL SAFE AS $$ SELECT clock_timestamp() + interval '16 minutes' $$");
  world_.StartScheduler();
  ASSERT_TRUE(Withheld("taken by no channel for more than 15m"));
  EXPECT_THAT(ClusterStatus(), HasSubstr("taken by no channel for more than 15m"));
  channel.SetAnswer({});
  ASSERT_TRUE(WaitFor([&] {
    return world_.Cli({"alert", "retry", "--channel", "ops"}).code == 0 &&
           world_.Sql(
               "SELECT count(*) FROM alert WHERE kind = 'run_failed' "
               "AND delivered_at IS NOT NULL") == "1";
  }));
  EXPECT_TRUE(PingsGoOn());
}

// A receiver of pings that hangs costs no run anything.
TEST_F(WatchTest, APingThatHangsDelaysNoRun) {
  receiver_.SetAnswer({.manner = HttpReceiver::Manner::kHang});
  Start();
  ASSERT_TRUE(WaitFor([&] { return receiver_.Count() == 1; }));
  world_.StartAgent("a1", "true");
  world_.Apply(
      "jobs:\n  - {name: beat, app: ops, handler: work, "
      "schedule: {cron: \"* * * * * ?\", zone: UTC}}\n");
  ASSERT_TRUE(WaitFor([&] {
    return std::stoi("0" + world_.Sql("SELECT count(*) FROM run_history WHERE job_name = 'beat' "
                                      "AND status = 'COMPLETED'")) >= 5;
  }));
  // Of the best of five: this machine may be busy, the receiver would hold up all of them.
  EXPECT_EQ(world_.Sql("SELECT min(started_at - fire_time) < interval '1 s' FROM run_history "
                       "WHERE job_name = 'beat'"),
            "t");
  world_.Terminate("scheduler");
}

}  // namespace
}  // namespace tidemark
