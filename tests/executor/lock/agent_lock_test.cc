// The agent's `lock:` key: how it is read, and a run that goes back because the lock is taken.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "common/status.h"
#include "executor/agent/agent_config.h"
#include "tests/executor/fake_scheduler.h"
#include "tests/executor/lock/redis_server.h"

namespace tidemark::agent {
namespace {

using exec::FakeScheduler;
using lock::RedisServer;

absl::StatusOr<AgentConfig> Parse(const std::string& handler) {
  return ParseAgentConfig(
      "app: ops\nschedulers: [127.0.0.1:7400]\nhandlers:\n  - name: backup\n    command: [x]\n" +
          handler,
      "agent.yaml");
}
std::string Error(const std::string& handler) { return Message(Parse(handler).status()); }

TEST(AgentLockConfigTest, ReadsTheKey) {
  const auto config = Parse("    lock: {redis: 127.0.0.1:6379}\n");
  ASSERT_TRUE(config.ok()) << config.status();
  const CommandConfig& plain = config->handlers[0];
  EXPECT_EQ(plain.lock->redis, "127.0.0.1:6379");
  EXPECT_EQ(plain.lock->ttl, absl::Seconds(30));
  EXPECT_TRUE(plain.lock->fail_open);
  EXPECT_EQ(plain.kill_grace, absl::Seconds(5)) << "a sixth of the ttl";
  const auto closed =
      Parse("    lock: {redis: 'redis://:pw@h/1', ttl: 2m, on_unavailable: fail_closed}\n");
  ASSERT_TRUE(closed.ok()) << closed.status();
  EXPECT_FALSE(closed->handlers[0].lock->fail_open);
  EXPECT_EQ(closed->handlers[0].kill_grace, absl::Seconds(10));
  EXPECT_FALSE(Parse("")->handlers[0].lock.has_value());
}

TEST(AgentLockConfigTest, ErrorsNameThePlaceAndNoSecret) {
  EXPECT_EQ(Error("    lock: {ttl: 30s}\n"),
            "agent.yaml:6: handlers[0].lock: key \"redis\" is missing");
  EXPECT_EQ(Error("    lock: {redis: h, tll: 30s}\n"),
            "agent.yaml:6: handlers[0].lock: unknown key \"tll\"; did you mean \"ttl\"?");
  EXPECT_NE(Error("    lock: {redis: h, on_unavailable: open}\n").find("fail_open or fail_closed"),
            std::string::npos);
  EXPECT_NE(Error("    lock: {redis: h, ttl: 10ms}\n").find("100ms to 24h"), std::string::npos);
  EXPECT_NE(Error("    lock: h:6379\n").find("lock: expected a mapping"), std::string::npos);
  EXPECT_NE(Error("    kill_grace: 6s\n    lock: {redis: h}\n").find("a sixth of lock.ttl (5s)"),
            std::string::npos);
  const std::string secret = Error("    lock: {redis: 'redis://:s3cret@host:port'}\n");
  EXPECT_NE(secret.find("the port is not a number"), std::string::npos) << secret;
  EXPECT_EQ(secret.find("s3cret"), std::string::npos) << secret;
}

class AgentLockTest : public testing::Test {
 protected:
  // Starts the agent; its one handler shows what is in Redis while it runs.
  void StartAgent(const std::string& redis, const std::string& on_unavailable) {
    const std::string file = dir_.path() + "/agent.yaml";
    std::ofstream(file) << "app: ops\nexecutor_id: ops-1\nschedulers: ['" << scheduler_.address()
                        << "']\nspool_dir: " << dir_.path() << "/spool\nhandlers:\n"
                        << "  - name: work\n    command: [/usr/bin/redis-cli, -s, "
                        << server_.socket() << ", KEYS, '*']\n    lock: {redis: '" << redis
                        << "', on_unavailable: " << on_unavailable << "}\n";
    ProcessOptions options;
    options.argv = {TIDEMARK_AGENT, "--config", file};
    options.output_file = Log();
    auto process = Process::Start(options);
    ASSERT_TRUE(process.ok()) << process.status();
    agent_.emplace(*std::move(process));
    ASSERT_TRUE(scheduler_.AwaitHello());
  }
  std::string Log() const { return dir_.path() + "/agent.log"; }
  // The detail of the refusal because of the lock, once there is one.
  std::string AwaitRefusal() {
    std::string detail;
    scheduler_.Await([&] {
      for (const v1::RunReport& report : scheduler_.reports) {
        if (report.refused().reason() == v1::Refused::LOCK_REFUSED) {
          detail = report.refused().ShortDebugString();
        }
      }
      return !detail.empty();
    });
    return detail;
  }

  RedisServer server_;
  FakeScheduler scheduler_;
  TempDir dir_;
  std::optional<Process> agent_;
};

TEST_F(AgentLockTest, TheCommandRunsUnderTheLockAndATakenOneSendsTheRunBack) {
  StartAgent(server_.address(), "fail_open");
  scheduler_.Trigger(1, "work");
  ASSERT_TRUE(scheduler_.AwaitFinished(1)) << ReadFile(Log());
  const std::string key = scheduler_.LogOf(1).substr(0, scheduler_.LogOf(1).find('\n'));
  EXPECT_TRUE(key.starts_with("job:")) << scheduler_.LogOf(1);
  EXPECT_FALSE(server_.Has(key)) << "released before the end is told";

  server_.Ask({"SET", key, "another program"});
  scheduler_.Trigger(2, "work");
  const std::string refusal = AwaitRefusal();
  EXPECT_NE(refusal.find("is held by another program"), std::string::npos) << refusal;
  EXPECT_EQ(server_.Ask({"GET", key}), "another program");
}

TEST_F(AgentLockTest, FailOpenRunsAndSaysSoInBothLogs) {
  StartAgent("unix:/nonexistent/redis.sock", "fail_open");
  scheduler_.Trigger(1, "work");
  ASSERT_TRUE(scheduler_.AwaitFinished(1)) << ReadFile(Log());
  EXPECT_NE(scheduler_.LogOf(1).find("WARNING: this run goes on without its Redis lock"),
            std::string::npos);
  EXPECT_NE(ReadFile(Log()).find("WITHOUT its Redis lock"), std::string::npos);
}

TEST_F(AgentLockTest, FailClosedSendsTheRunBack) {
  StartAgent("unix:/nonexistent/redis.sock", "fail_closed");
  scheduler_.Trigger(1, "work");
  EXPECT_NE(AwaitRefusal().find("cannot connect"), std::string::npos);
}

}  // namespace
}  // namespace tidemark::agent
