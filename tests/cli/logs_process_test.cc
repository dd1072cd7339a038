// tidemark run logs and run watch as their users start them.
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "tests/support/process.h"
#include "tidemark/v1/operator.grpc.pb.h"

namespace tidemark {
namespace {

using testing::HasSubstr;

constexpr char kRunId[] = "0190f2a0-0000-7000-8000-000000000001";

// A run whose attempts' logs the test sets.
class LogService : public v1::OperatorService::Service {
 public:
  struct Log {
    std::string data;
    bool complete = false;
    uint64_t cut = 0;  // bytes, behind the data
  };

  grpc::Status ReadRunLog(grpc::ServerContext*, const v1::ReadRunLogRequest* request,
                          v1::ReadRunLogResponse* response) override {
    absl::MutexLock lock(&mutex);
    ++asked;
    response->set_last_attempt(static_cast<uint32_t>(logs.size()));
    response->set_run_ended(ended);
    response->set_next_offset(request->offset());
    if (request->attempt() > logs.size()) return grpc::Status::OK;
    const Log& log = logs[request->attempt() - 1];
    response->set_attempt(request->attempt());
    response->set_complete(log.complete);
    if (request->offset() < log.data.size()) {
      // Torn anywhere: seven bytes at a time.
      response->set_data(log.data.substr(request->offset(), 7));
      response->set_next_offset(request->offset() + response->data().size());
      response->set_complete(log.complete && log.cut == 0 &&
                             response->next_offset() == log.data.size());
    } else if (log.complete && request->offset() == log.data.size()) {
      response->set_missing_bytes(log.cut);
      response->set_cut_bytes(log.cut);
      response->set_next_offset(request->offset() + log.cut);
    }
    return grpc::Status::OK;
  }
  grpc::Status GetRun(grpc::ServerContext*, const v1::GetRunRequest*, v1::Run* response) override {
    absl::MutexLock lock(&mutex);
    *response = run;
    ++asked;
    return grpc::Status::OK;
  }

  absl::Mutex mutex;
  std::vector<Log> logs;
  bool ended = false;
  int asked = 0;
  v1::Run run;
};

class LogsProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    char dir[] = "/tmp/tidemark-logs-XXXXXX";
    ASSERT_NE(mkdtemp(dir), nullptr);
    dir_ = dir;
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    address_ = "127.0.0.1:" + std::to_string(port);
  }
  void TearDown() override {
    server_->Shutdown();
    (void)RunCommand({"rm", "-rf", dir_});
  }

  // `prefix` comes before the program's path: for what runs it.
  Process Start(std::vector<std::string> arguments) {
    std::vector<std::string> argv = {
        "/bin/sh", "-c", "exec \"$@\" >\"$D/out\" 2>\"$D/err\"", "sh", TIDEMARK_PROGRAM, "run"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return StartArgv(argv);
  }
  Process StartArgv(const std::vector<std::string>& argv) {
    ProcessOptions options;
    options.argv = argv;
    options.env = {{"D", dir_}, {"TIDEMARK_SERVER", address_}};
    absl::StatusOr<Process> process = Process::Start(options);
    EXPECT_TRUE(process.ok()) << process.status();
    return *std::move(process);
  }
  int Run(const std::vector<std::string>& arguments) {
    return Start(arguments).Wait(absl::Seconds(30)).value_or(-1);
  }
  std::string Out() { return ReadFile(dir_ + "/out"); }
  std::string Err() { return ReadFile(dir_ + "/err"); }
  void Set(std::vector<LogService::Log> logs, bool ended) {
    absl::MutexLock lock(&service_.mutex);
    service_.logs = std::move(logs);
    service_.ended = ended;
  }

  LogService service_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
  std::string dir_;
};

TEST_F(LogsProcessTest, ShowsTextAndEscapesTheRest) {
  Set({{"one\n对账对账\t\x1b[31mred\r\nlast", true}}, true);
  EXPECT_EQ(Run({"logs", kRunId}), 0) << Err();
  EXPECT_EQ(Out(), "one\n对账对账\t\\x1b[31mred\\r\nlast\n");
  EXPECT_EQ(Err(), "");
}

TEST_F(LogsProcessTest, RawIsByteExact) {
  std::string all;
  for (int i = 0; i < 1024; ++i) all += static_cast<char>(i % 256);
  Set({{all, true, 5}}, true);
  EXPECT_EQ(Run({"logs", kRunId, "--raw"}), 0) << Err();
  EXPECT_EQ(Out(), all);
  EXPECT_THAT(Err(), HasSubstr("5 bytes are cut"));
}

TEST_F(LogsProcessTest, AllAttemptsOneAfterTheOtherOrOne) {
  Set({{"first", true, 77}, {"second\n", true}}, true);
  EXPECT_EQ(Run({"logs", kRunId}), 0) << Err();
  EXPECT_EQ(Out(), "first\n[77 bytes are cut: the first 4 MiB of a log are kept]\nsecond\n");
  EXPECT_EQ(Err(), "==> attempt 1 <==\n==> attempt 2 <==\n");
  EXPECT_EQ(Run({"logs", kRunId, "--attempt", "2"}), 0) << Err();
  EXPECT_EQ(Out(), "second\n");
  EXPECT_EQ(Err(), "");
}

TEST_F(LogsProcessTest, FollowsOverARetryToTheEnd) {
  Set({}, false);
  Process process = Start({"logs", "-f", kRunId});
  Set({{"begin ", false}}, false);
  ASSERT_TRUE(WaitFor([&] { return Out() == "begin "; }));
  Set({{"begin end\n", true}}, false);
  ASSERT_TRUE(WaitFor([&] { return Out() == "begin end\n"; }));
  Set({{"begin end\n", true}, {"again\n", false}}, false);
  ASSERT_TRUE(WaitFor([&] { return Out() == "begin end\nagain\n"; }));
  EXPECT_TRUE(process.Running());
  Set({{"begin end\n", true}, {"again\ndone\n", true}}, true);
  EXPECT_EQ(process.Wait(absl::Seconds(30)), 0);
  EXPECT_EQ(Out(), "begin end\nagain\ndone\n");
}

TEST_F(LogsProcessTest, FollowingEndsWithCtrlC) {
  Set({{"x", false}}, false);
  Process process = Start({"logs", "-f", kRunId});
  ASSERT_TRUE(WaitFor([&] { return Out() == "x"; }));
  process.Signal(SIGINT);
  EXPECT_EQ(process.Wait(absl::Seconds(30)), 0);
}

TEST_F(LogsProcessTest, WithoutFollowWhatIsThereIsShown) {
  Set({{"half", false}}, false);
  EXPECT_EQ(Run({"logs", kRunId}), 0);
  EXPECT_EQ(Out(), "half\n");
  EXPECT_EQ(Run({"logs", kRunId, "-o", "json"}), 0);
  EXPECT_THAT(Out(), HasSubstr("\"data\": \"aGFsZg==\""));
}

TEST_F(LogsProcessTest, WatchRedrawsOneLineOnATerminal) {
  {
    absl::MutexLock lock(&service_.mutex);
    service_.run.set_run_id(kRunId);
    service_.run.set_status(v1::RUNNING);
    service_.run.set_attempt(1);
    service_.run.set_executor_id("e1");
    service_.run.set_progress_percent(25);
    service_.run.set_message("first");
  }
  // script(1) gives the program a terminal.
  Process process =
      StartArgv({"/usr/bin/script", "-qefc", std::string(TIDEMARK_PROGRAM) + " run watch " + kRunId,
                 dir_ + "/out"});
  ASSERT_TRUE(WaitFor([&] { return Out().find("[######....") != std::string::npos; })) << Out();
  {
    absl::MutexLock lock(&service_.mutex);
    service_.run.set_status(v1::FAILED);
    service_.run.set_reason("retries");
  }
  EXPECT_EQ(process.Wait(absl::Seconds(30)), 1);
  EXPECT_THAT(Out(), HasSubstr("\rFAILED (retries)"));
  EXPECT_THAT(Out(), HasSubstr("25.0 %"));
  EXPECT_THAT(Out(), HasSubstr("attempt 1 on e1: first"));
}

TEST_F(LogsProcessTest, WatchLeavesTheRunAloneOnCtrlC) {
  {
    absl::MutexLock lock(&service_.mutex);
    service_.run.set_status(v1::RUNNING);
    service_.run.set_progress_percent(-1);
  }
  Process process = Start({"watch", kRunId});
  ASSERT_TRUE(WaitFor([&] { return Out() == "RUNNING\n"; }));
  process.Signal(SIGINT);
  EXPECT_EQ(process.Wait(absl::Seconds(30)), 1);
  EXPECT_THAT(Err(), HasSubstr("the run goes on"));
}

}  // namespace
}  // namespace tidemark
