// Alerts from a real scheduler to receivers that misbehave.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/e2e/world.h"
#include "tests/support/receivers.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kOneTry[] = "    retry: {max_attempts: 1}\n";

class AlertChannelsTest : public ::testing::Test {
 protected:
  // A scheduler with one signed webhook, whose URL is a secret.
  void Start(const std::string& more = "") {
    std::ofstream(world_.Path("url")) << receiver_.Url("/hook?token=s3cr3t-t0k3n-of-url") << "\n";
    std::ofstream(world_.Path("secret")) << "s3cr3t-of-signature\n";
    std::ofstream(world_.Path("scheduler.yaml"))
        << "log-level: debug\nalerts:\n  channels:\n    - {name: ops, type: webhook, timeout: 30s, "
        << "url_file: " << world_.Path("url") << ", secret_file: " << world_.Path("secret") << "}\n"
        << more;
    world_.StartScheduler();
  }
  void FailOneDate() {
    world_.StartAgent("a1", "exit 3");
    world_.ApplyDaily("daily", "ops", "work", 1, kOneTry);
  }
  bool Told() {
    return world_.Sql(
               "SELECT count(*) FROM alert WHERE kind = 'run_failed' "
               "AND delivered_at IS NOT NULL") == "1";
  }

  HttpReceiver receiver_;
  World world_;
};

TEST_F(AlertChannelsTest, AFailedDateIsToldOnce) {
  Start();
  FailOneDate();
  ASSERT_TRUE(WaitFor([&] { return Told(); }));
  ASSERT_EQ(receiver_.Count(), 1U);
  const HttpReceiver::Request request = receiver_.Requests()[0];
  EXPECT_THAT(request.body, HasSubstr("\"kind\":\"run_failed\""));
  EXPECT_THAT(request.body, HasSubstr("tidemark run rerun"));
  EXPECT_EQ(request.headers.count("tidemark-signature"), 1U);
}

TEST_F(AlertChannelsTest, KilledBetweenTheFactAndItsDeliveryNothingIsLost) {
  receiver_.SetAnswer({.manner = HttpReceiver::Manner::kHang});
  Start();
  FailOneDate();
  ASSERT_TRUE(WaitFor([&] { return receiver_.Count() == 1; })) << "it is on its way";
  world_.Kill("scheduler");
  receiver_.SetAnswer({});
  EXPECT_FALSE(Told());
  world_.StartScheduler();
  ASSERT_TRUE(WaitFor([&] { return Told(); }));
  EXPECT_EQ(receiver_.Count(), 2U) << "the one that was cut, and the one that arrived";
}

TEST_F(AlertChannelsTest, AReceiverThatHangsDelaysNoRun) {
  receiver_.SetAnswer({.manner = HttpReceiver::Manner::kHang});
  Start();
  FailOneDate();
  ASSERT_TRUE(WaitFor([&] { return receiver_.Count() == 1; }));
  world_.StartAgent("a1", "true");
  std::ofstream(world_.Path("beat.yaml")) << "jobs:\n  - {name: beat, app: ops, handler: work, "
                                          << "schedule: {cron: \"* * * * * ?\", zone: UTC}}\n";
  ASSERT_EQ(world_.Cli({"job", "apply", "-f", world_.Path("beat.yaml")}).code, 0);
  ASSERT_TRUE(WaitFor([&] {
    return std::stoi("0" + world_.Sql("SELECT count(*) FROM run_history WHERE job_name = 'beat' "
                                      "AND status = 'COMPLETED'")) >= 5;
  }));
  EXPECT_EQ(receiver_.Count(), 1U) << "it still hangs";
  // Of the best of five: this machine may be busy, the receiver would hold up all of them.
  EXPECT_EQ(world_.Sql("SELECT min(started_at - fire_time) < interval '1 s' FROM run_history "
                       "WHERE job_name = 'beat'"),
            "t");
  world_.Terminate("scheduler");
}

TEST_F(AlertChannelsTest, OperatorsTestAcknowledgeAndSilence) {
  Start();
  const World::Answer sent = world_.Cli({"alert", "test", "ops"});
  EXPECT_EQ(sent.code, 0) << sent.output;
  EXPECT_THAT(sent.output, HasSubstr("the receiver answered: HTTP 200 ok"));
  receiver_.SetAnswer({.status = 500, .body = "no /hook?token=s3cr3t-t0k3n-of-url"});
  const World::Answer refused = world_.Cli({"alert", "test", "ops"});
  EXPECT_EQ(refused.code, 4) << refused.output;
  EXPECT_THAT(refused.output, HasSubstr("HTTP 500: no ***"));
  const World::Answer unknown = world_.Cli({"alert", "test", "opps"});
  EXPECT_EQ(unknown.code, 3) << unknown.output;
  EXPECT_THAT(unknown.output, HasSubstr("did you mean ops?"));
  receiver_.SetAnswer({});

  World::Answer silence;
  ASSERT_TRUE(WaitFor([&] {  // the scheduler makes its tables first
    silence =
        world_.Cli({"alert", "silence", "--job", "daily", "--for", "2h", "--reason", "we know"});
    return silence.code == 0;
  })) << silence.output;
  FailOneDate();
  ASSERT_TRUE(WaitFor([&] {
    return world_.Cli({"alert", "silence", "list"}).output.find("we know") != std::string::npos &&
           world_.Sql("SELECT count(*) FROM alert WHERE silenced_by IS NOT NULL") == "1";
  }));
  EXPECT_FALSE(Told());
  const std::string id = world_.Sql("SELECT silence_id FROM alert_silence");
  EXPECT_THAT(world_.Cli({"alert", "silence", "delete", id}).output, HasSubstr("1 open alerts"));
  ASSERT_TRUE(WaitFor([&] { return Told(); }));
  const std::string alert = world_.Sql("SELECT alert_id FROM alert WHERE kind = 'run_failed'");
  EXPECT_THAT(world_.Cli({"alert", "list"}).output, HasSubstr(alert));
  EXPECT_EQ(world_.Cli({"alert", "ack", alert.substr(0, 13), "--note", "on it"}).code, 0);
  EXPECT_THAT(world_.Cli({"alert", "deliveries", "--alert", alert}).output, HasSubstr("delivered"));
  EXPECT_THAT(world_.Cli({"alert", "channels"}).output, HasSubstr("webhook"));
  EXPECT_EQ(world_.Cli({"alert", "silence", "--for", "2h", "--reason", "x"}).code, 2);
  EXPECT_THAT(world_.Cli({"cluster", "status"}).output, Not(HasSubstr("no alert channel")));
  EXPECT_THAT(ReadFile(world_.Path("scheduler.log")), Not(HasSubstr("s3cr3t")));
}

TEST(AlertsWithoutChannelsTest, AreAStandingWarning) {
  World world;
  world.StartScheduler();
  World::Answer answer;
  ASSERT_TRUE(WaitFor([&] {
    answer = world.Cli({"cluster", "status"});
    return answer.code == 0;
  }));
  EXPECT_THAT(answer.output, HasSubstr("warning: no alert channel but the log"));
}

TEST(AlertsWithoutChannelsTest, AWrongFileNamesThePlace) {
  World world;
  std::ofstream(world.Path("bad.yaml")) << "log-level: info\nalerts:\n  channels:\n    - {name: "
                                           "ops, type: wehbook, url: 'http://x/'}\n";
  ProcessOptions options;
  options.argv = {TIDEMARK_BIN_DIR "/tidemark-scheduler", "--config", world.Path("bad.yaml"),
                  "--database-url", "host=/nowhere"};
  options.output_file = world.Path("bad.log");
  absl::StatusOr<Process> process = Process::Start(options);
  ASSERT_TRUE(process.ok());
  EXPECT_EQ(process->Wait(absl::Seconds(30)), 2);
  EXPECT_THAT(ReadFile(world.Path("bad.log")),
              HasSubstr("bad.yaml:4: alerts.channels[0]: type: \"wehbook\" is none of webhook"));
}

}  // namespace
}  // namespace tidemark
