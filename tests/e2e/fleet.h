// Many executors that do nothing but be there: bare sessions, no handlers behind them.
#ifndef TIDEMARK_TESTS_E2E_FLEET_H_
#define TIDEMARK_TESTS_E2E_FLEET_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/v1/executor.grpc.pb.h"

namespace tidemark {

// Each call does one thing for all of them, in the caller's thread. `name` begins their ids:
// name-000, name-001, …
class Fleet {
 public:
  Fleet(const std::string& address, const std::string& name, int size);
  ~Fleet();

  // Opens the streams and says hello, as new processes of these ids.
  void SayHello();
  // Waits for the Welcome of each; returns how many came.
  int AwaitWelcomes();
  // A heartbeat of each; returns when all were answered, how long that took.
  absl::Duration Beat();

 private:
  struct Member {
    std::string id;
    std::unique_ptr<grpc::ClientContext> context;
    std::unique_ptr<grpc::ClientReaderWriter<v1::ExecutorMessage, v1::SchedulerMessage>> stream;
    uint64_t beats = 0;
  };

  std::unique_ptr<v1::ExecutorService::Stub> stub_;
  std::vector<Member> members_;
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_E2E_FLEET_H_
