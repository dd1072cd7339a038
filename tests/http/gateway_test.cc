// The services of operators over HTTP, from the socket to a service and back.
#include <google/protobuf/util/json_util.h>

#include <string>

#include "common/mutex.h"
#include "common/status.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "scheduler/http_routes.h"
#include "scheduler/rpc/server.h"
#include "tests/support/process.h"
#include "tests/support/raw_client.h"
#include "tidemark/v1/alert.pb.h"
#include "tidemark/v1/executor.pb.h"
#include "tidemark/v1/operator.grpc.pb.h"

namespace tidemark {
namespace {

constexpr int kMostCalls = 3;

// Plays the service: remembers what it was asked, and by whom.
class FakeOperators : public v1::OperatorService::CallbackService {
 public:
  grpc::ServerUnaryReactor* TriggerJob(grpc::CallbackServerContext* context,
                                       const v1::TriggerJobRequest* request,
                                       v1::TriggerJobResponse* response) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    const MutexLock lock(&mutex_);
    request_ = *request;
    peer_ = PeerOf(*context);
    const auto it = context->client_metadata().find("authorization");
    authorization_ = it == context->client_metadata().end()
                         ? ""
                         : std::string(it->second.data(), it->second.size());
    if (status_.ok()) response->set_run_id("r1");
    if (hold_) {
      held_.push_back(reactor);
    } else {
      reactor->Finish(status_);
    }
    return reactor;
  }

  void Answer(const grpc::Status& status) {
    const MutexLock lock(&mutex_);
    status_ = status;
  }
  void Hold() {
    const MutexLock lock(&mutex_);
    hold_ = true;
  }
  size_t held() {
    const MutexLock lock(&mutex_);
    return held_.size();
  }
  void LetGo() {
    const MutexLock lock(&mutex_);
    hold_ = false;
    for (grpc::ServerUnaryReactor* reactor : held_) reactor->Finish(grpc::Status::OK);
    held_.clear();
  }
  v1::TriggerJobRequest request() {
    const MutexLock lock(&mutex_);
    return request_;
  }
  std::string peer() {
    const MutexLock lock(&mutex_);
    return peer_;
  }
  std::string authorization() {
    const MutexLock lock(&mutex_);
    return authorization_;
  }

 private:
  Mutex mutex_;
  grpc::Status status_ ABSL_GUARDED_BY(mutex_);
  bool hold_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<grpc::ServerUnaryReactor*> held_ ABSL_GUARDED_BY(mutex_);
  v1::TriggerJobRequest request_ ABSL_GUARDED_BY(mutex_);
  std::string peer_ ABSL_GUARDED_BY(mutex_);
  std::string authorization_ ABSL_GUARDED_BY(mutex_);
};

class GatewayTest : public testing::Test {
 protected:
  GatewayTest() {
    rpc_ = RpcServer::Start("127.0.0.1:0", {&operators_}).value();
    JsonGatewayOptions gateway_options;
    gateway_options.max_calls = kMostCalls;
    gateway_ = std::make_unique<JsonGateway>(*rpc_, gateway_options);
    http_ = StartHttp(/*asks_tokens=*/true);
  }
  ~GatewayTest() override {
    http_->Stop();
    gateway_.reset();
    rpc_->Shutdown();
  }
  std::unique_ptr<HttpServer> StartHttp(bool asks_tokens) {
    HttpOptions options;
    options.listen = "127.0.0.1:0";
    HttpSources sources;
    sources.not_alive = [] { return std::vector<std::string>(); };
    sources.not_ready = [] { return std::vector<std::string>{"no lease\nyet", "no database"}; };
    sources.metrics = [] { return std::string("tidemark_jobs 3\n"); };
    sources.may = [this](const WebRequest& request, std::string_view) -> absl::Status {
      if (token_.empty() || request.authorization == token_) return absl::OkStatus();
      return absl::UnauthenticatedError("a token is needed");
    };
    sources.asks_tokens = asks_tokens;
    sources.call = [this](JsonCall call, std::function<void(JsonAnswer)> done) {
      gateway_->Call(std::move(call), std::move(done));
    };
    return HttpServer::Start(std::move(options), MakeHttpRoutes(std::move(sources))).value();
  }
  RawResponse Trigger(const std::string& json, const std::string& headers = "") {
    return HttpPost(http_->address(), "/v1/OperatorService/TriggerJob", json, headers);
  }
  void ExpectError(const RawResponse& response, int status, const std::string& code,
                   const std::string& words) {
    EXPECT_EQ(response.status, status) << response.body;
    EXPECT_NE(response.body.find("\"code\":\"" + code + "\""), std::string::npos) << response.body;
    EXPECT_NE(response.body.find(words), std::string::npos) << response.body;
  }

  std::string token_;  // "": not asked for
  FakeOperators operators_;
  std::unique_ptr<RpcServer> rpc_;
  std::unique_ptr<HttpServer> http_;
  std::unique_ptr<JsonGateway> gateway_;
};

TEST_F(GatewayTest, ACallIsTheProtosOwnJson) {
  const RawResponse response =
      Trigger(R"({"name":"recon","biz_date":"2026-11-28","params":{"k":"v"}})",
              "Authorization: Bearer tmk_1\r\n");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body,
            "{\"run_id\":\"r1\",\"biz_date\":\"\",\"queued\":false,\"existing\":false,"
            "\"later_dates\":[],\"dependents\":[]}\n");
  EXPECT_EQ(operators_.request().name(), "recon");
  EXPECT_EQ(operators_.request().params().at("k"), "v");
  // Whoever judges calls sees the credential and the HTTP client, not the gateway.
  EXPECT_EQ(operators_.authorization(), "Bearer tmk_1");
  EXPECT_EQ(operators_.peer().substr(0, 15), "ipv4:127.0.0.1:");
}

TEST_F(GatewayTest, NobodySaysOverGrpcThatHeIsAnother) {
  const auto stub = v1::OperatorService::NewStub(
      grpc::CreateChannel(rpc_->address(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  context.AddMetadata(JsonGateway::kPeerMetadata, "ipv4:6.6.6.6:66");
  v1::TriggerJobResponse response;
  ASSERT_TRUE(stub->TriggerJob(&context, {}, &response).ok());
  EXPECT_EQ(operators_.peer().substr(0, 15), "ipv4:127.0.0.1:");
}

TEST_F(GatewayTest, WhatIsWrongInABodyIsNamed) {
  ExpectError(Trigger(R"({"nam":"x"})"), 400, "INVALID_ARGUMENT", "nam");
  ExpectError(Trigger(R"({"name":)"), 400, "INVALID_ARGUMENT", "TriggerJobRequest");
  ExpectError(Trigger(R"({"name":["x"]})"), 400, "INVALID_ARGUMENT", "name");
  ExpectError(Trigger(std::string(5000, '[')), 400, "INVALID_ARGUMENT", "TriggerJobRequest");
  ExpectError(Trigger("\xff\xfe{"), 400, "INVALID_ARGUMENT", "TriggerJobRequest");
  EXPECT_EQ(Trigger("").status, 200) << "nothing is the empty request";
}

TEST_F(GatewayTest, ACodeOfTheServiceBecomesAStatus) {
  const std::vector<std::pair<grpc::StatusCode, int>> codes = {
      {grpc::StatusCode::INVALID_ARGUMENT, 400},   {grpc::StatusCode::FAILED_PRECONDITION, 400},
      {grpc::StatusCode::UNAUTHENTICATED, 401},    {grpc::StatusCode::PERMISSION_DENIED, 403},
      {grpc::StatusCode::NOT_FOUND, 404},          {grpc::StatusCode::ALREADY_EXISTS, 409},
      {grpc::StatusCode::RESOURCE_EXHAUSTED, 429}, {grpc::StatusCode::INTERNAL, 500},
      {grpc::StatusCode::UNIMPLEMENTED, 501},      {grpc::StatusCode::UNAVAILABLE, 503}};
  for (const auto& [code, http] : codes) {
    operators_.Answer({code, "why \"so\"\n"});
    ExpectError(Trigger("{}"), http, CodeName(static_cast<absl::StatusCode>(code)),
                "why \\\"so\\\"\\n");
  }
  operators_.Answer({grpc::StatusCode::UNAUTHENTICATED, "no"});
  EXPECT_NE(Trigger("{}").headers.find("WWW-Authenticate: Bearer"), std::string::npos);
}

TEST_F(GatewayTest, AnUnknownPathSaysWhatThereIs) {
  // As in the scheduler, which has all of them.
  ASSERT_NE(v1::AckAlertRequest::descriptor(), nullptr);
  ASSERT_NE(v1::ExecutorMessage::descriptor(), nullptr);
  const auto post = [&](const std::string& path) { return HttpPost(http_->address(), path, "{}"); };
  ExpectError(post("/v1/OperatorService/TrigerJob"), 404, "NOT_FOUND", "TriggerJob");
  ExpectError(post("/v1/OperatorServic/TriggerJob"), 404, "NOT_FOUND", "OperatorService");
  ExpectError(post("/v1/ExecutorService/Connect"), 404, "NOT_FOUND", "Connect");
  ExpectError(post("/v1/x"), 404, "NOT_FOUND", "/v1/Service/Method");
  ExpectError(post("/v1/a/b/c"), 404, "NOT_FOUND", "/v1/Service/Method");
  ExpectError(post("/"), 404, "NOT_FOUND", "/metrics");
  EXPECT_EQ(HttpGet(http_->address(), "/v1/OperatorService/TriggerJob").status, 405);
  EXPECT_EQ(post("/metrics").status, 405);
  // Registered with no server: the service itself says so.
  EXPECT_EQ(post("/v1/AlertService/ListChannels").status, 501);
}

TEST_F(GatewayTest, APageInABrowserCannotCall) {
  const auto send_to = [&](const HttpServer& server, const std::string& host,
                           const std::string& headers) {
    RawClient client(server.address());
    client.Send("POST /v1/OperatorService/TriggerJob HTTP/1.1\r\nHost: " + host + "\r\n" + headers +
                "Content-Length: 2\r\n\r\n{}");
    return client.Read();
  };
  const auto send = [&](const std::string& host, const std::string& headers) {
    return send_to(*http_, host, headers);
  };
  const std::string json = "Content-Type: application/json; charset=utf-8\r\n";
  EXPECT_EQ(send("127.0.0.1", json).status, 200);
  EXPECT_EQ(send("localhost:7480", json).status, 200);
  ExpectError(send("127.0.0.1", "Content-Type: text/plain\r\n"), 415, "INVALID_ARGUMENT",
              "application/json");
  ExpectError(send("127.0.0.1", ""), 415, "INVALID_ARGUMENT", "application/json");
  ExpectError(send("127.0.0.1", json + "Origin: http://evil.example\r\n"), 403, "PERMISSION_DENIED",
              "origin");
  EXPECT_EQ(send("127.0.0.1", json + "Origin: http://127.0.0.1\r\n").status, 200);
  // A name that was made to point here.
  ExpectError(send("evil.example:7480", json), 403, "PERMISSION_DENIED", "Host");
  EXPECT_EQ(send("tidemark.example", json + "Authorization: Bearer x\r\n").status, 200);
  // Where nobody asks for a token, the page can send any.
  const auto open = StartHttp(/*asks_tokens=*/false);
  ExpectError(send_to(*open, "evil.example:7480",
                      json + "Origin: http://evil.example:7480\r\nAuthorization: Bearer x\r\n"),
              403, "PERMISSION_DENIED", "Host");
  EXPECT_EQ(send_to(*open, "127.0.0.1", json).status, 200);
}

TEST_F(GatewayTest, WithoutATokenNothingIsReadAndNoMetricsAreShown) {
  token_ = "Bearer good";
  ExpectError(Trigger("{nonsense"), 401, "UNAUTHENTICATED", "token");
  EXPECT_EQ(Trigger("{}", "Authorization: Bearer good\r\n").status, 200);
  EXPECT_EQ(HttpGet(http_->address(), "/metrics").status, 401);
  EXPECT_EQ(HttpGet(http_->address(), "/healthz").status, 200) << "orchestrators have no token";
}

TEST_F(GatewayTest, AnAuthorizationThatNoHeaderCanCarryIsRefused) {
  ExpectError(Trigger("{}", "Authorization: Bearer \xc3\xa9\r\n"), 401, "UNAUTHENTICATED", "ASCII");
}

TEST_F(GatewayTest, CallsUnderWayAreBounded) {
  operators_.Hold();
  std::vector<RawClient> asking;
  asking.reserve(kMostCalls);
  for (size_t i = 0; i < kMostCalls; ++i) {
    asking.emplace_back(http_->address());
    asking.back().Send(
        "POST /v1/OperatorService/TriggerJob HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
    ASSERT_TRUE(WaitFor([&] { return operators_.held() == i + 1; }));
  }
  ExpectError(Trigger("{}"), 429, "RESOURCE_EXHAUSTED", "3 requests over HTTP");
  EXPECT_EQ(HttpGet(http_->address(), "/healthz").status, 200);
  operators_.LetGo();
  for (RawClient& client : asking) EXPECT_EQ(client.Read().status, 200);
  EXPECT_TRUE(WaitFor([&] { return Trigger("{}").status == 200; }));
}

TEST_F(GatewayTest, HealthAndMetrics) {
  const RawResponse alive = HttpGet(http_->address(), "/healthz");
  EXPECT_EQ(alive.status, 200);
  EXPECT_EQ(alive.body, "ok\n");
  const RawResponse ready = HttpGet(http_->address(), "/readyz");
  EXPECT_EQ(ready.status, 503);
  EXPECT_EQ(ready.body, "no lease\\nyet\nno database\n");
  const RawResponse metrics = HttpGet(http_->address(), "/metrics?x=1");
  EXPECT_EQ(metrics.status, 200);
  EXPECT_EQ(metrics.body, "tidemark_jobs 3\n");
  EXPECT_NE(metrics.headers.find("version=0.0.4"), std::string::npos);
}

}  // namespace
}  // namespace tidemark
