// A scheduler node of the tests: speaks the executor session over real gRPC, decides nothing.
#ifndef TIDEMARK_TESTS_EXECUTOR_FAKE_SCHEDULER_H_
#define TIDEMARK_TESTS_EXECUTOR_FAKE_SCHEDULER_H_

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tidemark/v1/executor.grpc.pb.h"

namespace tidemark::exec {

// Welcomes whoever comes, answers heartbeats naming all that is held, and acknowledges final
// reports when told to. Everything received is kept. Thread-safe.
class FakeScheduler final : public v1::ExecutorService::Service {
 public:
  using Stream = grpc::ServerReaderWriter<v1::SchedulerMessage, v1::ExecutorMessage>;

  // Port 0: any. The server is up when the constructor returns.
  explicit FakeScheduler(int port = 0);
  ~FakeScheduler() override;

  int port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  void SetAcknowledge(bool on);
  // Answer Hello with this instead of a Welcome.
  void SetHelloAnswer(v1::SchedulerMessage answer);
  // To every open stream.
  void Send(const v1::SchedulerMessage& message);
  void Trigger(int run, const std::string& handler,
               const std::map<std::string, std::string>& params = {},
               const std::string& checkpoint = "");
  void Cancel(int run);

  // Waits up to 20 s until `condition`, which is called with the lock held, is true.
  bool Await(const std::function<bool()>& condition);
  bool AwaitHello(size_t count = 1);
  bool AwaitFinished(int run);
  bool AwaitStarted(int run);

  // Call these inside Await's condition, or when nothing more comes.
  bool Finished(int run) const;
  std::vector<v1::Finished> Finishes(int run) const;
  std::string LogOf(int run) const;
  std::vector<v1::Hello> hellos;
  std::vector<v1::RunReport> reports;
  std::vector<v1::Heartbeat> heartbeats;
  int goodbyes = 0;

  grpc::Status Connect(grpc::ServerContext* context, Stream* stream) override;

  static std::string RunId(int run);

 private:
  void Answer(const v1::ExecutorMessage& message, v1::SchedulerMessage* answer);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<Stream*, grpc::ServerContext*>> streams_;
  bool acknowledge_ = true;
  std::optional<v1::SchedulerMessage> hello_answer_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace tidemark::exec

#endif  // TIDEMARK_TESTS_EXECUTOR_FAKE_SCHEDULER_H_
