// The whole over TLS and with tokens: real processes, certificates as tidemark tls init makes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/e2e/secure_fixture.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(SecureTest, SchedulerAgentAndOperatorsOverTlsWithTokens) {
  StartSecured();
  MakeToken("agents", {"--app", "ops"});
  world_.StartAgent("a1", "true", EnvOf("agents"));
  const std::vector<std::string> dates = world_.ApplyDaily("daily", "ops", "work", 2);
  EXPECT_TRUE(world_.AllDone("daily", dates));

  // Who has no token, or the wrong kind, is told so.
  world_.settings.cli_env.erase("TIDEMARK_TOKEN_FILE");
  World::Answer answer = world_.Cli({"job", "list"});
  EXPECT_EQ(answer.code, 4);
  EXPECT_THAT(answer.output, HasSubstr("no token was sent"));
  As("agents");
  EXPECT_THAT(world_.Cli({"job", "list"}).output, HasSubstr("is for executors of app 'ops'"));
  MakeToken("eve", {"--role", "viewer"});
  As("eve");
  ASSERT_TRUE(WaitFor([&] { return world_.Cli({"job", "list"}).code == 0; }));
  answer = world_.Cli({"job", "pause", "daily", "--reason", "r"});
  EXPECT_EQ(answer.code, 4);
  EXPECT_THAT(answer.output, HasSubstr("has the role viewer; PauseJob takes operator"));
  EXPECT_THAT(world_.Cli({"whoami"}).output, HasSubstr("eve, viewer"));

  // Without a certificate of the authority there is nobody to talk to.
  world_.settings.cli_env.erase("TIDEMARK_TLS_CERT");
  world_.settings.cli_env.erase("TIDEMARK_TLS_KEY");
  EXPECT_EQ(world_.Cli({"--timeout", "5", "job", "list"}).code, 5);
  world_.settings.cli_env = {};
  EXPECT_EQ(world_.Cli({"--timeout", "5", "job", "list"}).code, 5);
}

TEST_F(SecureTest, AnExecutorsTokenIsForItsAppAndEndsWithItsRevocation) {
  StartSecured();
  MakeToken("other", {"--app", "other"});
  world_.StartAgent("wrong", "true", EnvOf("other"));
  EXPECT_TRUE(AgentSays("wrong", "is for app 'other'"));
  world_.Kill("wrong");

  MakeToken("agents", {"--app", "ops"});
  world_.StartAgent("a1", "true", EnvOf("agents"));
  EXPECT_TRUE(world_.AllDone("daily", world_.ApplyDaily("daily", "ops", "work", 1)));
  const std::string id = world_.Sql("SELECT token_id FROM token WHERE name = 'agents'");
  const World::Answer revoked = world_.Cli({"token", "revoke", id, "--reason", "lost"});
  EXPECT_EQ(revoked.code, 0) << revoked.output;
  EXPECT_TRUE(AgentSays("a1", "the token is not valid"));

  // The file gets the next token, and the process goes on without a restart.
  As("root");
  const World::Answer made = world_.Cli({"token", "create", "--name", "next", "--app", "ops"});
  Keep("agents", made.output);
  EXPECT_TRUE(
      world_.AllDone("daily2", world_.ApplyDaily("daily2", "ops", "work", 1), absl::Seconds(60)));
}

TEST_F(SecureTest, TheAuditSaysWhoFromWhereWhatAndWhy) {
  StartSecured();
  world_.ApplyDaily("daily", "ops", "work", 1);
  MakeToken("ann", {"--role", "operator", "--namespace", "default"});
  As("ann");
  ASSERT_TRUE(WaitFor([&] {
    return world_.Cli({"--actor", "boss", "job", "pause", "daily", "--reason", "stocktaking"})
               .code == 0;
  }));
  const World::Answer audit = world_.Cli({"audit", "list", "--job", "daily", "--action", "pause"});
  EXPECT_EQ(audit.code, 0);
  EXPECT_THAT(audit.output, HasSubstr("  ann (token "));
  EXPECT_THAT(audit.output, HasSubstr(") from ipv4:127.0.0.1:"));
  EXPECT_THAT(audit.output, HasSubstr("before: not paused"));
  EXPECT_THAT(audit.output, HasSubstr("reason: stocktaking"));
  EXPECT_THAT(audit.output, HasSubstr("outcome: OK"));
  EXPECT_THAT(audit.output, Not(HasSubstr("boss")));
}

TEST_F(SecureTest, FourEyes) {
  StartSecured({{"TIDEMARK_REQUIRE_APPROVAL", "true"}});
  MakeToken("agents", {"--app", "ops"});
  world_.StartAgent("a1", "exit 3", EnvOf("agents"));
  const std::vector<std::string> dates =
      world_.ApplyDaily("daily", "ops", "work", 1, "    retry: {max_attempts: 1}\n");
  ASSERT_TRUE(WaitFor([&] { return world_.StatusOf("daily", dates[0]) == "FAILED"; }));
  MakeToken("ann", {"--role", "operator"});
  MakeToken("bob", {"--role", "operator"});
  As("ann");
  ASSERT_TRUE(WaitFor([&] { return world_.Cli({"whoami"}).code == 0; }));
  World::Answer answer =
      world_.Cli({"watermark", "waive", "daily", dates[0], "--reason", "the bank was closed"});
  EXPECT_EQ(answer.code, 4);
  EXPECT_THAT(answer.output, HasSubstr("tidemark approval approve "));
  const std::string id = world_.Sql("SELECT approval_id FROM approval");
  answer = world_.Cli({"approval", "approve", id});
  EXPECT_EQ(answer.code, 4);
  EXPECT_THAT(answer.output, HasSubstr("somebody else's word"));
  EXPECT_NE(world_.StatusOf("daily", dates[0]), "WAIVED");
  As("bob");
  EXPECT_THAT(world_.Cli({"approval", "list"}).output, HasSubstr("the bank was closed"));
  answer = world_.Cli({"approval", "approve", id.substr(0, 18)});
  EXPECT_EQ(answer.code, 0) << answer.output;
  EXPECT_TRUE(WaitFor([&] { return world_.StatusOf("daily", dates[0]) == "WAIVED"; }));
  EXPECT_EQ(world_.Sql("SELECT actor FROM job_watermark WHERE status = 'WAIVED'"),
            "ann (approved by bob)");
}

TEST_F(SecureTest, S01WhatIsNotProtectedDoesNotStart) {
  const auto refused = [&](std::vector<std::string> arguments, int code, const std::string& words) {
    const World::Answer answer = world_.Run(std::move(arguments));
    EXPECT_EQ(answer.code, code) << answer.output;
    EXPECT_THAT(answer.output, HasSubstr(words));
  };
  const std::string url = world_.database_url();
  for (const std::string& how :
       {std::string("--listen=0.0.0.0:0"), std::string("--listen=[::]:0")}) {
    refused({"tidemark-scheduler", "--database-url", url, how}, 2, "tidemark tls init");
    refused({"tidemark-scheduler", "--database-url", url, how}, 2, "--make-admin-token");
    refused({"tidemark-scheduler", "--database-url", url, how, "--insecure"}, 2,
            "whoever reaches it may do everything");
  }
  refused({"tidemark-scheduler", "--database-url", url, "--insecure", "--require-approval"}, 2,
          "who is who");
  refused({"tidemark-scheduler", "--database-url", url, "--listen", "127.0.0.1:0", "--tls-cert",
           "/nowhere", "--tls-key", "/nowhere"},
          1, "/nowhere: cannot be read");
  std::ofstream(world_.Path("agent.yaml"))
      << "app: ops\nschedulers: [sched.example:7400]\nhandlers:\n"
         "  - {name: a, command: [/bin/true]}\n";
  refused({"tidemark-executor", "--config", world_.Path("agent.yaml"), "--check-config"}, 2,
          "nothing is sent there in the clear");
  std::ofstream(world_.Path("weak")) << "default_token\n";
  std::ofstream(world_.Path("agent.yaml"))
      << "app: ops\nschedulers: [127.0.0.1:7400]\ntoken_file: " << world_.Path("weak")
      << "\nhandlers:\n  - {name: a, command: [/bin/true]}\n";
  refused({"tidemark-executor", "--config", world_.Path("agent.yaml"), "--check-config"}, 2,
          "a word that everybody knows");
  refused({"tidemark", "--server", "sched.example:7400", "job", "list"}, 2, "--tls-ca");
}

TEST_F(SecureTest, TlsInitOverwritesNothingAndKeepsKeysToItself) {
  const std::string dir = world_.Path("tls");
  ASSERT_EQ(world_.Run({"tidemark", "tls", "init", "--dir", dir, "--host", "a.example"}).code, 0);
  for (const char* key : {"ca.key", "server.key", "client.key"}) {
    EXPECT_EQ(std::filesystem::status(dir + "/" + key).permissions(), std::filesystem::perms(0600))
        << key;
  }
  const std::string before = ReadFile(dir + "/server.crt");
  const World::Answer again =
      world_.Run({"tidemark", "tls", "init", "--dir", dir, "--host", "b.example"});
  EXPECT_EQ(again.code, 4);
  EXPECT_THAT(again.output, HasSubstr("nothing is overwritten"));
  EXPECT_EQ(ReadFile(dir + "/server.crt"), before);
  EXPECT_EQ(world_
                .Run({"tidemark", "tls", "issue", "--dir", dir, "--name", "server", "--host",
                      "b.example"})
                .code,
            4);
  EXPECT_EQ(world_
                .Run({"tidemark", "tls", "issue", "--dir", dir, "--name", "server", "--host",
                      "b.example", "--renew"})
                .code,
            0);
  EXPECT_NE(ReadFile(dir + "/server.crt"), before);
}

}  // namespace
}  // namespace tidemark
