// The frame of the `tidemark` program: options that every command has, output, exit codes.
#ifndef TIDEMARK_SCHEDULER_CLI_CLI_H_
#define TIDEMARK_SCHEDULER_CLI_CLI_H_

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "channel/secure_channel.h"
#include "common/clock.h"
#include "common/id.h"
#include "google/protobuf/message.h"
#include "grpcpp/grpcpp.h"
#include "tidemark/v1/access.grpc.pb.h"
#include "tidemark/v1/alert.grpc.pb.h"
#include "tidemark/v1/check.grpc.pb.h"
#include "tidemark/v1/operator.grpc.pb.h"

namespace tidemark {

enum ExitCode {
  kExitDone = 0,
  kExitFailed = 1,
  kExitUsage = 2,
  kExitNotFound = 3,
  kExitRefused = 4,
  kExitUnreachable = 5
};

// One start of the program. Commands register themselves on the CLI11 app and set `run`, which is
// called once the arguments are read. Used by one thread.
class Cli {
 public:
  Cli(std::istream& in, std::ostream& out, std::ostream& err, Clock& clock, Random& random)
      : in_(in), out_(out), err_(err), clock_(clock), random_(random) {}

  // Adds the options that every command has.
  void AddOptions(CLI::App& app);

  // ---- what commands use

  std::istream& in() { return in_; }
  std::ostream& out() { return out_; }
  std::ostream& err() { return err_; }
  Clock& clock() { return clock_; }
  Random& random() { return random_; }
  bool json() const { return output_ == "json"; }
  // Who orders: --actor, else user@host.
  const std::string& actor();

  using Stub = v1::OperatorService::Stub;
  // Calls `method` of the service with a deadline. On failure tells it on err and returns the exit
  // code; 0 otherwise.
  template <typename Request, typename Response>
  int Call(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
           const Request& request, Response* response) {
    return Report(TryCall(method, request, response));
  }
  using AlertStub = v1::AlertService::Stub;
  template <typename Request, typename Response>
  int Call(grpc::Status (AlertStub::*method)(grpc::ClientContext*, const Request&, Response*),
           const Request& request, Response* response) {
    grpc::ClientContext context;
    if (const grpc::Status ready = Prepare(&context); !ready.ok()) return Report(ready);
    return Report(
        (v1::AlertService::NewStub(channel_).get()->*method)(&context, request, response));
  }
  using AccessStub = v1::AccessService::Stub;
  template <typename Request, typename Response>
  int Call(grpc::Status (AccessStub::*method)(grpc::ClientContext*, const Request&, Response*),
           const Request& request, Response* response) {
    grpc::ClientContext context;
    if (const grpc::Status ready = Prepare(&context); !ready.ok()) return Report(ready);
    return Report(
        (v1::AccessService::NewStub(channel_).get()->*method)(&context, request, response));
  }
  using CheckStub = v1::CheckService::Stub;
  template <typename Request, typename Response>
  int Call(grpc::Status (CheckStub::*method)(grpc::ClientContext*, const Request&, Response*),
           const Request& request, Response* response) {
    grpc::ClientContext context;
    if (const grpc::Status ready = Prepare(&context); !ready.ok()) return Report(ready);
    return Report(
        (v1::CheckService::NewStub(channel_).get()->*method)(&context, request, response));
  }
  // The same as the first, leaving it to the caller to look at the status.
  template <typename Request, typename Response>
  grpc::Status TryCall(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                    Response*),
                       const Request& request, Response* response) {
    grpc::ClientContext context;
    if (grpc::Status ready = Prepare(&context); !ready.ok()) return ready;
    return (v1::OperatorService::NewStub(channel_).get()->*method)(&context, request, response);
  }
  // Tells a failed call on err and returns the exit code; 0 for OK.
  int Report(const grpc::Status& status);

  // Prints a message as JSON with the field names of the proto.
  void PrintJson(const google::protobuf::Message& message);
  // Two lines on err: what is wrong, and what to do. Returns `code`.
  int Fail(int code, const std::string& what, const std::string& mend);

  std::function<int()> run;

 private:
  // Opens the channel, and gives the call its deadline and its token. INVALID_ARGUMENT: the server
  // may not be called as the connection is secured.
  grpc::Status Prepare(grpc::ClientContext* context);

  std::istream& in_;
  std::ostream& out_;
  std::ostream& err_;
  Clock& clock_;
  Random& random_;
  std::string server_ = "127.0.0.1:7400";
  std::string output_ = "table";
  std::string actor_;
  double timeout_seconds_ = 20;
  ClientSecurity security_;
  ChannelSecurity secured_;
  std::shared_ptr<grpc::Channel> channel_;
};

// Each adds one noun with its verbs.
void AddJobCommands(CLI::App& app, Cli& cli);
void AddRunCommands(CLI::App& app, Cli& cli);
void AddWatermarkCommands(CLI::App& app, Cli& cli);
void AddClusterCommands(CLI::App& app, Cli& cli);
void AddExecutorCommands(CLI::App& app, Cli& cli);
void AddAlertCommands(CLI::App& app, Cli& cli);
void AddCheckCommands(CLI::App& app, Cli& cli);
void AddCalendarCommands(CLI::App& app, Cli& cli);
void AddBackfillCommands(CLI::App& app, Cli& cli);
void AddCronCommands(CLI::App& app, Cli& cli);
void AddAccessCommands(CLI::App& app, Cli& cli);  // token, whoami
void AddAuditCommands(CLI::App& app, Cli& cli);
void AddApprovalCommands(CLI::App& app, Cli& cli);
void AddTlsCommands(CLI::App& app, Cli& cli);

// Verbs below `job`: drill, reset-cursor.
void AddJobUpkeepVerbs(CLI::App* job, Cli& cli);

// A verb below `noun`, with its examples under the help.
CLI::App* AddVerb(CLI::App* noun, const std::string& name, const std::string& description,
                  const std::string& examples);

// Prints what became of an order; returns the exit code.
int ShowOrder(Cli& cli, const v1::OrderResponse& response);

// The whole program: reads arguments, runs, returns the exit code.
int RunCli(const std::vector<std::string>& arguments, Cli& cli);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CLI_CLI_H_
