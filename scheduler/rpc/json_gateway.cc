#include "scheduler/rpc/json_gateway.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <algorithm>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_replace.h"
#include "absl/synchronization/mutex.h"
#include "common/status.h"
#include "common/text.h"
#include "scheduler/rpc/json_codec.h"
#include "scheduler/rpc/server.h"

namespace tidemark {
namespace {

// What gRPC takes as the value of a header; of anything else it thinks that we are broken.
bool IsHeaderValue(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

JsonAnswer AnswerOf(const grpc::Status& status, const google::protobuf::Message& response) {
  if (!status.ok()) {
    return {static_cast<absl::StatusCode>(status.error_code()), status.error_message(), ""};
  }
  absl::StatusOr<std::string> json = WriteJson(response);
  if (!json.ok()) return {json.status().code(), Message(json.status()), ""};
  return {absl::StatusCode::kOk, "", *std::move(json)};
}

}  // namespace

class JsonGateway::Impl {
 public:
  Impl(RpcServer& server, JsonGatewayOptions options)
      : options_(options), stub_(server.InProcessChannel()) {}
  ~Impl() {
    const auto idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return under_way_ == 0; };
    absl::MutexLock lock(&mutex_, absl::Condition(&idle));
  }

  void Call(const JsonCall& call, std::function<void(JsonAnswer)> done) {
    const auto refuse = [&done](const absl::Status& status) {
      done({status.code(), Message(status), ""});
    };
    const absl::StatusOr<const google::protobuf::MethodDescriptor*> method =
        FindJsonMethod(call.service, call.method);
    if (!method.ok()) return refuse(method.status());
    if (!IsHeaderValue(call.authorization)) {
      return refuse(absl::UnauthenticatedError("the Authorization header is not plain ASCII text"));
    }
    if (!Enter()) {
      return refuse(absl::ResourceExhaustedError(
          ToAbsl(std::to_string(options_.max_calls) +
                 " requests over HTTP are under way, which is the limit; try again")));
    }
    absl::StatusOr<std::unique_ptr<google::protobuf::Message>> request =
        ReadJsonRequest(**method, call.body);
    if (!request.ok()) {
      refuse(request.status());
      Leave();
      return;
    }
    Start(call, **method, *std::move(request), std::move(done));
  }

 private:
  struct Pending {
    grpc::ClientContext context;
    std::unique_ptr<google::protobuf::Message> request;
    std::unique_ptr<google::protobuf::Message> response;
  };

  bool Enter() {
    absl::MutexLock lock(&mutex_);
    if (under_way_ >= options_.max_calls) return false;
    ++under_way_;
    return true;
  }
  void Leave() {
    absl::MutexLock lock(&mutex_);
    --under_way_;
  }

  void Start(const JsonCall& call, const google::protobuf::MethodDescriptor& method,
             std::unique_ptr<google::protobuf::Message> request,
             std::function<void(JsonAnswer)> done) {
    auto pending = std::make_shared<Pending>();
    pending->request = std::move(request);
    pending->response = NewResponse(method);
    grpc::ClientContext& context = pending->context;
    context.set_deadline(
        gpr_time_from_micros(absl::ToInt64Microseconds(options_.deadline), GPR_TIMESPAN));
    if (!call.authorization.empty()) context.AddMetadata("authorization", call.authorization);
    if (!call.peer.empty()) context.AddMetadata(kPeerMetadata, call.peer);
    const std::string path = "/" + method.service()->full_name() + "/" + method.name();
    stub_.UnaryCall(&context, path, {}, pending->request.get(), pending->response.get(),
                    [this, pending, done = std::move(done)](const grpc::Status& status) {
                      done(AnswerOf(status, *pending->response));
                      Leave();
                    });
  }

  const JsonGatewayOptions options_;
  grpc::TemplatedGenericStub<google::protobuf::Message, google::protobuf::Message> stub_;
  absl::Mutex mutex_;
  int under_way_ ABSL_GUARDED_BY(mutex_) = 0;
};

JsonGateway::JsonGateway(RpcServer& server, JsonGatewayOptions options)
    : impl_(std::make_unique<Impl>(server, options)) {}
JsonGateway::~JsonGateway() = default;

void JsonGateway::Call(const JsonCall& call, std::function<void(JsonAnswer)> done) {
  impl_->Call(call, std::move(done));
}

std::string PeerOf(const grpc::CallbackServerContext& context) {
  const std::string peer = context.peer();
  // gRPC calls peers on sockets ipv4:, ipv6: or unix:, and does not know that of its own channel.
  // It escapes the brackets of an IPv6 address as in a URI.
  if (peer != "unknown" && !peer.starts_with("inproc")) {
    return ToStd(absl::StrReplaceAll(ToAbsl(peer), {{"%5B", "["}, {"%5D", "]"}}));
  }
  const auto& metadata = context.client_metadata();
  const auto it = metadata.find(JsonGateway::kPeerMetadata);
  return it == metadata.end() ? peer : std::string(it->second.data(), it->second.size());
}

std::string CodeName(absl::StatusCode code) { return ToStd(absl::StatusCodeToString(code)); }

}  // namespace tidemark
