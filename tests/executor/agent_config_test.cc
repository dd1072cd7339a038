// The agent's file and the lines of its progress descriptor.
#include "executor/agent/agent_config.h"

#include <gtest/gtest.h>

#include "common/status.h"
#include "executor/agent/progress_lines.h"

namespace tidemark::agent {
namespace {

std::string Error(const std::string& yaml) {
  return Message(ParseAgentConfig(yaml, "agent.yaml").status());
}

constexpr char kHead[] = "app: ops\nschedulers: [127.0.0.1:7400]\n";

TEST(AgentConfigTest, ReadsEverything) {
  const auto config = ParseAgentConfig(R"(
app: ops
schedulers: [127.0.0.1:7400, "b:1"]
executor_id: ops-1
namespace: finance
spool_dir: /var/lib/x
capacity: 8
labels: {zone: a}
drain_timeout: 2m
handlers:
  - name: backup
    command: [pg_dump, -Fc, -f, /backup/today.dump, recon]
    timeout: 1h
    kill_grace: 5s
    workdir: /backup
    user: postgres
    env: {PGHOST: /run}
    concurrency: 1
    retry_on: [75]
    no_retry_on: [2]
)",
                                       "agent.yaml");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->schedulers.size(), 2u);
  EXPECT_EQ(config->name_space, "finance");
  EXPECT_EQ(config->capacity, 8u);
  EXPECT_EQ(config->labels.at("zone"), "a");
  EXPECT_EQ(config->drain_timeout, absl::Minutes(2));
  const CommandConfig& backup = config->handlers.at(0);
  EXPECT_EQ(backup.command.size(), 5u);
  EXPECT_EQ(backup.timeout, absl::Hours(1));
  EXPECT_EQ(backup.kill_grace, absl::Seconds(5));
  EXPECT_EQ(backup.user, "postgres");
  EXPECT_EQ(backup.env.at("PGHOST"), "/run");
  EXPECT_EQ(backup.retry_on.count(75), 1u);
}

TEST(AgentConfigTest, TheFileOfTheDesignIsEnough) {
  const auto config = ParseAgentConfig(std::string(kHead) + R"(handlers:
  - name: backup
    command: [pg_dump, -Fc, -f, /backup/today.dump, recon]
    timeout: 1h
)",
                                       "agent.yaml");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->handlers[0].kill_grace, absl::Seconds(10));
}

TEST(AgentConfigTest, ErrorsNameLineKeyAndWhatWasMeant) {
  const std::string head = kHead;
  EXPECT_EQ(Error(head + "handlers:\n  - name: a\n    comand: [x]\n"),
            "agent.yaml:5: handlers[0]: unknown key \"comand\"; did you mean \"command\"?");
  EXPECT_EQ(Error(head + "handlers:\n  - name: a\n"),
            "agent.yaml:4: handlers[0]: key \"command\" is missing");
  EXPECT_EQ(Error(head + "handlers:\n  - {name: a, command: pg_dump recon}\n"),
            "agent.yaml:4: handlers[0]: command: expected a list of texts, such as [a, b]");
  EXPECT_EQ(Error(head + "capacity: many\nhandlers:\n  - {name: a, command: [x]}\n"),
            "agent.yaml:3: capacity: expected a whole number from 1 to 100000, not \"many\"");
  EXPECT_EQ(Error("app: a\napp: b\nhandlers: []\n"), "agent.yaml:2: key \"app\" is there twice");
  EXPECT_NE(Error(head + "handlers:\n  - {name: a, command: [x], timeout: soon}\n").find("timeout"),
            std::string::npos);
  EXPECT_NE(Error(head + "handlers:\n  - {name: a, command: [x]}\n  - {name: a, command: [y]}\n")
                .find("a is there twice"),
            std::string::npos);
  EXPECT_NE(Error(head + "handlers: []\n").find("lists no handler"), std::string::npos);
  EXPECT_NE(Error("app: [\n").find("agent.yaml:"), std::string::npos);
  EXPECT_NE(Error("").find("empty"), std::string::npos);
  EXPECT_NE(Error(head + "handlers:\n  - {name: a, command: [x], env: {TIDEMARK_JOB: j}}\n")
                .find("set by the agent"),
            std::string::npos);
}

RunResult Feed(const std::vector<std::string>& pieces) {
  return RunOnce(
      [&](Context& run) {
        ProgressLines lines(run);
        for (const std::string& piece : pieces) lines.Feed(piece);
        lines.End();
        return Outcome::Ok();
      },
      RunRequest());
}

TEST(ProgressLinesTest, PercentCheckpointMessage) {
  const RunResult result = Feed({"10\n42.5% row-", "7000 reading the second file\n"});
  EXPECT_EQ(result.percent, 42.5);
  EXPECT_EQ(result.checkpoint, "row-7000");
  EXPECT_EQ(result.message, "reading the second file");
  EXPECT_EQ(result.log, "");
}

TEST(ProgressLinesTest, DashIsNotSaidAndTheLastLineNeedsNoEnd) {
  const RunResult result = Feed({"50 row-1\n- - only a message\n- row-2\r\n99"});
  EXPECT_EQ(result.percent, 99);
  EXPECT_EQ(result.checkpoint, "row-2");
  EXPECT_EQ(result.message, "only a message");
}

TEST(ProgressLinesTest, ResultAndFingerprint) {
  const RunResult result =
      Feed({"result_rows=12 result_digest=sha256:ab\nresult=12 rows, all good\n"});
  EXPECT_EQ(result.fingerprint, (Fingerprint{12, "sha256:ab"}));
  EXPECT_EQ(result.result, "12 rows, all good");
}

TEST(ProgressLinesTest, NonsenseGoesToTheLogAndIsBounded) {
  const RunResult result =
      Feed({"hello\n-5\nnan x\nresult_rows=x\n", std::string(20000, 'a'), "\n7 ok\n"});
  EXPECT_EQ(result.percent, 7);
  EXPECT_FALSE(result.fingerprint.has_value());
  EXPECT_NE(result.log.find("not understood: hello"), std::string::npos);
  EXPECT_NE(result.log.find("more than 8 KiB"), std::string::npos);
  EXPECT_LT(Feed({std::string(200000, '\n')}).log.size(), 10u);
}

}  // namespace
}  // namespace tidemark::agent
