// The executors' streams over real gRPC: who may say what about logs.
#include "scheduler/rpc/executor_gateway.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/mutex.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "scheduler/rpc/server.h"
#include "tests/support/process.h"
#include "tidemark/v1/executor.grpc.pb.h"

namespace tidemark {
namespace {

constexpr char kRun[] = "0190f2a0-0000-7000-8000-000000000001";

// Keeps what it is told.
class Ears : public GatewayListener, public RunLogSink {
 public:
  void OnMessage(StreamId stream, ExecutorMessage message, absl::Duration) override {
    const MutexLock lock(&mutex_);
    stream_ = stream;
    messages_ += 1;
    reports_ += message.reports.size();
  }
  void OnStreamClosed(StreamId) override { closed_ = true; }
  bool closed() const { return closed_; }
  void Take(RunLogChunk chunk) override {
    const MutexLock lock(&mutex_);
    chunks_.push_back(std::move(chunk));
  }

  StreamId stream() {
    const MutexLock lock(&mutex_);
    return stream_;
  }
  int messages() {
    const MutexLock lock(&mutex_);
    return messages_;
  }
  size_t reports() {
    const MutexLock lock(&mutex_);
    return reports_;
  }
  std::vector<RunLogChunk> chunks() {
    const MutexLock lock(&mutex_);
    return chunks_;
  }

 private:
  Mutex mutex_;
  std::atomic<bool> closed_ = false;
  StreamId stream_ ABSL_GUARDED_BY(mutex_) = 0;
  int messages_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t reports_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<RunLogChunk> chunks_ ABSL_GUARDED_BY(mutex_);
};

v1::ExecutorMessage LogOf(int64_t registration, const std::string& data) {
  v1::ExecutorMessage message;
  v1::RunReport* report = message.add_reports();
  report->mutable_attempt()->set_run_id(kRun);
  report->mutable_attempt()->set_attempt(1);
  report->set_registration(registration);
  report->mutable_log()->set_offset(10);
  report->mutable_log()->set_data(data);
  report->mutable_log()->set_end(true);
  return message;
}

class ExecutorGatewayTest : public testing::Test {
 protected:
  void SetUp() override {
    server_ = RpcServer::Start("127.0.0.1:0", {gateway_.service()}).value();
    stub_ = v1::ExecutorService::NewStub(
        grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials()));
    stream_ = stub_->Connect(&context_);
  }
  void TearDown() override {
    stream_->WritesDone();
    context_.TryCancel();
    (void)stream_->Finish();
    gateway_.CloseAll();
    server_->Shutdown();
  }
  // Returns once the gateway has handled it.
  void Say(const v1::ExecutorMessage& message) {
    const int before = ears_.messages();
    ASSERT_TRUE(stream_->Write(message));
    ASSERT_TRUE(WaitFor([&] { return ears_.messages() > before; }));
  }
  void SayHello(const std::string& id) {
    v1::ExecutorMessage message;
    message.mutable_hello()->set_executor_id(id);
    Say(message);
  }
  void Welcome(int64_t registration) {
    gateway_.Send({{ears_.stream(), WelcomeMessage{registration, absl::Seconds(5), {}}}});
    v1::SchedulerMessage answer;
    ASSERT_TRUE(stream_->Read(&answer));
    ASSERT_EQ(answer.welcome().registration(), registration);
  }

  Ears ears_;
  Authenticator authenticator_{/*insecure=*/true, SystemClock()};
  AccessGate gate_{authenticator_};
  ExecutorGateway gateway_{gate_, &ears_, &ears_, SystemClock()};
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<v1::ExecutorService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::ExecutorMessage, v1::SchedulerMessage>> stream_;
};

TEST_F(ExecutorGatewayTest, LogsGoPastTheListenerInTheNameThatWasWelcomed) {
  SayHello("e1");
  Welcome(7);
  const std::string bytes("\0\xff\x1b\n", 4);
  Say(LogOf(7, bytes));
  const std::vector<RunLogChunk> chunks = ears_.chunks();
  ASSERT_EQ(chunks.size(), 1u);
  EXPECT_EQ(chunks[0].key.executor_id, "e1");
  EXPECT_EQ(chunks[0].key.registration, 7);
  EXPECT_EQ(chunks[0].key.attempt.run_id, kRun);
  EXPECT_EQ(chunks[0].key.attempt.attempt, 1);
  EXPECT_EQ(chunks[0].offset, 10u);
  EXPECT_EQ(chunks[0].data, bytes);
  EXPECT_TRUE(chunks[0].end);
  EXPECT_EQ(ears_.reports(), 0u) << "the engine never sees log bytes";
}

TEST_F(ExecutorGatewayTest, WhoNeverReadsIsCut) {
  SayHello("e1");
  const std::vector<Outbound> answers(1000, {ears_.stream(), AcknowledgedOrder{{kRun, 1}}});
  for (int i = 0; i < 200 && !ears_.closed(); ++i) gateway_.Send(answers);
  EXPECT_TRUE(WaitFor([&] { return ears_.closed(); }));
}

TEST_F(ExecutorGatewayTest, WhoReadsMayBeSentAsMuch) {
  SayHello("e1");
  const std::vector<Outbound> answers(1000, {ears_.stream(), AcknowledgedOrder{{kRun, 1}}});
  int read = 0;
  for (int i = 0; i < 200; ++i) {
    gateway_.Send(answers);
    v1::SchedulerMessage message;
    while (read < (i + 1) * 1000 && stream_->Read(&message)) read += message.orders_size();
  }
  EXPECT_EQ(read, 200'000);
  EXPECT_FALSE(ears_.closed());
}

TEST_F(ExecutorGatewayTest, NobodyWritesBeforeItsWelcomeOrInAnothersName) {
  Say(LogOf(7, "before any hello"));
  SayHello("e1");
  Say(LogOf(7, "before the welcome"));
  Say(LogOf(0, "as nobody"));
  Welcome(7);
  Say(LogOf(0, "as nobody"));
  Say(LogOf(6, "as an earlier process"));
  Say(LogOf(8, "as a later process"));
  SayHello("e2");
  Say(LogOf(7, "under a second name"));
  EXPECT_TRUE(ears_.chunks().empty());
}

}  // namespace
}  // namespace tidemark
