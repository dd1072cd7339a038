// TLS between a client as the CLI and executors are, and the scheduler's listener.
#include <memory>
#include <string>

#include "channel/secure_channel.h"
#include "common/mutex.h"
#include "common/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/rpc/server.h"
#include "tests/channel/tls_dir.h"
#include "tests/support/process.h"
#include "tidemark/v1/access.grpc.pb.h"

namespace tidemark {
namespace {

using testing::HasSubstr;

constexpr char kToken[] = "tmk_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

// Keeps the header that it was sent.
class Echo : public v1::AccessService::Service {
 public:
  grpc::Status WhoAmI(grpc::ServerContext* context, const v1::WhoAmIRequest*,
                      v1::WhoAmIResponse*) override {
    const auto it = context->client_metadata().find("authorization");
    const MutexLock lock(&mutex_);
    header_ = it == context->client_metadata().end()
                  ? ""
                  : std::string(it->second.data(), it->second.size());
    calls_ += 1;
    return grpc::Status::OK;
  }
  std::string header() {
    const MutexLock lock(&mutex_);
    return header_;
  }
  int calls() {
    const MutexLock lock(&mutex_);
    return calls_;
  }

 private:
  Mutex mutex_;
  std::string header_ ABSL_GUARDED_BY(mutex_);
  int calls_ ABSL_GUARDED_BY(mutex_) = 0;
};

class TlsTest : public testing::Test {
 protected:
  void Serve(const TlsFiles& files) {
    server_.reset();
    server_ = RpcServer::Start("127.0.0.1:0", {&echo_}, files).value();
  }
  ClientSecurity Client(const std::string& server_name = "sched.example") const {
    ClientSecurity security;
    security.tls.ca = dir_.Path("ca.crt");
    security.server_name = server_name;
    security.token = kToken;
    return security;
  }
  grpc::Status Call(const ClientSecurity& security) {
    const absl::StatusOr<ChannelSecurity> secured = SecureFor(server_->address(), security);
    if (!secured.ok()) return {grpc::StatusCode::INVALID_ARGUMENT, Message(secured.status())};
    grpc::ChannelArguments args;
    args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    ApplyServerName(security, &args);
    const auto stub = v1::AccessService::NewStub(
        grpc::CreateCustomChannel(server_->address(), secured->credentials, args));
    grpc::ClientContext context;
    secured->Authorize(&context);
    context.set_deadline(gpr_time_from_seconds(10, GPR_TIMESPAN));
    v1::WhoAmIResponse response;
    return stub->WhoAmI(&context, v1::WhoAmIRequest(), &response);
  }

  TlsDir dir_;
  Echo echo_;
  std::unique_ptr<RpcServer> server_;
};

TEST_F(TlsTest, ACertificateOfTheAuthorityForThatNameIsTrusted) {
  Serve(dir_.Issue("server", {"sched.example", "127.0.0.1"}));
  const grpc::Status status = Call(Client());
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(echo_.header(), std::string("Bearer ") + kToken);
  EXPECT_TRUE(Call(Client("")).ok()) << "by its address, which the certificate names, too";
}

TEST_F(TlsTest, AnotherAuthorityAWrongNameAnExpiredCertificateAndPlainTextAreNot) {
  const TlsDir other;
  ClientSecurity wrong_ca = Client();
  wrong_ca.tls.ca = other.Path("ca.crt");
  Serve(dir_.Issue("server", {"sched.example"}));
  EXPECT_EQ(Call(wrong_ca).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(Call(Client("other.example")).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(Call(Client("")).error_code(), grpc::StatusCode::UNAVAILABLE);
  ClientSecurity plain;
  plain.token = kToken;
  EXPECT_FALSE(Call(plain).ok());
  Serve(dir_.Issue("late", {"sched.example"}, -absl::Minutes(1)));
  EXPECT_EQ(Call(Client()).error_code(), grpc::StatusCode::UNAVAILABLE);
  Serve({});
  EXPECT_EQ(Call(Client()).error_code(), grpc::StatusCode::UNAVAILABLE)
      << "who asks for TLS does not speak to a server without";
  EXPECT_EQ(echo_.calls(), 0) << "and no token reached anybody";
}

TEST_F(TlsTest, WithAClientAuthorityOnlyItsCertificatesAreLetIn) {
  TlsFiles server = dir_.Issue("server", {"sched.example"});
  server.ca = dir_.Path("ca.crt");
  Serve(server);
  EXPECT_FALSE(Call(Client()).ok()) << "no certificate";
  const TlsDir other;
  ClientSecurity foreign = Client();
  const TlsFiles foreign_files = other.Issue("client", {});
  foreign.tls.cert = foreign_files.cert;
  foreign.tls.key = foreign_files.key;
  EXPECT_FALSE(Call(foreign).ok()) << "of another authority";
  EXPECT_EQ(echo_.calls(), 0);
  ClientSecurity own = Client();
  const TlsFiles files = dir_.Issue("client", {});
  own.tls.cert = files.cert;
  own.tls.key = files.key;
  const grpc::Status status = Call(own);
  EXPECT_TRUE(status.ok()) << status.error_message();
}

TEST_F(TlsTest, CertificatesAreReadAgainWithoutARestart) {
  Serve(dir_.Issue("server", {"old.example"}));
  EXPECT_TRUE(Call(Client("old.example")).ok());
  EXPECT_FALSE(Call(Client("new.example")).ok());
  dir_.Issue("server", {"new.example"});
  EXPECT_TRUE(WaitFor([&] { return Call(Client("new.example")).ok(); }, absl::Seconds(30)));
  EXPECT_FALSE(Call(Client("old.example")).ok());
}

TEST_F(TlsTest, S04ATokenNeverTravelsInTheClearOffLoopback) {
  ClientSecurity plain;
  plain.token = kToken;
  const absl::Status clear = SecureFor("sched.example:7400", plain).status();
  EXPECT_TRUE(absl::IsInvalidArgument(clear));
  EXPECT_THAT(Message(clear), HasSubstr("--tls-ca"));
  EXPECT_TRUE(SecureFor("127.0.0.1:7400", plain).ok());
  ClientSecurity nobody = Client();
  nobody.token.clear();
  EXPECT_THAT(Message(SecureFor("sched.example:7400", nobody).status()), HasSubstr("--token-file"));
  EXPECT_TRUE(SecureFor("sched.example:7400", Client()).ok());
  for (const char* odd : {"127.0.0.1.example.com:7400", "dns:///127.0.0.1:7400", "10.0.0.1:7400"}) {
    EXPECT_FALSE(SecureFor(odd, plain).ok()) << odd;
  }
}

TEST_F(TlsTest, S02AWeakTokenIsRefusedByTheClient) {
  ClientSecurity weak;
  dir_.Write("token", "changeme\n");
  weak.token_file = dir_.Path("token");
  EXPECT_THAT(Message(SecureFor("127.0.0.1:7400", weak).status()),
              HasSubstr("a word that everybody knows"));
  dir_.Write("token", std::string(kToken) + "\n");
  EXPECT_EQ(SecureFor("127.0.0.1:7400", weak).value().token, kToken);
  std::filesystem::remove(dir_.Path("token"));
  EXPECT_FALSE(SecureFor("127.0.0.1:7400", weak).ok());
}

}  // namespace
}  // namespace tidemark
