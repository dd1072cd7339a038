// The executors' stream: whom a credential lets in, as what, and for how long.
#include <memory>
#include <string>

#include "common/mutex.h"
#include "common/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/rpc/access_bench.h"
#include "tests/support/process.h"
#include "tidemark/v1/executor.grpc.pb.h"

namespace tidemark {
namespace {

using testing::HasSubstr;

// Keeps the Hellos that reach the engine.
class ListeningBench : public AccessBench {
 public:
  ~ListeningBench() override { Stop(); }

  void OnMessage(StreamId stream, ExecutorMessage message, absl::Duration) override {
    const MutexLock lock(&mutex_);
    stream_ = stream;
    messages_ += 1;
    if (message.hello.has_value()) hellos_ += message.hello->app + " ";
  }
  std::string hellos() {
    const MutexLock lock(&mutex_);
    return hellos_;
  }
  int messages() {
    const MutexLock lock(&mutex_);
    return messages_;
  }
  StreamId stream() {
    const MutexLock lock(&mutex_);
    return stream_;
  }

 private:
  Mutex mutex_;
  StreamId stream_ ABSL_GUARDED_BY(mutex_) = 0;
  int messages_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string hellos_ ABSL_GUARDED_BY(mutex_);
};

class StreamCaller {
 public:
  StreamCaller(const std::string& address, const std::string& token)
      : stub_(v1::ExecutorService::NewStub(
            grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))) {
    if (!token.empty()) context_.AddMetadata("authorization", "Bearer " + token);
    stream_ = stub_->Connect(&context_);
  }
  void Say(const std::string& app, const std::string& ns) {
    v1::ExecutorMessage message;
    message.mutable_hello()->set_executor_id("e1");
    message.mutable_hello()->set_app(app);
    message.mutable_hello()->set_namespace_(ns);
    stream_->Write(message);
  }
  void Beat() {
    v1::ExecutorMessage message;
    message.mutable_heartbeat()->set_sequence(1);
    stream_->Write(message);
  }
  // Reads until the server ends the stream.
  grpc::Status End() {
    v1::SchedulerMessage message;
    while (stream_->Read(&message)) {
    }
    return stream_->Finish();
  }

 private:
  std::unique_ptr<v1::ExecutorService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::ExecutorMessage, v1::SchedulerMessage>> stream_;
};

class ExecutorAccessTest : public testing::Test {
 protected:
  ListeningBench bench_;
};

TEST_F(ExecutorAccessTest, S01WithoutAValidTokenTheStreamIsUnauthenticated) {
  for (const std::string& token : {std::string(), std::string("x"), NewToken(SystemRandom())}) {
    StreamCaller caller(bench_.address(), token);
    caller.Say("recon", "default");
    EXPECT_EQ(caller.End().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  }
  EXPECT_EQ(bench_.messages(), 0);
}

TEST_F(ExecutorAccessTest, AnOperatorsTokenIsNoExecutors) {
  for (const Role role : {Role::kViewer, Role::kOperator, Role::kAdmin}) {
    StreamCaller caller(bench_.address(), bench_.Token(role, ""));
    caller.Say("recon", "default");
    EXPECT_EQ(caller.End().error_code(), grpc::StatusCode::PERMISSION_DENIED) << Name(role);
  }
  EXPECT_EQ(bench_.messages(), 0);
}

TEST_F(ExecutorAccessTest, S03AForgedRegistrationIsRefusedAndReachesNobody) {
  const std::string token = bench_.Token(Role::kExecutor, "default");
  for (const auto& [app, ns] : {std::pair("ledger", "default"), std::pair("recon", "pay"),
                                std::pair("", "default"), std::pair("recon2", "")}) {
    StreamCaller caller(bench_.address(), token);
    caller.Say(app, ns);
    caller.Beat();
    const grpc::Status status = caller.End();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED) << app << " " << ns;
    EXPECT_THAT(status.error_message(), HasSubstr("is for app 'recon' in namespace 'default'"));
  }
  EXPECT_EQ(bench_.messages(), 0);
}

TEST_F(ExecutorAccessTest, S03ASecondHelloIsJudgedLikeTheFirst) {
  StreamCaller caller(bench_.address(), bench_.Token(Role::kExecutor, "default"));
  caller.Say("recon", "");
  ASSERT_TRUE(WaitFor([&] { return bench_.messages() == 1; }));
  caller.Say("ledger", "");
  EXPECT_EQ(caller.End().error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(bench_.hellos(), "recon ");
}

TEST_F(ExecutorAccessTest, RevokedInMidStreamEndsItAndNothingMoreCounts) {
  const std::string token = bench_.Token(Role::kExecutor, "default", "recon");
  const std::string other = bench_.Token(Role::kExecutor, "default", "other");
  StreamCaller caller(bench_.address(), token);
  caller.Say("recon", "default");
  ASSERT_TRUE(WaitFor([&] { return bench_.messages() == 1; }));
  StreamCaller stays(bench_.address(), other);
  stays.Say("recon", "default");
  ASSERT_TRUE(WaitFor([&] { return bench_.messages() == 2; }));
  bench_.db().Sql("UPDATE token SET revoked_at = now() WHERE name = 'recon'");
  bench_.Refresh();
  EXPECT_EQ(caller.End().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  stays.Beat();
  EXPECT_TRUE(WaitFor([&] { return bench_.messages() == 3; })) << "the other one goes on";
  StreamCaller again(bench_.address(), token);
  EXPECT_EQ(again.End().error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(ExecutorAccessTest, ExpiredInMidStreamEndsIt) {
  StreamCaller caller(bench_.address(), bench_.Token(Role::kExecutor, "default", "recon"));
  caller.Say("recon", "default");
  ASSERT_TRUE(WaitFor([&] { return bench_.messages() == 1; }));
  bench_.db().Sql("UPDATE token SET expires_at = now() - interval '1 second'");
  bench_.Refresh();
  EXPECT_EQ(caller.End().error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(ExecutorAccessTest, WhomTheEngineDeniesIsToldWhy) {
  StreamCaller caller(bench_.address(), bench_.Token(Role::kExecutor, "default"));
  caller.Say("recon", "default");
  ASSERT_TRUE(WaitFor([&] { return bench_.messages() == 1; }));
  bench_.gateway().Deny(bench_.stream(), "it spoke about another app's run");
  const grpc::Status status = caller.End();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(status.error_message(), "it spoke about another app's run");
}

}  // namespace
}  // namespace tidemark
