// A fixture for tests over TLS and with tokens: certificates as tidemark tls init makes them.
#ifndef TIDEMARK_TESTS_E2E_SECURE_FIXTURE_H_
#define TIDEMARK_TESTS_E2E_SECURE_FIXTURE_H_

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/e2e/world.h"

namespace tidemark {

class SecureTest : public ::testing::Test {
 protected:
  // A scheduler that asks for a certificate and a token, and the first admin's token.
  void StartSecured(std::map<std::string, std::string> more = {}) {
    const World::Answer made =
        world_.Run({"tidemark", "tls", "init", "--dir", world_.Path("tls"), "--host", "127.0.0.1"});
    ASSERT_EQ(made.code, 0) << made.output;
    world_.settings.insecure = false;
    world_.settings.scheduler_env = std::move(more);
    world_.settings.scheduler_env["TIDEMARK_TLS_CERT"] = world_.Path("tls/server.crt");
    world_.settings.scheduler_env["TIDEMARK_TLS_KEY"] = world_.Path("tls/server.key");
    world_.settings.scheduler_env["TIDEMARK_TLS_CLIENT_CA"] = world_.Path("tls/ca.crt");
    const World::Answer admin = world_.Run({"tidemark-scheduler", "--make-admin-token", "root",
                                            "--database-url", world_.database_url()});
    ASSERT_EQ(admin.code, 0) << admin.output;
    Keep("root", admin.output);
    world_.StartScheduler();
    As("root");
    ASSERT_TRUE(WaitFor([&] { return world_.Cli({"cluster", "status"}).code == 0; }));
  }
  void Keep(const std::string& name, const std::string& output) {
    const size_t at = output.find("tmk_");
    ASSERT_NE(at, std::string::npos) << output;
    std::ofstream(world_.Path(name + ".token")) << output.substr(at, 68) << "\n";
  }
  std::map<std::string, std::string> EnvOf(const std::string& token) const {
    return {{"TIDEMARK_TLS_CA", world_.Path("tls/ca.crt")},
            {"TIDEMARK_TLS_CERT", world_.Path("tls/client.crt")},
            {"TIDEMARK_TLS_KEY", world_.Path("tls/client.key")},
            {"TIDEMARK_TOKEN_FILE", world_.Path(token + ".token")}};
  }
  void As(const std::string& name) { world_.settings.cli_env = EnvOf(name); }
  // Makes a token as root and keeps it.
  void MakeToken(const std::string& name, std::vector<std::string> arguments) {
    const auto before = world_.settings.cli_env;
    As("root");
    arguments.insert(arguments.begin(), {"token", "create", "--name", name});
    const World::Answer made = world_.Cli(arguments);
    ASSERT_EQ(made.code, 0) << made.output;
    Keep(name, made.output);
    world_.settings.cli_env = before;
    // Known to the node that made it at once, or within its next reading.
    ASSERT_TRUE(WaitFor([&] {
      return world_.Sql("SELECT count(*) FROM token WHERE name = '" + name + "'") == "1";
    }));
  }
  // What the agent's log says by now.
  bool AgentSays(const std::string& id, const std::string& words) {
    return WaitFor(
        [&] { return ReadFile(world_.Path(id + ".log")).find(words) != std::string::npos; });
  }

  World world_;
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_E2E_SECURE_FIXTURE_H_
