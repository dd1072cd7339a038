// A test bench of the operator service: real database, real gRPC, and an owner that the test plays.
#ifndef TIDEMARK_TESTS_RPC_OPERATOR_BENCH_H_
#define TIDEMARK_TESTS_RPC_OPERATOR_BENCH_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/synchronization/mutex.h"
#include "common/clock.h"
#include "common/id.h"
#include "grpcpp/grpcpp.h"
#include "scheduler/rpc/operator_service.h"
#include "scheduler/rpc/server.h"
#include "scheduler/store/operator_store.h"
#include "tests/support/migrated_database.h"
#include "tidemark/v1/operator.grpc.pb.h"

namespace tidemark {

// The database's time is 2026-11-29T12:00:00Z and goes on from there.
class OperatorBench {
 public:
  // Instead of the engine: how an order of a kind ends. `result` is the JSON object.
  struct Answer {
    absl::StatusCode code = absl::StatusCode::kOk;
    std::string result;
  };

  explicit OperatorBench(absl::Duration order_timeout = absl::Seconds(10), JobLimits limits = {});
  ~OperatorBench();

  MigratedDatabase& db() { return database_; }
  v1::OperatorService::Stub& stub() { return *stub_; }
  const std::string& address() const { return server_->address(); }

  // Orders of `kind` are answered so from now on; without an answer they stay open.
  void AnswerOrders(const std::string& kind, Answer answer);

  // Applies one job and expects that to work; returns its id.
  int64_t Apply(const v1::JobSpec& spec);
  // Calls a method and returns its status.
  template <typename Request, typename Response>
  grpc::Status Call(grpc::Status (v1::OperatorService::Stub::*method)(grpc::ClientContext*,
                                                                      const Request&, Response*),
                    const Request& request, Response* response) {
    grpc::ClientContext context;
    return ((*stub_).*method)(&context, request, response);
  }

  // Rows as the engine would leave them.
  void SetWatermark(int64_t job_id, const std::string& date, const std::string& status,
                    const std::string& reason = "", const std::string& run_id = "");
  // Returns the run's id.
  std::string AddLiveRun(int64_t job_id, const std::string& date, const std::string& status);
  std::string AddEndedRun(int64_t job_id, const std::string& date, const std::string& status,
                          const std::string& trigger);
  void AddExecutor(const std::string& id, const std::string& app, const std::string& handler);

 private:
  void CarryOut();

  MigratedDatabase database_;
  std::unique_ptr<Connection> owner_;
  absl::Mutex mutex_;
  std::map<std::string, Answer> answers_ ABSL_GUARDED_BY(mutex_);
  SeededRandom ids_{7};
  Authenticator authenticator_{/*insecure=*/true, SystemClock()};
  AccessGate gate_{authenticator_};
  OperatorStore store_;
  OperatorService service_;
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<v1::OperatorService::Stub> stub_;
};

// recon: daily at 01:00 Asia/Shanghai, first date 2026-11-24; latest due date of the bench's time:
// 2026-11-28.
v1::JobSpec ReconSpec();
// beat: every five minutes.
v1::JobSpec BeatSpec();

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_RPC_OPERATOR_BENCH_H_
