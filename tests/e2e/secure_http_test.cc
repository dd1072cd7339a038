// HTTP beside gRPC, with the same certificates, tokens and roles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "grpcpp/grpcpp.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "tests/e2e/secure_fixture.h"
#include "tests/support/https_client.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;

class SecureHttpTest : public SecureTest {
 protected:
  void StartWithHttp(std::map<std::string, std::string> more = {}) {
    more["TIDEMARK_HTTP_LISTEN"] = "127.0.0.1:0";
    more["TIDEMARK_HTTP_ADDRESS_FILE"] = world_.Path("http.addr");
    StartSecured(std::move(more));
    ASSERT_TRUE(WaitFor([&] { return !ReadFile(world_.Path("http.addr")).empty(); }));
    std::ifstream(world_.Path("http.addr")) >> address_;
    ASSERT_TRUE(WaitFor([&] { return Ask("/readyz").status == 200; }));
  }
  std::string TextOf(const std::string& token) {
    std::string text;
    std::ifstream(world_.Path(token + ".token")) >> text;
    return text;
  }
  // A call as `token` (the name under which it is kept; "": without).
  HttpsAnswer Ask(const std::string& path, const std::string& json = "",
                  const std::string& token = "") {
    HttpsCall call;
    call.url = "https://" + address_ + path;
    call.json = json;
    if (!token.empty()) call.token = TextOf(token);
    call.ca = world_.Path("tls/ca.crt");
    call.cert = world_.Path("tls/client.crt");
    call.key = world_.Path("tls/client.key");
    return CallHttps(call);
  }
  HttpsAnswer Method(const std::string& method, const std::string& json, const std::string& token) {
    return Ask("/v1/" + method, json, token);
  }

  std::string address_;
};

TEST_F(SecureHttpTest, TokensAndRolesAreThoseOfGrpc) {
  StartWithHttp();
  world_.ApplyDaily("daily", "ops", "work", 1);
  MakeToken("eve", {"--role", "viewer"});
  MakeToken("ann", {"--role", "operator"});
  MakeToken("pay", {"--role", "operator", "--namespace", "pay"});
  MakeToken("agents", {"--app", "ops"});
  ASSERT_TRUE(
      WaitFor([&] { return Method("AccessService/WhoAmI", "{}", "agents").status == 403; }));

  const std::string pause = R"({"name":"daily","reason":"stocktaking","actor":"boss"})";
  EXPECT_EQ(Method("OperatorService/ListJobs", "{}", "").status, 401);
  EXPECT_THAT(Method("OperatorService/ListJobs", "{}", "").body, HasSubstr("no token was sent"));
  EXPECT_THAT(Method("OperatorService/ListJobs", "{}", "eve").body, HasSubstr("daily"));
  EXPECT_EQ(Method("OperatorService/PauseJob", pause, "eve").status, 403);
  EXPECT_EQ(Method("OperatorService/PauseJob", pause, "pay").status, 404) << "foreign: not there";
  EXPECT_EQ(Method("OperatorService/PauseJob", pause, "agents").status, 403);
  // Who may not ask is told so before anybody reads what he sent.
  EXPECT_EQ(Method("OperatorService/PauseJob", "{not json", "eve").status, 403);
  EXPECT_EQ(Method("OperatorService/NoSuchMethod", "{}", "ann").status, 404);
  EXPECT_EQ(world_.Sql("SELECT paused FROM job"), "f");

  const HttpsAnswer paused = Method("OperatorService/PauseJob", pause, "ann");
  EXPECT_EQ(paused.status, 200) << paused.body;
  EXPECT_EQ(world_.Sql("SELECT paused_by FROM job"), "ann") << "the credential says who it is";
  EXPECT_THAT(world_.Sql("SELECT peer FROM audit WHERE action = 'pause'"),
              HasSubstr("ipv4:127.0.0.1:"));
}

TEST_F(SecureHttpTest, WithoutACertificateOfTheAuthorityNobodyTalks) {
  StartWithHttp();
  HttpsCall bare;
  bare.url = "https://" + address_ + "/readyz";
  bare.ca = world_.Path("tls/ca.crt");
  EXPECT_EQ(CallHttps(bare).status, 0) << "no certificate";
  bare.ca = "/etc/ssl/certs/ca-certificates.crt";
  EXPECT_EQ(CallHttps(bare).status, 0) << "the server's authority is not known";
  bare.url = "http://" + address_ + "/readyz";
  EXPECT_NE(CallHttps(bare).status, 200) << "nothing in the clear";
  EXPECT_EQ(Ask("/readyz").status, 200);
}

// The certificate of both ports is replaced while the scheduler runs; whoever connects next sees
// it.
TEST_F(SecureHttpTest, CertificatesAreReadAgain) {
  StartWithHttp();
  const World::Answer issued =
      world_.Run({"tidemark", "tls", "issue", "--dir", world_.Path("tls"), "--name", "server",
                  "--host", "elsewhere.example", "--renew"});
  ASSERT_EQ(issued.code, 0) << issued.output;
  EXPECT_TRUE(WaitFor([&] { return Ask("/readyz").status == 0; })) << "it is not for this address";
  EXPECT_TRUE(WaitFor([&] { return world_.Cli({"--timeout", "2", "job", "list"}).code == 5; }));
  const World::Answer back = world_.Run({"tidemark", "tls", "issue", "--dir", world_.Path("tls"),
                                         "--name", "server", "--host", "127.0.0.1", "--renew"});
  ASSERT_EQ(back.code, 0) << back.output;
  EXPECT_TRUE(WaitFor([&] { return Ask("/readyz").status == 200; }));
  EXPECT_TRUE(WaitFor([&] { return world_.Cli({"job", "list"}).code == 0; }));
}

TEST_F(SecureHttpTest, ATokenHasOneRateForBothWays) {
  StartWithHttp({{"TIDEMARK_REQUESTS_PER_SECOND", "1"}});
  MakeToken("eve", {"--role", "viewer"});
  int refused = 0;
  for (int i = 0; i < 10; ++i) {
    const HttpsAnswer answer = Method("OperatorService/ListJobs", "{}", "eve");
    if (answer.status != 429) continue;
    ++refused;
    EXPECT_THAT(answer.body, HasSubstr("requests-per-second"));
  }
  EXPECT_GE(refused, 5);
  EXPECT_THAT(Ask("/metrics").body, HasSubstr("tidemark_refused_total{limit="));
}

}  // namespace
}  // namespace tidemark
